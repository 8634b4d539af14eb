// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/detail/batch_scorer.hpp`: a compact copy of the attempts, with numbers for jobs and
/// nodes of any type.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/prefetch.hpp>
#include <straggle/rank/detail/first_completions.hpp>
#include <straggle/rank/detail/job_memory.hpp>
#include <straggle/rank/detail/log_ticks.hpp>
#include <straggle/rank/detail/order_of_appearance.hpp>
#include <straggle/record/attempt.hpp>
#include <straggle/record/field.hpp>
#include <straggle/record/record_reader.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Fields, class Record>
using job_key_t = field_value_t<decltype(Fields::job), Record>;
template <class Fields, class Record>
using node_key_t = field_value_t<decltype(Fields::node), Record>;

// Indices from an interner, with the interface of dense_axis.
template <class Id>
class hashed_axis : public order_of_appearance {
  public:
    interner<Id> table;

    void clear() noexcept {
        table.clear();
        forget();
    }
    [[nodiscard]] std::size_t slots() const noexcept { return table.size(); }
    [[nodiscard]] Id const& id(std::size_t slot) const { return table[static_cast<std::uint32_t>(slot)]; }
};

// Attempts copied as (job, node, value) with interned identifiers; with their index in the range if `Rows`.
template <class Record, class Fields, class Value, bool Rows>
class hashed_attempts {
  public:
    using value_type = Value;
    using job_id = owned_identifier_t<job_key_t<Fields, Record>>;
    using node_id = owned_identifier_t<node_key_t<Fields, Record>>;

    [[nodiscard]] auto const& jobs() const noexcept { return jobs_; }
    [[nodiscard]] auto const& nodes() const noexcept { return nodes_; }

    // Copies every usable attempt, and sums the moments of each job.
    template <class Range, class Moments>
    void collect(Range& attempts, Fields const& fields, attempt_counts& counts,
                 std::vector<Moments>& moments_of) {
        clear();
        moments_of.clear();
        attempt_counts skipped;
        std::uint64_t bits = 0;
        std::size_t place = 0;
        for (auto const& record : attempts) {
            if (note_killed(fields, record)) {
                ++skipped.killed;
                ++place;
                continue;
            }
            judge_attempt(
                fields, record, skipped,
                [&](auto const& job, auto const& node, auto value) STRAGGLE_INLINE_LAMBDA {
                    row r{jobs_.table.insert(job), nodes_.table.insert(node), static_cast<Value>(value), {}};
                    if constexpr (Rows) r.place = place;
                    if (r.job == moments_of.size()) [[unlikely]]
                        moments_of.emplace_back();
                    moments_of[r.job].add(r.value);
                    if constexpr (std::integral<Value>) bits |= static_cast<std::uint64_t>(r.value);
                    rows_.push_back(r);
                });
            ++place;
        }
        bits_ = bits;
        skipped.seen = place;
        skipped.used = rows_.size();
        counts += skipped;
        for (std::size_t job = 0; job < jobs_.slots(); ++job) jobs_.append(job);
        for (std::size_t node = 0; node < nodes_.slots(); ++node) nodes_.append(node);
        place_killed();
    }

    // The same if attempts may be superseded, or must be divided by their input first.
    template <class Range, class Moments>
    void collect(Range& attempts, Fields const& fields, attempt_counts& counts,
                 std::vector<Moments>& moments_of, bool first_of_task, bool per_input, bool with_inputs) {
        read(attempts, fields, counts, first_of_task, per_input, with_inputs);
        if constexpr (std::floating_point<Value>)
            if (per_input) divide_by_input();
        moments_of.assign(jobs_.slots(), {});
        bits_ = 0;
        for (row const& r : rows_) {
            moments_of[r.job].add(r.value);
            if constexpr (std::integral<Value>) bits_ |= static_cast<std::uint64_t>(r.value);
        }
    }

