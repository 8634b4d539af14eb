// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/speculator.hpp`: running jobs in the form that custom detectors read.
#pragma once

#include <straggle/base/archive.hpp>
#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/size.hpp>
#include <straggle/detect/detector.hpp>
#include <straggle/mitigate/copy_rows.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
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

    void write(byte_writer& out) const {
        out.count(jobs_.size());
        for (known_job const& j : jobs_) base::write_fields(out, j);
    }
    // @pre this object is new
    void read(byte_reader& in) {
        for (std::size_t n = in.count(34); n > 0 && in.ok(); --n) {
            known_job j{};
            base::read_fields(in, j);
            if (!in.expect(jobs_.empty() || jobs_.back().job < j.job)) return;
            jobs_.push_back(std::move(j));
        }
    }

    void begin(std::uint64_t job, double slots) {
        job_ = &of(job);
        running_.clear();
        nodes_.clear();
        slots_ = static_cast<std::uint64_t>(slots);
        for (known_node const& n : job_->nodes) {
            place_on(n.node);
            nodes_.back().finished = n.finished;
            nodes_.back().total_time = n.time;
        }
    }
    // Adds a running task; `row` is returned with each finding.
    void add(mitigate::running_row const& t, double now, double slow, std::uint32_t copies,
             std::uint32_t row) {
        job_->begun = (std::min)(job_->begun, t.start);
        std::uint32_t const node = place_on(t.node);
        nodes_[node].slowdown = slow;
        nodes_[node].modelled = true;
        ++nodes_[node].running;
        running_.push_back({.progress = t.progress > 0 ? t.progress : 0.0,
                            .elapsed = (std::max)(now - t.start, 0.0),
                            .input = t.input > 0 ? t.input : 1.0,
                            .node = node,
                            .row = row,
                            .copies = copies});
    }
    [[nodiscard]] detect::job_view view(double now) const {
        detect::job_view out;
        out.running = running_;
        out.finished = job_->finished;
        out.finished_per_input = job_->per_input;
        out.finished_input = job_->input;
        out.nodes = nodes_;
        out.tasks = job_->tasks + running_.size();
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
        std::uint32_t node;
        std::uint64_t finished;
        double time;
    };
    struct known_job {
        std::uint64_t job;
        std::uint64_t tasks = 0;
        double input = 0, begun = 1e300;
        std::vector<double> finished{}, per_input{};
        std::vector<known_node> nodes{};

        template <class Self, class Archive>
        static void fields(Self& self, Archive& a) {
            a(self.job, self.tasks, self.input, self.begun);
            a.expect(self.input >= 0 && is_finite(self.input) && is_finite(self.begun));
            std::uint64_t ended = self.finished.size(), nodes = self.nodes.size();
            a.varint(ended);
            a.varint(nodes);
            constexpr std::uint64_t most_nodes = 0xffffff; // as in `task_stage::begin`
            bool const is_possible =
                ended <= most_times && ended <= self.tasks && nodes <= self.tasks && nodes <= most_nodes;
            a.expect(is_possible);
            if (!is_possible) return;
            if constexpr (Archive::reads) {
                if (a.bytes().left() / 16 < ended) return a.expect(false);
                self.finished.resize(to_size(ended));
                self.per_input.resize(to_size(ended));
            }
            for (auto* const times : {&self.finished, &self.per_input}) {
                double before = 0;
                for (auto& t : *times) {
                    a(t);
                    a.expect(t >= before && is_finite(t));
                    before = t;
                }
            }
            if constexpr (Archive::reads) {
                if (a.bytes().left() / 20 < nodes) return a.expect(false);
                self.nodes.resize(to_size(nodes));
            }
            for (auto& n : self.nodes) {
                a(n.node, n.finished, n.time);
                a.expect(n.node < most_nodes && n.time >= 0 && is_finite(n.time));
            }
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
    std::uint64_t slots_ = 0;
};

} // namespace straggle::detail
