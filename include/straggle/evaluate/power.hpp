// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The power and energy cost of tasks: a node draws a fixed power when it is on, and more for each busy core.
/// This gives the cost of one more task on a node, and of a whole schedule.
///
/// Source: T.-D. Phan, G. Pallez, S. Ibrahim, P. Raghavan, A new framework for evaluating straggler detection
/// mechanisms in MapReduce, ACM TOMPECS (2019), hal-02172590, section 4.1.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/stats/long_sum.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::evaluate {

/// The effect of one more task on a node.
enum class node_load : std::uint8_t {
    off,         ///< class A, no task: it would be turned on, with one busy core
    free_core,   ///< class B, 1 to c - 1 tasks: one more core would become busy
    free_thread, ///< class C, c to c t - 1 tasks: it would run on a busy core without extra power
    full,        ///< c t tasks or more: there is no room
};

/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(node_load l) noexcept {
    switch (l) {
    case node_load::off:
        return "off";
    case node_load::free_core:
        return "free_core";
    case node_load::free_thread:
        return "free_thread";
    case node_load::full:
        return "full";
    }
    return "unknown";
}

/// The power of a node with n tasks, spread evenly over its c cores of t threads each: 0 for n = 0, when it
/// is off; `static_watts + n dynamic_watts` up to c tasks; constant above. Source: section 4.1. Ours: more
/// than c t tasks draw as much as c t; the paper does not cover them.
/// @note For a cluster that never turns a node off, set `static_watts` to 0 and add the static power of all
/// nodes over the whole time.
struct power_model {
    double static_watts = 0;   ///< of a node that is on, at least 0
    double dynamic_watts = 0;  ///< of a busy core, at least 0
    std::uint32_t cores = 1;   ///< c, at least 1
    std::uint32_t threads = 1; ///< t, per core, at least 1

    /// Whether every member is in its range.
    [[nodiscard]] constexpr bool valid() const noexcept {
        return static_watts >= 0.0 && dynamic_watts >= 0.0 && cores > 0 && threads > 0 &&
               detail::is_finite(watts(cores));
    }
    /// Number of tasks it can run at once.
    [[nodiscard]] constexpr std::uint64_t capacity() const noexcept { return std::uint64_t{cores} * threads; }
    /// The power it draws with this many tasks. Nondecreasing in their number.
    [[nodiscard]] constexpr double watts(std::uint64_t tasks) const noexcept {
        if (tasks == 0) return 0.0;
        return static_watts + static_cast<double>((std::min)(tasks, std::uint64_t{cores})) * dynamic_watts;
    }
    /// The class of a node with this many tasks.
    [[nodiscard]] constexpr node_load load(std::uint64_t tasks) const noexcept {
        if (tasks == 0) return node_load::off;
        if (tasks < cores) return node_load::free_core;
        return tasks < capacity() ? node_load::free_thread : node_load::full;
    }
    /// The additional power for one more task.
    /// @return `status::out_of_domain` if the node is full
    [[nodiscard]] constexpr outcome<double> marginal_watts(std::uint64_t tasks) const {
        switch (load(tasks)) {
        case node_load::off:
            return static_watts + dynamic_watts;
        case node_load::free_core:
            return dynamic_watts;
        case node_load::free_thread:
            return 0.0;
        case node_load::full:
            break;
        }
        return status::out_of_domain;
    }

    friend constexpr bool operator==(power_model const&, power_model const&) = default;
};

/// The power model of each node, by its index: a `power_model` for all of them, or a callable.
template <class Power>
concept power_source =
    std::convertible_to<Power, power_model> || requires(Power const& power, std::uint32_t node) {
        { power(node) } -> std::convertible_to<power_model>;
    };

/// The cost of a schedule. With times in seconds, energy is in joules; otherwise in watts times their unit.
struct schedule_energy {
    double joules = 0;        ///< over all nodes, while they had tasks
    double node_time = 0;     ///< time with at least one task, summed over the nodes
    double task_time = 0;     ///< time of the tasks
    double overcommitted = 0; ///< part of `node_time` with more tasks than the node can run at once
    friend constexpr bool operator==(schedule_energy const&, schedule_energy const&) = default;
};

