// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/normalize.hpp` and `rank/rank_nodes.hpp`: passes records through filter, job
/// statistics and normalizer, and produces the scores one by one.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/detail/dense_attempts.hpp>
#include <straggle/rank/detail/hashed_attempts.hpp>
#include <straggle/rank/detail/job_effects.hpp>
#include <straggle/rank/detail/job_groups.hpp>
#include <straggle/rank/detail/job_memory.hpp>
#include <straggle/rank/detail/log_ticks.hpp>
#include <straggle/rank/normalizer.hpp>
#include <straggle/rank/rank_options.hpp>
#include <straggle/rank/ranking.hpp>
#include <straggle/stats/tick_moments.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Unwraps the normalizer that computes the scores.
template <class N>
constexpr decltype(auto) core_normalizer(N const& n) noexcept {
    if constexpr (rank::input_normalizer<N>)
        return n.per_input();
    else
        return (n);
}

template <class Value>
using job_moments_t = std::conditional_t<std::integral<Value>, stats::tick_moments, stats::moments>;

template <class Value>
struct job_scale {
    rank::affine_scale<Value> scale;
    bool usable = false;
};

// A bare count, where moments are not needed.
struct job_tally {
    std::uint32_t n = 0;
    template <class Value>
    constexpr void add(Value) noexcept {
        ++n;
    }
    [[nodiscard]] constexpr std::uint32_t count() const noexcept { return n; }
};

// The durations of one job on one node, with their logarithms if slowdowns are requested.
struct pair_durations {
    stats::tick_moments ticks;
    log_times times;
};

// Keeps all its tables between runs. `Rows` adds the index of its record to each score.
template <class Record, class Fields, class Options, bool Rows>
class batch_scorer {
    using normalizer_type = decltype(Options::normalizer);
    static constexpr bool per_input = rank::input_normalizer<normalizer_type>;
    using value_type = std::conditional_t<per_input, double, reading_t<Fields, Record>>;
    using core_type = std::remove_cvref_t<decltype(core_normalizer(std::declval<normalizer_type const&>()))>;
    static constexpr bool by_moments = rank::moment_normalizer<core_type>;
    // Score exact ticks by (node, job), so that the result depends only on the sums; see score_moments.
    static constexpr bool by_pairs = by_moments && std::integral<value_type> && !Rows;
    static constexpr bool grouped = by_pairs || !by_moments;
    // Slowdowns are corrected by what the attempts had to read, if that is known.
    static constexpr bool may_have_inputs = given<decltype(Fields::input)> && !per_input && !Rows;

  public:
    using job_id = owned_identifier_t<job_key_t<Fields, Record>>;
    using node_id = owned_identifier_t<node_key_t<Fields, Record>>;

    // Calls of `sink`: begin(table) once all jobs and nodes are known; then score(row, job slot, node slot,
    // score) for each scored attempt, or group(node slot, durations, scale) for all attempts of one job on
    // one node; effects() receives the comparisons within jobs if slowdowns are requested; finally
    // end(table).
    template <class Attempts, class Sink>
    void run(Attempts& attempts, Fields const& fields, Options const& options, Sink&& sink) {
        counts = {};
        by_input_ = may_have_inputs && options.slowdowns && is_any_input_known(attempts, fields);
        bool const dedupe = given<decltype(Fields::task)> && options.counted == completions::first_of_task;
        if constexpr (dense_candidate<Attempts, Fields, Record> && !per_input) {
            attempt_counts const before = counts;
            // Slowdowns also use killed attempts and inputs, which this path does not keep.
            bool const is_dense = !dedupe && !by_input_ && dense_.collect(attempts, fields, counts, jobs_);
            if (is_dense && (Rows || !options.slowdowns || counts.killed == before.killed)) {
                bits_ = dense_.bits();
                is_dense_ = true;
                sink.begin(dense_);
                score_all(dense_, options, sink,
                          [&](auto&& prefetch, auto&& use) { dense_.walk(attempts, fields, prefetch, use); });
                sink.end(dense_);
                return;
            }
        }
        counts = {};
        if (dedupe || per_input || by_input_)
            hashed_.collect(attempts, fields, counts, jobs_, dedupe, per_input, by_input_);
        else
            hashed_.collect(attempts, fields, counts, jobs_);
        bits_ = hashed_.bits();
        is_dense_ = false;
        sink.begin(hashed_);
        score_all(hashed_, options, sink, [&](auto&& prefetch, auto&& use) { hashed_.walk(prefetch, use); });
        if constexpr (may_have_inputs)
            if (by_input_) time_by_input(sink.effects());
        sink.end(hashed_);
    }

    // Calls `use` with the table of the last run, the same one the sink received.
    template <class Use>
    void visit(Use&& use) const {
        if constexpr (dense_capable<job_id> && dense_capable<node_id>)
            if (is_dense_) return use(dense_);
        use(hashed_);
    }

