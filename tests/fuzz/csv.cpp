// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whatever the bytes: the CSV reader either reads records as wide as the header or throws a csv::error with a
// line of the file; and it makes no difference in what pieces the bytes arrive, nor whether plain rows are
// read faster. tests/examples/csv.cpp
// replays the corpus.

#include "../../examples/programs/common/csv.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct reading {
    std::vector<std::vector<std::string>> records;
    std::vector<std::size_t> lines;
    std::string fault;
    std::size_t fault_line = 0;
    friend bool operator==(reading const&, reading const&) = default;
};

inline reading read_in_pieces(std::string_view text, std::size_t piece, bool fast = false) {
    reading result;
    try {
        csv::text_source whole(text);
        csv::reader reader([&](char* to, std::size_t size) { return whole(to, (std::min)(size, piece)); });
        result.records.emplace_back(reader.header().begin(), reader.header().end());
        result.lines.push_back(0);
        while (fast ? reader.next_plain() : reader.next()) {
            result.records.emplace_back(reader.fields().begin(), reader.fields().end());
            result.lines.push_back(reader.line());
        }
    } catch (csv::error const& e) {
        result.fault = e.what();
        result.fault_line = e.line();
    }
    return result;
}

inline void check(bool holds) {
    if (!holds) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text(reinterpret_cast<char const*>(data), size);
    reading const whole = read_in_pieces(text, size + 1);
    std::size_t const last_line = 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) +
                                  static_cast<std::size_t>(std::count(text.begin(), text.end(), '\r'));
    for (auto const& record : whole.records) check(record.size() == whole.records[0].size());
    for (std::size_t i = 1; i < whole.lines.size(); ++i)
        check(whole.lines[i] > whole.lines[i - 1] && whole.lines[i] <= last_line);
    check(whole.fault.empty() || (whole.fault_line >= 1 && whole.fault_line <= last_line));
    check(read_in_pieces(text, size + 1, true) == whole);
    for (std::size_t const piece : {1u, 2u, 3u, 7u, 64u})
        for (bool const fast : {false, true}) check(read_in_pieces(text, piece, fast) == whole);
    return 0;
}
