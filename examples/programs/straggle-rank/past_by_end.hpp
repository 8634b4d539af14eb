// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The attempts of a history as they would have been reported at the time: in order of their ends, by a clock
/// that starts with them. They are not copied, since histories are long.
#pragma once

#include "attempt_list.hpp"
#include "evidence.hpp"
#include "history.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle_rank {

/// All attempts whose job, node and length are known, in order of their ends; if the history has only
/// durations, as if all had started at once.
/// @par Cost
/// 4 bytes per attempt, or nothing if they are in that order already
/// @tparam List of attempts, with size and index
template <class List>
class past_by_end {
    using record = std::remove_cvref_t<decltype(std::declval<List const&>()[0])>;
    using Time = std::remove_cvref_t<decltype(*std::declval<record const&>().end())>;

  public:
    /// @param attempts outlive it
    /// @param input how much each of them had to read
    explicit past_by_end(List const& attempts, input_of<record> input) : attempts_(attempts), input_(input) {
        for (std::size_t i = 0; i < attempts.size(); ++i) {
            record const& a = attempts[i];
            if (!a.end() || !a.job() || !a.node()) continue;
            Time const first = begin_of(a);
            if (!any_end_ || first < origin_) origin_ = first;
            any_end_ = true;
        }
        double last = 0;
        std::size_t told = 0;
        for (std::size_t i = 0; i < attempts.size(); ++i) {
            auto const p = tell(attempts[i]);
            if (!p) continue;
            ++told;
            is_in_order_ = is_in_order_ && p->end >= last;
            last = p->end;
        }
        if (is_in_order_) return;
        order_.reserve(told);
        for (std::uint32_t i = 0; i < attempts.size(); ++i)
            if (tell(attempts[i])) order_.push_back(i);
        std::ranges::sort(order_, [&](std::uint32_t a, std::uint32_t b) {
            double const x = tell(attempts[a])->end, y = tell(attempts[b])->end;
            return x < y || (x == y && a < b);
        });
    }

    /// The origin of its clock, by that of the history.
    [[nodiscard]] Time origin() const { return origin_; }
    /// Calls visit(past_attempt) for those that have ended by `now` and were not reported yet.
    template <class Visit>
    void up_to(double now, Visit&& visit) {
        for (; next_ < size(); ++next_) {
            auto const p = tell(attempts_[is_in_order_ ? next_ : order_[next_]]);
            if (!p) continue;
            if (p->end > now) return;
            visit(*p);
        }
    }
    /// Must be called before the first `running_at`, and before any is forgotten.
    /// @par Cost 4 bytes per attempt
    void watch_starts() {
        by_start_.reserve(attempts_.size());
        for (std::uint32_t i = 0; i < attempts_.size(); ++i)
            if (tell(attempts_[i])) by_start_.push_back(i);
        std::ranges::sort(by_start_, [&](std::uint32_t a, std::uint32_t b) {
            Time const x = begin_of(attempts_[a]), y = begin_of(attempts_[b]);
            return x < y || (x == y && a < b);
        });
    }
    /// Those that have started by `now` and not ended; valid until the next call.
    /// @pre `now` is not before that of the last call, and all that have ended by then were reported
    std::span<running_attempt const> running_at(double now, std::span<unended_attempt const> unended) {
        running_.clear();
        for (; started_ < by_start_.size(); ++started_) {
            std::uint32_t const i = by_start_[started_];
            if (i < done()) continue; // it may be forgotten
            if (tell(attempts_[i])->start > now) break;
            active_.push_back(i);
        }
        std::erase_if(active_, [&](std::uint32_t i) {
            if (i < done()) return true;
            auto const p = tell(attempts_[i]);
            if (p->end > now) running_.push_back({p->job, p->node, p->start, p->input});
            return p->end <= now;
        });
        add_unended(now, unended);
        return running_;
    }
    /// Those that never ended, once all others have ended; valid until the next call.
    std::span<running_attempt const> unended_at(double now, std::span<unended_attempt const> unended) {
        running_.clear();
        add_unended(now, unended);
        return running_;
    }
    /// The same for all that were not reported yet.
    template <class Visit>
    void rest(Visit&& visit) {
        up_to(std::numeric_limits<double>::infinity(), visit);
    }
    /// How many of the list are no longer used, if it is in order.
    [[nodiscard]] std::size_t done() const { return is_in_order_ ? next_ : 0; }
    /// The start of an attempt that never ended, by its clock.
    [[nodiscard]] double by_own_clock(unended_attempt const& a) const {
        return a.start - static_cast<double>(origin_);
    }
    /// Reports all of them again.
    void rewind() { next_ = 0; }

  private:
    [[nodiscard]] std::size_t size() const { return is_in_order_ ? attempts_.size() : order_.size(); }

    // Empty for unusable attempts: without a job, a node or a length, or without an end where others have
    // one.
    [[nodiscard]] std::optional<past_attempt> tell(record const& a) const {
        if (!a.job() || !a.node() || (any_end_ && !a.end())) return std::nullopt;
        double took = 0;
        if (a.duration())
            took = static_cast<double>(*a.duration());
        else if (a.start() && a.end())
            took = static_cast<double>(*a.end() - *a.start());
        else if (a.status() == straggle::attempt_status::success)
            return std::nullopt;
        if (!(took >= 0)) return std::nullopt;
        past_attempt p{*a.job(), *a.node(), a.task(), 0, 0, a.status()};
        p.end = any_end_ ? static_cast<double>(*a.end() - origin_) : took;
        p.start = p.end - took;
        p.input = input_(a).value_or(0);
        return p;
    }
    void add_unended(double now, std::span<unended_attempt const> unended) {
        if (!any_end_) return; // no clock by which to read starts
        for (unended_attempt const& a : unended)
            if (double const start = by_own_clock(a); start <= now)
                running_.push_back({a.job, a.node, start, a.input});
    }
    static Time begin_of(record const& a) {
        if (a.start()) return *a.start();
        return a.duration() ? static_cast<Time>(*a.end() - *a.duration()) : *a.end();
    }

    List const& attempts_;
    input_of<record> input_;
    std::vector<std::uint32_t> order_; // empty if they are in order
    std::size_t next_ = 0;
    std::vector<std::uint32_t> by_start_, active_; // indices
    std::size_t started_ = 0;
    std::vector<running_attempt> running_;
    Time origin_{};
    bool any_end_ = false, is_in_order_ = true;
};

} // namespace straggle_rank
