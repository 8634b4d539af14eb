// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: merges the evidence of another object.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/detail/evidence_store.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace straggle::inline STRAGGLE_ABI::detail {

inline void evidence_store::merge(evidence_store const& other, std::span<std::uint32_t const> node_of,
                                  double later, std::uint32_t max_nodes, std::size_t max_attempts,
                                  std::size_t max_jobs) {
    solver_.forget();
    this->empty_void_cells();
    auto const here = [&](std::uint32_t node) {
        return node < node_of.size() && node_of[node] < max_nodes ? node_of[node] : no_node;
    };
    for (std::uint32_t i = 0; i < other.nodes_.size(); ++i) {
        if (here(i) == no_node) continue;
        room_for_node(here(i));
        nodes_[here(i)].slow.merge(other.nodes_[i].slow);
        nodes_[here(i)].now.merge(other.nodes_[i].now);
        nodes_[here(i)].booked += other.nodes_[i].booked;
    }
    onsets_.merge(other.onsets_);
    extent_.merge(other.extent_);
    inputs_.merge(other.inputs_);
    std::size_t c = 0;
    for (effect_group g : other.groups_) {
        std::size_t const end = c + g.cells;
        g.cells = 0;
        g.tasks = 0;
        for (; c < end; ++c) {
            effect_cell cell = other.cells_[c];
            if (other.is_void(c)) cell.tasks = 0;
            cell.node = here(cell.node);
            if (cell.node == no_node) continue;
            g.tasks += cell.tasks;
            cells_.push_back(cell);
            ++g.cells;
        }
        correct_inputs({&g, 1}, span_of(cells_).last(g.cells), g.kind,
                       inputs_.slope(g.kind) - other.inputs_.slope(g.kind));
        // Keep its age in windows.
        std::uint64_t const age = other.windows_ - g.window;
        g.window = windows_ > age ? windows_ - age : 0;
        g.closed += later;
        closed_.insert(g.job);
        groups_.push_back(g);
    }
    inputs_.settle_all([this](std::uint64_t kind, double more) {
        if (more != 0) correct_inputs(groups_, cells_, kind, more);
    });
    for (std::uint32_t j = 0; j < other.jobs_.bound(); ++j) {
        if (!other.jobs_.contains(j)) continue;
        live_job const& theirs = other.jobs_[j];
        if (jobs_.size() >= max_jobs && jobs_.find(other.jobs_.key(j)) == job_memory::none) continue;
        std::uint32_t const mine = jobs_.insert(other.jobs_.key(j), theirs.opened + later);
        for (timed_attempt a : theirs.attempts) {
            a.node = here(a.node);
            a.end += later;
            if (a.node != no_node && jobs_.attempts() < max_attempts) jobs_.add(mine, a);
        }
        jobs_[mine].last_seen = (std::max)(jobs_[mine].last_seen, theirs.last_seen + later);
        jobs_[mine].longest = (std::max)(jobs_[mine].longest, theirs.longest);
        jobs_[mine].weighed = (std::max)(jobs_[mine].weighed, theirs.weighed + later);
        jobs_[mine].fresh = true;
        if (theirs.over) jobs_.end(mine);
    }
    if (usual_count_ < other.usual_count_) {
        usual_log_ = other.usual_log_;
        usual_count_ = other.usual_count_;
    }
    if (jobs_closed_ < other.jobs_closed_) {
        usual_tasks_ = other.usual_tasks_;
        jobs_closed_ = other.jobs_closed_;
    }
}

} // namespace straggle::detail
