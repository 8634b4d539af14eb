// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `learn/boosted_trees_trainer.hpp`: grows one tree by exact greedy splits.
///
/// Grows the same trees as the updaters `grow_colmaker` and `prune` of XGBoost 1.7.4: the same candidates in
/// the same order, sums in double, gains in float, and a later candidate wins only if it is strictly better.
/// XGBoost scans whole columns once per level. Here each node owns its part of each column, so its sums stay
/// in registers, small nodes stay in the cache, and columns that have become constant are dropped.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/learn/detail/logistic.hpp>
#include <straggle/learn/detail/sorted_columns.hpp>
#include <straggle/learn/tree_node.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Parameters, in the types that XGBoost uses.
struct grower_limits {
    float eta = 0;
    float lambda = 0;
    float gamma = 0;
    float min_child_weight = 0;
    std::uint32_t max_depth = 0;
};

// Sums of slopes.
struct slope_sums {
    double first = 0;
    double second = 0;

    void add(loss_slope s) noexcept {
        first += static_cast<double>(s.first);
        second += static_cast<double>(s.second);
    }
    friend slope_sums operator-(slope_sums a, slope_sums b) noexcept {
        return {a.first - b.first, a.second - b.second};
    }
};

class tree_grower {
  public:
    // A node while the tree grows.
    struct grown_node {
        slope_sums sums;
        float gain = 0;
        float threshold = 0;
        std::uint32_t column = 0;
        std::uint32_t left = 0;           // 0 for a leaf; the right child follows it
        std::uint32_t begin = 0, end = 0; // its rows in `order()`
        std::uint32_t depth = 0;
        bool default_left = false;
    };

    // Prepares for trees over these examples.
    void begin(sorted_columns const& columns, grower_limits const& limits) {
        limits_ = limits;
        columns_ = &columns;
        order_.resize(columns.rows());
        spare_rows_.resize(columns.rows());
        goes_right_.resize(columns.rows());
        entries_.resize(columns.size());
        spare_entries_.resize(columns.rows());
    }

    // Grows a tree on the slopes, one per row, and appends its nodes; returns its depth.
    std::uint32_t grow(std::span<loss_slope const> slopes, std::vector<learn::tree_node>& out) {
        slopes_ = slopes.data();
        plant();
        while (!open_.empty()) {
            std::uint32_t const node = open_.back();
            open_.pop_back();
            take_parts();
            expand(node);
        }
        prune();
        return emit(out);
    }

    // Adds to each row's margin the value of its leaf.
    void add_leaves(std::span<float> margins) const noexcept {
        for (std::uint32_t const i : numbered_) {
            grown_node const& n = grown_[i];
            if (n.left != 0) continue;
            float const leaf = leaf_of(n);
            for (std::uint32_t r = n.begin; r < n.end; ++r) margins[order_[r]] += leaf;
        }
    }

  private:
    // The part of a column that belongs to one node.
    struct part {
        std::uint32_t column = 0;
        std::uint32_t begin = 0, end = 0; // from the beginning of the column
    };
    struct candidate {
        float gain = 0;
        float threshold = 0;
        std::uint32_t column = 0;
        bool default_left = false;
    };

    static constexpr float least_gain = 1e-6F; // kRtEps

    // ------------------------------------------------------------------------------------------- formulas

    [[nodiscard]] float score(slope_sums s) const noexcept {
        if (s.second <= 0) return 0;
        return static_cast<float>(s.first * s.first) /
               static_cast<float>(s.second + static_cast<double>(limits_.lambda));
    }
    [[nodiscard]] float leaf_of(grown_node const& n) const noexcept {
        if (n.sums.second < min_weight() || n.sums.second <= 0) return 0;
        double const weight = -n.sums.first / (n.sums.second + static_cast<double>(limits_.lambda));
        return static_cast<float>(weight) * limits_.eta;
    }
    [[nodiscard]] double min_weight() const noexcept { return static_cast<double>(limits_.min_child_weight); }