    // An unscored attempt that still contributes to slowdowns: it was superseded or killed.
    struct other {
        std::uint32_t job, node;
        Value value;
        bool censored;
        float input; // logarithm
    };
    [[nodiscard]] std::span<other const> others_of(std::size_t job) const {
        auto const first = std::lower_bound(others_.begin(), others_.end(), job,
                                            [](other const& o, std::size_t j) { return o.job < j; });
        auto last = first;
        while (last != others_.end() && last->job == job) ++last;
        return {first, last};
    }

    // Calls visit(kind, attempts) for each job, with its unscored attempts, if inputs were read.
    template <class Visit>
    void for_each_job(Visit&& visit) {
        kinds_.resize(jobs_.slots());
        ends_.assign(jobs_.slots() + 1, 0);
        for (row const& r : rows_) ++ends_[r.job + std::size_t{1}];
        for (std::size_t job = 0; job < jobs_.slots(); ++job) ends_[job + 1] += ends_[job];
        order_.resize(rows_.size());
        for (std::size_t i = 0; i < rows_.size(); ++i) order_[ends_[rows_[i].job]++] = i;
        std::size_t next = 0;
        for (std::size_t job = 0; job < jobs_.slots(); ++job) {
            timed_.clear();
            for (; next < ends_[job]; ++next) {
                row const& r = rows_[order_[next]];
                add_timed(r.node, r.value, log_input(input_[order_[next]]), false);
            }
            for (other const& o : others_of(job)) add_timed(o.node, o.value, o.input, o.censored);
            visit(kinds_[job], std::span<timed_attempt const>(timed_));
        }
    }

    // Union of the bits of all integer durations.
    [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }

