// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How long a window should be, and how often to rank it: derived from a history.
#pragma once

#include <straggle/base/interner.hpp>
#include <straggle/record/attempt.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle_rank {

/// Window lengths derived from a history. All times are in the unit of its records.
struct window_recommendation {
    double window = 0;       ///< recommended length; 0: no usable attempts
    double slide = 0;        ///< how often to rank: a quarter of the window
    double usual_length = 0; ///< median length of an attempt
    double long_length = 0;  ///< 95 % of the attempts take at most this long
    double span = 0;         ///< from the first start to the last end
    double rate = 0;         ///< attempts ending per unit of time on the median node
    std::uint64_t used = 0;  ///< attempts used
};

/// Whether a window suits the workload.
enum class window_fit : std::uint8_t {
    fits,               ///< attempts fit into it, and enough of them end in it
    shorter_than_tasks, ///< more than one attempt in twenty takes longer than the window
    few_tasks,          ///< too few attempts end in it for an interval: fewer than 8 on the median node
    unknown,            ///< no attempt was seen
};
/// A sentence for users; empty if the window fits.
[[nodiscard]] constexpr std::string_view message(window_fit fit) noexcept {
    switch (fit) {
    case window_fit::shorter_than_tasks:
        return "the window is too short for its tasks: more than one in twenty takes longer";
    case window_fit::few_tasks:
        return "the window is too short: fewer than 8 tasks end in it on the median node";
    case window_fit::unknown:
        return "no attempt tells how long a window should be";
    default:
        return {};
    }
}

/// Judges a window by the recommendation from a history.
/// @param known result of `recommend_window`
/// @param window its length, in the unit of the records
/// @return the most serious problem. A length that is not a number does not fit
[[nodiscard]] constexpr window_fit judge_window(window_recommendation const& known, double window) noexcept {
    if (known.used == 0) return window_fit::unknown;
    if (!(window >= known.long_length)) return window_fit::shorter_than_tasks;
    return window * known.rate < 8 ? window_fit::few_tasks : window_fit::fits;
}

/// Recommends the length of a window and how often to rank it.
///
/// Source: ours. A window is long enough if 20 attempts end in it on the median node, so that the interval of
/// their mean is narrow, and if it is four times as long as 95 % of the attempts, so that it does not favor
/// short ones. It is never longer than the history.
///
/// @param attempts a range of records
/// @param fields an `attempt_fields` that names the members of an element, `end` among them
/// @return windows of 0 if no attempt can be used
/// @par Cost
/// O(records log records); allocates
/// @par Guarantees
/// deterministic for any order of the records. Only allocation can throw
/// @par Example
/// `auto const w = recommend_window(history, fields); monitor m(fields, {.window =
/// w.window});`
template <class Attempts, class Fields>
    requires straggle::record::attempt_fields_for<
                 Fields, std::remove_cvref_t<decltype(*std::begin(std::declval<Attempts const&>()))>> &&
             straggle::detail::given<decltype(Fields::end)>
[[nodiscard]] window_recommendation recommend_window(Attempts const& attempts, Fields const& fields) {
    using record_type = std::remove_cvref_t<decltype(*std::begin(attempts))>;
    straggle::interner<
        straggle::owned_identifier_t<straggle::detail::field_value_t<decltype(Fields::node), record_type>>>
        nodes;
    std::vector<double> lengths, ended;
    bool any = false;
    double last = 0, first = 0;
    for (record_type const& a : attempts) {
        auto const& end = straggle::detail::project(fields.end, a);
        if (!straggle::detail::is_present(end)) continue;
        auto const at = static_cast<double>(straggle::detail::unwrap(end));
        straggle::attempt_counts tally;
        straggle::detail::read_attempt(fields, a, tally, [&](auto const&, auto const& node, auto value) {
            auto const length = static_cast<double>(value);
            std::uint32_t const n = nodes.insert(node);
            if (n >= ended.size()) ended.resize(std::size_t{n} + 1);
            ended[n] += 1;
            lengths.push_back(length);
            first = any ? (std::min)(first, at - length) : at - length;
            last = any ? (std::max)(last, at) : at;
            any = true;
        });
    }
    window_recommendation r{.used = lengths.size()};
    if (!any || !(last > first)) return {};
    auto const nth = [](std::vector<double>& values, std::size_t n) {
        std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n), values.end());
        return values[n];
    };
    r.span = last - first;
    r.usual_length = nth(lengths, (lengths.size() - 1) / 2);
    r.long_length = nth(lengths, (lengths.size() - 1) * 19 / 20);
    r.rate = nth(ended, (ended.size() - 1) / 2) / r.span;
    r.window = (std::min)(r.span, (std::max)(20 / r.rate, 4 * r.long_length));
    r.slide = r.window / 4;
    return r;
}

} // namespace straggle_rank
