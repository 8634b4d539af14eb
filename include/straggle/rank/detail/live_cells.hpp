// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: the comparisons of unfinished jobs, one job after the other,
/// and which of them beliefs have outdated.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/rank/detail/effect_past.hpp>
#include <straggle/rank/detail/group_rows.hpp>
#include <straggle/rank/detail/node_effects.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// How far the beliefs about a node have moved since its jobs were examined: squares of logarithms.
struct belief_change {
    double slowdown = 0; // 0 if poorly known: such values fluctuate without meaning
    double plain = 0;    // of the slowdown that needs no new explanation
};

class live_cells {
  public:
    void clear() noexcept {
        groups_.clear();
        cells_.clear();
        scores_.clear();
    }
    // Appends a job; returns its scores.
    std::span<cell_score> add(effect_group const& group, std::span<effect_cell const> cells,
                              std::span<cell_score const> scores) {
        groups_.push_back(group);
        reserve_for(cells_, cells_.size() + cells.size());
        reserve_for(scores_, scores_.size() + scores.size());
        cells_.insert(cells_.end(), cells.begin(), cells.end());
        scores_.insert(scores_.end(), scores.begin(), scores.end());
        return span_of(scores_).last(scores.size());
    }
    // Replaces the result of a job, whose cells start at `first`; returns its scores.
    std::span<cell_score> replace(std::size_t at, std::size_t first, effect_group const& group,
                                  std::span<effect_cell const> cells, std::span<cell_score const> scores) {
        write_over(cells_, first, groups_[at].cells, cells);
        write_over(scores_, first, groups_[at].cells, scores);
        groups_[at] = group;
        return span_of(scores_).subspan(first, scores.size());
    }
    // To be solved: the groups receive their shifts.
    [[nodiscard]] compared_jobs jobs() noexcept { return {groups_, cells()}; }
    [[nodiscard]] std::span<effect_group const> groups() const noexcept { return span_of(groups_); }
    [[nodiscard]] std::span<effect_cell const> cells() const noexcept { return span_of(cells_); }
    // One per cell.
    [[nodiscard]] std::span<cell_score const> scores() const noexcept { return span_of(scores_); }

    // What part of a job's result the beliefs have outdated.
    enum class stale : unsigned char { nothing, scores, cells };
    // The same for a job whose cells start at `first`. Ignores changes below a tenth of the deviation of one
    // task: a joint shift of all its times (in the mean square), or of the value that scores are measured
    // from.
    [[nodiscard]] stale stale_of(effect_group const& group, std::size_t first,
                                 std::span<belief_change const> changes) const noexcept {
        double squares = 0, most = 0;
        for (effect_cell const& c : cells().subspan(first, group.cells)) {
            belief_change const& change = changes[c.node];
            squares += c.tasks * change.slowdown;
            most = change.plain > most ? change.plain : most;
        }
        double const little = 0.01 * group.variance;
        if (squares > little * group.tasks) return stale::cells;
        return most > little ? stale::scores : stale::nothing;
    }

  private:
    template <class Row>
    static void write_over(std::vector<Row>& rows, std::size_t first, std::size_t count,
                           std::span<Row const> by) {
        auto const at = rows.begin() + static_cast<std::ptrdiff_t>(first);
        if (by.size() == count) // nearly always
            std::copy(by.begin(), by.end(), at);
        else
            rows.insert(rows.erase(at, at + static_cast<std::ptrdiff_t>(count)), by.begin(), by.end());
    }

    std::vector<effect_group> groups_;
    std::vector<effect_cell> cells_;
    std::vector<cell_score> scores_;
};

} // namespace straggle::detail
