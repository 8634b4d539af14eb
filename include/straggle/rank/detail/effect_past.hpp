// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/detail/node_effects.hpp`: the comparisons between nodes, and what those of jobs that
/// are over come to, by node.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/relative_times.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
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
    double value = 0, low = 0, high = 0; // the slowdown and its interval, written where all is solved
};

// What a cell says is compared with what the others of its group say.
[[nodiscard]] inline bool is_compared(effect_group const& g, effect_cell const& cell) noexcept {
    return cell.tasks > 0 && g.tasks - cell.tasks > 0;
}
[[nodiscard]] inline double variance_of(effect_group const& g, effect_cell const& cell,
                                        double spread) noexcept {
    return g.variance * (1 / cell.tasks + 1 / (g.tasks - cell.tasks)) + spread;
}
[[nodiscard]] inline double weight_of(effect_group const& g, effect_cell const& cell,
                                      double spread) noexcept {
    return cell.tasks / (g.variance + cell.tasks * spread);
}
[[nodiscard]] inline double age_of(effect_group const& g, std::uint64_t window) noexcept {
    return window > g.window ? static_cast<double>(window - g.window) : 0.0;
}
[[nodiscard]] inline double kept_of(effect_group const& g, std::uint64_t window, double life) noexcept {
    return window > g.window ? std::exp2(-age_of(g, window) / life) : 1.0;
}

// Nodes with tasks in one group are compared with each other.
inline void link_groups(node_links& links, std::span<effect_group const> groups,
                        std::span<effect_cell const> cells) noexcept {
    std::size_t c = 0;
    for (effect_group const& g : groups) {
        effect_cell const* first = nullptr;
        for (std::size_t end = c + g.cells; c < end; ++c) {
            if (!(cells[c].tasks > 0)) continue;
            if (first == nullptr) first = &cells[c];
            links.join(first->node, cells[c].node);
        }
    }
}

// What is final of each node, as sums: weights fade alike, so a window only scales them.
class effect_past {
  public:
    static constexpr double half_life = 64, short_half_life = 8; // windows

    struct sums {
        double sum = 0, all = 0;          // weights times deviations from the shifts; weights
        double squares = 0, compared = 0; // of cells with siblings elsewhere: squared weights times variances
        double tasks = 0, freedom = 0;
        double recent_sum = 0, recent_all = 0, recent_squares = 0, recent_tasks = 0;
        double share = 0; // of the weight of a group, the largest
        std::uint32_t groups = 0, recent_groups = 0;
    };

    [[nodiscard]] sums const& operator[](std::size_t node) const noexcept { return nodes_[node]; }
    [[nodiscard]] std::size_t cells() const noexcept { return cells_; }
    [[nodiscard]] node_links const& links() const noexcept { return links_; }

    void forget() noexcept { is_valid_ = false; }
    // Nothing is final.
    void clear(std::size_t nodes) {
        nodes_.assign(nodes, {});
        links_.reset(nodes);
    }
    // Takes in what became final since, and the time that went by. False if all has to be solved again.
    bool follow(std::span<effect_group> groups, std::span<effect_cell const> cells, std::uint64_t window,
                std::span<double const> values, double spread) {
        if (!is_valid_ || groups.size() < groups_ || window < window_ || window - solved_at_ >= 8)
            return false;
        double const moved = moved_by(values);
        if (moved > 3) return false;
        std::size_t more = cells_;
        for (std::size_t g = groups_; g < groups.size(); ++g) more += groups[g].cells;
        if ((more - solved_cells_) * 16 > solved_cells_) return false;
        if (moved > 1) {
            add_up(groups, cells, window, values, spread);
            return true;
        }
        links_.grow(values.size());
        nodes_.resize((std::max)(nodes_.size(), values.size()));
        age(groups, cells, window);
        take(groups, cells, values, spread);
        return true;
    }
    // Everything was solved: sums of what is final, with the shifts that were found.
    void sum_up(std::span<effect_group> groups, std::span<effect_cell const> cells, std::uint64_t window,
                std::span<double const> values, double spread) {
        add_up(groups, cells, window, values, spread);
        solved_at_ = window;
        solved_cells_ = cells_;
        is_valid_ = true;
    }

    [[nodiscard]] static bool is_recent(effect_group const& g, std::uint64_t window) noexcept {
        return age_of(g, window) <= 2 * short_half_life;
    }

  private:
    // A node moves the shifts as far as it weighs something there: by so much any; by so much all, in the
    // mean of squares.
    static constexpr double one_moved = 0.01, all_moved = 0.01;

