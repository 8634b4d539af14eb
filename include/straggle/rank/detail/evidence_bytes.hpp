// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: serialization of evidence.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/rank/detail/evidence_store.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Self, class Archive>
void evidence_store::fields(Self& self, Archive& a) {
    a(self.usual_log_, self.usual_count_, self.usual_tasks_, self.jobs_closed_, self.variance_weight_);
    a.expect(std::fabs(self.usual_log_) < most_log && self.usual_count_ >= 0 && self.usual_count_ <= 256);
    a.expect(self.usual_tasks_ >= 0 && self.usual_tasks_ < most_tasks && self.jobs_closed_ >= 0 &&
             self.jobs_closed_ <= 64 && self.variance_weight_ >= 0 && self.variance_weight_ <= 1024);
    a(self.window_began_, self.window_length_, self.updated_);
    a.expect(are_finite(self.window_began_, self.window_length_, self.updated_) && self.window_length_ >= 0);
    a(self.windows_, self.started_, self.seen_, self.seen_in_window_);
    auto& builder = self.builder_;
    a(builder.usual_variance, builder.tolerated, builder.pool);
    a.expect(builder.usual_variance >= 0 && builder.usual_variance < most_log && builder.tolerated >= 0 &&
             builder.tolerated < most_log);
    a(self.batches_, self.far_tail_, self.near_tail_, self.prices_, self.onsets_, self.extent_, self.inputs_);
    a.items(self.beliefs_, 7 * 8 + 1);
    a.items(self.nodes_, (9 + 6 + 3 + 6 + 2) * 8 + 2);
    if (!a.expect(self.beliefs_.size() == self.nodes_.size())) return;
    group_fields(self, a);
    double spread = self.solver_.known_spread();
    a(spread, self.solver_);
    a.expect(spread >= 0 && spread < most_log * most_log);
    job_fields(self, a);
    if constexpr (Archive::reads) {
        self.effects_.resize(self.nodes_.size());
        self.solver_.set_spread(spread);
        self.use_tails();
        self.take_prices();
        builder.batch_counts_once = !self.batches_.holds();
        if (a.ok())
            a.expect(self.solver_.resume(self.nodes_.size(), self.groups_, self.cells_, self.windows_));
    }
}

// Groups, each followed by its cells; those of wiped nodes are empty.
template <class Self, class Archive>
void evidence_store::group_fields(Self& self, Archive& a) {
    std::size_t groups = self.groups_.size(), c = 0;
    a.count(groups, 3 * 8 + 9 * 8 + 8 + 3);
    for (std::size_t k = 0; k < groups && a.ok(); ++k) {
        effect_group g;
        bool is_closed = false;
        if constexpr (!Archive::reads) {
            g = self.groups_[k];
            is_closed = self.closed_.find(g.job) != interner<std::uint64_t>::none;
            for (std::size_t cell = c; cell < c + g.cells; ++cell)
                if (self.is_void(cell)) g.tasks = (std::max)(g.tasks - self.cells_[cell].tasks, 0.0);
        }
        a(g, is_closed);
        a.expect(g.window <= self.windows_);
        double tasks = 0;
        for (std::uint32_t left = g.cells; left > 0 && a.ok(); --left, ++c) {
            effect_cell cell;
            if constexpr (!Archive::reads) {
                cell = self.cells_[c];
                if (self.is_void(c)) cell.tasks = 0;
            }
            a(cell);
            a.expect(cell.node < self.nodes_.size());
            if constexpr (Archive::reads) self.cells_.push_back(cell);
            tasks += cell.tasks;
        }
        a.expect(std::fabs(g.tasks - tasks) <= 1e-6 * (1 + tasks));
        if constexpr (Archive::reads) {
            if (is_closed) self.closed_.insert(g.job);
            self.groups_.push_back(g);
        }
    }
}

// Unfinished jobs, such that each regains its index, and new jobs get those they would have had.
template <class Self, class Archive>
void evidence_store::job_fields(Self& self, Archive& a) {
    std::vector<std::uint32_t> unused;
    if constexpr (!Archive::reads) unused = self.jobs_.unused();
    a.items(unused, 4);
    std::size_t jobs = self.jobs_.size();
    a.count(jobs, 8 + 8 + 32 + 3);
    if constexpr (Archive::reads) {
        std::vector<unsigned char> is_unused(unused.size() + jobs);
        for (std::uint32_t const j : unused) {
            if (!a.expect(j < is_unused.size() && is_unused[j] == 0)) return;
            is_unused[j] = 1;
        }
        self.jobs_.lay_out(is_unused.size(), span_of(unused));
        live_job job;
        for (std::uint64_t key = 0; jobs > 0 && a.ok(); --jobs) {
            a(key, job);
            for (timed_attempt const& t : job.attempts) a.expect(t.node < self.nodes_.size());
            if (a.expect(self.jobs_.find(key) == job_memory::none)) self.jobs_.insert(key, job);
        }
    } else {
        for (std::uint32_t j = 0; j < self.jobs_.bound(); ++j)
            if (self.jobs_.contains(j)) a(self.jobs_.key(j), self.jobs_[j]);
    }
}

} // namespace straggle::detail