    // Whether any split is possible: if not, the columns need not be scanned.
    [[nodiscard]] bool can_split(grown_node const& n) const noexcept {
        return n.depth < limits_.max_depth && n.end - n.begin > 1 &&
               n.sums.second - min_weight() >= min_weight();
    }

    // ------------------------------------------------------------------------------------------- growing

    void plant() {
        grown_.clear();
        open_.clear();
        parts_.clear();
        grown_node root;
        root.end = columns_->rows();
        for (std::uint32_t r = 0; r < root.end; ++r) {
            order_[r] = r;
            root.sums.add(slopes_[r]);
        }
        grown_.push_back(root);
        if (!can_split(root)) return;
        std::span<sorted_columns::column const> const columns = columns_->columns();
        for (std::uint32_t c = 0; c < columns.size(); ++c)
            keep_part({c, 0, columns[c].count}, columns_->entries(), root, parts_);
        open_.push_back(0);
        begins_.assign(1, 0);
    }

    // Drops parts that allow no split: empty, or constant over all rows of the node.
    void keep_part(part const& p, column_entry const* entries, grown_node const& n, std::vector<part>& to) {
        if (p.begin == p.end) return;
        column_entry const* const column = entries + columns_->columns()[p.column].begin;
        if (p.end - p.begin == n.end - n.begin && column[p.begin].value == column[p.end - 1].value) return;
        to.push_back(p);
    }

    // Moves the parts of the node on top of the stack to `current_`.
    void take_parts() {
        auto const from = parts_.begin() + static_cast<std::ptrdiff_t>(begins_.back());
        current_.assign(from, parts_.end());
        parts_.erase(from, parts_.end());
        begins_.pop_back();
    }

    void expand(std::uint32_t index) {
        grown_node n = grown_[index];
        // The root reads the sorted columns themselves, which must not change: the next round needs them.
        column_entry const* const source = index == 0 ? columns_->entries() : entries_.data();
        candidate best;
        score_of_node_ = score(n.sums);
        for (part const& p : current_) try_column(p, source, n.sums, best);
        if (!(best.gain > least_gain)) return;

        n.gain = best.gain;
        n.threshold = best.threshold;
        n.column = best.column;
        n.default_left = best.default_left;
        n.left = static_cast<std::uint32_t>(grown_.size());
        grown_[index] = n;

        mark_sides(n, source);
        grown_node left, right;
        left.depth = right.depth = n.depth + 1;
        divide_rows(n, left, right);
        grown_.push_back(left);
        grown_.push_back(right);
        bool const left_open = can_split(left), right_open = can_split(right);
        if (!left_open && !right_open) return;

        lefts_.clear();
        std::size_t const first = parts_.size();
        for (part const& p : current_) {
            part l = p, r = p;
            divide_part(source, l, r, left_open, right_open);
            if (right_open) keep_part(r, entries_.data(), right, parts_);
            if (left_open) keep_part(l, entries_.data(), left, lefts_);
        }
        if (right_open) {
            begins_.push_back(first);
            open_.push_back(n.left + 1);
        }
        if (left_open) {
            begins_.push_back(parts_.size());
            parts_.insert(parts_.end(), lefts_.begin(), lefts_.end());
            open_.push_back(n.left);
        }
    }

    void try_column(part const& p, column_entry const* source, slope_sums all,
                    candidate& best) const noexcept {
        sorted_columns::column const& column = columns_->columns()[p.column];
        column_entry const* const from = source + column.begin + p.begin;
        std::uint32_t const count = p.end - p.begin;
        if (column.missing_right) scan<false>(from, count, p.column, all, best);
        scan<true>(from, count, p.column, all, best);
    }

