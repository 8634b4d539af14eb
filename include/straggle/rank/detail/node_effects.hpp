// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp` and `rank/rank_nodes.hpp`: estimates the effects of all nodes
/// from all jobs.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/rank/detail/effect_past.hpp>
#include <straggle/record/slowdown.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// An effect with its 95 % interval, by Student's t.
[[nodiscard]] inline slowdown slowdown_from(double log_slowdown, double variance, double freedom,
                                            double tasks) noexcept {
    slowdown s;
    s.tasks = static_cast<std::uint64_t>(tasks + 0.5);
    double const by = 1 / (std::max)(freedom, 0.25);
    double const wide =
        (1.95996 + by * (2.37227 + by * (2.82250 + by * (2.55585 + by * 1.58953)))) * std::sqrt(variance);
    double const value = std::exp(log_slowdown), low = std::exp(log_slowdown - wide),
                 high = std::exp(log_slowdown + wide);
    if (variance > 0 && low > 0 && is_finite(high)) {
        s.value = value;
        s.low = low;
        s.high = high;
    }
    return s;
}

// Some jobs, and their cells one job after the other.
struct compared_jobs {
    std::span<effect_group> groups;
    std::span<effect_cell const> cells;
    std::span<lone_task const> lone{};
};

// Two-way model: log time = group + node, by least squares with equal weight for each task, solved by
// conjugate gradients.
//
// The variance of an effect is clustered: what the tasks of one group on one node have in common counts once.
// As many nodes have few groups, their variances are shrunk toward the common one, to the degree that nodes
// agree (an empirical Bayes moderation as in Smyth 2004, doi:10.2202/1544-6115.1027); a node that differs
// from the others by more than chance, such as one whose speed changed, keeps its own.
//
// Between two full solutions, finished groups are kept as sums per node (`effect_past`) with their shifts
// fixed: only unfinished groups are updated. A full solution follows before the finished groups have grown,
// aged or moved by more than a little.
class effect_solver {
  public:
    static constexpr std::uint64_t remembered_windows = 384;

