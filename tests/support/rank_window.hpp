// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Ranks one window of time in one call, from all records: scores the attempts that ended in the window
/// against everything known about their jobs, as a `monitor` does. The oracle of the monitor's windows.
#pragma once

#include <straggle/base/interner.hpp>
#include <straggle/rank/detail/window_ranker.hpp>
#include <straggle/rank/detail/window_store.hpp>
#include <straggle/rank/normalizer.hpp>
#include <straggle/rank/rank_options.hpp>
#include <straggle/record/attempt.hpp>

#include <iterator>
#include <type_traits>
#include <utility>

namespace straggle_test {

/// A stretch of time.
template <class Time>
struct time_window {
    Time from{};  ///< the first time inside
    Time until{}; ///< the first time after it
};

/// Ranks the nodes over the attempts that ended in a window, each scored against all given attempts of its
/// job, whenever those ended.
///
/// Source: ours; DSB algorithm 1 scores a window against itself, and so cannot see a node whose tasks end
/// after their siblings have left the window. The batch counterpart of `monitor::rank`: given the records
/// known by then, the result is the same, bit for bit with integer durations.
///
/// @param attempts all records known
/// @param window which of them are scored, by their `end`
/// @param fields an `attempt_fields` that names the members of an element, `end` among them
/// @param options normalizer, estimator, ranker; every success counts, as in a monitor
/// @return like `rank_nodes`; accounts for the attempts of the window. Nodes are in order of their first
/// attempt in it.
/// @par Cost
/// O(records log records); allocates
/// @par Guarantees
/// deterministic; for integer durations the same bits for any order of the records, except for the order of
/// first appearance. Only allocation can throw.
template <class Attempts, class Time, class Fields, class Options = straggle::rank_options<>>
    requires straggle::record::attempt_fields_for<
                 Fields, std::remove_cvref_t<decltype(*std::begin(std::declval<Attempts const&>()))>> &&
             straggle::detail::given<decltype(Fields::end)> && straggle::detail::is_rank_options<Options> &&
             straggle::rank::moment_normalizer<decltype(Options::normalizer)>
[[nodiscard]] auto rank_window(Attempts const& attempts, time_window<Time> const& window,
                               Fields const& fields, Options const& options = {}) {
    using record = std::remove_cvref_t<decltype(*std::begin(attempts))>;
    using reading = straggle::detail::reading_t<Fields, record>;
    using job_id =
        straggle::owned_identifier_t<straggle::detail::field_value_t<decltype(Fields::job), record>>;
    using node_id =
        straggle::owned_identifier_t<straggle::detail::field_value_t<decltype(Fields::node), record>>;
    using store_type = straggle::detail::window_store<job_id, node_id, reading>;
    store_type store(1); // one step, the window; what ended outside is the past of its job
    store.advance(0);
    for (record const& attempt : attempts) {
        auto const& end = straggle::detail::project(fields.end, attempt);
        bool const inside = straggle::detail::is_present(end) &&
                            !(straggle::detail::unwrap(end) < window.from) &&
                            straggle::detail::unwrap(end) < window.until;
        straggle::attempt_counts counts;
        straggle::detail::read_attempt(fields, attempt, counts,
                                       [&](auto const& job, auto const& node, reading value) {
                                           if (inside)
                                               store.add(job, node, 0, value, {});
                                           else
                                               store.remember(job, {})->gone.add(value);
                                       });
        if (inside) store.at(0).counts += counts;
    }
    straggle::detail::window_ranker<store_type, Options> ranker(options.ranker);
    ranker.rank(store, options, 0, 0, 0, false);
    return std::move(ranker.ranking());
}

} // namespace straggle_test