    // All splits of the values that are not missing: from the largest down, with missing values on the left,
    // or from the smallest up, with missing values on the right. The last split separates values from missing
    // ones.
    template <bool Down>
    void scan(column_entry const* from, std::uint32_t count, std::uint32_t column, slope_sums all,
              candidate& best) const noexcept {
        constexpr std::ptrdiff_t step = Down ? -1 : 1;
        loss_slope const* const slopes = slopes_;
        double const least = min_weight(), lambda = static_cast<double>(limits_.lambda);
        double bar = bar_of(best);
        column_entry const* at = Down ? from + count - 1 : from;
        float last = at->value;
        slope_sums seen;
        seen.add(slopes[at->row]);
        for (std::uint32_t i = 1; i < count; ++i) {
            at += step;
            float const value = at->value;
            slope_sums const rest = all - seen;
            if (value != last && seen.second >= least && rest.second >= least) {
                // Is score(seen) + score(rest) at least the bar? Multiplied out: divisions only for the few
                // that pass.
                double const a = seen.second + lambda, b = rest.second + lambda;
                if (seen.first * seen.first * b + rest.first * rest.first * a >= bar * (a * b)) {
                    float const gain = gain_of(seen, rest);
                    if (gain > best.gain && magnitude_bits(gain) < magnitude_of_infinity<float>) {
                        // Between two adjacent floats on the way up, this puts the lower one on the right,
                        // although its slopes were counted on the left. XGBoost does the same.
                        float const middle = (value + last) * 0.5F;
                        best = {gain, middle == value ? last : middle, column, Down};
                        bar = bar_of(best);
                    }
                }
            }
            seen.add(slopes[at->row]);
            last = value;
        }
        slope_sums const rest = all - seen;
        if (!(seen.second >= least && rest.second >= least)) return;
        float const gain = gain_of(seen, rest);
        if (gain > best.gain && magnitude_bits(gain) < magnitude_of_infinity<float>) {
            float const gap = std::fabs(last) + least_gain;
            best = {gain, last + (Down ? -gap : gap), column, Down};
        }
    }

    [[nodiscard]] float gain_of(slope_sums one, slope_sums other) const noexcept {
        return score(one) + score(other) - score_of_node_;
    }
    // A lower bound of the sum of scores, without rounding, of any better candidate: computed in floats, the
    // sum may exceed the exact one by five roundings of 2^-24.
    [[nodiscard]] double bar_of(candidate const& best) const noexcept {
        return (static_cast<double>(best.gain) + static_cast<double>(score_of_node_)) * (1 - 1e-6);
    }

    // ------------------------------------------------------------------------------------------- dividing

    void mark_sides(grown_node const& n, column_entry const* source) noexcept {
        part const* asked = current_.data();
        while (asked->column != n.column) ++asked;
        if (asked->end - asked->begin != n.end - n.begin)
            for (std::uint32_t r = n.begin; r < n.end; ++r) goes_right_[order_[r]] = n.default_left ? 0 : 1;
        column_entry const* const column = source + columns_->columns()[n.column].begin;
        for (std::uint32_t i = asked->begin; i < asked->end; ++i)
            goes_right_[column[i].row] = column[i].value < n.threshold ? 0 : 1;
    }

    // Keeps the order of the rows within each child, because sums are added up in this order.
    void divide_rows(grown_node const& n, grown_node& left, grown_node& right) noexcept {
        std::uint32_t kept = n.begin, moved = 0;
        for (std::uint32_t i = n.begin; i < n.end; ++i) {
            std::uint32_t const row = order_[i];
            std::uint32_t const goes_right = goes_right_[row];
            order_[kept] = row;
            spare_rows_[moved] = row;
            kept += 1 - goes_right;
            moved += goes_right;
        }
        std::copy_n(spare_rows_.begin(), moved, order_.data() + kept);
        left.begin = n.begin;
        left.end = right.begin = kept;
        right.end = n.end;
        for (std::uint32_t i = left.begin; i < left.end; ++i) left.sums.add(slopes_[order_[i]]);
        for (std::uint32_t i = right.begin; i < right.end; ++i) right.sums.add(slopes_[order_[i]]);
    }