    attempt_counts counts;
    std::vector<scoreless_job> scoreless;
    std::uint64_t scored = 0;
    std::size_t usable_jobs = 0;

  private:
    template <class Row>
    static auto prefetch_rows(std::vector<Row> const& table) {
        return [rows = table.data()](std::size_t slot) STRAGGLE_INLINE_LAMBDA { prefetch_row(rows, slot); };
    }

    template <class Table, class Sink, class Walk>
    void score_all(Table const& table, Options const& options, Sink& sink, Walk&& walk) {
        scoreless.clear();
        usable_jobs = 0;
        scored = 0;
        auto const& norm = core_normalizer(options.normalizer);
        tell_times_ = options.slowdowns && !by_input_;
        if (!Rows && tell_times_) joiner_.prepare(table.nodes().slots());
        if constexpr (grouped)
            score_by_job(table, norm, sink, walk);
        else
            score_by_moments(table, norm, sink, walk);
    }

    template <class Table, class Sink, class Walk>
    void score_by_moments(Table const& table, core_type const& norm, Sink& sink, Walk&& walk) {
        if (scales_.size() < jobs_.size())
            scales_.resize(jobs_.size()); // every job sets its scale before it is read
        for (std::size_t place = 0; place < table.jobs().size(); ++place) {
            std::size_t const job = table.jobs().slot_at(place);
            auto const scale = norm.fit(jobs_[job]);
            scales_[job].usable = scale.has_value();
            if (scale) {
                scales_[job].scale = *scale;
                ++usable_jobs;
                scored += jobs_[job].count();
            } else {
                scoreless.push_back({job, jobs_[job].count(), scale.reason()});
            }
        }
        walk(prefetch_rows(scales_),
             [scales = scales_.data(), &sink](std::size_t row, std::size_t job, std::size_t node,
                                              value_type value) STRAGGLE_INLINE_LAMBDA {
                 job_scale<value_type> const& s = scales[job];
                 if (s.usable) sink.score(row, job, node, s.scale(value));
             });
        if constexpr (!Rows) {
            if (tell_times_) time_jobs(table, sink, walk);
        }
    }

    template <class Attempts>
    [[nodiscard]] static bool is_any_input_known(Attempts& attempts, Fields const& fields) {
        if constexpr (!may_have_inputs)
            return false;
        else if constexpr (std::ranges::forward_range<Attempts>)
            return std::ranges::any_of(attempts, [&](Record const& record) {
                return hashed_attempts<Record, Fields, value_type, Rows>::read_input(fields, record) > 0;
            });
        else
            return true;
    }

    // Learns from all jobs how times depend on input, then compares each corrected by it.
    void time_by_input(job_effects& effects) {
        input_slopes& inputs = effects.inputs();
        hashed_.for_each_job([&](std::uint64_t kind, std::span<timed_attempt const> attempts) {
            inputs.learn(kind, attempts);
        });
        std::size_t const nodes = hashed_.nodes().slots();
        hashed_.for_each_job([&](std::uint64_t kind, std::span<timed_attempt const> attempts) {
            inputs.settle(kind);
            effects.add_job(attempts, nodes, kind);
        });
    }

    // For jobs scored by moments: how long the tasks of each node take.
    template <class Table, class Sink, class Walk>
    void time_jobs(Table const& table, Sink& sink, Walk&& walk) {
        auto const count = [this](std::size_t job) { return jobs_[job].count(); };
        groups_.sort(table.jobs(), count, walk);
        for (std::size_t place = 0; place < table.jobs().size(); ++place) {
            std::size_t const job = table.jobs().slot_at(place);
            time(job, groups_.of(job, jobs_[job].count()), sink);
        }
    }
    template <class Siblings, class Sink>
    void time(std::size_t job, Siblings const& siblings, Sink& sink) {
        auto const itself = [](auto const& a) STRAGGLE_INLINE_LAMBDA -> auto const& { return a; };
        if (time_others(job, siblings, itself, sink)) return;
        for (std::size_t i = 0; i < siblings.size(); ++i) joiner_.note(siblings[i].node, i);
        job_effects& effects = sink.effects();
        for (std::uint32_t const i : joiner_.alone(siblings, itself))
            effects.add(siblings[i].node, static_cast<double>(siblings[i].value));
        joiner_.join(
            siblings, itself,
            [](pair_durations& together, auto const& a) { together.times.add(static_cast<double>(a.value)); },
            [&](std::uint32_t node, pair_durations const& together) { effects.add(node, together.times); });
        effects.close_job();
    }
    // The same for a job that also has unscored attempts. False if it has none.
    template <class Siblings, class Read, class Sink>
    [[nodiscard]] bool time_others(std::size_t job, Siblings const& siblings, Read read, Sink& sink) {
        if (is_dense_) return false;
        auto const others = hashed_.others_of(job);
        if (others.empty()) return false;
        timed_.clear();
        auto const add = [this](std::uint32_t node, double duration, bool censored) {
            if (duration > 1e-300)
                timed_.push_back({.node = node, .ticks = log_ticks(duration), .censored = censored});
        };
        for (auto const& element : siblings) {
            auto const& a = read(element);
            add(a.node, static_cast<double>(a.value), false);
        }
        for (auto const& o : others) add(o.node, static_cast<double>(o.value), o.censored);
        sink.effects().add_job(timed_, hashed_.nodes().slots());
        return true;
    }

