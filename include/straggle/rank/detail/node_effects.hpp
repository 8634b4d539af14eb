// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: what all jobs together say of all nodes.
#pragma once

#include <straggle/base/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// One job on one node. Times are logarithms.
struct effect_cell {
    std::uint32_t node = 0;
    double tasks = 0;     // that ended; those that run count as far as their age tells
    double deviation = 0; // mean, from the origin of the group
};

// The attempts of one job (or of one stretch of it).
struct effect_group {
    std::uint64_t job = 0;
    std::uint64_t window = 0; // in which it was closed
    std::uint32_t cells = 0;
    double variance = 0; // of one task
    double tasks = 0;    // of all cells
    double shift = 0;    // mean deviation where nodes are equal; found by solving
};

// What is known of one node.
struct node_effect {
    double log_slowdown = 0; // against the reference of its component
    double variance = 0;     // of that
    double tasks = 0;
    double freedom = 0;       // by how many tasks its variance is known
    std::uint32_t groups = 0; // with siblings elsewhere
    std::uint32_t component = 0;
};

// Two-way model: log time = group + node, weighted least squares by alternating between both, from where the
// last solution was. Cells of one group share its error, and a node may be slower in one group than in
// another: `spread` is the variance of that, one for all.
template <class = void>
class basic_effect_solver {
  public:
    static constexpr double half_life = 64, short_half_life = 8; // windows

    // Solves for all nodes. `effects` has the last solution and takes the new one.
    void solve(std::span<effect_group> groups, std::span<effect_cell const> cells, std::uint64_t window,
               std::span<std::uint32_t const> slots, std::vector<node_effect>& effects) {
        std::size_t const nodes = effects.size();
        join(groups, cells, nodes);
        weigh(groups, cells, window, half_life);
        value_.resize(nodes);
        for (std::size_t i = 0; i < nodes; ++i) value_[i] = effects[i].log_slowdown;
        for (int sweep = 0; sweep < 12; ++sweep)
            if (improve(groups, cells) < 1e-5) break;
        for (std::size_t i = 0; i < nodes; ++i) effects[i] = {};
        collect(groups, cells, value_, effects);
        center(slots, effects, value_);
        for (effect_group& g : groups) g.shift = 0;
        shift_groups(groups, cells);
        adapt(groups, cells, window, effects);
        measure_spread(groups, cells, effects);
        refine(effects, nodes);
    }
    // Variance of a node's effect between groups.
    [[nodiscard]] double spread() const noexcept { return spread_; }
    // The same, where it is known well enough to take evidence away.
    [[nodiscard]] double known_spread() const noexcept { return is_known_ ? spread_ : 0.0; }
    void set_spread(double spread, bool known) noexcept {
        spread_ = spread;
        is_known_ = known;
    }

