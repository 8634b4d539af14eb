// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The scores themselves, one per attempt: to inspect, plot, or process further. Ranking does not need them:
/// `rank_nodes` goes from records to nodes without storing scores.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/rank/detail/attempt_columns.hpp>
#include <straggle/rank/detail/batch_scorer.hpp>
#include <straggle/rank/detail/history_reader.hpp>
#include <straggle/rank/rank_options.hpp>
#include <straggle/record/attempt.hpp>

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
    using record_type = std::ranges::range_value_t<Attempts>;
    using reader_type = detail::history_reader<record_type, Fields, true>;
    using normalizer = decltype(Options::normalizer);
    using value = detail::scored_t<detail::reading_t<Fields, record_type>, normalizer>;
    reader_type reader;
    detail::attempt_columns<value> columns;
    detail::read_plan const plan{.first_of_task = options.counted == completions::first_of_task,
                                 .inputs = input_normalizer<normalizer>};
    reader.read(attempts, fields, plan, columns);
    detail::batch_scorer<value, normalizer> scorer;
    std::vector<double> scores;
    scorer.score_rows(columns, options.normalizer, scores);

    normalized_attempts<typename reader_type::node_id, typename reader_type::job_id> result;
    std::vector<std::uint32_t> place(columns.nodes);
    for (std::uint32_t const node : scorer.used_nodes) {
        place[node] = static_cast<std::uint32_t>(result.nodes.size());
        result.nodes.push_back(reader.nodes()[node]);
    }
    for (std::size_t job = 0; job < columns.jobs; ++job) result.jobs.push_back(reader.jobs()[job]);
    for (std::size_t i = 0; i < scores.size(); ++i)
        if (detail::is_finite(scores[i]))
            result.attempts.push_back({static_cast<std::size_t>(columns.records[i]), columns.rows[i].job,
                                       place[columns.rows[i].node], scores[i]});
    std::ranges::sort(result.attempts, {}, &normalized_attempt::row);
    result.counts = columns.counts;
    return result;
}

/// The same with the fields that `task_traits` names.
template <std::ranges::input_range Attempts, class Options = rank_options<>>
    requires record::has_task_traits<std::ranges::range_value_t<Attempts>> && detail::is_rank_options<Options>
[[nodiscard]] auto normalize(Attempts&& attempts, Options const& options = {}) {
    return normalize(attempts, task_traits<std::ranges::range_value_t<Attempts>>::fields, options);
}

} // namespace straggle::rank
