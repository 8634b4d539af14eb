// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: serialization of evidence.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/detail/evidence_store.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

inline void evidence_store::write(byte_writer& out) const {
    for (double const x :
         {usual_log_, usual_count_, usual_tasks_, jobs_closed_, variance_weight_, builder_.usual_variance,
          builder_.tolerated, solver_.known_spread(), window_began_, window_length_, updated_})
        out.real(x);
    batches_.write(out);
    far_tail_.write(out);
    near_tail_.write(out);
    builder_.pool.write(out);
    prices_.write(out);
    onsets_.write(out);
    extent_.write(out);
    inputs_.write(out);
    out.u64(windows_);
    out.flag(started_);
    out.flag(seen_);
    out.flag(seen_in_window_);
    out.count(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        node_belief const& b = beliefs_[i];
        for (double const x :
             {b.log_slowdown, b.proved, b.usual, b.charge, b.pace, b.paced, b.since, nodes_[i].booked,
              nodes_[i].races, nodes_[i].last_ended, nodes_[i].outruns, nodes_[i].outrun_log,
              nodes_[i].given_up, nodes_[i].given_up_log, nodes_[i].killed, nodes_[i].killed_in_a_row})
            out.real(x);
        out.flag(b.probing);
        out.flag(nodes_[i].outrun);
        out.flag(nodes_[i].is_slow_now);
        nodes_[i].slow.write(out);
        nodes_[i].now.write(out);
        nodes_[i].restored.write(out);
        nodes_[i].hung.write(out);
    }
    out.count(groups_.size());
    std::size_t c = 0;
    for (effect_group const& g : groups_) {
        out.u64(g.job);
        out.u64(g.window);
        out.u64(g.kind);
        double tasks = g.tasks;
        for (std::size_t k = c; k < c + g.cells; ++k)
            if (is_void(k)) tasks = (std::max)(tasks - cells_[k].tasks, 0.0);
        for (double const x : {g.closed, g.variance, tasks, g.squares, g.freedom, g.inputs, g.products,
                               g.shift, g.base, static_cast<double>(g.input)})
            out.real(x);
        out.flag(g.is_without);
        out.flag(closed_.find(g.job) != interner<std::uint64_t>::none);
        out.count(g.cells);
        for (std::size_t const end = c + g.cells; c < end; ++c) {
            out.u32(cells_[c].node);
            out.real(is_void(c) ? 0.0 : cells_[c].tasks);
            out.real(cells_[c].mean);
            out.real(static_cast<double>(cells_[c].input));
        }
    }
    solver_.write(out);
    std::vector<std::uint32_t> const unused = jobs_.unused();
    out.count(unused.size());
    for (std::uint32_t const j : unused) out.varint(j);
    out.count(jobs_.size());
    for (std::uint32_t j = 0; j < jobs_.bound(); ++j) {
        if (!jobs_.contains(j)) continue;
        live_job const& job = jobs_[j];
        out.u64(jobs_.key(j));
        out.u64(job.kind);
        for (double const x : {job.opened, job.last_seen, job.longest, job.weighed}) out.real(x);
        out.flag(job.fresh);
        out.flag(job.over);
        out.count(job.attempts.size());
        for (timed_attempt const& a : job.attempts) {
            out.u64(a.task);
            out.real(a.end);
            out.u32(a.node);
            out.i64(a.ticks);
            out.real(static_cast<double>(a.input));
            out.flag(a.censored);
            out.flag(a.copy);
            out.flag(a.killed);
        }
    }
}

