// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The scores themselves, one per attempt: to inspect, plot, or process further. Ranking does not need them:
/// `rank_nodes` goes from records to nodes without storing scores.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/rank/detail/batch_scorer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::rank {

/// One scored attempt.
struct normalized_attempt {
    std::size_t row = 0;    ///< index of the record in the range
    std::uint32_t job = 0;  ///< index into `jobs`
    std::uint32_t node = 0; ///< index into `nodes`
    double score = 0;       ///< above 0 (above 1 for ratios): slower than its siblings
};

/// The scores of a range of records.
template <class NodeId, class JobId>
struct normalized_attempts {
    std::vector<normalized_attempt> attempts; ///< in the order of the records
    std::vector<NodeId> nodes;                ///< in order of first appearance
    std::vector<JobId> jobs;                  ///< in order of first appearance
    attempt_counts counts;                    ///< what became of every record
};

} // namespace straggle::rank

namespace straggle::inline STRAGGLE_ABI::detail {

// Collects scores from the engine.
template <class Result>
struct attempt_writer {
    Result& result;
    std::vector<std::uint32_t> job_place, node_place; // by slot

    template <class Table>
    void begin(Table const& table) {
        name_all(table.jobs(), result.jobs, job_place);
        name_all(table.nodes(), result.nodes, node_place);
    }
    void score(std::size_t row, std::size_t job, std::size_t node, double score) {
        result.attempts.push_back({row, job_place[job], node_place[node], score});
    }
    template <class Table>
    void end(Table const&) const noexcept {}

    template <class Axis, class Ids>
    static void name_all(Axis const& axis, Ids& ids, std::vector<std::uint32_t>& place) {
        place.resize(axis.slots());
        for (std::size_t i = 0; i < axis.size(); ++i) {
            place[axis.slot_at(i)] = static_cast<std::uint32_t>(i);
            ids.push_back(axis.id(axis.slot_at(i)));
        }
    }
};

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::rank {

/// The normalized execution value of every attempt that has one.
///
/// Source: DSB equation 1, or the source of the chosen normalizer.
///
/// @param attempts any input range; elements are only read
/// @param fields an `attempt_fields` that names the members of an element
/// @param options as for `rank_nodes`, so that both use the same scores; intervals and edges are ignored
/// @par Cost
/// O(records), plus sorting them by row with a `sibling_normalizer`; 24 bytes per scored attempt
/// @par Guarantees
/// deterministic; only allocators can throw
template <std::ranges::input_range Attempts, class Fields, class Options = rank_options<>>
    requires record::attempt_fields_for<Fields, std::ranges::range_value_t<Attempts>> &&
             detail::is_rank_options<Options>
[[nodiscard]] auto normalize(Attempts&& attempts, Fields const& fields, Options const& options = {}) {
    using engine_type = detail::batch_scorer<std::ranges::range_value_t<Attempts>, Fields, Options, true>;
    engine_type engine;
    normalized_attempts<typename engine_type::node_id, typename engine_type::job_id> result;
    detail::attempt_writer<decltype(result)> writer{result, {}, {}};
    engine.run(attempts, fields, options, writer);
    std::ranges::sort(result.attempts, {}, &normalized_attempt::row);
    result.counts = engine.counts;
    return result;
}

/// The same with the fields that `task_traits` names.
template <std::ranges::input_range Attempts, class Options = rank_options<>>
    requires record::has_task_traits<std::ranges::range_value_t<Attempts>> && detail::is_rank_options<Options>
[[nodiscard]] auto normalize(Attempts&& attempts, Options const& options = {}) {
    return normalize(attempts, task_traits<std::ranges::range_value_t<Attempts>>::fields, options);
}

} // namespace straggle::rank
