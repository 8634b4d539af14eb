// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: the data of a job, and how a new job gets its number.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/monitor/detail/job_memory.hpp>
#include <straggle/monitor/detail/pair_table.hpp>
#include <straggle/monitor/detail/used_nodes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// The pairs of a job within one time step.
template <class Pair>
struct job_span {
    static constexpr std::uint32_t none = (std::numeric_limits<std::uint32_t>::max)();
    pair_table<Pair> table;
    std::uint32_t next = none; // next span of the same job; never the first one
    float longest = 0;         // longest attempt

    void lengthen(double attempt) noexcept {
        float const length = as_length(attempt);
        if (length > longest) longest = length;
    }
};
// Spans other than the first of their job, in one list per job.
template <class Pair>
class later_spans {
  public:
    using span_type = job_span<Pair>;
    static constexpr std::uint32_t none = span_type::none;

    // The next span of the job, or null.
    [[nodiscard]] span_type const* after(span_type const& s) const noexcept {
        return s.next == none ? nullptr : &spans_[s.next];
    }
    [[nodiscard]] span_type* after(span_type const& s) noexcept {
        return s.next == none ? nullptr : &spans_[s.next];
    }
    [[nodiscard]] span_type* find(span_type& first, std::uint32_t slot) noexcept {
        if (first.table.size() == 0) return nullptr;
        span_type* s = &first;
        while (s != nullptr && s->table.slot != slot) s = after(*s);
        return s;
    }
    void make_room() {
        if (free_ == none) make_room_for_one(spans_);
    }
    // Moves the first span here, and returns its index. @pre there is room
    [[nodiscard]] std::uint32_t push(span_type const& first) noexcept {
        std::uint32_t const at = free_;
        if (at == none) {
            spans_.push_back(first);
            return static_cast<std::uint32_t>(spans_.size() - 1);
        }
        free_ = std::exchange(spans_[at], first).next;
        return at;
    }
    // Removes a span without pairs from the list of its job.
    void unlink(span_type& first, span_type& span) noexcept {
        std::uint32_t const next = span.next;
        if (&span != &first) {
            span_type* before = &first;
            while (after(*before) != &span) before = after(*before);
            free(std::exchange(before->next, next));
        } else if (next == none) {
            first = {};
        } else {
            first = spans_[next];
            free(next);
        }
    }
    void swap(later_spans& other) noexcept {
        spans_.swap(other.spans_);
        std::swap(free_, other.free_);
    }

  private:
    void free(std::uint32_t span) noexcept {
        spans_[span] = {};
        spans_[span].next = std::exchange(free_, span);
    }

    std::vector<span_type> spans_;
    std::uint32_t free_ = none;
};
// Data needed for every attempt.
template <class Pair>
struct job_row {
    job_span<Pair> first; // the latest span; without pairs if none is in the ring
    [[no_unique_address]] typename Pair::origin_type origin{};
};
// Data rarely needed.
template <class Pair>
struct job_past {
    std::uint64_t seen = 0;             // creation number of the job
    typename Pair::moments_type gone{}; // its sums from expired steps
    // Latest step in which it was seen, among expired steps and steps in which it was running.
    std::int64_t last = (std::numeric_limits<std::int64_t>::min)();
    float longest = 0; // longest attempt that ended in expired steps, or is running
    bool is_finished = false;
    bool is_idle = false; // has a row in the list of idle jobs
};

// The live jobs of a store in order of first appearance.
template <class Store>
[[nodiscard]] std::vector<std::uint32_t> jobs_in_order(Store const& held) {
    std::vector<std::uint32_t> order;
    order.reserve(held.jobs().size());
    for (std::uint32_t job = 0; job < held.jobs().bound(); ++job)
        if (held.jobs().contains(job)) order.push_back(job);
    std::sort(order.begin(), order.end(),
              [&held](std::uint32_t a, std::uint32_t b) { return held.past(a).seen < held.past(b).seen; });
    return order;
}

// Assigns numbers to identifiers, and revokes them unless they are kept explicitly: so a failed allocation
// leaves no trace.
template <class Store>
class new_names {
    using origin_type = typename Store::origin_type;
    using job_key = typename Store::job_key;
    using node_key = typename Store::node_key;
    static constexpr std::uint32_t none = Store::none;

  public:
    new_names(Store& s, origin_type origin) noexcept : s_(s), origin_(origin) {}
    new_names(new_names const&) = delete;
    new_names& operator=(new_names const&) = delete;
    ~new_names() {
        if (new_job_ != none) s_.jobs_.erase(new_job_);
        if (new_node_ != none) s_.nodes_.take_back(new_node_);
    }
    std::uint32_t job(job_key id) {
        room_for_all(s_.rows_, s_.jobs_);
        room_for_all(s_.pasts_, s_.jobs_);
        if (s_.memory_.any()) s_.idle_.reserve(s_.jobs_.bound() + 1);
        std::size_t const before = s_.jobs_.size();
        std::uint32_t const job = s_.jobs_.insert(id);
        if (s_.jobs_.size() != before) new_job_ = job;
        return job;
    }
    std::uint32_t node(node_key id) {
        bool is_new = false;
        std::uint32_t const node = s_.nodes_.insert(id, is_new);
        if (is_new) new_node_ = node;
        return node;
    }
    void keep() noexcept {
        if (new_job_ != none) {
            s_.pasts_[new_job_].seen = s_.n_.jobs_seen++;
            s_.rows_[new_job_].origin = origin_;
        }
        if (new_node_ != none) s_.nodes_.keep(new_node_);
        new_job_ = new_node_ = none;
    }

  private:
    Store& s_;
    origin_type origin_;
    std::uint32_t new_job_ = none, new_node_ = none;
};

} // namespace straggle::detail
