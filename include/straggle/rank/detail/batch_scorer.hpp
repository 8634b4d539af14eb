// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/normalize.hpp` and `rank/rank_nodes.hpp`: takes records through filter, job
/// statistics and normalizer, and hands out one score after the other.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/detail/dense_attempts.hpp>
#include <straggle/rank/detail/hashed_attempts.hpp>
#include <straggle/rank/job_groups.hpp>
#include <straggle/rank/normalizer.hpp>
#include <straggle/rank/rank_options.hpp>
#include <straggle/rank/ranking.hpp>
#include <straggle/rank/relative_times.hpp>
#include <straggle/stats/tick_moments.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// The normalizer that does the work, whatever it is wrapped in.
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

// Counts where moments would be too much.
struct job_tally {
    std::uint32_t n = 0;
    template <class Value>
    constexpr void add(Value) noexcept {
        ++n;
    }
    [[nodiscard]] constexpr std::uint32_t count() const noexcept { return n; }
};

// Tells the tasks that are the only ones of their job on their nodes. A row is what `read` makes of a
// sibling.
template <class Siblings, class Read, class Sink>
STRAGGLE_ALWAYS_INLINE void time_alone(job_yardstick const& job, std::span<std::uint32_t const> alone,
                                       Siblings const& siblings, Read read, Sink& sink) {
    if (!job.compares()) return;
    auto const lone = lone_yardstick::of(job);
    for (std::uint32_t const i : alone) {
        auto const& a = read(siblings[i]);
        sink.time(lone, a.node, static_cast<double>(a.value));
    }
}

// Welford's.
struct running_moments {
    std::uint64_t n = 0;
    double mean = 0, squares = 0;
    void add(double x) noexcept {
        double const d = x - mean;
        mean += d / static_cast<double>(++n);
        squares += d * (x - mean);
    }
};

// Brings together how long the tasks of one job took on each node, in means of the job.
class pair_times {
  public:
    void prepare(std::size_t nodes) { joiner_.prepare(nodes); }
    // Calls sink.time or sink.times for each node of the job, and sink.link for all of them.
    template <class Siblings, class Sink>
    void time(Siblings const& siblings, double mean, Sink& sink) {
        auto const job = job_yardstick::of(siblings.size(), mean);
        if (siblings.empty() || !(job.per_mean > 0)) return;
        auto const itself = [](auto const& a) STRAGGLE_INLINE_LAMBDA -> auto const& { return a; };
        for (std::size_t i = 0; i < siblings.size(); ++i) joiner_.note(siblings[i].node, i);
        time_alone(job, joiner_.alone(siblings, itself), siblings, itself, sink);
        joiner_.join(
            siblings, itself,
            [](running_moments& together, auto const& a) { together.add(static_cast<double>(a.value)); },
            [&](std::size_t node, running_moments const& together) {
                sink.times(job, node, together.n, together.mean, together.squares);
            });
        sink.link(siblings, itself);
    }

  private:
    node_joiner<running_moments> joiner_;
};

// Keeps all its tables between runs. `Rows` says whether scores are handed out with the place of their
// record.
template <class Record, class Fields, class Options, bool Rows>
class batch_scorer {
    using normalizer_type = decltype(Options::normalizer);
    static constexpr bool per_input = rank::input_normalizer<normalizer_type>;
    using value_type = std::conditional_t<per_input, double, reading_t<Fields, Record>>;
    using core_type = std::remove_cvref_t<decltype(core_normalizer(std::declval<normalizer_type const&>()))>;
    static constexpr bool by_moments = rank::moment_normalizer<core_type>;
    // Exact ticks are scored by (node, job), so that the sums alone decide; see score_moments.
    static constexpr bool by_pairs = by_moments && std::integral<value_type> && !Rows;
    static constexpr bool grouped = by_pairs || !by_moments;

  public:
    using job_id = owned_identifier_t<job_key_t<Fields, Record>>;
    using node_id = owned_identifier_t<node_key_t<Fields, Record>>;

