// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/speculator.hpp`: running jobs in the form that custom detectors read.
#pragma once

#include <straggle/base/archive.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/detect/detector.hpp>
#include <straggle/mitigate/copy_rows.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

class job_views {
  public:
    // A task succeeded.
    void ended(std::uint64_t job, std::uint32_t node, double took, double input) {
        if (!(took > 0)) return;
        known_job& j = of(job);
        ++j.tasks;
        double const read = input > 0 ? input : 1.0;
        // Beyond the limit, tasks are counted without their times.
        if (j.finished.size() < most_times) {
            insert(j.finished, took);
            insert(j.per_input, took / read);
            j.input += read;
        }
        auto at = std::find_if(j.nodes.begin(), j.nodes.end(),
                               [node](known_node const& n) { return n.node == node; });
        if (at == j.nodes.end()) at = j.nodes.insert(at, {node, 0, 0});
        ++at->finished;
        at->time += took;
    }
    void finish(std::uint64_t job) {
        auto const at = place_of(job);
        if (at != jobs_.end() && at->job == job) jobs_.erase(at);
    }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a.items(self.jobs_, 34);
        for (std::size_t j = 1; j < self.jobs_.size(); ++j)
            a.expect(self.jobs_[j - 1].job < self.jobs_[j].job);
    }

    // `tasks`: of the job, as the caller says; 0: unknown.
    void begin(std::uint64_t job, double slots, std::uint64_t tasks) {
        job_ = &of(job);
        all_tasks_ = tasks;
        running_.clear();
        nodes_.clear();
        slots_ = static_cast<std::uint64_t>(slots);
        for (known_node const& n : job_->nodes) {
            place_on(n.node);
            nodes_.back().finished = n.finished;
            nodes_.back().total_time = n.time;
        }
    }
    // Adds a running task.
    void add(mitigate::running_row const& t, double now, double slow, std::uint32_t copies) {
        job_->begun = (std::min)(job_->begun, t.start);
        std::uint32_t const node = place_on(t.node);
        nodes_[node].slowdown = slow;
        nodes_[node].modelled = true;
        ++nodes_[node].running;
        running_.push_back({.progress = t.progress > 0 ? t.progress : 0.0,
                            .elapsed = (std::max)(now - t.start, 0.0),
                            .input = t.input > 0 ? t.input : 1.0,
                            .node = node,
                            .row = t.record,
                            .copies = copies});
    }
    [[nodiscard]] detect::job_view view(double now) const {
        detect::job_view out;
        out.running = running_;
        out.finished = job_->finished;
        out.finished_per_input = job_->per_input;
        out.finished_input = job_->input;
        out.nodes = nodes_;
        out.tasks = (std::max)(all_tasks_, job_->tasks + running_.size());
        out.age = (std::max)(now - job_->begun, 0.0);
        out.slots = slots_;
        double const n = static_cast<double>(job_->finished.size());
        for (double const t : job_->finished) out.mean_finished += t / n;
        for (double const t : job_->finished)
            out.sd_finished += (t - out.mean_finished) * (t - out.mean_finished) / n;
        out.sd_finished = std::sqrt(out.sd_finished);
        for (std::uint32_t const node : used_) place_[node] = none;
        return out;
    }

  private:
    static constexpr std::size_t most_times = 4096;
    static constexpr std::uint32_t none = 0xffff'ffffu;

    struct known_node {
        std::uint32_t node = 0;
        std::uint64_t finished = 0;
        double time = 0;

        template <class Self, class Archive>
        static void fields(Self& self, Archive& a) {
            constexpr std::uint32_t most_nodes = 0xffffff; // as in `task_stage::begin`
            a(self.node, self.finished, self.time);
            a.expect(self.node < most_nodes && self.time >= 0 && is_finite(self.time));
        }
    };
    struct known_job {
        std::uint64_t job = 0;
        std::uint64_t tasks = 0;
        double input = 0, begun = 1e300;
        std::vector<double> finished{}, per_input{};
        std::vector<known_node> nodes{};

        template <class Self, class Archive>
        static void fields(Self& self, Archive& a) {
            a(self.job, self.tasks, self.input, self.begun);
            a.expect(self.input >= 0 && is_finite(self.input) && is_finite(self.begun));
            for (auto* const times : {&self.finished, &self.per_input}) {
                a.items(*times, 8);
                double before = 0;
                for (double const t : *times) {
                    a.expect(t >= before && is_finite(t));
                    before = t;
                }
            }
            a.items(self.nodes, 16);
            a.expect(self.finished.size() <= most_times && self.finished.size() <= self.tasks &&
                     self.per_input.size() == self.finished.size() && self.nodes.size() <= self.tasks);
        }
    };

    static void insert(std::vector<double>& sorted, double x) {
        sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), x), x);
    }
    [[nodiscard]] std::vector<known_job>::iterator place_of(std::uint64_t job) {
        return std::lower_bound(jobs_.begin(), jobs_.end(), job,
                                [](known_job const& j, std::uint64_t id) { return j.job < id; });
    }
    known_job& of(std::uint64_t job) {
        auto const at = place_of(job);
        if (at != jobs_.end() && at->job == job) return *at;
        return *jobs_.insert(at, known_job{.job = job});
    }
    // The index of a node within the job.
    std::uint32_t place_on(std::uint32_t node) {
        if (nodes_.empty()) used_.clear();
        if (node >= place_.size()) place_.resize(node + std::size_t{1}, none);
        if (place_[node] == none) {
            place_[node] = static_cast<std::uint32_t>(nodes_.size());
            nodes_.emplace_back();
            used_.push_back(node);
        }
        return place_[node];
    }

    std::vector<known_job> jobs_; // by number
    known_job* job_ = nullptr;    // the current job
    std::vector<detect::running_task> running_;
    std::vector<detect::job_node> nodes_;
    mutable std::vector<std::uint32_t> place_; // by node: its index within the job
    std::vector<std::uint32_t> used_;          // nodes with one
    std::uint64_t slots_ = 0, all_tasks_ = 0;
};

} // namespace straggle::detail
