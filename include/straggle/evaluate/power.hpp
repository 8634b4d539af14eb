// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What tasks cost in power and energy: a node draws a fixed power when it is on, and some more for each busy
/// core. From that follow what one more task costs on a node, and what a whole schedule has cost.
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

/// What one more task would do to a node.
enum class node_load : std::uint8_t {
    off,         ///< class A, no task: it would be turned on and one core become busy
    free_core,   ///< class B, 1 to c - 1 tasks: one more core would become busy
    free_thread, ///< class C, c to c t - 1 tasks: it would run on a busy core and draw nothing more
    full,        ///< c t tasks or more: there is no place for it
};

/// The name of a load as it stands in the source, for logs and JSON.
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

/// The power a node draws with n tasks, spread evenly over its c cores of t threads each:
/// nothing for n = 0, when it is off; `static_watts + n dynamic_watts` up to c tasks; what c tasks draw
/// above. Source: section 4.1. Ours: more than c t tasks draw what c t draw; the paper leaves them out.
/// @note A cluster that never turns a node off: set `static_watts` to 0, and add the static power of all
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
    /// How many tasks it can run at once.
    [[nodiscard]] constexpr std::uint64_t capacity() const noexcept { return std::uint64_t{cores} * threads; }
    /// The power it draws with so many tasks. Never falls with their number.
    [[nodiscard]] constexpr double watts(std::uint64_t tasks) const noexcept {
        if (tasks == 0) return 0.0;
        return static_watts + static_cast<double>((std::min)(tasks, std::uint64_t{cores})) * dynamic_watts;
    }
    /// The class of a node with so many tasks.
    [[nodiscard]] constexpr node_load load(std::uint64_t tasks) const noexcept {
        if (tasks == 0) return node_load::off;
        if (tasks < cores) return node_load::free_core;
        return tasks < capacity() ? node_load::free_thread : node_load::full;
    }
    /// How much more it would draw with one more task.
    /// @return `status::out_of_domain` when the node is full
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

/// What a schedule has cost. With times in seconds energy is in joules, else in watts times their unit.
struct schedule_energy {
    double joules = 0;        ///< over all nodes, while they had a task
    double node_time = 0;     ///< time with at least one task, summed over the nodes
    double task_time = 0;     ///< time of the tasks
    double overcommitted = 0; ///< of `node_time`: with more tasks than the node can run at once
    friend constexpr bool operator==(schedule_energy const&, schedule_energy const&) = default;
};

/// Adds up the energy of a schedule, given as when each attempt (also copies, also killed ones) ran where.
/// Attempts may be added as they end, in any order, and may overlap in any way.
///
/// @par Example
/// `energy_sweep sweep; for (auto const& a : attempts) sweep.observe(a.node, a.start, a.end);`
/// `auto spent = sweep.energy(power_model{.static_watts = 65, .dynamic_watts = 17, .cores = 4});`
/// @par Cost
/// `observe` O(1) amortised; `energy` O(n log n) on the first call and O(n) when nothing was added since;
/// 32 bytes per attempt, allocated by `observe` and `reserve` and kept by `clear`
/// @par Accuracy
/// 4 units in the last place: every piece of time between two events of a node is multiplied by
/// its power once, and their sum is rounded once
/// @par Guarantees
/// deterministic, to the bit, in any order of the attempts. `observe` has the strong
/// guarantee should an allocation fail
class energy_sweep {
  public:
    /// Makes room for so many attempts.
    void reserve(std::size_t attempts) { marks_.reserve(2 * attempts); }
    /// Forgets all attempts, keeps the memory.
    void clear() noexcept {
        marks_.clear();
        rejected_ = 0;
        sorted_ = true;
    }

    /// An attempt ran on a node from `start` to `end`; it may have taken no time.
    /// @return whether it was taken in; if not, it is counted in `rejected()`: times that are not finite, an
    /// end before the start, or a difference that is too large
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
    /// Takes in all attempts of another one.
    void merge(energy_sweep const& other) {
        std::size_t const n = marks_.size(), more = other.marks_.size(); // of itself too
        marks_.resize(n + more);
        std::copy_n(other.marks_.begin(), more, marks_.begin() + static_cast<std::ptrdiff_t>(n));
        rejected_ += other.rejected_;
        sorted_ = marks_.empty();
    }

    /// How many attempts were taken in.
    [[nodiscard]] std::uint64_t attempts() const noexcept { return marks_.size() / 2; }
    /// How many were not.
    [[nodiscard]] std::uint64_t rejected() const noexcept { return rejected_; }

    /// What the attempts cost together.
    /// @param power a `power_model`, or a callable that gives the model of a node; called once per node, in
    /// rising order
    /// @return `status::out_of_domain` when the model of a node with attempts is not valid;
    /// `status::out_of_range` for more than a double can hold. A schedule without attempts cost 0.
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
    struct mark { // a task begins or ends
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

    // All marks of one node from `i` on; returns where those of the next begin.
    std::size_t sweep_node(std::size_t i, power_model const& model, totals& sums) const {
        std::uint32_t const node = marks_[i].node;
        std::uint64_t const capacity = model.capacity();
        // Below 0 only between marks of the same time, where an end may stand before its start.
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