    // Calls of `sink`: begin(table) when all jobs and nodes are known; then score(row, job slot, node slot,
    // score) for each scored attempt, or group(node slot, durations, scale) for all that one job has on one
    // node; times(job yardstick, node slot, first node slot of the job, n, mean, squared deviations) for each
    // job and node where slowdowns are wanted; then end(table).
    template <class Attempts, class Sink>
    void run(Attempts& attempts, Fields const& fields, Options const& options, Sink&& sink) {
        counts = {};
        bool const dedupe = given<decltype(Fields::task)> && options.counted == completions::first_of_task;
        if constexpr (dense_candidate<Attempts, Fields, Record> && !per_input) {
            if (!dedupe && dense_.collect(attempts, fields, counts, jobs_)) {
                bits_ = dense_.bits();
                is_dense_ = true;
                sink.begin(dense_);
                score_all(dense_, options, sink,
                          [&](auto&& prefetch, auto&& use) { dense_.walk(attempts, fields, prefetch, use); });
                sink.end(dense_);
                return;
            }
        }
        if (dedupe || per_input)
            hashed_.collect(attempts, fields, counts, jobs_, dedupe, per_input);
        else
            hashed_.collect(attempts, fields, counts, jobs_);
        bits_ = hashed_.bits();
        is_dense_ = false;
        sink.begin(hashed_);
        score_all(hashed_, options, sink, [&](auto&& prefetch, auto&& use) { hashed_.walk(prefetch, use); });
        sink.end(hashed_);
    }

    // Calls `use` with the table of the last run, which the sink was given.
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
        tell_times_ = options.slowdowns;
        if (!Rows && tell_times_) pairs_.prepare(table.nodes().slots());
        if constexpr (grouped)
            score_by_job(table, norm, sink, walk);
        else
            score_by_moments(table, norm, sink, walk);
    }

    template <class Table, class Sink, class Walk>
    void score_by_moments(Table const& table, core_type const& norm, Sink& sink, Walk&& walk) {
        if (scales_.size() < jobs_.size()) scales_.resize(jobs_.size()); // of jobs that are there all are set
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

    // How long the tasks of each node take in each job that is scored by moments.
    template <class Table, class Sink, class Walk>
    void time_jobs(Table const& table, Sink& sink, Walk&& walk) {
        auto const count = [this](std::size_t job) { return jobs_[job].count(); };
        groups_.sort(table.jobs(), count, walk);
        for (std::size_t place = 0; place < table.jobs().size(); ++place) {
            std::size_t const job = table.jobs().slot_at(place);
            if (!scales_[job].usable) continue;
            pairs_.time(groups_.of(job, jobs_[job].count()), jobs_[job].mean(), sink);
        }
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
        if (!fitted) return fitted.reason();
        auto const by = job_yardstick::of(durations.count(), durations.mean());
        auto const alone = joiner_.alone(siblings, read);
        for (std::uint32_t const i : alone) {
            auto const& a = read(siblings[i]);
            sink.score(0, job, a.node, (*fitted)(a.value));
        }
        if (tell_times_) time_alone(by, alone, siblings, read, sink);
        joiner_.join(
            siblings, read,
            [](stats::tick_moments& together, auto const& a)
                STRAGGLE_INLINE_LAMBDA { together.add(a.value); },
            [&](std::size_t node, stats::tick_moments const& together) {
                sink.group(node, together, *fitted);
                if (tell_times_)
                    sink.times(by, node, together.count(), together.mean(),
                               together.sum_of_squared_deviations());
            });
        if (tell_times_ && !siblings.empty()) sink.link(siblings, read);
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
        status const s = norm.normalize(std::span<double>(scores_), std::span<double>(scratch_));
        if (s != status::ok) return s;
        for (std::size_t k = 0; k < size; ++k) {
            if (!is_finite(scores_[k])) continue;
            std::size_t row = 0;
            if constexpr (Rows) row = siblings[k].row;
            sink.score(row, job, siblings[k].node, scores_[k]);
            ++scored;
        }
        if constexpr (!Rows) {
            if (tell_times_ && size != 0) {
                double sum = 0;
                for (std::size_t k = 0; k < size; ++k) sum += static_cast<double>(siblings[k].value);
                pairs_.time(siblings, sum / static_cast<double>(size), sink);
            }
        }
        return status::ok;
    }

    dense_attempts<Record, Fields> dense_;
    hashed_attempts<Record, Fields, value_type, Rows> hashed_;
    std::vector<std::conditional_t<grouped, job_tally, job_moments_t<value_type>>> jobs_;
    std::vector<job_scale<value_type>> scales_;
    job_groups<value_type, Rows> groups_;
    packed_groups packed_;
    node_joiner<stats::tick_moments> joiner_;
    pair_times pairs_;
    bool tell_times_ = false;
    std::uint64_t bits_ = 0;               // that any integer duration has
    bool is_dense_ = false;                // the last run was read in place
    std::vector<double> scores_, scratch_; // of one job
};

} // namespace straggle::detail
