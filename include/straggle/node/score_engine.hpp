// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `node/normalize.hpp` and `node/rank_nodes.hpp`: takes records through filter, job
/// statistics and normaliser, and hands out one score after the other.
#pragma once

#include <straggle/node/attempt_table.hpp>
#include <straggle/node/normalizer.hpp>
#include <straggle/node/rank_options.hpp>

#include <ranges>
#include <vector>

namespace straggle::detail {

// The normaliser that does the work, whatever it is wrapped in.
template <class N>
constexpr decltype(auto) core_normalizer(N const& n) noexcept {
    if constexpr (input_normalizer<N>)
        return n.per_input();
    else
        return (n);
}

template <class Value>
using job_moments_t = std::conditional_t<std::integral<Value>, tick_moments, moments>;

template <class Value>
struct job_scale {
    affine_scale<Value> scale;
    bool usable = false;
};

// A job without scores.
struct scoreless_job {
    std::size_t slot;
    std::uint64_t attempts;
    status reason;
};

// Keeps all its tables between runs. `Rows` says whether scores are handed out with the place of their
// record.
template <class Record, class Fields, class Options, bool Rows>
class score_engine {
    using normalizer_type = decltype(Options::normalizer);
    static constexpr bool per_input = input_normalizer<normalizer_type>;
    using value_type = std::conditional_t<per_input, double, reading_t<Fields, Record>>;
    using core_type = std::remove_cvref_t<decltype(core_normalizer(std::declval<normalizer_type const&>()))>;

  public:
    using job_id = owned_identifier_t<job_key_t<Fields, Record>>;
    using node_id = owned_identifier_t<node_key_t<Fields, Record>>;

    // Calls begin(table) when all jobs and nodes are known, score(row, job slot, node slot, score) for each
    // scored attempt, and end(table). With a moment normaliser the scores come in the order of the records.
    template <class Attempts, class Begin, class Score, class End>
    void run(Attempts& attempts, Fields const& fields, Options const& options, Begin&& begin, Score&& score,
             End&& end) {
        counts = {};
        bool const dedupe = given<decltype(Fields::task)> && options.counted == completions::first_of_task;
        if constexpr (dense_candidate<Attempts, Fields, Record> && !per_input) {
            if (!dedupe && dense_.collect(attempts, fields, counts, jobs_)) {
                begin(dense_);
                score_all(dense_, options, score,
                          [&](auto&& prefetch, auto&& use) { dense_.walk(attempts, fields, prefetch, use); });
                end(dense_);
                return;
            }
        }
        hashed_.read(attempts, fields, counts, dedupe, per_input);
        if constexpr (per_input) hashed_.divide_by_input();
        jobs_.assign(hashed_.jobs().slots(), {});
        hashed_.walk(prefetch_rows(jobs_), [jobs = jobs_.data()](std::size_t, std::size_t job, std::size_t,
                                                                 value_type value) { jobs[job].add(value); });
        begin(hashed_);
        score_all(hashed_, options, score, [&](auto&& prefetch, auto&& use) { hashed_.walk(prefetch, use); });
        end(hashed_);
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

    template <class Table, class Score, class Walk>
    void score_all(Table const& table, Options const& options, Score&& score, Walk&& walk) {
        scoreless.clear();
        usable_jobs = 0;
        scored = 0;
        if constexpr (moment_normalizer<core_type>)
            score_by_moments(table, core_normalizer(options.normalizer), score, walk);
        else
            score_by_siblings(table, core_normalizer(options.normalizer), score, walk);
    }

    template <class Table, class Score, class Walk>
    void score_by_moments(Table const& table, core_type const& norm, Score&& score, Walk&& walk) {
        scales_.assign(jobs_.size(), {});
        for (std::size_t place = 0; place < table.jobs().size(); ++place) {
            std::size_t const job = table.jobs().slot_at(place);
            auto const scale = norm.fit(jobs_[job]);
            if (scale) {
                scales_[job] = {*scale, true};
                ++usable_jobs;
                scored += jobs_[job].count();
            } else {
                scoreless.push_back({job, jobs_[job].count(), scale.reason()});
            }
        }
        walk(prefetch_rows(scales_),
             [scales = scales_.data(), &score](std::size_t row, std::size_t job, std::size_t node,
                                               value_type value) STRAGGLE_INLINE_LAMBDA {
                 job_scale<value_type> const& s = scales[job];
                 if (s.usable) score(row, job, node, s.scale(value));
             });
    }

    template <class Table, class Score, class Walk>
    void score_by_siblings(Table const& table, core_type const& norm, Score&& score, Walk&& walk) {
        // Group by job: a counting sort.
        first_.assign(jobs_.size() + 1, 0);
        for (std::size_t j = 0; j < jobs_.size(); ++j)
            first_[j + 1] = first_[j] + static_cast<std::size_t>(jobs_[j].count());
        next_.assign(first_.begin(), first_.end() - 1);
        durations_.resize(first_.back());
        scratch_.resize(first_.back());
        siblings_.resize(first_.back());
        walk([](std::size_t) {},
             [this](std::size_t row, std::size_t job, std::size_t node, value_type value) {
                 std::size_t const at = next_[job]++;
                 durations_[at] = static_cast<double>(value);
                 siblings_[at] = {static_cast<std::uint32_t>(node), {}};
                 if constexpr (Rows) siblings_[at].row = row;
             });
        for (std::size_t place = 0; place < table.jobs().size(); ++place) {
            std::size_t const job = table.jobs().slot_at(place);
            std::size_t const begin = first_[job], size = first_[job + 1] - begin;
            std::span<double> const scores(durations_.data() + begin, size);
            status const s = norm.normalize(scores, std::span<double>(scratch_.data(), size));
            if (s != status::ok) {
                scoreless.push_back({job, size, s});
                continue;
            }
            ++usable_jobs;
            for (std::size_t k = 0; k < size; ++k) {
                if (!is_finite(scores[k])) continue;
                std::size_t row = 0;
                if constexpr (Rows) row = siblings_[begin + k].row;
                score(row, job, siblings_[begin + k].node, scores[k]);
                ++scored;
            }
        }
    }

    struct sibling {
        std::uint32_t node;
        [[no_unique_address]] std::conditional_t<Rows, std::size_t, no_field> row;
    };

    dense_attempts<Record, Fields> dense_;
    hashed_attempts<Record, Fields, value_type, Rows> hashed_;
    std::vector<job_moments_t<value_type>> jobs_;
    std::vector<job_scale<value_type>> scales_;
    std::vector<std::size_t> first_, next_; // siblings of a job: [first_[job], first_[job + 1])
    std::vector<double> durations_, scratch_;
    std::vector<sibling> siblings_;
};

} // namespace straggle::detail
