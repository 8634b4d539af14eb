// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// What a compiler has to hand through a module before straggle can be one: a name of each kind that the
// library has, on top of standard headers it includes.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace probe {

template <class T>
concept number = std::integral<T> || std::floating_point<T>;

struct fields {
    int scale = 1;
    friend bool operator==(fields const&, fields const&) = default;
};

template <number T>
class sums {
  public:
    explicit sums(std::vector<T> values) : values_(std::move(values)) {}
    [[nodiscard]] std::span<T const> values() const { return values_; }

  private:
    std::vector<T> values_;
};
template <number T>
sums(std::vector<T>) -> sums<T>;

enum class order { ascending, descending };
[[nodiscard]] constexpr std::string_view to_string(order o) {
    return o == order::ascending ? "ascending" : "descending";
}
[[nodiscard]] constexpr std::string_view to_string(fields) {
    return "fields";
}

template <std::ranges::input_range Range>
[[nodiscard]] sums<int> read(Range&& range, fields f = {}) {
    std::vector<int> out;
    for (auto&& x : range) out.push_back(static_cast<int>(x) * f.scale);
    std::ranges::sort(out);
    return sums(std::move(out));
}

using count = std::size_t;
inline constexpr count answer = 3;

} // namespace probe
