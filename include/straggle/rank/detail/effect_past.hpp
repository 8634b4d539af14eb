// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/detail/node_effects.hpp`: the comparisons between nodes, and what those of jobs that
/// are over come to, by node.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/relative_times.hpp>
#include <straggle/record/slowdown.hpp>

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
    float input = 0;  // log of the input of a task beside the mean of its job, in the mean
    double tasks = 0; // that ended; those that did not count as far as their age tells
    double mean = 0;
};

// The attempts of one job (or of one stretch of it).
struct effect_group {
    std::uint64_t job = 0;
    std::uint64_t window = 0; // in which it was closed
    double closed = 0;        // what began by then and ends later is late
    std::uint32_t cells = 0;
    float input = 0;                 // mean log of the input of tasks
    std::uint64_t kind = 0;          // by which time depends on input
    double variance = 0;             // of one task, for what is not over
    double tasks = 0;                // of all cells
    double squares = 0, freedom = 0; // within nodes: squared deviations of tasks, and by how many
    double inputs = 0, products = 0; // within nodes: those of their input, and of both
    double shift = 0;                // mean time where nodes are equal; found by solving
    double base = 0;                 // tasks of the nodes that the shift is told by
    bool is_without = false;         // nodes that are no yardstick
};

// Times depend on input by so much more than they were corrected for, in the jobs of a kind.
inline void correct_inputs(std::span<effect_group> groups, std::span<effect_cell> cells, std::uint64_t kind,
                           double more) noexcept {
    std::size_t c = 0;
    for (effect_group& g : groups) {
        std::size_t const end = c + g.cells;
        if (g.kind == kind) {
            for (; c < end; ++c) cells[c].mean -= more * static_cast<double>(cells[c].input);
            double const squares = g.squares + more * (more * g.inputs - 2 * g.products);
            g.squares = squares > 0 ? squares : 0.0;
            g.products -= more * g.inputs;
        }
        c = end;
    }
}

// What is known of one node.
struct node_effect {
    double log_slowdown = 0; // against the reference of its component
    double variance = 0;     // of that
    double tasks = 0;
    double freedom = 0;       // by how many jobs its variance is known
    std::uint32_t groups = 0; // with siblings elsewhere
    std::uint32_t component = 0;
    bool is_changed = false; // it is judged by its latest jobs
    double whole = 0, whole_variance = 0, whole_freedom = 0, whole_tasks = 0; // the same of all its jobs

    slowdown estimate; // written once where all is solved

    // For an interval.
    [[nodiscard]] bool is_enough() const noexcept { return tasks >= 8 && groups >= 3; }
};

// Which nodes are no yardstick for others: those that differ from themselves beyond chance, as one that has
// changed.
using apart_nodes = std::vector<unsigned char>;

// Its shift, for these effects.
inline void find_shift(effect_group& g, std::span<effect_cell const> cells, std::span<double const> values,
                       apart_nodes const& apart) noexcept {
    double sum = 0, base = 0, all = 0;
    for (effect_cell const& c : cells) {
        double const off = c.tasks * (c.mean - values[c.node]);
        all += off;
        if (apart[c.node] != 0) continue;
        sum += off;
        base += c.tasks;
    }
    g.is_without = base > 0;
    g.base = g.is_without ? base : g.tasks;
    g.shift = g.is_without ? sum / base : g.tasks > 0 ? all / g.tasks : 0.0;
}
// By how much a cell is its own yardstick: 1 where there is no other.
[[nodiscard]] inline double own_share(effect_group const& g, effect_cell const& cell,
                                      apart_nodes const& apart) noexcept {
    if (!(cell.tasks > 0)) return 1;
    return g.is_without && apart[cell.node] != 0 ? 0.0 : cell.tasks / g.base;
}
[[nodiscard]] inline bool is_compared(double share) noexcept {
    return share < 1 - 1e-9;
}

// What jobs say of one node, given their shifts.
struct effect_sums {
    double tasks = 0, sum = 0;                  // tasks; tasks times what they are off the shift
    double square = 0, mixed = 0, constant = 0; // of the squared sums of jobs, as a polynomial of the effect
    double weight = 0, squared_weight = 0;      // of jobs: tasks times the share of their siblings elsewhere
    std::uint32_t groups = 0;

    // @param share the part that it has in the shift
    void add(effect_group const& g, effect_cell const& cell, double share) noexcept {
        take(g, cell, share, 1);
    }
    void remove(effect_group const& g, effect_cell const& cell, double share) noexcept {
        take(g, cell, share, -1);
    }
    // Sums over jobs of the square of what the tasks of one job are off together, at a value of the effect.
    [[nodiscard]] double squares_at(double value) const noexcept {
        return (std::max)(constant + value * (value * square - 2 * mixed), 0.0);
    }

  private:
    void take(effect_group const& g, effect_cell const& cell, double share, int sign) noexcept {
        double const n = sign * cell.tasks, off = cell.mean - g.shift, nn = n * cell.tasks;
        double const w = n * (1 - share);
        tasks += n;
        sum += n * off;
        square += nn;
        mixed += nn * off;
        constant += nn * off * off;
        weight += w;
        squared_weight += sign * w * w;
        groups += static_cast<std::uint32_t>(sign);
    }
};

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

// What is final of each node, as sums.
class effect_past {
  public:
    static constexpr std::uint64_t recent_windows = 16;

    struct node_sums {
        effect_sums all, recent;
        double share = 0; // of the tasks of a group, the largest
    };

