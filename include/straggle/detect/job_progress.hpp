// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// One job as it runs: takes the user's snapshots of running tasks and the times of finished ones, and shows
/// them to detectors as a `job_view`.
#pragma once

#include <straggle/core/interner.hpp>
#include <straggle/core/room.hpp>
#include <straggle/core/running.hpp>
#include <straggle/detect/detector.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <ranges>
#include <vector>

namespace straggle {

namespace detail {

// A length of time as a number: seconds if it knows its unit, else what it is.
template <duration_like Duration>
constexpr double to_time(Duration const& d) noexcept {
    if constexpr (std::is_arithmetic_v<Duration>)
        return static_cast<double>(d);
    else
        return static_cast<double>(d.count()) * static_cast<double>(Duration::period::num) /
               static_cast<double>(Duration::period::den);
}

} // namespace detail

/// The running and finished tasks of one job.
///
/// @tparam NodeId how nodes are named: `std::string` for text
/// @tparam Time points of time, as in the snapshots
/// @par Example
/// `job.finished("host-3", 12s);  job.running(tasks, fields, now);  detector.detect(job.view(), ...)`
/// @par Cost `finished` O(1); `running` O(tasks), `view` O(tasks that finished since the last one, sorted,
/// plus all finished ones if there were any); 40 bytes per running task, 8 per finished one (16 if inputs are
/// told), 56 and the name per node. Allocates nothing in the steady state.
/// @par Guarantees deterministic; only allocation can throw, and then the last snapshot may be half replaced
template <identifier NodeId, time_like Time>
class job_progress {
  public:
    /// What nodes are looked up by.
    using node_key = typename interner<NodeId>::key_type;

    /// @param tasks all tasks of the job, those that wait included; 0: only those that were seen
    explicit job_progress(std::uint64_t tasks = 0) : tasks_(tasks) {}

    /// Says how many tasks the job has in all.
    void set_tasks(std::uint64_t tasks) noexcept { tasks_ = tasks; }
    /// Says how many tasks of this kind the cluster can run at once; some rules cap their copies by it.
    void set_slots(std::uint64_t slots) noexcept { slots_ = slots; }
    /// Says when the job began; otherwise it is the earliest start in any snapshot.
    void set_begin(Time begin) { begin_ = begin; }
    /// Says how much longer tasks take on a node than elsewhere: what `node_aware` rules go by.
    /// @pre `factor > 0`
    void set_slowness(node_key node, double factor) {
        STRAGGLE_EXPECTS(factor > 0 && detail::is_finite(factor));
        job_node& n = nodes_[node_index(node)];
        n.slowness = factor;
        n.modelled = true;
    }

    /// Takes in the time of a task that has finished.
    /// @param input what it had to read, in the unit of the snapshots; 1 where it is not a positive number
    /// @param usual how long it usually takes on a good node, if that is known; 0 where it is not. Once told
    /// for one task of the job, only tasks for which it is told count in the comparison of nodes.
    /// @return false, and nothing else, when the time is negative or not a number
    template <duration_like Duration>
    bool finished(node_key node, Duration const& took, double input = 1, double usual = 0) {
        double const time = detail::to_time(took);
        if (!(time >= 0) || !detail::is_finite(time)) return false;
        if (!(input > 0) || !detail::is_finite(input)) input = 1;
        job_node& n = nodes_[node_index(node)];
        if (input != 1 && !inputs_told_) { // until now the two were the same
            per_input_ = finished_;
            inputs_told_ = true;
        }
        finished_.times.push_back(time);
        if (inputs_told_) per_input_.times.push_back(time / input);
        input_ += input;
        ++n.finished;
        n.total_time += time;
        compare(n, time, input, usual);
        return true;
    }

    /// Replaces the snapshot of running tasks.
    /// @param tasks any input range of snapshots; they stay the caller's
    /// @param fields a `running_fields` that names the members of a snapshot
    /// @param now when the snapshot was taken
    /// @return what became of them
    template <std::ranges::input_range Tasks, class Fields>
        requires running_fields_for<Fields, std::ranges::range_value_t<Tasks>>
    running_counts const& running(Tasks&& tasks, Fields const& fields, Time const& now) {
        counts_ = {};
        running_.clear();
        now_ = now;
        for (job_node& n : nodes_) n.running = 0;
        std::uint32_t row = 0;
        for (auto const& task : tasks) {
            ++counts_.seen;
            read(task, fields, now, row++);
        }
        counts_.used = running_.size();
        for (job_node& n : nodes_) n.most_running = (std::max)(n.most_running, n.running);
        return counts_;
    }

    /// The job as detectors see it, valid until the next change.
    [[nodiscard]] job_view view() {
        sort(finished_);
        sort(per_input_);
        std::vector<double> const& times = finished_.times;
        job_view v;
        v.running = running_;
        v.finished = times;
        v.finished_per_input = inputs_told_ ? per_input_.times : times;
        v.finished_input = input_;
        v.nodes = nodes_;
        if (!times.empty()) {
            double const n = static_cast<double>(times.size());
            double sum = 0, squares = 0;
            // From the shortest on: the mean of equal times is that time to the last bit.
            for (double const t : times) sum += t - times.front();
            v.mean_finished = times.front() + sum / n;
            for (double const t : times) squares += (t - v.mean_finished) * (t - v.mean_finished);
            v.sd_finished = std::sqrt(squares / n);
        }
        v.tasks = (std::max)(tasks_, static_cast<std::uint64_t>(running_.size() + times.size()));
        v.slots = slots_;
        v.usual_told = usual_told_;
        if (begin_ && now_) v.age = detail::to_time(*now_ - *begin_);
        return v;
    }

