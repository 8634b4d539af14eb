// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/detail/node_effects.hpp`: the comparisons between nodes, and per-node sums of those
/// from finished jobs.
#pragma once

#include <straggle/base/archive.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/rank/detail/log_ticks.hpp>
#include <straggle/rank/detail/relative_times.hpp>
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
    float input = 0;  // log input per task relative to the job's mean, averaged
    double tasks = 0; // ended tasks; unfinished ones count by how informative their age is
    double mean = 0;

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.node, self.tasks, self.mean, self.input);
        a.expect(self.tasks >= 0 && self.tasks < most_tasks && std::fabs(self.mean) < most_log &&
                 std::fabs(self.input) < 2000);
    }
};

// The cell of a task that is the only one of its job on its node, where inputs do not matter. Most cells of a
// history are of this kind, and what memory they take decides how long it takes to compare them.
struct lone_task {
    std::uint32_t node = 0;
    std::int32_t ticks = 0; // log of its length

    [[nodiscard]] double mean() const noexcept { return ticks * nats_per_tick; }
};

// The attempts of one job, or of one stretch of it.
struct effect_group {
    std::uint64_t job = 0;
    std::uint64_t window = 0; // window in which it was closed
    double closed = 0;        // attempts that started by then and end later are late
    std::uint32_t cells = 0;
    std::uint32_t lone = 0; // further cells, of lone tasks; only of jobs that are solved for once
    float input = 0;        // mean log input of the tasks
    std::uint64_t kind = 0; // jobs of a kind depend on input in the same way
    double variance = 0;    // of one task, for unfinished ones
    double tasks = 0;       // over all cells
    double squares = 0,
           freedom = 0; // within nodes: squared deviations of tasks, and their degrees of freedom
    double inputs = 0, products = 0; // within nodes: squared deviations of input, and products of both
    double shift = 0;                // mean time if all nodes were equal; the solver finds it
    double base = 0;                 // tasks on the nodes that determine the shift
    bool is_without = false;         // the shift excludes nodes set apart

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.job, self.window, self.kind, self.closed, self.variance, self.tasks, self.squares);
        a(self.freedom, self.inputs, self.products, self.shift, self.base, self.is_without);
        log_input_field(self.input, a);
        a.varint(self.cells);
        a.expect(are_finite(self.closed, self.squares, self.freedom, self.inputs, self.products, self.base));
        a.expect(self.variance > 0 && self.variance < most_tasks && self.tasks >= 0 && self.tasks < 1e300 &&
                 std::fabs(self.shift) < most_log);
        a.expect(self.squares >= 0 && self.freedom >= 0 && self.inputs >= 0 && self.base >= 0);
    }
};

// Corrects finished jobs of a kind for a change `more` in the exponent of input.
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

// Whether this is enough for an interval.
[[nodiscard]] constexpr bool are_enough(double tasks, std::uint32_t groups) noexcept {
    return tasks >= 8 && groups >= 3;
}
// Whether this is enough to show that a node changed; a verdict requires no more.
[[nodiscard]] constexpr bool can_show_change(double tasks, std::uint32_t groups) noexcept {
    return tasks >= 4 && groups >= 2;
}

// The effect of one node.
struct node_effect {
    double log_slowdown = 0; // relative to the reference of its component
    double variance = 0;     // of log_slowdown
    double tasks = 0;
    double freedom = 0;       // degrees of freedom of the variance
    std::uint32_t groups = 0; // with siblings elsewhere
    std::uint32_t component = 0;
    bool is_changed = false; // judged by its latest jobs only
    double whole = 0, whole_variance = 0, whole_freedom = 0, whole_tasks = 0; // the same from all its jobs

    slowdown estimate; // computed once per solution

    // Whether an interval can be given.
    [[nodiscard]] bool is_enough() const noexcept { return are_enough(tasks, groups); }
};

// By node: whether it must not serve as a yardstick, since it differs from itself by more than chance, for
// example because its speed changed. Empty if no node is apart.
using apart_nodes = std::span<std::uint8_t const>;

// The sum of term(item) for all items, in chains of additions that do not wait for each other.
template <class Item, class Term>
[[nodiscard]] STRAGGLE_ALWAYS_INLINE double sum_over(std::span<Item const> items, Term&& term) noexcept {
    double a = 0, b = 0, c = 0, d = 0;
    std::size_t i = 0;
    for (; i + 4 <= items.size(); i += 4) {
        a += term(items[i]);
        b += term(items[i + 1]);
        c += term(items[i + 2]);
        d += term(items[i + 3]);
    }
    for (; i < items.size(); ++i) a += term(items[i]);
    return (a + b) + (c + d);
}