inline status evidence_store::read(byte_reader& in, std::uint32_t max_nodes, std::size_t max_cells) {
    constexpr std::uint32_t none = job_memory::none;
    auto const real = [&in] {
        double const x = in.real();
        in.expect(is_finite(x));
        return x;
    };
    // A log of input: in the range of logs of doubles, or unknown.
    auto const input = [&in] {
        double const x = in.real();
        in.expect(is_nan(x) || std::fabs(x) < 2000);
        return static_cast<float>(x);
    };
    for (double* const x : {&usual_log_, &usual_count_, &usual_tasks_, &jobs_closed_, &variance_weight_,
                            &builder_.usual_variance, &builder_.tolerated})
        *x = real();
    double const spread = real();
    for (double* const x : {&window_began_, &window_length_, &updated_}) *x = real();
    constexpr double most_log = effect_past::most_log, most_tasks = 1e15;
    in.expect(std::fabs(usual_log_) < most_log && usual_count_ >= 0 && usual_count_ <= 256 &&
              usual_tasks_ >= 0 && usual_tasks_ < most_tasks && jobs_closed_ >= 0 && jobs_closed_ <= 64);
    in.expect(variance_weight_ >= 0 && variance_weight_ <= 1024 && builder_.usual_variance >= 0 &&
              builder_.usual_variance < most_log && builder_.tolerated >= 0 &&
              builder_.tolerated < most_log && spread >= 0 && spread < most_log * most_log &&
              window_length_ >= 0);
    batches_.read(in);
    builder_.batch_counts_once = !batches_.holds();
    far_tail_.read(in);
    near_tail_.read(in);
    builder_.pool.read(in);
    use_tails();
    prices_.read(in);
    take_prices();
    onsets_.read(in);
    extent_.read(in);
    inputs_.read(in, max_nodes);
    solver_.set_spread(spread);
    windows_ = in.u64();
    started_ = in.flag();
    seen_ = in.flag();
    seen_in_window_ = in.flag();
    std::size_t const nodes = in.count(16 * 8 + 3 + 17 * 8);
    if (!in.expect(nodes <= max_nodes)) return in.reason();
    if (nodes != 0) room_for_node(static_cast<std::uint32_t>(nodes - 1));
    for (std::size_t i = 0; i < nodes && in.ok(); ++i) {
        node_belief& b = beliefs_[i];
        for (double* const x :
             {&b.log_slowdown, &b.proved, &b.usual, &b.charge, &b.pace, &b.paced, &b.since, &nodes_[i].booked,
              &nodes_[i].races, &nodes_[i].last_ended, &nodes_[i].outruns, &nodes_[i].outrun_log,
              &nodes_[i].given_up, &nodes_[i].given_up_log, &nodes_[i].killed, &nodes_[i].killed_in_a_row})
            *x = real();
        for (double const x : {b.log_slowdown, b.proved, b.usual, b.charge, b.pace})
            in.expect(std::fabs(x) < most_log);
        in.expect(nodes_[i].booked >= 0 && nodes_[i].booked < most_tasks &&
                  std::fabs(nodes_[i].races) < most_tasks && nodes_[i].killed_in_a_row >= 0);
        in.expect(nodes_[i].given_up >= 0 && nodes_[i].given_up <= most_outruns &&
                  std::fabs(nodes_[i].given_up_log) <= 100 && nodes_[i].killed >= 0);
        in.expect(b.paced >= 0 && b.paced <= 32);
        in.expect(nodes_[i].outruns >= 0 && nodes_[i].outruns <= most_outruns &&
                  std::fabs(nodes_[i].outrun_log) <= 100);
        b.probing = in.flag();
        nodes_[i].outrun = in.flag();
        nodes_[i].is_slow_now = in.flag();
        nodes_[i].slow.read(in);
        nodes_[i].now.read(in);
        nodes_[i].restored.read(in);
        nodes_[i].hung.read(in);
    }
    std::size_t const groups = in.count(8 + 8 + 8 + 80 + 2 + 1);
    for (std::size_t k = 0; k < groups && in.ok(); ++k) {
        effect_group g;
        g.job = in.u64();
        g.window = in.u64();
        g.kind = in.u64();
        for (double* const x : {&g.closed, &g.variance, &g.tasks, &g.squares, &g.freedom, &g.inputs,
                                &g.products, &g.shift, &g.base})
            *x = real();
        g.input = input();
        g.is_without = in.flag();
        bool const is_closed = in.flag();
        g.cells = static_cast<std::uint32_t>(in.count(4 + 24));
        in.expect(g.variance < most_tasks && std::fabs(g.shift) < most_log && g.tasks >= 0);
        in.expect(g.variance > 0 && g.squares >= 0 && g.inputs >= 0 && g.freedom >= 0 && g.base >= 0 &&
                  g.window <= windows_ && cells_.size() + g.cells <= max_cells);
        double tasks = 0;
        for (std::uint32_t c = 0; c < g.cells && in.ok(); ++c) {
            effect_cell cell{.node = in.u32()};
            cell.tasks = real();
            cell.mean = real();
            cell.input = input();
            in.expect(is_finite(static_cast<double>(cell.input)));
            in.expect(cell.node < nodes && cell.tasks >= 0 && cell.tasks < most_tasks &&
                      std::fabs(cell.mean) < most_log);
            cells_.push_back(cell);
            tasks += cell.tasks;
        }
        in.expect(std::fabs(g.tasks - tasks) <= 1e-6 * (1 + tasks));
        if (is_closed) closed_.insert(g.job);
        groups_.push_back(g);
    }
    solver_.read(in, nodes, span_of(groups_), span_of(cells_), windows_);
    std::vector<std::uint32_t> unused(in.count(1));
    for (std::uint32_t& j : unused) {
        std::uint64_t const at = in.varint();
        in.expect(at < none);
        j = static_cast<std::uint32_t>(at & none);
    }
    std::size_t const jobs = in.count(8 + 8 + 32 + 3);
    std::vector<unsigned char> is_unused(unused.size() + jobs);
    for (std::uint32_t const j : unused) {
        if (!in.expect(j < is_unused.size() && is_unused[j] == 0)) return in.reason();
        is_unused[j] = 1;
    }
    jobs_.lay_out(is_unused.size(), span_of(unused));
    for (std::size_t k = 0; k < jobs && in.ok(); ++k) {
        std::uint64_t const key = in.u64(), kind = in.u64();
        if (!in.expect(jobs_.find(key) == job_memory::none)) break;
        double const opened = real(), last_seen = real();
        std::uint32_t const j = jobs_.insert(key, last_seen);
        jobs_[j].opened = opened;
        jobs_[j].kind = kind;
        jobs_[j].longest = real();
        jobs_[j].weighed = real();
        in.expect(jobs_[j].longest >= 0);
        jobs_[j].fresh = in.flag();
        if (in.flag()) jobs_.end(j);
        std::size_t const attempts = in.count(8 + 8 + 4 + 8 + 8 + 3);
        for (std::size_t a = 0; a < attempts && in.ok(); ++a) {
            timed_attempt t;
            t.task = in.u64();
            t.end = real();
            t.node = in.u32();
            std::int64_t const ticks = in.i64();
            t.input = input();
            t.censored = in.flag();
            t.copy = in.flag();
            t.killed = in.flag();
            if (!in.expect(t.node < nodes && ticks > -80000000 && ticks < 80000000)) break;
            t.ticks = static_cast<std::int32_t>(ticks);
            jobs_.add(j, t);
        }
    }
    return in.reason();
}

} // namespace straggle::detail