    template <class Table, class Sink, class Walk>
    void score_by_job(Table const& table, core_type const& norm, Sink& sink, Walk&& walk) {
        auto const count = [this](std::size_t job) { return jobs_[job].count(); };
        if constexpr (by_pairs) {
            std::size_t const nodes = table.nodes().slots();
            joiner_.prepare(nodes);
            if (packed_groups::fit(nodes, bits_)) {
                packed_.sort(table.jobs(), nodes, count, walk);
                score_groups(table, norm, sink, packed_);
                return;
            }
        }
        groups_.sort(table.jobs(), count, walk);
        score_groups(table, norm, sink, groups_);
    }

    template <class Table, class Sink, class Groups>
    void score_groups(Table const& table, core_type const& norm, Sink& sink, Groups const& groups) {
        for (std::size_t place = 0; place < table.jobs().size(); ++place) {
            std::size_t const job = table.jobs().slot_at(place);
            auto const siblings = groups.of(job, jobs_[job].count());
            if (status const s = score_job(norm, job, siblings, groups.unpacked(), sink); s == status::ok)
                ++usable_jobs;
            else
                scoreless.push_back({job, siblings.size(), s});
        }
    }

    template <class Siblings, class Read, class Sink>
    [[nodiscard]] status score_job(core_type const& norm, std::size_t job, Siblings const& siblings,
                                   Read read, Sink& sink)
        requires by_pairs
    {
        stats::tick_moments durations;
        durations.add_all(siblings, [this, read](auto const& element, std::size_t i) STRAGGLE_INLINE_LAMBDA {
            auto const& a = read(element);
            joiner_.note(a.node, i);
            return a.value;
        });
        auto const fitted = norm.fit(durations);
        bool const timed = tell_times_ && !time_others(job, siblings, read, sink);
        if (!fitted && !timed) return fitted.reason();
        auto const alone = joiner_.alone(siblings, read);
        if (fitted)
            for (std::uint32_t const i : alone) {
                auto const& a = read(siblings[i]);
                sink.score(0, job, a.node, (*fitted)(a.value));
            }
        if (timed) {
            job_effects& effects = sink.effects();
            for (std::uint32_t const i : alone) {
                auto const& a = read(siblings[i]);
                effects.add(a.node, static_cast<double>(a.value));
            }
        }
        joiner_.join(
            siblings, read,
            [timed](pair_durations& together, auto const& a) STRAGGLE_INLINE_LAMBDA {
                together.ticks.add(a.value);
                if (timed) together.times.add(static_cast<double>(a.value));
            },
            [&](std::uint32_t node, pair_durations const& together) {
                if (fitted) sink.group(node, together.ticks, *fitted);
                if (timed) sink.effects().add(node, together.times);
            });
        if (timed) sink.effects().close_job();
        if (!fitted) return fitted.reason();
        scored += siblings.size();
        return status::ok;
    }

    template <class Siblings, class Read, class Sink>
    [[nodiscard]] status score_job(core_type const& norm, std::size_t job, Siblings const& siblings,
                                   Read const&, Sink& sink)
        requires(!by_pairs)
    {
        std::size_t const size = siblings.size();
        scores_.resize(size);
        scratch_.resize(size);
        for (std::size_t k = 0; k < size; ++k) scores_[k] = static_cast<double>(siblings[k].value);
        if constexpr (!Rows) {
            if (tell_times_) time(job, siblings, sink);
        }
        status const s = norm.normalize(std::span<double>(scores_), std::span<double>(scratch_));
        if (s != status::ok) return s;
        for (std::size_t k = 0; k < size; ++k) {
            if (!is_finite(scores_[k])) continue;
            std::size_t row = 0;
            if constexpr (Rows) row = siblings[k].row;
            sink.score(row, job, siblings[k].node, scores_[k]);
            ++scored;
        }
        return status::ok;
    }

    dense_attempts<Record, Fields> dense_;
    hashed_attempts<Record, Fields, value_type, Rows> hashed_;
    std::vector<std::conditional_t<grouped, job_tally, job_moments_t<value_type>>> jobs_;
    std::vector<job_scale<value_type>> scales_;
    job_groups<value_type, Rows> groups_;
    packed_groups packed_;
    node_joiner<pair_durations> joiner_;
    std::vector<timed_attempt> timed_; // of the current job
    bool tell_times_ = false, by_input_ = false;
    std::uint64_t bits_ = 0;               // union of the bits of all integer durations
    bool is_dense_ = false;                // the last run read its records in place
    std::vector<double> scores_, scratch_; // of the current job
};

} // namespace straggle::detail
