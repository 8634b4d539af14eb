// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/rank_nodes.hpp`: compares nodes within the jobs of one history, as
/// `slowdown_evidence` does.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/rank/detail/effect_past.hpp>
#include <straggle/rank/detail/group_builder.hpp>
#include <straggle/rank/detail/input_slopes.hpp>
#include <straggle/rank/detail/job_memory.hpp>
#include <straggle/rank/detail/log_ticks.hpp>
#include <straggle/rank/detail/node_effects.hpp>
#include <straggle/record/slowdown.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// The tasks of one job on one node: logarithms of times.
struct log_times {
    std::uint32_t tasks = 0;
    std::int64_t sum = 0;      // in ticks
    std::uint64_t squares = 0; // of differences from the first
    std::int32_t first = 0;

    void add(double duration) noexcept {
        if (!(duration > 1e-300)) return;
        std::int32_t const ticks = log_ticks(duration);
        if (tasks++ == 0) first = ticks;
        std::int64_t const off = std::int64_t{ticks} - first;
        sum += off;
        squares += static_cast<std::uint64_t>(off * off);
    }
    [[nodiscard]] double mean() const noexcept {
        return (first + static_cast<double>(sum) / tasks) * nats_per_tick;
    }
    // Sum of squared deviations from the mean.
    [[nodiscard]] double spread() const noexcept {
        auto const s = static_cast<double>(sum);
        double const rest = static_cast<double>(squares) - s * s / tasks;
        return rest > 0 ? rest * nats_per_tick * nats_per_tick : 0.0;
    }
};

class job_effects {
  public:
    void clear() noexcept {
        groups_.clear();
        cells_.clear();
        lone_.clear();
        begin_ = lone_begin_ = 0;
        open_ = {};
        inputs_ = {};
    }
    // A task that is the only one on its node in the current job.
    STRAGGLE_ALWAYS_INLINE void add(std::uint32_t node, double duration) {
        if (duration > 1e-300) lone_.push_back({node, log_ticks(duration)});
    }
    // All tasks of a node in the current job.
    void add(std::uint32_t node, log_times const& times) {
        if (times.tasks == 0) return;
        cells_.push_back({.node = node, .tasks = static_cast<double>(times.tasks), .mean = times.mean()});
        open_.squares += times.spread();
        open_.freedom += times.tasks - 1;
    }
    void close_job() {
        auto const own = std::span<effect_cell const>(cells_).subspan(begin_);
        open_.cells = static_cast<std::uint32_t>(own.size());
        open_.lone = static_cast<std::uint32_t>(lone_.size() - lone_begin_);
        open_.tasks = open_.lone + sum_over(own, [](effect_cell const& c) { return c.tasks; });
        if (open_.cells + open_.lone < 2) {
            cells_.resize(begin_);
            lone_.resize(lone_begin_);
        } else {
            groups_.push_back(open_);
        }
        open_ = {};
        begin_ = cells_.size();
        lone_begin_ = lone_.size();
    }
    // A whole job that includes unfinished attempts, or has inputs.
    void add_job(std::span<timed_attempt const> attempts, std::size_t nodes, std::uint64_t kind = 0) {
        beliefs_.resize(nodes);
        builder_.input_slope = inputs_.slope(kind);
        if (!builder_.build(attempts, {}, span_of(beliefs_))) return;
        cells_.insert(cells_.end(), builder_.cells().begin(), builder_.cells().end());
        groups_.push_back(builder_.group());
        groups_.back().kind = kind;
        begin_ = cells_.size();
    }
    // How times depend on input, from all jobs before the first is added.
    [[nodiscard]] input_slopes& inputs() noexcept { return inputs_; }
    // Merges another object; `place[i]` is this object's number for its node i, or `nowhere`.
    static constexpr std::uint32_t nowhere = 0xffffffffu;
    void append(job_effects const& other, std::span<std::uint32_t const> place) {
        std::size_t c = 0, l = 0;
        // Keeps the cells of nodes that are not nowhere, of one kind; returns their number.
        auto const keep = [place](auto const& from, std::size_t& at, std::uint32_t count, auto& to,
                                  auto&& drop) {
            std::size_t const before = to.size();
            for (std::size_t const end = at + count; at < end; ++at) {
                auto cell = from[at];
                cell.node = place[cell.node];
                if (cell.node == nowhere)
                    drop(cell);
                else
                    to.push_back(cell);
            }
            return static_cast<std::uint32_t>(to.size() - before);
        };
        for (effect_group g : other.groups_) {
            g.cells =
                keep(other.cells_, c, g.cells, cells_, [&](effect_cell const& x) { g.tasks -= x.tasks; });
            g.lone = keep(other.lone_, l, g.lone, lone_, [&](lone_task const&) { g.tasks -= 1; });
            groups_.push_back(g);
            correct_inputs({&groups_.back(), 1}, span_of(cells_).last(g.cells), g.kind,
                           -other.inputs_.slope(g.kind));
        }
        inputs_.merge(other.inputs_);
        begin_ = cells_.size();
        lone_begin_ = lone_.size();
    }
    // After the last `append`: corrects all jobs by what they show together.
    void settle_inputs() {
        inputs_.settle_all(
            [this](std::uint64_t kind, double more) { correct_inputs(groups_, cells_, kind, more); });
    }
    // Solves for the nodes below a number.
    void solve(std::size_t nodes) {
        effects_.assign(nodes, {});
        // Solved once: no sums to continue from, and no jobs that are more recent than others.
        constexpr std::uint64_t after_all = static_cast<std::uint64_t>(-1);
        solver_.forget();
        solver_.solve({}, {groups_, span_of(cells_), span_of(lone_)}, after_all, {}, effects_);
    }
    [[nodiscard]] slowdown slowdown_of(std::size_t node) const noexcept {
        node_effect const& e = effects_[node];
        return e.is_enough() ? slowdown_from(e.log_slowdown, e.variance, e.freedom, e.tasks) : slowdown{};
    }

  private:
    std::vector<effect_group> groups_;
    std::vector<effect_cell> cells_;
    effect_group open_;
    std::vector<lone_task> lone_;
    std::size_t begin_ = 0, lone_begin_ = 0; // indices of the first cells of the current job
    std::vector<node_effect> effects_;
    effect_solver solver_;
    input_slopes inputs_;
    group_builder builder_;
    std::vector<node_belief> beliefs_;
};

} // namespace straggle::detail
