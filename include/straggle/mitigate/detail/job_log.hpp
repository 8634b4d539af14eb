// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/mitigator.hpp`: follows jobs and tasks that were acted on, or left alone on
/// purpose, until their durations are known.
#pragma once

#include <straggle/base/archive.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/mitigate/effect_meter.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Unfinished jobs, and tasks for which a copy was planned.
class job_log {
    static constexpr std::uint32_t none = interner<std::uint64_t>::none;

  public:
    explicit job_log(std::size_t most) noexcept : most_(most) {}

    struct job_entry {
        double first_start = 0, last_end = 0, last_seen = 0, longest = 0, sum_log = 0;
        std::uint32_t ended = 0, kind = 0;
        std::uint8_t exposed = 0; // bits by action_kind
        bool left_alone = false, runs = false;
        bool is_compared = true; // false once a job was left alone for only part of its time

        template <class Self, class Archive>
        static void fields(Self& self, Archive& a) {
            a(self.first_start, self.last_end, self.last_seen, self.longest, self.sum_log);
            a(self.ended, self.kind, self.exposed, self.left_alone, self.runs, self.is_compared);
            for (double const x : {self.first_start, self.last_end, self.last_seen, self.sum_log})
                a.expect(is_finite(x));
            a.expect(self.first_start <= self.last_end && std::fabs(self.sum_log) <= 800.0 * self.ended);
            a.expect(self.longest >= 0 && is_finite(self.longest) &&
                     self.exposed >> mitigate::action_kind_count == 0);
        }
    };

    // The entry of a job, created if needed; null when the table is full.
    job_entry* touch(std::uint64_t job, double now, bool left_alone, std::uint32_t kind) {
        std::uint32_t at = jobs_.find(job);
        if (at == none) {
            if (jobs_.size() >= most_) {
                ++refused_;
                return nullptr;
            }
            make_room_for_one(entries_);
            at = jobs_.insert(job);
            if (at == entries_.size()) entries_.emplace_back();
            entries_[at] = {.first_start = now, .last_end = now, .left_alone = left_alone};
        }
        job_entry& e = entries_[at];
        if (e.last_seen < now) e.last_seen = now;
        e.kind = kind;
        return &e;
    }
    [[nodiscard]] job_entry const* find(std::uint64_t job) const {
        std::uint32_t const at = jobs_.find(job);
        return at == none ? nullptr : &entries_[at];
    }
    static void ran(job_entry& e, double start, double now) noexcept {
        if (start < e.first_start) e.first_start = start;
        if (now - start > e.longest) e.longest = now - start;
    }
    static void ended(job_entry& e, double start, double end) {
        ran(e, start, end);
        if (end > e.last_end) e.last_end = end;
        if (end > start) e.sum_log += std::log(end - start);
        ++e.ended;
    }
    static void expose(job_entry& e, mitigate::action_kind kind) noexcept {
        e.exposed = static_cast<std::uint8_t>(e.exposed | (1u << static_cast<unsigned>(kind)));
    }

    // The job is over: credits its duration to the actions it was exposed to.
    void finish(std::uint64_t job, mitigate::effect_meter& meter) {
        std::uint32_t const at = jobs_.find(job);
        if (at == none) return;
        close(entries_[at], meter);
        jobs_.erase(at);
    }
    // Finishes jobs not seen for three times their longest attempt. A job that lasts longer than `most_alone`
    // is no longer left alone: it may be a service or a queue, whose name never ends.
    void sweep(double now, double most_alone, mitigate::effect_meter& meter) {
        for (std::uint32_t at = 0; at < jobs_.bound(); ++at) {
            if (!jobs_.contains(at)) continue;
            job_entry& e = entries_[at];
            if (e.left_alone && now - e.first_start > most_alone) e.left_alone = e.is_compared = false;
            if (now - e.last_seen > 3 * e.longest && e.longest > 0) {
                close(e, meter);
                jobs_.erase(at);
            }
        }
        for (std::uint32_t at = 0; at < tasks_.bound(); ++at)
            if (tasks_.contains(at) &&
                now - trials_[at].last_seen > 3 * trials_[at].expected + (now - last_sweep_))
                tasks_.erase(at);
        last_sweep_ = now;
    }