/// Computes the energy of a schedule, given where and when each attempt (including copies and killed ones)
/// ran. Attempts may be added as they end, in any order, and may overlap arbitrarily.
///
/// @par Example
/// `energy_sweep sweep; for (auto const& a : attempts) sweep.observe(a.node, a.start, a.end);`
/// `auto spent = sweep.energy(power_model{.static_watts = 65, .dynamic_watts = 17, .cores = 4});`
/// @par Cost
/// `observe` O(1) amortised; `energy` O(n log n) on the first call and O(n) when nothing was added since;
/// 32 bytes per attempt, allocated by `observe` and `reserve` and kept by `clear`
/// @par Accuracy
/// 4 units in the last place: every interval between two events of a node is multiplied by its power once,
/// and their sum is rounded once
/// @par Guarantees
/// deterministic, bit for bit, for any order of the attempts. `observe` has the strong guarantee if an
/// allocation fails
class energy_sweep {
  public:
    /// Reserves memory for this many attempts.
    void reserve(std::size_t attempts) { marks_.reserve(2 * attempts); }
    /// Forgets all attempts, keeps the memory.
    void clear() noexcept {
        marks_.clear();
        rejected_ = 0;
        sorted_ = true;
    }

    /// Adds an attempt that ran on a node from `start` to `end`; its length may be 0.
    /// @return false, counted in `rejected()`, if the times are not finite, the end is before the start, or
    /// the difference overflows
    bool observe(std::uint32_t node, double start, double end) {
        if (!detail::is_finite(start) || !detail::is_finite(end) || !(start <= end) ||
            !detail::is_finite(end - start)) {
            ++rejected_;
            return false;
        }
        std::size_t const n = marks_.size();
        marks_.resize(n + 2);
        marks_[n] = {start, node, 1};
        marks_[n + 1] = {end, node, -1};
        sorted_ = false;
        return true;
    }
    /// Adds all attempts of another object.
    void merge(energy_sweep const& other) {
        std::size_t const n = marks_.size(), more = other.marks_.size(); // may be this object
        marks_.resize(n + more);
        std::copy_n(other.marks_.begin(), more, marks_.begin() + static_cast<std::ptrdiff_t>(n));
        rejected_ += other.rejected_;
        sorted_ = marks_.empty();
    }

    /// Number of attempts added.
    [[nodiscard]] std::uint64_t attempts() const noexcept { return marks_.size() / 2; }
    /// Number of attempts rejected.
    [[nodiscard]] std::uint64_t rejected() const noexcept { return rejected_; }

    /// The total cost of the attempts.
    /// @param power a `power_model`, or a callable that returns the model of a node; called once per node, in
    /// ascending order
    /// @return `status::out_of_domain` if the model of a node with attempts is invalid;
    /// `status::out_of_range` on overflow. A schedule without attempts costs 0.
    template <power_source Power>
    [[nodiscard]] outcome<schedule_energy> energy(Power const& power) {
        if (!sorted_) {
            std::sort(marks_.begin(), marks_.end(), [](mark const& a, mark const& b) {
                return a.node != b.node ? a.node < b.node : a.at < b.at;
            });
            sorted_ = true;
        }
        totals sums;
        for (std::size_t i = 0; i < marks_.size();) {
            power_model const model = model_of(power, marks_[i].node);
            if (!model.valid()) return status::out_of_domain;
            i = sweep_node(i, model, sums);
        }
        schedule_energy const e{sums.joules.value(), sums.node_time.value(), sums.task_time.value(),
                                sums.overcommitted.value()};
        if (!detail::is_finite(e.joules) || !detail::is_finite(e.node_time) ||
            !detail::is_finite(e.task_time))
            return status::out_of_range;
        return e;
    }

  private:
    struct mark { // a task starts or ends
        double at;
        std::uint32_t node;
        std::int32_t step;
    };
    struct totals {
        detail::long_sum joules, node_time, task_time, overcommitted;
    };

    template <class Power>
    static power_model model_of(Power const& power, std::uint32_t node) {
        if constexpr (std::convertible_to<Power const&, power_model>)
            return power;
        else
            return power(node);
    }

    // Sums the marks of one node from `i` on; returns where the next node starts.
    std::size_t sweep_node(std::size_t i, power_model const& model, totals& sums) const {
        std::uint32_t const node = marks_[i].node;
        std::uint64_t const capacity = model.capacity();
        // Negative only between marks of the same time, where an end may come before its start.
        std::int64_t tasks = 0;
        double before = marks_[i].at;
        for (; i < marks_.size() && marks_[i].node == node; ++i) {
            double const span = marks_[i].at - before;
            if (tasks > 0 && span > 0.0) {
                std::uint64_t const n = static_cast<std::uint64_t>(tasks);
                sums.joules.add(model.watts(n) * span);
                sums.node_time.add(span);
                sums.task_time.add(static_cast<double>(n) * span);
                if (n > capacity) sums.overcommitted.add(span);
            }
            before = marks_[i].at;
            tasks += marks_[i].step;
        }
        return i;
    }

    std::vector<mark> marks_;
    std::uint64_t rejected_ = 0;
    bool sorted_ = true;
};

} // namespace straggle::evaluate
