// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// From task records to ranked nodes in one call: normalize (DSB equation 1), measure each node (algorithm
/// 2), rank the intervals (algorithm 3).
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/rank/detail/attempt_columns.hpp>
#include <straggle/rank/detail/batch_scorer.hpp>
#include <straggle/rank/detail/history_reader.hpp>
#include <straggle/rank/detail/job_effects.hpp>
#include <straggle/rank/detail/merged_nodes.hpp>
#include <straggle/rank/performance.hpp>
#include <straggle/rank/rank_options.hpp>
#include <straggle/rank/ranking.hpp>
#include <straggle/record/slowdown.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI {

/// Ranks the same kind of records repeatedly without allocating: all tables are kept between calls.
///
/// @tparam Record the user's record type
/// @tparam Fields an `attempt_fields`
/// @tparam Options a `rank_options`
/// @par Cost
/// of `rank`, per record, at plain -O2: see the speed chapter; O(records + nodes log nodes) in total. 32
/// bytes per record, 36 per job (25 if it is a small integer), and about 400 per node, including the last
/// result and the next; slowdowns take 12 more for each node of each job, 44 if it has several of the job's
/// tasks.
/// @par Guarantees
/// deterministic; for integer durations and a `moment_normalizer`, the result has the same bits for any order
/// of the records, except for the order of first appearance. Strong exception guarantee: only allocation can
/// throw, and then the last ranking still stands.
template <class Record, record::attempt_fields_for<Record> Fields, class Options = rank_options<>>
    requires detail::is_rank_options<Options>
class node_ranker {
    using reader = detail::history_reader<Record, Fields>;
    using normalizer = decltype(Options::normalizer);
    using value = detail::scored_t<detail::reading_t<Fields, Record>, normalizer>;
    using scorer = detail::batch_scorer<value, normalizer>;

  public:
    /// Type of job names in the ranking.
    using job_id = typename reader::job_id;
    /// Type of node names in the ranking.
    using node_id = typename reader::node_id;
    /// What `rank` returns.
    using ranking_type = node_ranking<node_id, job_id>;

    // Constructor parameters shadow the program's globals where this is instantiated: avoid plain names.
    /// @param record_fields an `attempt_fields` that names the members of a record
    /// @param how_to_rank normalizer, estimator, ranker
    explicit node_ranker(Fields record_fields, Options how_to_rank = {})
        : fields_(std::move(record_fields)),
          options_(std::move(how_to_rank)),
          ranking_scratch_(options_.ranker) {}

    /// Ranks the nodes of a range of records.
    /// @param attempts any input range of `Record`, read once
    /// @return the ranking, valid until the next call
    template <std::ranges::input_range Attempts>
        requires std::same_as<std::ranges::range_value_t<Attempts>, Record>
    ranking_type const& rank(Attempts&& attempts) {
        constexpr bool per_input = rank::input_normalizer<normalizer>;
        constexpr bool given_input = detail::given<decltype(Fields::input)>;
        detail::read_plan const plan{.first_of_task = options_.counted == completions::first_of_task,
                                     .others = options_.slowdowns && !per_input,
                                     .inputs = given_input && (options_.slowdowns || per_input)};
        reader_.read(attempts, fields_, plan, columns_);
        scorer_.score(columns_, options_.normalizer, options_.slowdowns);
        // Built beside the last answer, which survives if an allocation fails.
        detail::ranking_access::write_degenerate(
            next_, scorer_.scoreless, [this](std::size_t i) -> job_id const& { return reader_.jobs()[i]; });
        auto const& nodes = scorer_.used_nodes;
        write_ranking(
            nodes.size(), [&](std::size_t i) -> auto const& { return scorer_.scores[nodes[i]]; },
            [&](std::size_t i) -> node_id const& { return reader_.nodes()[nodes[i]]; },
            [&](std::size_t i) { return scorer_.effects.slowdown_of(nodes[i]); });
        return finish(columns_.counts, scorer_.scored, scorer_.usable_jobs);
    }

    /// Combines the last rankings of several rankers, each of the attempts of different jobs, as if one
    /// ranker had read them all, shard by shard. So the caller's threads can share the work: each ranks some
    /// of the jobs, and then one of them combines the nodes.
    /// @param shards rankers with the same options as this one, which may be among them; only read
    /// @return the ranking, valid until the next call
    /// @pre no job is in two shards, since it would be scored in each separately; the last `rank` of each has
    /// returned
    /// @par Cost
    /// O(shards x nodes), plus the ranking of all nodes; 180 bytes per node
    /// @par Guarantees
    /// for integer durations and a `moment_normalizer`, the same bits as one ranker over all records, except
    /// for the order of first appearance; otherwise the same up to rounding
    ranking_type const& rank_shards(std::span<node_ranker const> shards) {
        merged_.clear();
        joined_.clear();
        std::vector<job_id> names;
        std::vector<detail::scoreless_job> scoreless;
        attempt_counts counts;
        std::uint64_t scored = 0;
        std::size_t usable_jobs = 0;
        for (node_ranker const& shard : shards) {
            scorer const& from = shard.scorer_;
            counts += shard.columns_.counts;
            scored += from.scored;
            usable_jobs += from.usable_jobs;
            for (detail::scoreless_job const& job : from.scoreless) {
                scoreless.push_back({names.size(), job.attempts, job.reason});
                names.push_back(shard.reader_.jobs()[job.slot]);
            }
            merged_.begin_shard(from.scores.size());
            for (std::uint32_t const node : from.used_nodes)
                merged_.add(node, shard.reader_.nodes()[node], from.scores[node]);
            if (options_.slowdowns) joined_.append(from.effects, merged_.places());
        }
        if (options_.slowdowns) {
            joined_.settle_inputs();
            joined_.solve(merged_.size());
        }
        detail::ranking_access::write_degenerate(next_, scoreless,
                                                 [&](std::size_t i) -> job_id const& { return names[i]; });
        write_ranking(
            merged_.size(), [&](std::size_t i) -> auto const& { return merged_.scores(i); },
            [&](std::size_t i) -> node_id const& { return merged_.id(i); },
            [&](std::size_t i) { return joined_.slowdown_of(i); });
        return finish(counts, scored, usable_jobs);
    }

