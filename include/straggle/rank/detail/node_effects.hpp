// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: what all jobs together say of all nodes.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/rank/detail/effect_past.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// The largest step below `steps` for which something holds that holds up to some step, from the first one
// on. It is looked for around `guess`, where it was the last time.
template <class Holds>
std::uint32_t largest_step(std::uint32_t steps, std::uint32_t guess, Holds&& holds) {
    std::uint32_t low = 0, high = steps; // it holds, it does not
    std::uint32_t at = std::clamp(guess, 1u, steps - 1), by = 1;
    while (high - low > 1) {
        (holds(at) ? low : high) = at;
        // Twice as far each time, until it lies between two.
        if (high == steps && low + by < high)
            at = low + by;
        else if (low == 0 && high > by)
            at = high - by;
        else
            at = low + (high - low) / 2;
        by *= 2;
    }
    return low;
}

// Two-way model: log time = group + node, weighted least squares by alternating between both, from where the
// last solution was. Cells of one group share its error, and a node may be slower in one group than in
// another: `spread` is the variance of that, one for all.
//
// Between two solutions of everything what is final stays in sums by node (`effect_past`), with the shifts of
// its groups as they were: only what is live is looked at. Everything is solved again before what is final
// has grown, aged or moved by more than a little.
class effect_solver {
  public:
    static constexpr double half_life = effect_past::half_life;

    // Solves for all nodes. `effects` has the last solution and takes the new one.
    // @param final_groups how many of the groups are final; `forget` was called if any of these has changed
    void solve(std::span<effect_group> groups, std::size_t final_groups, std::span<effect_cell const> cells,
               std::uint64_t window, std::span<std::uint32_t const> slots,
               std::vector<node_effect>& effects) {
        value_.resize(effects.size());
        bool const is_all = cells.size() <= cheap || !past_.follow(groups.first(final_groups), cells, window,
                                                                   span_of(value_), spread_);
        std::size_t const first = is_all ? 0 : final_groups, at = is_all ? 0 : past_.cells();
        auto const open = groups.subspan(first);
        auto const open_cells = cells.subspan(at);
        if (is_all) {
            past_.clear(effects.size());
            for (std::size_t i = 0; i < value_.size(); ++i) value_[i] = effects[i].log_slowdown;
        }
        join(open, open_cells, effects.size());
        weigh(open, open_cells, window, half_life);
        begin_sweeps(open_cells);
        for (int sweep = 0; sweep < 12; ++sweep)
            if (improve(open, open_cells) < 1e-5) break;
        for (node_effect& e : effects) e = {};
        collect(open, open_cells, value_, effects);
        center(slots, effects, value_);
        shift_groups(open, open_cells);
        adapt(open, open_cells, window, effects);
        if (is_all) {
            measure_spread(groups, cells, effects);
            past_.sum_up(groups.first(final_groups), cells, window, span_of(value_), spread_);
        }
        refine(effects, effects.size());
    }
    // What was final has changed.
    void forget() noexcept { past_.forget(); }
    // Variance of a node's effect between groups.
    [[nodiscard]] double spread() const noexcept { return spread_; }
    // The same, where it is known well enough to take evidence away.
    [[nodiscard]] double known_spread() const noexcept { return is_known_ ? spread_ : 0.0; }
    void set_spread(double spread, bool known) noexcept {
        spread_ = spread;
        is_known_ = known;
    }