    // How far nodes are from where they were when the shifts were found: as often as is tolerated.
    [[nodiscard]] double moved_by(std::span<double const> values) const noexcept {
        double squares = 0, all = 0, most = 0;
        for (std::size_t i = 0; i < shifted_at_.size() && i < values.size(); ++i) {
            double const weight = (std::min)(nodes_[i].all, usual_), off = values[i] - shifted_at_[i];
            most = (std::max)(most, std::fabs(off) * nodes_[i].share);
            squares += weight * off * off;
            all += weight;
        }
        return (std::max)(most / one_moved, all > 0 ? std::sqrt(squares / all) / all_moved : 0.0);
    }
    // Shifts and sums of all that is final, anew.
    void add_up(std::span<effect_group> groups, std::span<effect_cell const> cells, std::uint64_t window,
                std::span<double const> values, double spread) {
        clear(values.size());
        groups_ = cells_ = recent_group_ = recent_cell_ = 0;
        window_ = window;
        while (recent_group_ < groups.size() && !is_recent(groups[recent_group_], window))
            recent_cell_ += groups[recent_group_++].cells;
        take(groups, cells, values, spread);
        usual_ = 0;
        for (sums const& n : nodes_) usual_ += n.all / static_cast<double>(nodes_.size());
        shifted_at_.assign(values.begin(), values.end());
    }
    void age(std::span<effect_group const> groups, std::span<effect_cell const> cells, std::uint64_t window) {
        if (window == window_) return;
        auto const passed = static_cast<double>(window - window_);
        double const kept = std::exp2(-passed / half_life), recent = std::exp2(-passed / short_half_life);
        for (sums& n : nodes_) {
            n.sum *= kept;
            n.all *= kept;
            n.compared *= kept;
            n.squares *= kept * kept;
            n.recent_sum *= recent;
            n.recent_all *= recent;
            n.recent_squares *= recent * recent;
        }
        window_ = window;
        for (; recent_group_ < groups_ && !is_recent(groups[recent_group_], window); ++recent_group_)
            for (std::size_t end = recent_cell_ + groups[recent_group_].cells; recent_cell_ < end;
                 ++recent_cell_) {
                effect_cell const& cell = cells[recent_cell_];
                if (!is_compared(groups[recent_group_], cell)) continue;
                nodes_[cell.node].recent_tasks -= cell.tasks;
                --nodes_[cell.node].recent_groups;
            }
    }
    void take(std::span<effect_group> groups, std::span<effect_cell const> cells,
              std::span<double const> values, double spread) {
        link_groups(links_, groups.subspan(groups_), cells.subspan(cells_));
        for (; groups_ < groups.size(); ++groups_) {
            effect_group& g = groups[groups_];
            std::size_t const first = cells_, end = first + g.cells;
            double sum = 0, all = 0;
            for (std::size_t c = first; c < end; ++c) {
                double const w = weight_of(g, cells[c], spread);
                sum += w * (cells[c].deviation - values[cells[c].node]);
                all += w;
            }
            g.shift = all > 0 ? sum / all : 0.0;
            double const kept = kept_of(g, window_, half_life), recent = kept_of(g, window_, short_half_life);
            bool const lately = groups_ >= recent_group_;
            for (; cells_ < end; ++cells_) {
                effect_cell const& cell = cells[cells_];
                sums& n = nodes_[cell.node];
                double const w = weight_of(g, cell, spread), off = cell.deviation - g.shift;
                n.share = (std::max)(n.share, w / all);
                n.sum += kept * w * off;
                n.all += kept * w;
                n.recent_sum += recent * w * off;
                n.recent_all += recent * w;
                if (!is_compared(g, cell)) continue;
                double const square = w * w * variance_of(g, cell, spread);
                n.squares += kept * kept * square;
                n.compared += kept * w;
                n.recent_squares += recent * recent * square;
                n.tasks += cell.tasks;
                n.freedom += g.tasks - 1;
                ++n.groups;
                if (!lately) continue;
                n.recent_tasks += cell.tasks;
                ++n.recent_groups;
            }
        }
    }

    std::vector<sums> nodes_;
    std::vector<double> shifted_at_; // values that the shifts were found with
    node_links links_;
    std::size_t groups_ = 0, cells_ = 0, solved_cells_ = 0; // that are in the sums
    std::size_t recent_group_ = 0, recent_cell_ = 0;        // the first that is recent
    std::uint64_t window_ = 0, solved_at_ = 0;
    double usual_ = 0; // weight of a node
    bool is_valid_ = false;
};

} // namespace straggle::detail