    /// The name of a node of the view.
    [[nodiscard]] NodeId const& node(std::uint32_t index) const { return ids_[index]; }
    /// What became of the last snapshot.
    [[nodiscard]] running_counts const& counts() const noexcept { return counts_; }

    /// Forgets everything but the memory, for the next job.
    void clear() noexcept {
        ids_.clear();
        nodes_.clear();
        for (sorted_times* t : {&finished_, &per_input_}) {
            t->times.clear();
            t->sorted = 0;
        }
        inputs_told_ = usual_told_ = false;
        input_ = 0;
        running_.clear();
        counts_ = {};
        begin_.reset();
        now_.reset();
        tasks_ = slots_ = 0;
    }

  private:
    std::uint32_t node_index(node_key node) {
        detail::make_room_for_one(nodes_);
        std::uint32_t const index = ids_.insert(node);
        if (index == nodes_.size()) nodes_.emplace_back();
        return index;
    }

    void compare(job_node& node, double time, double input, double usual) {
        bool const told = usual > 0 && detail::is_finite(usual);
        if (told && !usual_told_) { // until now times of another kind were compared
            usual_told_ = true;
            for (job_node& n : nodes_) {
                n.compared = 0;
                n.log_mean = 0;
            }
        }
        double const log = std::log(time / (told ? usual : input));
        if (told != usual_told_ || !detail::is_finite(log)) return; // a time of 0 has no logarithm
        ++node.compared;
        node.log_mean += (log - node.log_mean) / static_cast<double>(node.compared);
    }

    template <class Task, class Fields>
    void read(Task const& task, Fields const& fields, Time const& now, std::uint32_t row) {
        auto const reject = [this](running_rejection r) { ++counts_.rejected[static_cast<std::size_t>(r)]; };
        auto&& node = detail::project(fields.node, task);
        if (!detail::is_present(node)) return reject(running_rejection::missing_node);
        auto&& start = detail::project(fields.start, task);
        if (!detail::is_present(start) || detail::is_unordered(detail::unwrap(start)))
            return reject(running_rejection::missing_start);
        if (!(detail::unwrap(start) <= now)) return reject(running_rejection::not_started);
        running_task t;
        t.elapsed = detail::to_time(now - detail::unwrap(start));
        t.row = row;
        bool reported = true;
        if constexpr (detail::given<decltype(Fields::progress)>) {
            auto const& progress = detail::project(fields.progress, task);
            reported = detail::is_present(progress);
            if (reported) t.progress = static_cast<double>(detail::unwrap(progress));
            if (!detail::is_finite(t.progress) || !(t.progress >= 0) || !(t.progress <= 1))
                return reject(running_rejection::bad_progress);
        } else {
            reported = false;
        }
        if constexpr (detail::given<decltype(Fields::input)>) {
            auto const& input = detail::project(fields.input, task);
            double const size = detail::is_present(input) ? static_cast<double>(detail::unwrap(input)) : 0.0;
            if (size > 0 && detail::is_finite(size)) t.input = size;
        }
        if constexpr (detail::given<decltype(Fields::copies)>) {
            auto const& copies = detail::project(fields.copies, task);
            if (detail::is_present(copies) && detail::unwrap(copies) > 1)
                t.copies = static_cast<std::uint32_t>(detail::unwrap(copies));
        }
        t.node = node_index(detail::unwrap(node));
        ++nodes_[t.node].running;
        if (!reported) ++counts_.unreported;
        if (!begin_ || detail::unwrap(start) < *begin_) begin_ = detail::unwrap(start);
        running_.push_back(t);
    }

    struct sorted_times {
        std::vector<double> times;
        std::size_t sorted = 0; // as many stand in order, the rest as they came
    };

    void sort(sorted_times& t) {
        if (t.sorted == t.times.size()) return;
        auto const middle = t.times.begin() + static_cast<std::ptrdiff_t>(t.sorted);
        std::sort(middle, t.times.end());
        // Merged from the back, in place but for a copy of the new ones.
        fresh_.assign(middle, t.times.end());
        std::size_t old = t.sorted, added = fresh_.size(), at = t.times.size();
        while (added > 0)
            t.times[--at] =
                old > 0 && t.times[old - 1] > fresh_[added - 1] ? t.times[--old] : fresh_[--added];
        t.sorted = t.times.size();
    }

    interner<NodeId> ids_;
    std::vector<job_node> nodes_; // by index
    sorted_times finished_;
    sorted_times per_input_;    // kept only once an input was told
    std::vector<double> fresh_; // scratch
    std::vector<running_task> running_;
    running_counts counts_;
    std::optional<Time> begin_, now_;
    std::uint64_t tasks_;
    std::uint64_t slots_ = 0;
    double input_ = 0; // of the finished tasks
    bool inputs_told_ = false;
    bool usual_told_ = false;
};

} // namespace straggle
