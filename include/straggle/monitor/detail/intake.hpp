// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: processes one attempt until it is stored, or counted as dropped.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/monitor/detail/bucket_clock.hpp>
#include <straggle/monitor/detail/job_memory.hpp>
#include <straggle/monitor/detail/look_ahead.hpp>
#include <straggle/monitor/detail/monitor_fields.hpp>
#include <straggle/monitor/detail/window_store.hpp>
#include <straggle/monitor/monitor_counts.hpp>
#include <straggle/monitor/monitor_options.hpp>
#include <straggle/record/attempt.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::detail {

// All state of a monitor except its ranking, and the intake.
template <class Record, class Fields, class Ranking, class Time>
class intake {
    using reading = reading_t<Fields, Record>;
    using pair = std::conditional_t<std::integral<reading>, tick_pair, real_pair>;
    using scores_type = timed_scores<score_moments_of<reading>, std::integral<reading>>;

  public:
    using job_id = owned_identifier_t<field_value_t<decltype(Fields::job), Record>>;
    using node_id = owned_identifier_t<field_value_t<decltype(Fields::node), Record>>;
    using span_type = std::remove_cvref_t<decltype(std::declval<Time>() - std::declval<Time>())>;
    using options = monitor_options<span_type, Ranking>;
    using evidence_type = window_store<job_id, node_id, pair, scores_type>;

  protected:
    intake(Fields record_fields, options how)
        : fields_(std::move(record_fields)),
          options_(std::move(how)),
          clock_(step_length(options_)),
          evidence_(steps_of_window(options_) + (clock_.is_running() ? 1 : 0), memory(options_)),
          bounds_{options_.max_pairs, options_.max_jobs, options_.max_nodes, options_.max_finished} {}

    // Adds an attempt, read as `fields` say, whose end moves the window. `known`: an earlier result of
    // `look_up`.
    template <class Read, class Known = not_looked_up>
    bool observe_by(Read const& fields, Record const& attempt, Known const& known = {}) {
        std::optional<std::int64_t> number = 0;
        if constexpr (given<decltype(Fields::end)>)
            number = bucket_of_end(attempt);
        else
            STRAGGLE_EXPECTS(!clock_.is_running()); // a window requires observe(attempt, now)
        if (number) evidence_.advance(*number);
        return take(fields, attempt, number, known);
    }
    // The same with the caller's clock moving the window.
    template <class Read, class Known = not_looked_up>
    bool observe_at(Time now, Read const& fields, Record const& attempt, Known const& known = {}) {
        std::optional<std::int64_t> const present = clock_.bucket_of(now);
        STRAGGLE_EXPECTS(present.has_value());
        evidence_.advance(*present);
        if constexpr (given<decltype(Fields::end)>)
            return take(fields, attempt, bucket_of_end(attempt), known);
        else
            return take(fields, attempt, present, known);
    }

    // Finds the job and node of an attempt, if known.
    [[nodiscard]] looked_up look_up(Record const& attempt) const {
        auto const& held = evidence_.held();
        auto&& job = project(fields_.job, attempt);
        auto&& node = project(fields_.node, attempt);
        if (!is_present(job) || !is_present(node)) return looked_up::nowhere();
        if (is_nameless(unwrap(job)) || is_nameless(unwrap(node))) return looked_up::nowhere();
        return {held.jobs().find(unwrap(job)), held.nodes().find(unwrap(node)), looked_up::none,
                held.erasures()};
    }

    [[nodiscard]] store_bounds const& bounds() const noexcept { return bounds_; }
    // Units of time per unit of duration.
    static constexpr double durations_in_time() noexcept {
        return units_in<typename duration_of<Fields, Record>::type, span_type>();
    }
    static remembered_steps memory(options const& o) {
        STRAGGLE_EXPECTS(o.remember >= 0);
        double const step = static_cast<double>(step_length(o));
        if (!(step > 0) || o.baseline == score_baseline::window) return {};
        return remembered_steps(o.remember * durations_in_time() / step);
    }

    Fields fields_;
    options options_;
    bucket_clock<Time> clock_;
    evidence_type evidence_;
    emptied_by_moving<monitor_counts> counts_;

  private:
    // The time step in which an attempt ended; empty if unknown.
    [[nodiscard]] std::optional<std::int64_t> bucket_of_end(Record const& attempt) const {
        if (!clock_.is_running()) return 0;
        auto const& end = project(fields_.end, attempt);
        if (!is_present(end)) return std::nullopt;
        return clock_.bucket_of(unwrap(end));
    }

    // `number`: the step of the attempt, empty if unknown.
    template <class Read, class Known>
    STRAGGLE_ALWAYS_INLINE bool take(Read const& fields, Record const& attempt,
                                     std::optional<std::int64_t> number, Known const& known) {
        attempt_counts* used_in = nullptr;
        judge_attempt(fields, attempt, tally_,
                      [&](auto const& job, auto const& node, reading value) STRAGGLE_INLINE_LAMBDA {
                          if (!number) {
                              ++tally_.rejected[rejection::missing_time];
                              return;
                          }
                          std::uint32_t slot = 0;
                          if (evidence_.is_head(*number)) [[likely]] {
                              slot = evidence_.head_slot();
                          } else if (evidence_.holds(*number)) {
                              slot = evidence_.slot(*number);
                          } else if (evidence_.empty() || *number > evidence_.head()) {
                              ++counts_.value.early;
                              return;
                          } else {
                              ++counts_.value.too_old;
                              return;
                          }
                          auto& held = evidence_.held();
                          looked_up at = looked_up::nowhere();
                          if constexpr (std::same_as<Known, looked_up>)
                              if (known.erasures == held.erasures()) [[likely]]
                                  at = known;
                          if (at.job == looked_up::none) at.job = held.jobs().find(job);
                          if (at.node == looked_up::none) at.node = held.nodes().find(node);
                          if (held.add(at, job, node, slot, value, bounds_)) [[likely]]
                              used_in = &evidence_.in_slot(slot).counts;
                          else
                              ++counts_.value.over_capacity;
                      });
        if (used_in != nullptr) [[likely]] {
            for (attempt_counts* const counts : {&counts_.value.attempts, used_in}) {
                ++counts->seen;
                ++counts->used;
            }
            return true;
        }
        drop(number);
        return false;
    }

    // Counts an attempt that did not enter the statistics.
    STRAGGLE_NEVER_INLINE void drop(std::optional<std::int64_t> number) {
        tally_.seen = 1;
        attempt_counts const tally = std::exchange(tally_, {});
        counts_.value.attempts += tally;
        // Dropped attempts belong to no window; attempts without a time belong to the current step.
        bool const dropped = tally.failed + tally.killed + tally.total_rejected() == 0;
        bool const placed = number ? evidence_.holds(*number) : !evidence_.empty();
        if (!dropped && placed) evidence_.at(number.value_or(evidence_.head())).counts += tally;
    }

    store_bounds bounds_;
    attempt_counts tally_; // of the current attempt: 0 between attempts, so that it needs no clearing
};

} // namespace straggle::detail