    // A copy was planned for a task, or would have been; only the first plan counts.
    void plan_copy(std::uint64_t task, std::uint64_t stratum, bool left_alone, double now, double expected) {
        if (!(expected > 0)) return;
        std::uint32_t at = tasks_.find(task);
        if (at == none) {
            if (tasks_.size() >= most_trials) return;
            make_room_for_one(trials_);
            at = tasks_.insert(task);
            if (at == trials_.size()) trials_.emplace_back();
            trials_[at] = {
                .planned = now, .expected = expected, .stratum = stratum, .left_alone = left_alone};
        }
        trials_[at].last_seen = now;
    }
    // A task ended: compares the time left when the copy was planned with the prediction.
    void task_ended(std::uint64_t task, double end, mitigate::effect_meter& meter) {
        if (tasks_.size() == 0) return;
        std::uint32_t const at = tasks_.find(task);
        if (at == none) return;
        trial const& t = trials_[at];
        // Floor at 1 % of the prediction: shorter times measure how often plans are made.
        double const took = end - t.planned, least = t.expected / 100;
        meter.observe(mitigate::action_kind::copy, t.stratum, !t.left_alone,
                      (took > least ? took : least) / t.expected);
        tasks_.erase(at);
    }
    // The task is still running.
    void task_runs(std::uint64_t task, double now) {
        if (tasks_.size() == 0) return;
        if (std::uint32_t const at = tasks_.find(task); at != none) trials_[at].last_seen = now;
    }

    // More than there is room for is dropped. @pre for reading: the log is new
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.last_sweep_);
        a.expect(is_finite(self.last_sweep_));
        place_fields(self.jobs_, self.entries_, self.most_, a);
        place_fields(self.tasks_, self.trials_, most_trials, a);
    }

    [[nodiscard]] std::size_t jobs() const noexcept { return jobs_.size(); }
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }

  private:
    struct trial {
        double planned = 0, expected = 0, last_seen = 0;
        std::uint64_t stratum = 0;
        bool left_alone = false;

        template <class Self, class Archive>
        static void fields(Self& self, Archive& a) {
            a(self.planned, self.expected, self.last_seen, self.stratum, self.left_alone);
            a.expect(is_finite(self.planned) && is_finite(self.last_seen) && self.expected > 0 &&
                     is_finite(self.expected));
        }
    };
    static constexpr std::size_t most_trials = 4096;

    // In ascending order of names.
    template <class Names, class Entries, class Archive>
    static void place_fields(Names& names, Entries& entries, std::size_t most, Archive& a) {
        std::vector<std::uint32_t> order;
        for (std::uint32_t at = 0; at < names.bound(); ++at)
            if (names.contains(at)) order.push_back(at);
        std::sort(order.begin(), order.end(),
                  [&](std::uint32_t i, std::uint32_t j) { return names[i] < names[j]; });
        std::size_t count = order.size();
        a.count(count, 33);
        std::uint64_t before = 0;
        for (std::size_t k = 0; k < count && a.ok(); ++k) {
            if constexpr (Archive::reads) {
                std::uint64_t name = 0;
                typename Entries::value_type next;
                a(name, next);
                if (!a.expect(k == 0 || before < name)) return;
                before = name;
                if (names.size() >= most) continue;
                names.insert(name);
                entries.push_back(next);
            } else {
                a(names[order[k]], entries[order[k]]);
            }
        }
    }

    static void close(job_entry const& e, mitigate::effect_meter& meter) {
        if (!e.is_compared || e.exposed == 0 || e.ended == 0 || !(e.last_end > e.first_start)) return;
        // Relative to the usual length of its tasks: jobs of a kind differ less in size than in what they do.
        double const usual = std::exp(e.sum_log / e.ended);
        double const span = e.last_end - e.first_start;
        auto const size = static_cast<std::uint64_t>(std::bit_width(e.ended));
        bool const knows_kind = e.kind != no_kind_known;
        double const time = knows_kind ? span : span / usual;
        std::uint64_t const stratum = size + (knows_kind ? (std::uint64_t{e.kind} + 1) * 64 : 0);
        for (std::size_t k = 0; k < mitigate::action_kind_count; ++k)
            if ((e.exposed >> k & 1u) != 0)
                meter.observe(static_cast<mitigate::action_kind>(k), stratum, !e.left_alone, time);
    }
    static constexpr std::uint32_t no_kind_known = 0xFFFFFFFFu;

    interner<std::uint64_t> jobs_, tasks_;
    std::vector<job_entry> entries_;
    std::vector<trial> trials_;
    std::size_t most_;
    std::uint64_t refused_ = 0;
    double last_sweep_ = 0;
};

} // namespace straggle::detail