// All cells of one group.
struct own_cells {
    std::span<lone_task const> lone;
    std::span<effect_cell const> cells;

    // Calls visit(node, tasks, mean) for each.
    template <class Visit>
    STRAGGLE_ALWAYS_INLINE void for_each(Visit&& visit) const {
        for (lone_task const& t : lone) visit(t.node, 1.0, t.mean());
        for (effect_cell const& c : cells) visit(c.node, c.tasks, c.mean);
    }
};

// Finds the shift of a group, given the effects.
inline void find_shift(effect_group& g, own_cells const& own, std::span<double const> values,
                       apart_nodes apart) noexcept {
    double const* const value = values.data();
    double const all =
        sum_over(own.lone, [value](lone_task const& t) { return t.mean() - value[t.node]; }) +
        sum_over(own.cells, [value](effect_cell const& c) { return c.tasks * (c.mean - value[c.node]); });
    double sum = apart.empty() ? all : 0.0, base = apart.empty() ? g.tasks : 0.0;
    if (!apart.empty())
        own.for_each([&](std::uint32_t node, double tasks, double mean) {
            if (apart[node] != 0) return;
            sum += tasks * (mean - value[node]);
            base += tasks;
        });
    g.is_without = base > 0;
    g.base = g.is_without ? base : g.tasks;
    g.shift = g.is_without ? sum / base : g.tasks > 0 ? all / g.tasks : 0.0;
}
// The share of each cell of a group in its own yardstick: 1 if there is no other.
class own_shares {
  public:
    own_shares(effect_group const& g, apart_nodes apart) noexcept
        : per_task_(1 / g.base), apart_(g.is_without ? apart : apart_nodes{}) {}
    [[nodiscard]] STRAGGLE_ALWAYS_INLINE double operator()(std::uint32_t node, double tasks) const noexcept {
        if (!(tasks > 0)) return 1;
        return !apart_.empty() && apart_[node] != 0 ? 0.0 : tasks * per_task_;
    }

  private:
    double per_task_;
    apart_nodes apart_;
};
[[nodiscard]] inline bool is_compared(double share) noexcept {
    return share < 1 - 1e-9;
}

// Sums over the jobs of one node, given their shifts.
struct effect_sums {
    double tasks = 0, sum = 0;                  // tasks; tasks times their deviation from the shift
    double square = 0, mixed = 0, constant = 0; // sum of squared job sums, as a polynomial in the effect
    double weight = 0, squared_weight = 0;      // of jobs: tasks times the share of their siblings elsewhere
    std::uint32_t groups = 0;