  private:
    // The components of the graph of jobs and nodes.
    void join(std::span<effect_group const> groups, std::span<effect_cell const> cells, std::size_t nodes) {
        links_ = past_.links();
        links_.grow(nodes);
        link_groups(links_, groups, cells);
    }
    void weigh(std::span<effect_group const> groups, std::span<effect_cell const> cells, std::uint64_t window,
               double life) {
        resize_anew(weight_, cells.size());
        std::size_t c = 0;
        for (effect_group const& g : groups) {
            double const kept = kept_of(g, window, life);
            for (std::size_t end = c + g.cells; c < end; ++c)
                weight_[c] = kept * weight_of(g, cells[c], spread_);
        }
    }
    void shift_groups(std::span<effect_group> groups, std::span<effect_cell const> cells) noexcept {
        std::size_t c = 0;
        for (effect_group& g : groups) {
            double sum = 0, all = 0;
            for (std::size_t end = c + g.cells; c < end; ++c) {
                sum += weight_[c] * (cells[c].deviation - value_[cells[c].node]);
                all += weight_[c];
            }
            g.shift = all > 0 ? sum / all : 0.0;
        }
    }
    // What no sweep changes: the weight of every node, and what is final of its sum, side by side.
    void begin_sweeps(std::span<effect_cell const> cells) {
        sum_.resize(value_.size());
        all_.resize(value_.size());
        moved_.resize(value_.size());
        for (std::size_t i = 0; i < value_.size(); ++i) {
            moved_[i] = past_[i].sum;
            all_[i] = past_[i].all;
        }
        for (std::size_t c = 0; c < cells.size(); ++c) all_[cells[c].node] += weight_[c];
    }
    double improve(std::span<effect_group> groups, std::span<effect_cell const> cells) noexcept {
        shift_groups(groups, cells);
        std::copy(moved_.begin(), moved_.end(), sum_.begin());
        std::size_t c = 0;
        for (effect_group const& g : groups)
            for (std::size_t end = c + g.cells; c < end; ++c)
                sum_[cells[c].node] += weight_[c] * (cells[c].deviation - g.shift);
        double most = 0;
        for (std::size_t i = 0; i < value_.size(); ++i) {
            double const next = all_[i] > 0 ? sum_[i] / all_[i] : 0.0;
            most = (std::max)(most, std::fabs(next - value_[i]));
            value_[i] = next;
        }
        return most;
    }
    // Value and variance of every node for the weights as they are.
    void collect(std::span<effect_group const> groups, std::span<effect_cell const> cells,
                 std::span<double const> values, std::vector<node_effect>& effects) {
        for (std::size_t i = 0; i < effects.size(); ++i) {
            sum_[i] = past_[i].squares;
            all_[i] = past_[i].compared;
            effects[i].tasks = past_[i].tasks;
            effects[i].freedom = past_[i].freedom;
            effects[i].groups = past_[i].groups;
        }
        std::size_t c = 0;
        for (effect_group const& g : groups)
            for (std::size_t end = c + g.cells; c < end; ++c) {
                effect_cell const& cell = cells[c];
                if (!is_compared(g, cell)) continue;
                node_effect& e = effects[cell.node];
                sum_[cell.node] += weight_[c] * weight_[c] * variance_of(g, cell, spread_);
                all_[cell.node] += weight_[c];
                e.tasks += cell.tasks;
                e.freedom += g.tasks - 1;
                ++e.groups;
            }
        for (std::size_t i = 0; i < effects.size(); ++i) {
            effects[i].log_slowdown = values[i];
            effects[i].component = links_.component(static_cast<std::uint32_t>(i));
            effects[i].variance = all_[i] > 0 ? sum_[i] / (all_[i] * all_[i]) : 0.0;
        }
    }
    // The reference: half of the slots of a component are on nodes that are at most so slow.
    void center(std::span<std::uint32_t const> slots, std::vector<node_effect>& effects,
                std::vector<double>& values) {
        order_.clear();
        bool is_one = true;
        for (std::uint32_t i = 0; i < effects.size(); ++i) {
            if (effects[i].groups == 0) continue;
            is_one = is_one && (order_.empty() || effects[i].component == effects[order_[0]].component);
            order_.push_back(i);
        }
        if (!is_one)
            std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
                node_effect const &x = effects[a], &y = effects[b];
                return x.component != y.component ? x.component < y.component : a < b;
            });
        for (std::size_t first = 0; first < order_.size();) {
            std::size_t last = first;
            std::uint32_t const component = effects[order_[first]].component;
            while (last < order_.size() && effects[order_[last]].component == component) ++last;
            double const reference = middle(first, last, slots, effects);
            for (std::size_t k = first; k < last; ++k) {
                effects[order_[k]].log_slowdown -= reference;
                values[order_[k]] -= reference;
            }
            first = last;
        }
    }
    // The value up to which half of the slots of some nodes of the order are; between two, their mean.
    double middle(std::size_t first, std::size_t last, std::span<std::uint32_t const> slots,
                  std::vector<node_effect> const& effects) {
        auto const is_before = [&](std::uint32_t a, std::uint32_t b) {
            double const x = effects[a].log_slowdown, y = effects[b].log_slowdown;
            return x != y ? x < y : a < b;
        };
        auto const place = [this](std::size_t k) { return order_.begin() + static_cast<std::ptrdiff_t>(k); };
        std::uint64_t all = 0, below = 0;
        for (std::size_t k = first; k < last; ++k) all += slots_of(order_[k], slots);
        std::size_t const end = last;
        while (last - first > 1) { // the node is one of those from first on
            std::size_t const half = first + (last - first) / 2;
            std::nth_element(place(first), place(half), place(last), is_before);
            std::uint64_t here = 0;
            for (std::size_t k = first; k < half; ++k) here += slots_of(order_[k], slots);
            if (2 * (below + here) >= all) {
                last = half;
            } else {
                below += here;
                first = half;
            }
        }
        double const low = effects[order_[first]].log_slowdown;
        below += slots_of(order_[first], slots);
        if (2 * below != all || first + 1 == end) return low;
        return (low + effects[*std::min_element(place(first + 1), place(end), is_before)].log_slowdown) / 2;
    }
    static std::uint64_t slots_of(std::uint32_t node, std::span<std::uint32_t const> slots) noexcept {
        return node < slots.size() && slots[node] != 0 ? slots[node] : 1;
    }
    // A node that has changed lately is judged by what is recent.
    void adapt(std::span<effect_group const> groups, std::span<effect_cell const> cells, std::uint64_t window,
               std::vector<node_effect>& effects) {
        weigh(groups, cells, window, effect_past::short_half_life);
        recent_.assign(effects.size(), {});
        moved_.resize(effects.size());
        all_.resize(effects.size());
        for (std::size_t i = 0; i < effects.size(); ++i) {
            moved_[i] = past_[i].recent_sum;
            all_[i] = past_[i].recent_all;
            recent_[i].variance = past_[i].recent_squares;
            recent_[i].tasks = past_[i].recent_tasks;
            recent_[i].groups = past_[i].recent_groups;
        }
        std::size_t c = 0;
        for (effect_group const& g : groups) {
            // Only what weighs something makes up the number of tasks.
            bool const lately = effect_past::is_recent(g, window);
            for (std::size_t end = c + g.cells; c < end; ++c) {
                effect_cell const& cell = cells[c];
                moved_[cell.node] += weight_[c] * (cell.deviation - g.shift);
                all_[cell.node] += weight_[c];
                if (!is_compared(g, cell)) continue;
                node_effect& e = recent_[cell.node];
                e.variance += weight_[c] * weight_[c] * variance_of(g, cell, spread_);
                if (!lately) continue;
                e.tasks += cell.tasks;
                ++e.groups;
            }
        }
        for (std::size_t i = 0; i < moved_.size(); ++i) moved_[i] = all_[i] > 0 ? moved_[i] / all_[i] : 0.0;
        for (std::size_t i = 0; i < effects.size(); ++i) {
            if (!(all_[i] > 0) || recent_[i].tasks < 8 || recent_[i].groups < 3) continue;
            double const variance = recent_[i].variance / (all_[i] * all_[i]);
            double const change = moved_[i] - effects[i].log_slowdown;
            if (change * change <= 9 * (variance + effects[i].variance)) continue;
            effects[i].log_slowdown = moved_[i];
            effects[i].variance = variance;
            effects[i].tasks = recent_[i].tasks;
            effects[i].groups = recent_[i].groups;
        }
    }
    // By the median node instead of the mean of the others: its error is shared.
    void refine(std::vector<node_effect>& effects, std::size_t nodes) {
        size_.assign(nodes + 1, 0);
        for (node_effect const& e : effects)
            if (e.groups != 0) ++size_[e.component];
        for (node_effect& e : effects) {
            if (e.groups == 0) continue;
            auto const n = static_cast<double>(size_[e.component]);
            if (n < 2) continue;
            double const median = 1.5707963 / (n + 0.5708);
            // Of two or three, the effects themselves take much of the freedom, and where one is far off the
            // reference is not the middle of many.
            double const few = n <= 2 ? 0.95 : n <= 3 ? 1.75 : 1 + 0.6 / n;
            e.variance *= few * (1 - 1 / n) * (1 - 2 / n + median);
        }
    }
    // How much more cells of a node differ than their tasks explain: the variance for which their squares,
    // each taken as at most 4, are what they would be by chance. Weights are not needed any more: the squares
    // stand in their place, times the tasks, so that one division is enough.
    void measure_spread(std::span<effect_group const> groups, std::span<effect_cell const> cells,
                        std::span<node_effect const> effects) {
        std::size_t used = 0, groups_used = 0, nodes_used = 0;
        resize_anew(weight_, cells.size());
        std::size_t c = 0;
        for (effect_group const& g : groups) {
            std::size_t here = 0;
            for (std::size_t end = c + g.cells; c < end; ++c) {
                if (!(cells[c].tasks > 0)) continue;
                double const off = cells[c].deviation - g.shift - value_[cells[c].node];
                weight_[used + here] = off * off * cells[c].tasks;
                ++here;
            }
            used += here;
            if (here != 0) ++groups_used;
        }
        for (node_effect const& e : effects) nodes_used += e.groups != 0;
        is_known_ = used >= groups_used + nodes_used + 20;
        if (used < groups_used + nodes_used + 4) {
            spread_ = 0;
            return;
        }
        auto const free = static_cast<double>(used - groups_used - nodes_used);
        double const usual = 0.9205 * free;
        double const chance = usual * std::sqrt(2 / free);
        double const squares = clipped(groups, cells, 0, usual + 2 * chance);
        if (squares <= usual + chance) {
            spread_ = 0;
            return;
        }
        is_known_ = is_known_ && squares > usual + 2 * chance;
        constexpr std::uint32_t steps = 4096; // of the deviation, up to 1
        std::uint32_t const last = static_cast<std::uint32_t>(std::sqrt((std::min)(spread_, 1.0)) * steps);
        double const found = largest_step(steps, last, [&](std::uint32_t step) {
            double const deviation = static_cast<double>(step) / steps;
            return clipped(groups, cells, deviation * deviation, usual) > usual;
        });
        spread_ = found / steps * (found / steps);
    }
    // The sum, or as much of it as is above `enough`.
    [[nodiscard]] double clipped(std::span<effect_group const> groups, std::span<effect_cell const> cells,
                                 double spread, double enough) const noexcept {
        double sum = 0;
        std::size_t c = 0, k = 0;
        for (effect_group const& g : groups) {
            for (std::size_t end = c + g.cells; c < end; ++c)
                if (double const tasks = cells[c].tasks; tasks > 0)
                    sum += (std::min)(4.0, weight_[k++] / (g.variance + tasks * spread));
            if (sum > enough) break;
        }
        return sum;
    }

    double spread_ = 0;
    bool is_known_ = false;
    static constexpr std::size_t cheap = 1024; // cells: everything is solved each time
    effect_past past_;
    node_links links_;
    std::vector<double> weight_, value_, sum_, all_, moved_;
    std::vector<std::uint32_t> order_, size_;
    std::vector<node_effect> recent_;
};

} // namespace straggle::detail