    // Divides a part of a column between the children; a child that cannot be split gets nothing.
    void divide_part(column_entry const* source, part& left, part& right, bool left_open,
                     bool right_open) noexcept {
        std::size_t const begin = columns_->columns()[left.column].begin + left.begin;
        column_entry const* const from = source + begin;
        column_entry* const to = entries_.data() + begin;
        column_entry* const spare = spare_entries_.data();
        std::uint32_t const count = left.end - left.begin;
        std::uint32_t kept = 0, moved = 0;
        if (left_open && right_open) {
            for (std::uint32_t i = 0; i < count; ++i) {
                auto const whole = std::bit_cast<std::uint64_t>(from[i]); // one 64-bit copy instead of two
                std::uint32_t const goes_right = goes_right_[from[i].row];
                to[kept] = std::bit_cast<column_entry>(whole);
                spare[moved] = std::bit_cast<column_entry>(whole);
                kept += 1 - goes_right;
                moved += goes_right;
            }
            std::copy_n(spare, moved, to + kept);
        } else {
            std::uint32_t const wanted = right_open ? 1 : 0;
            for (std::uint32_t i = 0; i < count; ++i) {
                auto const whole = std::bit_cast<std::uint64_t>(from[i]);
                std::uint32_t const stays = goes_right_[from[i].row] == wanted ? 1 : 0;
                to[kept] = std::bit_cast<column_entry>(whole);
                kept += stays;
            }
            if (right_open) moved = std::exchange(kept, 0);
        }
        left.end = right.begin = left.begin + kept;
        right.end = right.begin + moved;
    }

    // ------------------------------------------------------------------------------------------- finishing

    // Bottom up: a split into two leaves is undone if it gained less than gamma.
    void prune() noexcept {
        for (std::size_t i = grown_.size(); i-- > 0;) {
            grown_node& n = grown_[i];
            if (n.left != 0 && grown_[n.left].left == 0 && grown_[n.left + 1].left == 0 &&
                n.gain < limits_.gamma)
                n.left = 0;
        }
    }

    // Level by level, as XGBoost numbers nodes.
    std::uint32_t emit(std::vector<learn::tree_node>& out) {
        std::uint32_t depth = 0;
        numbered_.assign(1, 0);
        for (std::size_t i = 0; i < numbered_.size(); ++i) {
            grown_node const& n = grown_[numbered_[i]];
            auto const index = static_cast<std::uint32_t>(i);
            depth = n.depth; // the last one is the deepest
            if (n.left == 0) {
                out.push_back(learn::tree_node::leaf(index, leaf_of(n)));
                continue;
            }
            out.push_back(learn::tree_node::split(static_cast<std::uint32_t>(numbered_.size()), n.column,
                                                  n.threshold, n.default_left, n.gain));
            numbered_.push_back(n.left);
            numbered_.push_back(n.left + 1);
        }
        return depth;
    }

    grower_limits limits_;
    sorted_columns const* columns_ = nullptr;
    loss_slope const* slopes_ = nullptr;
    float score_of_node_ = 0;
    std::vector<grown_node> grown_;       // children after their parents
    std::vector<std::uint32_t> numbered_; // those that remain after pruning, in the order of the tree
    std::vector<std::uint32_t> open_;     // a stack of nodes still to be split
    std::vector<part> parts_;             // of the open nodes, in the order of the stack
    std::vector<std::size_t> begins_;     // by open node: where its parts begin
    std::vector<part> current_, lefts_;
    std::vector<std::uint32_t> order_, spare_rows_; // rows by node
    std::vector<unsigned char> goes_right_;         // by row
    std::vector<column_entry> entries_;             // of the columns, by node
    std::vector<column_entry> spare_entries_;
};
} // namespace straggle::detail