    // A cell: its tasks, how far they lie beyond the shift, and its share in it.
    STRAGGLE_ALWAYS_INLINE void add(double n, double off, double share) noexcept { take(n, off, share, 1); }
    STRAGGLE_ALWAYS_INLINE void remove(double n, double off, double share) noexcept {
        take(n, off, share, -1);
    }
    // Sum over jobs of the squared joint deviation of a job's tasks, at a value of the effect.
    [[nodiscard]] double squares_at(double value) const noexcept {
        return (std::max)(constant + value * (value * square - 2 * mixed), 0.0);
    }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.tasks, self.sum, self.square, self.mixed, self.constant, self.weight, self.squared_weight,
          self.groups);
        for (double const x : {self.sum, self.mixed}) a.expect(std::fabs(x) < 1e30);
        for (double const x : {self.tasks, self.square, self.constant, self.weight, self.squared_weight})
            a.expect(x > -1e-3 && x < 1e30); // rounding, after groups have aged
    }

  private:
    STRAGGLE_ALWAYS_INLINE void take(double all, double off, double share, int sign) noexcept {
        double const n = sign * all, nn = n * all, w = n * (1 - share);
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

// For a node with too few recent groups, older ones count as recent, too: few tasks end on a slow node, and
// it must still be judged by its latest ones. `recent_from` is the first recent window, and `recent(node)`
// are the sums of a node. Calls `reached(node)` for each node that needs older groups.
template <class Recent, class Reached>
void reach_back(std::span<effect_group const> groups, std::span<effect_cell const> cells,
                std::uint64_t recent_from, apart_nodes apart, Recent&& recent, Reached&& reached) {
    std::size_t c = cells.size();
    for (std::size_t k = groups.size(); k-- > 0;) {
        effect_group const& g = groups[k];
        if (g.window >= recent_from) {
            c -= g.cells;
            continue;
        }
        own_shares const shares(g, apart);
        for (std::size_t const first = c - g.cells; c > first;) {
            effect_cell const& cell = cells[--c];
            effect_sums& s = recent(cell.node);
            if (can_show_change(s.tasks, s.groups)) continue;
            double const share = shares(cell.node, cell.tasks);
            if (!is_compared(share)) continue;
            s.add(cell.tasks, cell.mean - g.shift, share);
            reached(cell.node);
        }
    }
}

// Nodes with tasks in the same group are compared.
inline void link_cells(node_links& links, own_cells const& own) noexcept {
    if (links.are_all_joined()) return; // nearly always, after a few groups
    std::uint32_t first = node_links::somewhere;
    own.for_each([&](std::uint32_t node, double tasks, double) {
        if (!(tasks > 0)) return;
        if (first == node_links::somewhere) first = node;
        links.join(first, node);
    });
}
inline void link_groups(node_links& links, std::span<effect_group const> groups,
                        std::span<effect_cell const> cells) noexcept {
    for (effect_group const& g : groups) {
        link_cells(links, {{}, cells.first(g.cells)});
        cells = cells.subspan(g.cells);
    }
}

// Per-node sums over finished groups.
class effect_past {
  public:
    struct node_sums {
        effect_sums all, recent;
        double share = 0;     // largest share in a group's tasks
        bool is_long = false; // `recent` reaches further back, so that there is enough to judge by

        template <class Self, class Archive>
        static void fields(Self& self, Archive& a) {
            a(self.all, self.recent, self.share, self.is_long);
            a.expect(self.share >= 0 && self.share <= 1 && self.recent.groups <= self.all.groups);
        }
    };

    [[nodiscard]] node_sums const& operator[](std::size_t node) const noexcept { return nodes_[node]; }
    [[nodiscard]] std::size_t cells() const noexcept { return cells_; }
    [[nodiscard]] node_links const& links() const noexcept { return links_; }
    // Within-node sums.
    [[nodiscard]] double squares() const noexcept { return squares_; }
    [[nodiscard]] double freedom() const noexcept { return freedom_; }

    // Whether a node with too few recent tasks is judged by its latest ones. Not once running attempts are
    // passed: their ages show sooner that a node has become slow, or has recovered.
    [[nodiscard]] bool reaches_back() const noexcept { return reaches_back_; }
    void see_running() noexcept {
        if (reaches_back_) forget();
        reaches_back_ = false;
    }
    [[nodiscard]] bool is_valid() const noexcept { return is_valid_; }
    void forget() noexcept { is_valid_ = false; }
    // Includes the sums: recomputed ones would differ by rounding.
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.is_valid_, self.reaches_back_);
        if (!self.is_valid_) return;
        a.varint(self.groups_);
        a.varint(self.recent_group_);
        a.varint(self.solved_cells_);
        a.varint(self.window_);
        a.varint(self.solved_at_);
        a(self.squares_, self.freedom_, self.usual_);
        for (double const x : {self.squares_, self.freedom_, self.usual_}) a.expect(x >= 0 && is_finite(x));
        a.items(self.nodes_, 2 * (7 * 8 + 4) + 8 + 1);
        a.items(self.shifted_at_, 8);
        for (double const x : self.shifted_at_) a.expect(std::fabs(x) < most_log);
    }
    // After reading: whether the sums can be those of these groups. Finds what follows from them.
    bool resume(std::size_t nodes, std::span<effect_group const> groups, std::span<effect_cell const> cells,
                std::uint64_t window) {
        if (!is_valid_) return true;
        is_valid_ = groups_ <= groups.size() && recent_group_ <= groups_ && solved_at_ <= window_ &&
                    window_ <= window && nodes_.size() <= nodes && shifted_at_.size() <= nodes_.size();
        if (!is_valid_) return false;
        cells_ = recent_cell_ = 0;
        for (std::size_t g = 0; g < groups_; ++g) {
            if (g < recent_group_) recent_cell_ += groups[g].cells;
            cells_ += groups[g].cells;
        }
        auto const taken = cells.first(cells_);
        for (effect_cell const& c : taken) is_valid_ = is_valid_ && c.node < nodes_.size();
        if (!is_valid_ || solved_cells_ > cells_) return false;
        links_.reset(nodes_.size());
        link_groups(links_, groups.first(groups_), taken);
        return true;
    }
    // Starts without any finished group.
    void clear(std::size_t nodes) {
        nodes_.assign(nodes, {});
        links_.reset(nodes);
        squares_ = freedom_ = 0;
    }
    // Adds newly finished groups, and ages older ones. False if everything must be solved again.
    bool follow(std::span<effect_group> groups, std::span<effect_cell const> cells, std::uint64_t window,
                std::span<double const> values, apart_nodes apart) {
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
    // After a full solution: sums over all finished groups, with the shifts found.
    void sum_up(std::span<effect_group> groups, std::span<effect_cell const> cells, std::uint64_t window,
                std::span<double const> values, apart_nodes apart) {
        add_up(groups, cells, window, values, apart);
        solved_at_ = window;
        solved_cells_ = cells_;
        is_valid_ = true;
    }

    // The first recent window: groups closed in it or later are recent. Reaches further back where jobs take
    // so long that the last windows closed too few groups.
    [[nodiscard]] static std::uint64_t recent_from(std::span<effect_group const> groups,
                                                   std::uint64_t window) noexcept {
        constexpr std::uint64_t windows = 16;
        constexpr std::size_t least = 3;
        std::uint64_t const from = window > windows ? window - windows : 0;
        return groups.size() < least ? from : (std::min)(from, groups[groups.size() - least].window);
    }

  private:
    // A node that moves changes the shifts in proportion to its share. Tolerances for any single node, and
    // for all in the root mean square.
    static constexpr double one_moved = 0.002, all_moved = 0.002;

    // How far nodes have moved since the shifts were found, in multiples of the tolerance.
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
    // Recomputes the shifts and sums of all finished groups.
    void add_up(std::span<effect_group> groups, std::span<effect_cell const> cells, std::uint64_t window,
                std::span<double const> values, apart_nodes apart) {
        clear(values.size());
        groups_ = cells_ = recent_group_ = recent_cell_ = 0;
        window_ = window;
        std::uint64_t const from = recent_from(groups, window);
        while (recent_group_ < groups.size() && groups[recent_group_].window < from)
            recent_cell_ += groups[recent_group_++].cells;
        take(groups, cells, values, apart);
        if (reaches_back_)
            reach_back(
                groups, cells, from, apart,
                [this](std::uint32_t node) -> effect_sums& { return nodes_[node].recent; },
                [this](std::uint32_t node) { nodes_[node].is_long = true; });
        usual_ = 0;
        for (node_sums const& n : nodes_) usual_ += n.all.tasks / static_cast<double>(nodes_.size());
        shifted_at_.assign(values.begin(), values.end());
    }
    void age(std::span<effect_group const> groups, std::span<effect_cell const> cells, std::uint64_t window,
             apart_nodes apart) {
        window_ = window;
        std::uint64_t const from = recent_from(groups, window);
        for (; recent_group_ < groups_ && groups[recent_group_].window < from; ++recent_group_) {
            effect_group const& g = groups[recent_group_];
            own_shares const shares(g, apart);
            for (std::size_t end = recent_cell_ + g.cells; recent_cell_ < end; ++recent_cell_) {
                effect_cell const& cell = cells[recent_cell_];
                double const share = shares(cell.node, cell.tasks);
                if (!is_compared(share)) continue;
                node_sums& n = nodes_[cell.node];
                n.is_long = n.is_long || (reaches_back_ &&
                                          !can_show_change(n.recent.tasks - cell.tasks, n.recent.groups - 1));
                if (!n.is_long) n.recent.remove(cell.tasks, cell.mean - g.shift, share);
            }
        }
    }
    void take(std::span<effect_group> groups, std::span<effect_cell const> cells,
              std::span<double const> values, apart_nodes apart) {
        link_groups(links_, groups.subspan(groups_), cells.subspan(cells_));
        for (; groups_ < groups.size(); ++groups_) {
            effect_group& g = groups[groups_];
            auto const own = cells.subspan(cells_, g.cells);
            cells_ += g.cells;
            squares_ += g.squares;
            freedom_ += g.freedom;
            find_shift(g, {{}, own}, values, apart);
            own_shares const shares(g, apart);
            bool const lately = groups_ >= recent_group_;
            for (effect_cell const& cell : own) {
                double const share = shares(cell.node, cell.tasks);
                if (!is_compared(share)) continue;
                node_sums& n = nodes_[cell.node];
                n.share = (std::max)(n.share, share);
                n.all.add(cell.tasks, cell.mean - g.shift, share);
                if (lately) n.recent.add(cell.tasks, cell.mean - g.shift, share);
            }
        }
    }

    std::vector<node_sums> nodes_;
    std::vector<double> shifted_at_; // values used to find the shifts
    node_links links_;
    double squares_ = 0, freedom_ = 0;
    std::size_t groups_ = 0, cells_ = 0, solved_cells_ = 0; // included in the sums
    std::size_t recent_group_ = 0, recent_cell_ = 0;        // first recent ones
    std::uint64_t window_ = 0, solved_at_ = 0;
    double usual_ = 0; // average number of tasks per node
    bool is_valid_ = false, reaches_back_ = true;
};

} // namespace straggle::detail