  private:
    [[nodiscard]] std::uint32_t root(std::uint32_t i) noexcept {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }
    // The components of the graph of jobs and nodes.
    void join(std::span<effect_group const> groups, std::span<effect_cell const> cells, std::size_t nodes) {
        parent_.resize(nodes);
        std::iota(parent_.begin(), parent_.end(), std::uint32_t{0});
        std::size_t c = 0;
        for (effect_group const& g : groups) {
            std::uint32_t first = 0;
            bool any = false;
            for (std::size_t end = c + g.cells; c < end; ++c) {
                if (!(cells[c].tasks > 0)) continue;
                std::uint32_t const r = root(cells[c].node);
                if (any)
                    parent_[(std::max)(r, root(first))] = (std::min)(r, root(first));
                else
                    first = r;
                any = true;
            }
        }
    }
    void weigh(std::span<effect_group const> groups, std::span<effect_cell const> cells, std::uint64_t window,
               double life) {
        weight_.resize(cells.size());
        std::size_t c = 0;
        for (effect_group const& g : groups) {
            double const age = window > g.window ? static_cast<double>(window - g.window) : 0.0;
            double const kept = std::exp2(-age / life);
            for (std::size_t end = c + g.cells; c < end; ++c)
                weight_[c] = kept * cells[c].tasks / (g.variance + cells[c].tasks * spread_);
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
    double improve(std::span<effect_group> groups, std::span<effect_cell const> cells) {
        shift_groups(groups, cells);
        sum_.assign(value_.size(), 0.0);
        all_.assign(value_.size(), 0.0);
        std::size_t c = 0;
        for (effect_group const& g : groups)
            for (std::size_t end = c + g.cells; c < end; ++c) {
                sum_[cells[c].node] += weight_[c] * (cells[c].deviation - g.shift);
                all_[cells[c].node] += weight_[c];
            }
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
        sum_.assign(effects.size(), 0.0);
        all_.assign(effects.size(), 0.0);
        std::size_t c = 0;
        for (effect_group const& g : groups)
            for (std::size_t end = c + g.cells; c < end; ++c) {
                effect_cell const& cell = cells[c];
                double const elsewhere = g.tasks - cell.tasks;
                if (!(cell.tasks > 0) || !(elsewhere > 0)) continue;
                node_effect& e = effects[cell.node];
                double const variance = g.variance * (1 / cell.tasks + 1 / elsewhere) + spread_;
                sum_[cell.node] += weight_[c] * weight_[c] * variance;
                all_[cell.node] += weight_[c];
                e.tasks += cell.tasks;
                e.freedom += g.tasks - 1;
                ++e.groups;
            }
        for (std::size_t i = 0; i < effects.size(); ++i) {
            effects[i].log_slowdown = values[i];
            effects[i].component = root(static_cast<std::uint32_t>(i));
            effects[i].variance = all_[i] > 0 ? sum_[i] / (all_[i] * all_[i]) : 0.0;
        }
    }
    // The reference: half of the slots of a component are on nodes that are at most so slow.
    void center(std::span<std::uint32_t const> slots, std::vector<node_effect>& effects,
                std::vector<double>& values) {
        order_.clear();
        for (std::uint32_t i = 0; i < effects.size(); ++i)
            if (effects[i].groups != 0) order_.push_back(i);
        std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
            node_effect const &x = effects[a], &y = effects[b];
            if (x.component != y.component) return x.component < y.component;
            if (x.log_slowdown != y.log_slowdown) return x.log_slowdown < y.log_slowdown;
            return a < b;
        });
        std::size_t first = 0;
        while (first < order_.size()) {
            std::size_t last = first;
            std::uint64_t all = 0, below = 0;
            std::uint32_t const component = effects[order_[first]].component;
            for (; last < order_.size() && effects[order_[last]].component == component; ++last)
                all += weight_of(order_[last], slots);
            double low = 0, high = 0;
            for (std::size_t k = first; k < last; ++k) {
                below += weight_of(order_[k], slots);
                if (2 * below < all) continue;
                low = effects[order_[k]].log_slowdown;
                high = 2 * below == all && k + 1 < last ? effects[order_[k + 1]].log_slowdown : low;
                break;
            }
            double const reference = (low + high) / 2;
            for (std::size_t k = first; k < last; ++k) {
                effects[order_[k]].log_slowdown -= reference;
                values[order_[k]] -= reference;
            }
            first = last;
        }
    }
    static std::uint64_t weight_of(std::uint32_t node, std::span<std::uint32_t const> slots) noexcept {
        return node < slots.size() && slots[node] != 0 ? slots[node] : 1;
    }
    // A node that has changed lately is judged by what is recent.
    void adapt(std::span<effect_group const> groups, std::span<effect_cell const> cells, std::uint64_t window,
               std::vector<node_effect>& effects) {
        weigh(groups, cells, window, short_half_life);
        recent_.assign(effects.size(), {});
        moved_.assign(effects.size(), 0.0);
        all_.assign(effects.size(), 0.0);
        std::size_t c = 0;
        for (effect_group const& g : groups)
            for (std::size_t end = c + g.cells; c < end; ++c) {
                moved_[cells[c].node] += weight_[c] * (cells[c].deviation - g.shift);
                all_[cells[c].node] += weight_[c];
            }
        for (std::size_t i = 0; i < moved_.size(); ++i) moved_[i] = all_[i] > 0 ? moved_[i] / all_[i] : 0.0;
        // Only what weighs something makes up the number of tasks.
        c = 0;
        for (effect_group const& g : groups) {
            double const age = window > g.window ? static_cast<double>(window - g.window) : 0.0;
            bool const lately = age <= 2 * short_half_life;
            for (std::size_t end = c + g.cells; c < end; ++c) {
                double const elsewhere = g.tasks - cells[c].tasks;
                if (!(cells[c].tasks > 0) || !(elsewhere > 0)) continue;
                node_effect& e = recent_[cells[c].node];
                e.variance +=
                    weight_[c] * weight_[c] * (g.variance * (1 / cells[c].tasks + 1 / elsewhere) + spread_);
                if (!lately) continue;
                e.tasks += cells[c].tasks;
                ++e.groups;
            }
        }
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
        size_.assign(nodes, 0);
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
    // each taken as at most 4, are what they would be by chance.
    void measure_spread(std::span<effect_group const> groups, std::span<effect_cell const> cells,
                        std::span<node_effect const> effects) {
        std::size_t used = 0, groups_used = 0, nodes_used = 0;
        square_.clear();
        std::size_t c = 0;
        for (effect_group const& g : groups) {
            std::size_t here = 0;
            for (std::size_t end = c + g.cells; c < end; ++c) {
                if (!(cells[c].tasks > 0)) continue;
                double const off = cells[c].deviation - g.shift - value_[cells[c].node];
                square_.push_back({off * off, g.variance / cells[c].tasks});
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
        double low = 0, high = 1;
        if (clipped(0) <= usual + chance) {
            spread_ = 0;
            return;
        }
        is_known_ = is_known_ && clipped(0) > usual + 2 * chance;
        for (int i = 0; i < 12; ++i) {
            double const middle = (low + high) / 2;
            (clipped(middle * middle) > usual ? low : high) = middle;
        }
        spread_ = low * low;
    }
    [[nodiscard]] double clipped(double spread) const noexcept {
        double sum = 0;
        for (auto const& s : square_) sum += (std::min)(4.0, s.off / (s.variance + spread));
        return sum;
    }

    struct squared {
        double off, variance;
    };
    double spread_ = 0;
    bool is_known_ = false;
    std::vector<double> weight_, value_, sum_, all_, moved_;
    std::vector<std::uint32_t> parent_, order_, size_;
    std::vector<node_effect> recent_;
    std::vector<squared> square_;
};
using effect_solver = basic_effect_solver<>;

} // namespace straggle::detail