    template <class Prefetch, class Use>
    STRAGGLE_ALWAYS_INLINE void walk(Prefetch&& prefetch, Use&& use) const {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (i + prefetch_distance < rows_.size()) prefetch(rows_[i + prefetch_distance].job);
            std::size_t place = 0;
            if constexpr (Rows) place = rows_[i].place;
            use(place, rows_[i].job, rows_[i].node, rows_[i].value);
        }
    }

    // 0 for unknown, which is as useless a divisor as a size of 0.
    static double read_input(Fields const& fields, Record const& record) {
        if constexpr (has_input) {
            auto const& field = project(fields.input, record);
            if (!is_present(field)) return 0;
            double const input = static_cast<double>(unwrap(field));
            return is_finite(input) && input > 0 ? input : 0;
        } else {
            return 0;
        }
    }

  private:
    static constexpr bool has_input = given<decltype(Fields::input)>;

    struct row {
        std::uint32_t job;
        std::uint32_t node;
        Value value;
        [[no_unique_address]] std::conditional_t<Rows, std::size_t, base::no_field> place;
    };

    void clear() noexcept {
        jobs_.clear();
        nodes_.clear();
        rows_.clear();
        others_.clear();
        killed_.clear();
    }
    // Whether it is a killed attempt. It does not add its job or node to the tables.
    template <class Attempt>
    bool note_killed(Fields const& fields, Attempt const& attempt) {
        if constexpr (Rows || !given<decltype(Fields::status)>) {
            return false;
        } else {
            if (!record::was_stopped(read_status(fields, attempt))) return false;
            attempt_counts ignored;
            check_attempt(fields, attempt, ignored, [&](auto const& job, auto const& node, auto value) {
                killed_.push_back({job_id(job), node_id(node), static_cast<Value>(value),
                                   log_input(read_input(fields, attempt))});
            });
            return true;
        }
    }
    void place_killed() {
        for (killed_attempt const& k : killed_) {
            std::uint32_t const job = jobs_.table.find(k.job);
            if (job != interner<job_id>::none)
                others_.push_back({job, nodes_.table.insert(k.node), k.value, true, k.input});
        }
        std::sort(others_.begin(), others_.end(), [](other const& a, other const& b) {
            if (a.job != b.job) return a.job < b.job;
            if (a.node != b.node) return a.node < b.node;
            return a.value != b.value ? a.value < b.value : a.censored < b.censored;
        });
    }

    template <class Range>
    void read(Range& attempts, Fields const& fields, attempt_counts& counts, bool first_of_task,
              bool per_input, bool with_inputs) {
        clear();
        input_.clear();
        kinds_.clear();
        firsts_.clear();
        std::size_t place_in_range = 0;
        for (auto const& record : attempts) {
            std::size_t const place = place_in_range++;
            if (!per_input && note_killed(fields, record)) {
                ++counts.seen;
                ++counts.killed;
                continue;
            }
            read_attempt(fields, record, counts, [&](auto const& job, auto const& node, auto value) {
                row r{jobs_.table.insert(job), nodes_.table.insert(node), static_cast<Value>(value), {}};
                if constexpr (Rows) r.place = place;
                std::size_t at = rows_.size();
                if constexpr (first_completions<Record, Fields>::possible) {
                    if (first_of_task) {
                        auto const [known, keep] = firsts_.place(fields, record, r.job, at);
                        if (known != at) {
                            --counts.used;
                            ++counts.superseded;
                            if (!Rows && !per_input) {
                                row const& loser = keep ? rows_[known] : r;
                                double input = 0;
                                if (with_inputs) input = keep ? input_[known] : read_input(fields, record);
                                others_.push_back(
                                    {loser.job, loser.node, loser.value, false, log_input(input)});
                            }
                        }
                        if (!keep) return;
                        at = known;
                    }
                }
                if (at == rows_.size())
                    rows_.push_back(r);
                else
                    rows_[at] = r;
                if constexpr (given<decltype(Fields::kind)>) {
                    auto const& kind = project(fields.kind, record);
                    if (with_inputs && is_present(kind)) {
                        kinds_.resize(jobs_.slots());
                        kinds_[r.job] = key_of(unwrap(kind), 0);
                    }
                }
                if (with_inputs || per_input) {
                    input_.resize(rows_.size());
                    input_[at] = read_input(fields, record);
                }
            });
        }
        note_who_is_left();
        place_killed();
    }

    void add_timed(std::uint32_t node, Value duration, float input, bool censored) {
        double const length = static_cast<double>(duration);
        if (length > 1e-300)
            timed_.push_back(
                {.node = node, .ticks = log_ticks(length), .input = input, .censored = censored});
    }

    // Divides each duration by its input in jobs where every attempt has one.
    void divide_by_input() {
        complete_.assign(jobs_.slots(), 1);
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (!(input_[i] > 0) || !is_finite(rows_[i].value / input_[i])) complete_[rows_[i].job] = 0;
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (complete_[rows_[i].job] != 0) rows_[i].value /= static_cast<Value>(input_[i]);
    }

    // A node whose attempts were all superseded has no used attempt and is left out. Jobs always remain: the
    // superseding attempt is of the same job.
    void note_who_is_left() {
        for (std::size_t job = 0; job < jobs_.slots(); ++job) jobs_.append(job);
        node_seen_.assign(nodes_.slots(), 0);
        for (row const& r : rows_) node_seen_[r.node] = 1;
        for (std::size_t node = 0; node < nodes_.slots(); ++node)
            if (node_seen_[node] != 0) nodes_.append(node);
    }

    struct killed_attempt {
        job_id job;
        node_id node;
        Value value;
        float input; // logarithm
    };

    hashed_axis<job_id> jobs_;
    hashed_axis<node_id> nodes_;
    std::vector<row> rows_;
    std::vector<killed_attempt> killed_;
    std::vector<other> others_; // by job
    std::uint64_t bits_ = 0;
    std::vector<double> input_;        // by row, if inputs are used
    std::vector<std::uint64_t> kinds_; // by job, likewise
    std::vector<std::size_t> ends_, order_;
    std::vector<timed_attempt> timed_; // of the current job
    std::vector<unsigned char> node_seen_;
    std::vector<unsigned char> complete_;
    first_completions<Record, Fields> firsts_;
};

} // namespace straggle::detail