    /// The result of the last call of `rank` or `rank_shards`; empty before it.
    [[nodiscard]] ranking_type const& ranking() const& noexcept { return ranking_; }
    /// Moves the result of the last call out of an expiring ranker.
    [[nodiscard]] ranking_type ranking() && noexcept { return std::move(ranking_); }

  private:
    // Indexed by order of first appearance.
    template <class Scores, class Identify, class Slowdowns>
    void write_ranking(std::size_t size, Scores const& scores, Identify const& id,
                       Slowdowns const& slowdown_of) {
        detail::ranking_access::rank(next_, ranking_scratch_, size, options_, scores, id, [&](std::size_t i) {
            return options_.slowdowns ? slowdown_of(i) : slowdown{};
        });
    }

    ranking_type const& finish(attempt_counts const& counts, std::uint64_t scored, std::size_t usable_jobs) {
        detail::ranking_access::account(next_, counts, scored, usable_jobs,
                                        detail::edges_of(options_.ranker));
        std::swap(ranking_, next_);
        return ranking_;
    }

    Fields fields_;
    Options options_;
    reader reader_;
    detail::attempt_columns<value> columns_;
    scorer scorer_;
    detail::merged_nodes<node_id, typename scorer::scores_type> merged_;
    detail::job_effects joined_; // of several rankers
    detail::ranking_scratch<decltype(Options::ranker)> ranking_scratch_;
    ranking_type ranking_, next_;
};

/// Ranks the nodes that occur in a range of task records, weakest first.
///
/// Source: DSB equation 1, algorithms 2 and 3; `z_score`, `mean_interval`, `edge_rule` and `completions`
/// document what the defaults change and why; `dsb_2019::ranking` follows the paper literally.
///
/// @param attempts any input range; elements are only read
/// @param fields an `attempt_fields` that names the members of an element
/// @param options normalizer, estimator, ranker
/// @return every node with n, mean, deviation, interval and level, and an account of all records and jobs.
/// Empty or unusable records give a ranking without levels, never an error.
/// @par Cost
/// O(records + nodes log nodes); see `node_ranker`, which also ranks repeatedly without allocating
/// @par Guarantees
/// only allocators can throw; records are only read
/// @snippet rank_nodes.cpp rank
template <std::ranges::input_range Attempts, class Fields, class Options = rank_options<>>
    requires record::attempt_fields_for<Fields, std::ranges::range_value_t<Attempts>> &&
             detail::is_rank_options<Options>
[[nodiscard]] auto
rank_nodes( // for options with other types than the defaults, write rank_options{...}, not {...}
    Attempts&& attempts, Fields const& fields, Options const& options = {}) {
    node_ranker<std::ranges::range_value_t<Attempts>, Fields, Options> ranker(fields, options);
    ranker.rank(attempts);
    return std::move(ranker).ranking();
}

/// Not a valid call: makes the compiler say in one line which field does not fit.
template <std::ranges::input_range Attempts, class Fields, class... Options>
    requires(!record::attempt_fields_for<Fields, std::ranges::range_value_t<Attempts>> &&
             !detail::is_rank_options<Fields>)
auto rank_nodes(Attempts&&, Fields const&, Options const&...) {
    return detail::explain_attempt_fields<Fields, std::ranges::range_value_t<Attempts>>();
}
/// Not a valid call: makes the compiler say what the options must be.
template <std::ranges::input_range Attempts, class Fields, class Options>
    requires(record::attempt_fields_for<Fields, std::ranges::range_value_t<Attempts>> &&
             !detail::is_rank_options<Options>)
auto rank_nodes(Attempts&&, Fields const&, Options const&) {
    static_assert(detail::is_rank_options<Options>,
                  "the options of rank_nodes are a rank_options{.normalizer = ..., .estimator = ...}");
}

/// Not a valid call: makes the compiler say that fields are missing.
template <std::ranges::input_range Attempts>
    requires(!record::has_task_traits<std::ranges::range_value_t<Attempts>>)
node_ranking<std::uint32_t, std::uint32_t> rank_nodes(Attempts&&) {
    constexpr bool has_traits = record::has_task_traits<std::ranges::range_value_t<Attempts>>;
    static_assert(has_traits, "rank_nodes(attempts) needs task_traits of the record, or attempt_fields");
    return {};
}

/// The same with the fields that `task_traits` names.
template <std::ranges::input_range Attempts, class Options = rank_options<>>
    requires record::has_task_traits<std::ranges::range_value_t<Attempts>> && detail::is_rank_options<Options>
[[nodiscard]] auto rank_nodes(Attempts&& attempts, Options const& options = {}) {
    using record = std::ranges::range_value_t<Attempts>;
    return rank_nodes(attempts, task_traits<record>::fields, options);
}

} // namespace straggle
