// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: the individual attempts of unfinished jobs, within a bound.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/idle_order.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/rank/detail/log_ticks.hpp>
#include <straggle/record/attempt_event.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// An ended attempt, in compact form.
struct timed_attempt {
    std::uint64_t task = no_task;
    double end = 0;
    std::uint32_t node = 0;
    std::int32_t ticks = 0; // log of its length
    float input = unknown_input;
    bool censored = false; // the full time would have been longer
    bool copy = false;
    bool killed = false; // for another reason than a faster attempt of its task

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        std::int64_t wide = self.ticks;
        a(self.task, self.end, self.node, wide);
        log_input_field(self.input, a);
        a(self.censored, self.copy, self.killed);
        bool const is_valid = is_finite(self.end) && wide > -80000000 && wide < 80000000;
        a.expect(is_valid);
        if constexpr (Archive::reads) self.ticks = is_valid ? static_cast<std::int32_t>(wide) : 0;
    }
};

// A job, or its attempts since its last stretch was closed.
struct live_job {
    static constexpr double never = -1e300;
    std::vector<timed_attempt> attempts;
    double opened = 0;    // start of the current stretch
    double last_seen = 0; // last time an attempt of it ended or ran
    double longest = 0;   // longest attempt, ended or running
    std::uint64_t kind = 0;
    double weighed = never;                   // up to when it was used to find hung nodes
    bool fresh = false;                       // an attempt ended since it was last examined
    bool over = false;                        // waits for the next update to be closed
    std::uint32_t killed = 0, with_input = 0; // attempts
    std::int64_t ticks = 0;                   // of all attempts

    // How long an attempt usually takes. @pre there is one
    [[nodiscard]] double usual() const noexcept {
        return std::exp(nats_per_tick * static_cast<double>(ticks) / static_cast<double>(attempts.size()));
    }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.kind, self.opened, self.last_seen, self.longest, self.weighed, self.fresh, self.over);
        a.expect(are_finite(self.opened, self.last_seen, self.longest, self.weighed) && self.longest >= 0);
        a.items(self.attempts, 8 + 8 + 4 + 8 + 8 + 3);
    }
};

class job_memory {
  public:
    static constexpr std::uint32_t none = interner<std::uint64_t>::none;

    [[nodiscard]] std::uint32_t find(std::uint64_t key) const { return keys_.find(key); }
    [[nodiscard]] std::uint64_t key(std::uint32_t job) const { return keys_[job]; }
    [[nodiscard]] bool contains(std::uint32_t job) const noexcept { return keys_.contains(job); }
    [[nodiscard]] std::uint32_t bound() const noexcept { return static_cast<std::uint32_t>(keys_.bound()); }
    [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }
    [[nodiscard]] std::size_t attempts() const noexcept { return attempts_; }
    [[nodiscard]] live_job& operator[](std::uint32_t job) { return jobs_[job]; }
    [[nodiscard]] live_job const& operator[](std::uint32_t job) const { return jobs_[job]; }

    // The index of a job, created if needed. Strong guarantee.
    std::uint32_t insert(std::uint64_t key, double now) {
        std::size_t const before = keys_.size();
        idle_.make_room(before, [this](auto&& visit) {
            for (std::uint32_t j = 0; j < bound(); ++j)
                if (keys_.contains(j)) visit(keys_[j], jobs_[j].last_seen);
        });
        if (keys_.bound() >= jobs_.size()) {
            make_room_for_one(jobs_);
            jobs_.resize(keys_.bound() + 1);
        }
        std::uint32_t const job = keys_.insert(key);
        if (keys_.size() != before) {
            live_job& fresh = jobs_[job];
            fresh.attempts.clear();
            fresh.opened = fresh.last_seen = now;
            fresh.longest = 0;
            fresh.kind = 0;
            fresh.weighed = live_job::never;
            fresh.fresh = fresh.over = false;
            fresh.killed = fresh.with_input = 0;
            fresh.ticks = 0;
            idle_.add(key, now);
        }
        return job;
    }
    // The unused indices below `bound()`, in the order in which new jobs get them.
    [[nodiscard]] std::vector<std::uint32_t> unused() const {
        std::vector<std::uint32_t> order;
        keys_.for_each_erased([&](std::uint32_t job) { order.push_back(job); });
        return order;
    }
    // Makes `insert` give the indices below a bound that are not `unused` in ascending order, then the unused
    // ones in theirs. @pre the memory is new; the unused ones are distinct and below the bound
    void lay_out(std::size_t bound, std::span<std::uint32_t const> unused) {
        for (std::size_t job = 0; job < bound; ++job) keys_.insert(job);
        for (std::size_t i = unused.size(); i-- > 0;) keys_.erase(unused[i]);
        for (std::uint32_t job = this->bound(); job-- > 0;)
            if (keys_.contains(job)) keys_.erase(job);
    }
    // Adds a job that was read. @pre it is new
    void insert(std::uint64_t key, live_job const& read) {
        std::uint32_t const at = insert(key, read.last_seen);
        live_job& job = jobs_[at];
        job.opened = read.opened;
        job.kind = read.kind;
        job.longest = read.longest;
        job.weighed = read.weighed;
        job.fresh = read.fresh;
        if (read.over) end(at);
        for (timed_attempt const& a : read.attempts) add(at, a);
    }
    // Strong guarantee.
    void add(std::uint32_t job, timed_attempt const& attempt) {
        live_job& to = jobs_[job];
        to.attempts.push_back(attempt);
        to.ticks += attempt.ticks;
        to.killed += attempt.killed ? 1u : 0u;
        to.with_input += is_nan(static_cast<double>(attempt.input)) ? 0u : 1u;
        ++attempts_;
    }
    // Marks a job as over.
    void end(std::uint32_t job) noexcept {
        over_ += jobs_[job].over ? 0u : 1u;
        jobs_[job].over = true;
    }
    [[nodiscard]] bool is_any_over() const noexcept { return over_ != 0; }
    // Drops the attempts of a job that continues.
    void empty(std::uint32_t job, double now) noexcept {
        attempts_ -= jobs_[job].attempts.size();
        jobs_[job].attempts.clear();
        jobs_[job].opened = now;
        jobs_[job].fresh = false;
        jobs_[job].killed = jobs_[job].with_input = 0;
        jobs_[job].ticks = 0;
    }
    void erase(std::uint32_t job) {
        attempts_ -= jobs_[job].attempts.size();
        jobs_[job].attempts.clear();
        over_ -= jobs_[job].over ? 1u : 0u;
        keys_.erase(job);
    }
    // The job not seen for longest. @pre there is one
    [[nodiscard]] std::uint32_t idlest() noexcept {
        return find(idle_.oldest([this](std::uint64_t of) -> double const* {
            std::uint32_t const j = find(of);
            return j == none ? nullptr : &jobs_[j].last_seen;
        }));
    }

  private:
    interner<std::uint64_t> keys_;
    std::vector<live_job> jobs_; // by index
    idle_order<double> idle_;
    std::size_t attempts_ = 0, over_ = 0;
};

} // namespace straggle::detail
