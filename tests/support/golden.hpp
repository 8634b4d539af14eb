// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Reads the tables of tests/golden, and what it takes to compare with them. Each table is made by the script
/// of the same name, which shares no code with the library.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace straggle_test {

/// One row of a golden table.
class golden_row {
  public:
    explicit golden_row(std::string const& line) {
        for (std::size_t from = 0; from <= line.size();) {
            std::size_t const to = (std::min)(line.find(',', from), line.size());
            cells_.push_back(line.substr(from, to - from));
            from = to + 1;
        }
    }
    [[nodiscard]] std::size_t size() const { return cells_.size(); }
    [[nodiscard]] std::string const& text(std::size_t column) const { return cells_.at(column); }
    /// A decimal or hexadecimal floating-point number.
    [[nodiscard]] double real(std::size_t column) const {
        char* end = nullptr;
        double const x = std::strtod(text(column).c_str(), &end);
        REQUIRE((end != text(column).c_str() && *end == '\0'));
        return x;
    }
    template <class Integer = std::int64_t>
    [[nodiscard]] Integer integer(std::size_t column, int base = 10) const {
        std::string const& s = text(column);
        Integer x{};
        auto const [end, error] = std::from_chars(s.data(), s.data() + s.size(), x, base);
        REQUIRE((error == std::errc{} && end == s.data() + s.size()));
        return x;
    }

  private:
    std::vector<std::string> cells_;
};

/// The rows of a table without comments; and without the line of column names where `named`.
inline std::vector<golden_row> golden_table(std::string const& name, bool named = true) {
#ifdef STRAGGLE_GOLDEN_DIR
    auto const path = std::filesystem::path(STRAGGLE_GOLDEN_DIR) / name;
#else // as the compiler spells this file: right when it was given an absolute path, as CMake does
    auto const path = std::filesystem::path(__FILE__).parent_path().parent_path() / "golden" / name;
#endif
    std::ifstream file(path);
    REQUIRE_MESSAGE(file, "no such golden table: ", path.string());
    std::vector<golden_row> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') continue;
        if (named)
            named = false;
        else
            rows.emplace_back(line);
    }
    REQUIRE(!rows.empty());
    return rows;
}

/// The unit in the last place of a finite number.
inline double ulp_of(double x) {
    int exponent = 0;
    std::frexp(x, &exponent);
    return std::ldexp(1.0, (std::max)(exponent - 53, -1074));
}

/// How far `got` is from the exact `high + low`, in units in the last place of `high`.
inline double ulps_off(double got, double high, double low = 0) {
    return std::fabs((got - high) - low) / ulp_of(high);
}

/// The sequence all golden tables are made from.
class golden_sequence {
  public:
    explicit golden_sequence(std::uint64_t seed) : state_(seed) {}
    std::uint64_t operator()() { return state_ = state_ * 6364136223846793005u + 1442695040888963407u; }
    /// In [0, 1).
    double unit() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

  private:
    std::uint64_t state_;
};

} // namespace straggle_test