    [[nodiscard]] node_sums const& operator[](std::size_t node) const noexcept { return nodes_[node]; }
    [[nodiscard]] std::size_t cells() const noexcept { return cells_; }
    [[nodiscard]] node_links const& links() const noexcept { return links_; }
    // Within nodes.
    [[nodiscard]] double squares() const noexcept { return squares_; }
    [[nodiscard]] double freedom() const noexcept { return freedom_; }

    void forget() noexcept { is_valid_ = false; }
    // Nothing is final.
    void clear(std::size_t nodes) {
        nodes_.assign(nodes, {});
        links_.reset(nodes);
        squares_ = freedom_ = 0;
    }
    // Takes in what became final since, and the time that went by. False if all has to be solved again.
    bool follow(std::span<effect_group> groups, std::span<effect_cell const> cells, std::uint64_t window,
                std::span<double const> values, apart_nodes const& apart) {
        if (!is_valid_ || groups.size() < groups_ || window < window_ || window - solved_at_ >= 8)
            return false;
        double const moved = moved_by(values);
        if (moved > 3) return false;
        std::size_t more = cells_;
        for (std::size_t g = groups_; g < groups.size(); ++g) more += groups[g].cells;
        if ((more - solved_cells_) * 16 > solved_cells_) return false;
        if (moved > 1) {
            add_up(groups, cells, window, values, apart);
            return true;
        }
        links_.grow(values.size());
        nodes_.resize((std::max)(nodes_.size(), values.size()));
        age(groups, cells, window, apart);
        take(groups, cells, values, apart);
        return true;
    }
    // Everything was solved: sums of what is final, with the shifts that were found.
    void sum_up(std::span<effect_group> groups, std::span<effect_cell const> cells, std::uint64_t window,
                std::span<double const> values, apart_nodes const& apart) {
        add_up(groups, cells, window, values, apart);
        solved_at_ = window;
        solved_cells_ = cells_;
        is_valid_ = true;
    }

    [[nodiscard]] static bool is_recent(effect_group const& g, std::uint64_t window) noexcept {
        return window <= g.window + recent_windows;
    }

  private:
    // A node moves the shifts as far as it has a part in them: by so much any; by so much all, in the
    // mean of squares.
    static constexpr double one_moved = 0.002, all_moved = 0.002;

    // How far nodes are from where they were when the shifts were found: as often as is tolerated.
    [[nodiscard]] double moved_by(std::span<double const> values) const noexcept {
        double squares = 0, all = 0, most = 0;
        for (std::size_t i = 0; i < shifted_at_.size() && i < values.size(); ++i) {
            double const weight = (std::min)(nodes_[i].all.tasks, usual_), off = values[i] - shifted_at_[i];
            most = (std::max)(most, std::fabs(off) * nodes_[i].share);
            squares += weight * off * off;
            all += weight;
        }
        return (std::max)(most / one_moved, all > 0 ? std::sqrt(squares / all) / all_moved : 0.0);
    }
    // Shifts and sums of all that is final, anew.
    void add_up(std::span<effect_group> groups, std::span<effect_cell const> cells, std::uint64_t window,
                std::span<double const> values, apart_nodes const& apart) {
        clear(values.size());
        groups_ = cells_ = recent_group_ = recent_cell_ = 0;
        window_ = window;
        while (recent_group_ < groups.size() && !is_recent(groups[recent_group_], window))
            recent_cell_ += groups[recent_group_++].cells;
        take(groups, cells, values, apart);
        usual_ = 0;
        for (node_sums const& n : nodes_) usual_ += n.all.tasks / static_cast<double>(nodes_.size());
        shifted_at_.assign(values.begin(), values.end());
    }
    void age(std::span<effect_group const> groups, std::span<effect_cell const> cells, std::uint64_t window,
             apart_nodes const& apart) {
        window_ = window;
        for (; recent_group_ < groups_ && !is_recent(groups[recent_group_], window); ++recent_group_)
            for (std::size_t end = recent_cell_ + groups[recent_group_].cells; recent_cell_ < end;
                 ++recent_cell_) {
                effect_group const& g = groups[recent_group_];
                effect_cell const& cell = cells[recent_cell_];
                double const share = own_share(g, cell, apart);
                if (is_compared(share)) nodes_[cell.node].recent.remove(g, cell, share);
            }
    }
    void take(std::span<effect_group> groups, std::span<effect_cell const> cells,
              std::span<double const> values, apart_nodes const& apart) {
        link_groups(links_, groups.subspan(groups_), cells.subspan(cells_));
        for (; groups_ < groups.size(); ++groups_) {
            effect_group& g = groups[groups_];
            auto const own = cells.subspan(cells_, g.cells);
            cells_ += g.cells;
            squares_ += g.squares;
            freedom_ += g.freedom;
            find_shift(g, own, values, apart);
            bool const lately = groups_ >= recent_group_;
            for (effect_cell const& cell : own) {
                double const share = own_share(g, cell, apart);
                if (!is_compared(share)) continue;
                node_sums& n = nodes_[cell.node];
                n.share = (std::max)(n.share, share);
                n.all.add(g, cell, share);
                if (lately) n.recent.add(g, cell, share);
            }
        }
    }

    std::vector<node_sums> nodes_;
    std::vector<double> shifted_at_; // values that the shifts were found with
    node_links links_;
    double squares_ = 0, freedom_ = 0;
    std::size_t groups_ = 0, cells_ = 0, solved_cells_ = 0; // that are in the sums
    std::size_t recent_group_ = 0, recent_cell_ = 0;        // the first that is recent
    std::uint64_t window_ = 0, solved_at_ = 0;
    double usual_ = 0; // tasks of a node
    bool is_valid_ = false;
};

} // namespace straggle::detail