    // Solves for all nodes. `effects` receives the solution.
    // @param finished jobs; `forget` must be called if any of these has changed
    void solve(compared_jobs finished, compared_jobs unfinished, std::uint64_t window,
               std::span<std::uint32_t const> slots, std::vector<node_effect>& effects) {
        value_.resize(effects.size());
        apart_.resize(effects.size(), 0);
        bool const is_all = finished.cells.size() + unfinished.cells.size() <= cheap ||
                            !past_.follow(finished.groups, finished.cells, window, span_of(value_), apart());
        std::array<compared_jobs, 2> const all{finished, unfinished};
        auto const open = std::span(all).subspan(is_all ? 0 : 1);
        if (is_all) {
            past_.clear(effects.size());
            // Do not start from the last solution: the same input must give the same bits.
            std::fill(value_.begin(), value_.end(), 0.0);
            std::fill(apart_.begin(), apart_.end(), std::uint8_t{0});
            is_any_apart_ = false;
            fit(open);
        }
        links_ = past_.links();
        links_.grow(effects.size());
        for_each_group(open, [this](effect_group&, own_cells const& own) { link_cells(links_, own); });
        if (!is_all) improve(open);
        std::uint64_t const recent_from = effect_past::recent_from(finished.groups, window);
        add_up(open, recent_from);
        settle(sums_);
        if (is_all && set_apart()) {
            fit(open);
            add_up(open, recent_from);
            settle(sums_);
        }
        if (is_all && past_.reaches_back())
            reach_back(
                finished.groups, finished.cells, recent_from, apart(),
                [this](std::uint32_t node) -> effect_sums& { return recent_[node]; }, [](std::uint32_t) {});
        for (std::size_t i = 0; i < effects.size(); ++i) {
            node_effect& e = effects[i] = {};
            e.component = links_.component(static_cast<std::uint32_t>(i));
            e.groups = sums_[i].groups;
            e.tasks = sums_[i].tasks;
            e.whole = e.log_slowdown = value_[i];
            judge(sums_[i], value_[i], e.variance, e.freedom);
        }
        adapt(effects);
        center(slots, effects);
        if (!is_all) return;
        for (std::size_t i = 0; i < value_.size(); ++i)
            if (effects[i].groups != 0) value_[i] = effects[i].whole;
        past_.sum_up(finished.groups, finished.cells, window, span_of(value_), apart());
    }
    // A finished group has changed.
    void forget() noexcept { past_.forget(); }
    // Notes that running attempts are passed.
    void see_running() noexcept { past_.see_running(); }
    // Variance of a node's effect between groups, if known well enough to discount evidence by.
    [[nodiscard]] double known_spread() const noexcept { return is_known_ ? between_ : 0.0; }
    void set_spread(double spread) noexcept {
        between_ = spread;
        is_known_ = spread > 0;
    }
    // What the next solution starts from.
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.past_);
        if (!self.past_.is_valid()) return;
        a.items(self.value_, 8);
        a.items(self.apart_, 1);
        a.expect(self.apart_.size() == self.value_.size());
        for (double const x : self.value_) a.expect(std::fabs(x) < most_log);
        for (std::uint8_t const x : self.apart_) a.expect(x <= 1);
        if constexpr (Archive::reads)
            self.is_any_apart_ = std::find(self.apart_.begin(), self.apart_.end(), 1) != self.apart_.end();
    }
    // After reading: whether it can be that of these groups.
    bool resume(std::size_t nodes, std::span<effect_group const> groups, std::span<effect_cell const> cells,
                std::uint64_t window) {
        return value_.size() <= nodes && past_.resume(nodes, groups, cells, window);
    }

  private:
    // What `fit` goes over in each round: the cells that determine a shift, and where those of a group end.
    // Compact, because each round visits all of them twice. Of a cell of one task, as most are, only the node
    // is listed.
    struct term {
        double tasks = 0;
        std::uint32_t node = 0;
    };
    struct side {
        double per_task; // 1 / tasks in all
        std::size_t lone_end, several_end;
    };

    // Calls visit(group, its cells) for groups that compare nodes.
    template <class Visit>
    static void for_each_group(std::span<compared_jobs const> jobs, Visit&& visit) {
        for (compared_jobs const& part : jobs) {
            std::size_t c = 0, l = 0;
            for (effect_group& g : part.groups) {
                if (g.lone + g.cells > 1)
                    visit(g, own_cells{part.lone.subspan(l, g.lone), part.cells.subspan(c, g.cells)});
                c += g.cells;
                l += g.lone;
            }
        }
    }
    // The normal equations of the effects with the shifts eliminated: first for the yardsticks, then for the
    // other nodes.
    void fit(std::span<compared_jobs const> jobs) {
        std::size_t const nodes = value_.size();
        diagonal_.assign(nodes, 0);
        rest_.assign(nodes, 0);
        list_terms(jobs);
        // A node alone in all its jobs has no comparison.
        for (double& d : diagonal_) d = d > 1e-9 ? 1 / d : 0.0;
        step_.assign(nodes, 0);
        image_.resize(nodes);
        double last = 0;
        for (int round = 0; round < 200; ++round) {
            double now = 0, most = 0;
            for (std::size_t i = 0; i < nodes; ++i) {
                double const z = diagonal_[i] * rest_[i];
                now += z * rest_[i];
                most = (std::max)(most, std::fabs(z));
            }
            if (!(most > 0.01 * nats_per_tick)) break; // far below what the logarithms are rounded to
            double const kept = round == 0 ? 0.0 : now / last;
            last = now;
            for (std::size_t i = 0; i < nodes; ++i) step_[i] = diagonal_[i] * rest_[i] + kept * step_[i];
            apply_terms();
            double along = 0;
            for (std::size_t i = 0; i < nodes; ++i) along += step_[i] * image_[i];
            if (!(along > 0)) break;
            double const by = now / along;
            for (std::size_t i = 0; i < nodes; ++i) {
                value_[i] += by * step_[i];
                rest_[i] -= by * image_[i];
            }
        }
    }
    void list_terms(std::span<compared_jobs const> jobs) {
        std::size_t cells = 0;
        for (compared_jobs const& part : jobs) cells += part.lone.size() + part.cells.size();
        if (lone_.size() < cells) lone_.resize(cells);
        several_.clear();
        sides_.clear();
        std::uint32_t* next = lone_.data();
        for_each_group(jobs, [&](effect_group& g, own_cells const& own) {
            find_shift(g, own, value_, apart());
            next = list_terms_of(g, own, next);
            sides_.push_back({1 / g.base, static_cast<std::size_t>(next - lone_.data()), several_.size()});
        });
    }
    // Lists nodes of lone tasks from `to` on; returns the end.
    std::uint32_t* list_terms_of(effect_group const& g, own_cells const& own, std::uint32_t* to) {
        own_shares const shares(g, apart());
        double *const rest = rest_.data(), *const diagonal = diagonal_.data();
        double const* const value = value_.data();
        double const shift = g.shift;
        own.for_each([&](std::uint32_t node, double tasks, double mean) STRAGGLE_INLINE_LAMBDA {
            double const share = shares(node, tasks);
            if (!(share > 0)) return; // set apart
            rest[node] += tasks * (mean - value[node] - shift);
            diagonal[node] += tasks * (1 - share);
            if (!(tasks < 1 || tasks > 1))
                *to++ = node;
            else
                several_.push_back({tasks, node});
        });
        return to;
    }
    // Multiplies the normal equations by the step.
    void apply_terms() {
        std::fill(image_.begin(), image_.end(), 0.0);
        double const* const step = step_.data();
        double* const image = image_.data();
        std::uint32_t const* lone = lone_.data();
        term const* several = several_.data();
        for (side const& s : sides_) {
            auto const own_lone = span_of(lone, s.lone_end - static_cast<std::size_t>(lone - lone_.data()));
            auto const own_several =
                span_of(several, s.several_end - static_cast<std::size_t>(several - several_.data()));
            double const mean =
                s.per_task * (sum_over(own_lone, [=](std::uint32_t node) { return step[node]; }) +
                              sum_over(own_several, [=](term const& t) { return t.tasks * step[t.node]; }));
            for (std::uint32_t const node : own_lone) image[node] += step[node] - mean;
            for (term const& t : own_several) image[t.node] += t.tasks * (step[t.node] - mean);
            lone += own_lone.size();
            several += own_several.size();
        }
    }
    // Nodes that vary too much are no yardsticks. False if there are none.
    bool set_apart() {
        is_any_apart_ = false;
        for (std::size_t i = 0; i < sums_.size(); ++i) {
            effect_sums const& s = sums_[i];
            double const expected = expected_of(s);
            bool const is_far = s.groups >= 3 && expected > 0 &&
                                squares_of(s, value_[i]) / expected - 1 > limit_of(freedom_of(s));
            apart_[i] = is_far ? 1 : 0;
            is_any_apart_ = is_any_apart_ || is_far;
        }
        return is_any_apart_;
    }
    [[nodiscard]] apart_nodes apart() const noexcept {
        return is_any_apart_ ? span_of(apart_.data(), apart_.size()) : apart_nodes{};
    }
    // Iterates from the sums over finished groups. Only the shifts and the values change; the weights, and
    // which nodes are compared, stay.
    void improve(std::span<compared_jobs const> jobs) {
        std::size_t const nodes = value_.size();
        rest_.resize(nodes);
        diagonal_.resize(nodes);
        for (std::size_t i = 0; i < nodes; ++i) diagonal_[i] = past_[i].all.tasks;
        compared_.clear();
        for_each_group(jobs, [&](effect_group& g, own_cells const& own) {
            find_shift(g, own, value_, apart());
            own_shares const shares(g, apart());
            own.for_each([&](std::uint32_t node, double tasks, double) {
                bool const is_in = is_compared(shares(node, tasks));
                compared_.push_back(is_in ? 1 : 0);
                if (is_in) diagonal_[node] += tasks;
            });
        });
        for (int sweep = 0; sweep < 24; ++sweep) {
            for (std::size_t i = 0; i < nodes; ++i) rest_[i] = past_[i].all.sum;
            std::size_t at = 0;
            for_each_group(jobs, [&](effect_group& g, own_cells const& own) {
                if (sweep > 0) find_shift(g, own, value_, apart());
                own.for_each([&](std::uint32_t node, double tasks, double mean) {
                    if (compared_[at++] != 0) rest_[node] += tasks * (mean - g.shift);
                });
            });
            double most = 0;
            for (std::size_t i = 0; i < nodes; ++i) {
                double const next = diagonal_[i] > 0 ? rest_[i] / diagonal_[i] : 0.0;
                most = (std::max)(most, std::fabs(next - value_[i]));
                value_[i] = next;
            }
            if (most < 1e-6) break;
        }
    }
    void add_up(std::span<compared_jobs const> jobs, std::uint64_t recent_from) {
        sums_.resize(value_.size());
        recent_.resize(value_.size());
        for (std::size_t i = 0; i < value_.size(); ++i) {
            sums_[i] = past_[i].all;
            recent_[i] = past_[i].recent;
        }
        squares_ = past_.squares();
        freedom_ = past_.freedom();
        for_each_group(jobs, [&](effect_group& g, own_cells const& own) {
            find_shift(g, own, value_, apart());
            squares_ += g.squares;
            freedom_ += g.freedom;
            own_shares const shares(g, apart());
            effect_sums *const sums = sums_.data(), *const recent =
                                                        g.window >= recent_from ? recent_.data() : nullptr;
            double const shift = g.shift;
            own.for_each([&](std::uint32_t node, double tasks, double mean) STRAGGLE_INLINE_LAMBDA {
                double const share = shares(node, tasks);
                if (!is_compared(share)) return;
                sums[node].add(tasks, mean - shift, share);
                if (recent != nullptr) recent[node].add(tasks, mean - shift, share);
            });
        });
        // Nodes set apart do not affect the others: their effects follow from the shifts.
        for (std::size_t i = 0; i < value_.size(); ++i)
            if (apart_[i] != 0 && sums_[i].tasks > 0) value_[i] = sums_[i].sum / sums_[i].tasks;
    }

    // Effective degrees of freedom: those of groups of equal weight.
    [[nodiscard]] static double freedom_of(effect_sums const& s) noexcept {
        double const equal = s.squared_weight > 0 ? s.weight * s.weight / s.squared_weight : 0.0;
        return equal > 1.25 ? equal - 1 : 0.25;
    }
    // Its observed squares, corrected for the degrees of freedom.
    [[nodiscard]] double squares_of(effect_sums const& s, double value) const noexcept {
        double const free = freedom_of(s);
        return s.squares_at(value) * (free + 1) / free;
    }
    [[nodiscard]] double expected_of(effect_sums const& s) const noexcept {
        return within_ * s.weight + between_ * s.squared_weight;
    }
    // Estimates the variance of one task, the variance of a node's effect between groups, and how far nodes
    // agree.
    void settle(std::span<effect_sums const> sums) {
        within_ = freedom_ > 0 ? squares_ / freedom_ : 0.0;
        between_ = 0;
        std::size_t known = 0;
        scratch_.clear();
        double free = 0;
        for (std::size_t i = 0; i < sums.size(); ++i) {
            effect_sums const& s = sums[i];
            if (s.groups < 2 || !(s.squared_weight > 0)) continue;
            ++known;
            double const own = freedom_of(s);
            free += own;
            // Ratio of the median of chi square to its mean.
            double const low = (std::max)(1 - 2 / (9 * (std::max)(own, 1.0)), 0.75);
            scratch_.push_back((squares_of(s, value_[i]) / (low * low * low) - within_ * s.weight) /
                               s.squared_weight);
        }
        if (known == 0) {
            is_known_ = false;
            strength_ = 1;
            return;
        }
        auto const half = scratch_.begin() + static_cast<std::ptrdiff_t>(scratch_.size() / 2);
        std::nth_element(scratch_.begin(), half, scratch_.end());
        between_ = (std::max)(*half, 0.0);
        double weight = 0, squared = 0;
        for (effect_sums const& s : sums) {
            weight += s.weight;
            squared += s.squared_weight;
        }
        is_known_ =
            freedom_ >= 20 && free >= 20 && between_ * squared > 2 * std::sqrt(2 / free) * within_ * weight;
        double seen = 0, all = 0;
        for (std::size_t i = 0; i < sums.size(); ++i) {
            effect_sums const& s = sums[i];
            double const expected = expected_of(s);
            if (s.groups < 2 || !(expected > 0)) continue;
            double const own = freedom_of(s), off = squares_of(s, value_[i]) / expected - 1;
            if (off > limit_of(own)) continue;
            seen += own * off * off - 2;
            all += own;
        }
        double const most = (std::max)(free, 4.0), excess = all > 0 ? seen / all : 0.0;
        strength_ = excess > 0 ? std::clamp(2 / excess, 4.0, most) : most;
    }
    // Beyond this relative excess of variance a node differs from the others by more than chance.
    [[nodiscard]] static double limit_of(double freedom) noexcept {
        return 4 * std::sqrt(2 / freedom) + 4 / freedom;
    }
    void judge(effect_sums const& s, double value, double& variance, double& freedom) const {
        double const expected = expected_of(s);
        if (s.groups == 0 || !(s.weight > 0)) return;
        freedom = freedom_of(s);
        double const seen = squares_of(s, value);
        double squares = seen;
        if (expected > 0 && seen / expected - 1 <= limit_of(freedom)) {
            squares = (freedom * seen + strength_ * expected) / (freedom + strength_);
            freedom += strength_;
        }
        variance = squares / (s.weight * s.weight);
    }
    // Judges a node whose speed changed by its recent jobs.
    void adapt(std::vector<node_effect>& effects) {
        for (std::size_t i = 0; i < effects.size(); ++i) {
            node_effect& e = effects[i];
            e.whole_variance = e.variance;
            e.whole_freedom = e.freedom;
            e.whole_tasks = e.tasks;
            effect_sums const& r = recent_[i];
            bool const suffice =
                past_.reaches_back() ? can_show_change(r.tasks, r.groups) : are_enough(r.tasks, r.groups);
            if (!suffice || r.groups >= e.groups || !(r.weight > 0)) continue;
            double const value = r.sum / r.tasks;
            double variance = 0, freedom = 0;
            judge(r, value, variance, freedom);
            double const change = value - e.log_slowdown;
            if (change * change <= 9 * (variance + e.variance)) continue;
            e.log_slowdown = value;
            e.variance = variance;
            e.freedom = freedom;
            e.tasks = r.tasks;
            e.groups = r.groups;
            e.is_changed = true;
        }
    }
    // The reference: the slot-weighted median node of a component, refined to the mean of all nodes within
    // chance of it. The median alone would carry its sampling error, and if many nodes are slow it is not the
    // middle of the healthy ones.
    void center(std::span<std::uint32_t const> slots, std::vector<node_effect>& effects) {
        for_each_component(effects, [&](std::size_t first, std::size_t last) {
            refer(first, last, slots, effects, &node_effect::log_slowdown, &node_effect::variance);
            refer(first, last, slots, effects, &node_effect::whole, &node_effect::whole_variance);
        });
    }
    void refer(std::size_t first, std::size_t last, std::span<std::uint32_t const> slots,
               std::vector<node_effect>& effects, double node_effect::* value,
               double node_effect::* variance) {
        auto const n = static_cast<double>(last - first);
        double const from = middle(first, last, slots, effects, value);
        auto const is_near = [&](node_effect const& e) {
            double const off = e.*value - from;
            return off * off < 6.25 * e.*variance;
        };
        double sum = 0, all = 0;
        if (n > 3)
            for (std::size_t k = first; k < last; ++k) {
                node_effect const& e = effects[order_[k]];
                if (!is_near(e)) continue;
                double const weight = 1 / (std::max)(e.*variance, 1e-12);
                sum += weight * (e.*value - from);
                all += weight;
            }
        double const reference = all > 0 ? from + sum / all : from;
        for (std::size_t k = first; k < last; ++k) {
            node_effect& e = effects[order_[k]];
            double const own = e.*variance;
            double of_both = own; // the reference has its own error, partly shared with the node
            if (all > 0)
                of_both = is_near(e) ? (std::max)(own - 1 / all, own / n) : own + 1 / all;
            else if (n > 1)
                of_both *= 1 - 2 / n + 1.5707963 / (n + 0.5708); // of a median
            // With two or three nodes, the effects themselves use up much of the freedom, and if one is far
            // off, the reference is not representative.
            double const few = n <= 2 ? 0.95 : n <= 3 ? 1.75 : 1 + 0.6 / n;
            e.*variance = few * (1 - 1 / n) * of_both;
        }
        for (std::size_t k = first; k < last; ++k) effects[order_[k]].*value -= reference;
    }
    // Calls visit(first, last) with the range of each component in `order_`.
    template <class Visit>
    void for_each_component(std::vector<node_effect> const& effects, Visit&& visit) {
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
            visit(first, last);
            first = last;
        }
    }
    // The slot-weighted median of some nodes of the order; between two, their mean.
    double middle(std::size_t first, std::size_t last, std::span<std::uint32_t const> slots,
                  std::vector<node_effect> const& effects, double node_effect::* of) {
        auto const is_before = [&](std::uint32_t a, std::uint32_t b) {
            double const x = effects[a].*of, y = effects[b].*of;
            return x != y ? x < y : a < b;
        };
        auto const place = [this](std::size_t k) { return order_.begin() + static_cast<std::ptrdiff_t>(k); };
        std::uint64_t all = 0, below = 0;
        for (std::size_t k = first; k < last; ++k) all += slots_of(order_[k], slots);
        std::size_t const end = last;
        while (last - first > 1) { // the median is at or after first
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
        double const low = effects[order_[first]].*of;
        below += slots_of(order_[first], slots);
        if (2 * below != all || first + 1 == end) return low;
        return (low + effects[*std::min_element(place(first + 1), place(end), is_before)].*of) / 2;
    }
    static std::uint64_t slots_of(std::uint32_t node, std::span<std::uint32_t const> slots) noexcept {
        return node < slots.size() && slots[node] != 0 ? slots[node] : 1;
    }
    double within_ = 0, between_ = 0, strength_ = 1;
    bool is_known_ = false;
    static constexpr std::size_t cheap = 1024; // up to this many cells, solve everything each time
    effect_past past_;
    node_links links_;
    double squares_ = 0, freedom_ = 0; // within nodes
    std::vector<double> value_, diagonal_, rest_, step_, image_, scratch_;
    std::vector<std::uint32_t> lone_; // may be longer
    std::vector<term> several_;
    std::vector<side> sides_;
    std::vector<std::uint8_t> apart_; // by node
    bool is_any_apart_ = false;
    std::vector<std::uint8_t> compared_; // scratch: by open cell
    std::vector<effect_sums> sums_, recent_;
    std::vector<std::uint32_t> order_;
};

} // namespace straggle::detail
