// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// One job as it runs: takes the user's snapshots of running tasks and the times of finished ones, and
/// presents them to detectors as a `job_view`.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/detect/detail/running_numbers.hpp>
#include <straggle/detect/detector.hpp>
#include <straggle/record/running.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detect {

/// The running and finished tasks of one job.
///
/// @tparam NodeId type of node names: `std::string` for text
/// @tparam Time points in time, as in the snapshots
/// @par Example
/// `job.observe("host-3", 12s);  job.running(tasks, fields, now);  detector.detect(job.view(), ...)`
/// @par Cost
/// `finished` O(1); `running` O(tasks), `view` O(tasks that finished since the last one, sorted, plus all
/// finished ones if there were any); 48 bytes per running task, 8 per finished one (16 with inputs), 60 plus
/// the name per node. Allocates nothing in the steady state.
/// @par Memory
/// grows with the tasks of the job and is kept by `clear`. For an endless stream of tasks, such as those of a
/// service, keep two objects: start a new one from time to time, and use the older one until the new one has
/// enough finished tasks
/// @par Guarantees
/// deterministic; strong exception guarantee: only allocation (or the caller's own functions) can throw.
/// Exception: a snapshot that could not be read completely is dropped, but its nodes may be known
template <base::identifier NodeId, base::time_like Time>
class job_progress {
  public:
    /// Type of node names as arguments.
    using node_key = typename interner<NodeId>::key_type;

    /// @param tasks all tasks of the job, including waiting ones; 0: only those seen
    explicit job_progress(std::uint64_t tasks = 0) : tasks_(tasks) {}
    job_progress(job_progress const&) = default;
    job_progress(job_progress&&) = default;
    /// Copies the other object, or changes nothing if an allocation fails.
    job_progress& operator=(job_progress const& other) { return *this = job_progress(other); }
    job_progress& operator=(job_progress&&) = default;
    ~job_progress() = default;

    /// Sets the total number of tasks of the job.
    void set_tasks(std::uint64_t tasks) noexcept { tasks_ = tasks; }
    /// Sets how many tasks of this kind the cluster can run at once; some rules cap their copies by it.
    void set_slots(std::uint64_t slots) noexcept { slots_ = slots; }
    /// Sets when the job started; the default is the earliest start in any snapshot.
    void set_begin(Time begin) { begin_ = begin; }
    /// Sets how much longer tasks take on a node than elsewhere, for rules that use it, as
    /// `tail_of_siblings` does.
    /// @pre `factor > 0`
    void set_slowdown(node_key node, double factor) {
        STRAGGLE_EXPECTS(factor > 0 && detail::is_finite(factor));
        job_node& n = nodes_[node_index(node)];
        n.slowdown = factor;
        n.modelled = true;
    }

    /// Adds the time of a finished task.
    /// @param node where it ran
    /// @param took its duration, in the unit of the snapshots
    /// @param input how much it had to read, in the unit of the snapshots; 1 if not a positive number
    /// @param usual how long it usually takes on a good node; 0 if unknown. Once passed for one task of the
    /// job, only tasks with a usual time count in the comparison of nodes.
    /// @return false, with no effect, if the time is negative or not a number
    template <base::duration_like Duration>
    bool observe(node_key node, Duration const& took, double input = 1, double usual = 0) {
        double const time = detail::to_time(took);
        if (!(time >= 0) || !detail::is_finite(time)) return false;
        if (!(input > 0) || !detail::is_finite(input)) input = 1;
        bool const told = inputs_told_ || input != 1;
        detail::make_room_for_one(finished_.times); // everything that may throw comes first
        if (told) per_input_.times.reserve(finished_.times.capacity());
        job_node& n = nodes_[node_index(node)];
        if (told && !inputs_told_) { // until now the two were equal
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
    /// @param tasks any input range of snapshots; they are only read
    /// @param fields a `running_fields` that names the members of a snapshot
    /// @param now when the snapshot was taken
    /// @return what became of them
    template <std::ranges::input_range Tasks, class Fields>
        requires record::running_fields_for<Fields, std::ranges::range_value_t<Tasks>>
    record::running_counts const& running(Tasks&& tasks, Fields const& fields, Time const& now) {
        half_a_snapshot undo{*this};
        read(tasks, fields, now);
        undo.whole = true;
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
        if (summed_ != times.size()) sum_up();
        v.mean_finished = mean_finished_;
        v.sd_finished = sd_finished_;
        v.tasks = (std::max)(tasks_, std::uint64_t{running_.size() + times.size()});
        v.slots = slots_;
        v.usual_told = usual_told_;
        if (begin_ && now_) v.age = detail::to_time(*now_ - *begin_);
        return v;
    }

    /// The name of a node of the view.
    [[nodiscard]] NodeId const& node(std::uint32_t index) const { return ids_[index]; }
    /// Outcome of the last snapshot.
    [[nodiscard]] record::running_counts const& counts() const noexcept { return counts_; }

    /// Forgets everything but keeps the memory, for the next job.
    void clear() noexcept {
        ids_.clear();
        nodes_.clear();
        for (sorted_times* t : {&finished_, &per_input_}) {
            t->times.clear();
            t->sorted = 0;
        }
        inputs_told_ = usual_told_ = false;
        input_ = mean_finished_ = sd_finished_ = 0;
        summed_ = 0;
        running_.clear();
        runs_on_.clear();
        ran_on_.clear();
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

    // Kept apart from the rollback code, which would cost the loop its registers.
    template <class Tasks, class Fields>
    STRAGGLE_NEVER_INLINE void read(Tasks& tasks, Fields const& fields, Time const& now) {
        counts_ = {};
        now_ = now;
        ran_on_.swap(runs_on_);
        std::size_t const before = ran_on_.size();
        if (runs_on_.size() < running_.size()) runs_on_.resize(running_.size());
        place at{.end = before, .begin = begin_ ? *begin_ : now}; // no task starts later
        at.stop = (std::min)(at.end, running_.size());
        auto task = std::ranges::begin(tasks);
        for (auto const last = std::ranges::end(tasks); task != last; ++task) {
            at = read_those_still_there(task, last, fields, now, at);
            if (task == last) break;
            read_any(*task, fields, now, at);
        }
        running_.resize(at.used);
        runs_on_.resize(at.used);
        ran_on_.reserve(runs_on_.capacity()); // for the next snapshot: the two alternate
        if (at.used != 0) begin_ = at.begin;
        counts_.seen = at.row;
        counts_.used = at.used;
        counts_.unreported = at.unreported;
        if (at.moved || at.used != before) count_by_node();
    }

    void count_by_node() {
        running_on_.assign(nodes_.size(), 0);
        for (std::uint32_t const node : runs_on_) ++running_on_[node];
        for (std::size_t k = 0; k < nodes_.size(); ++k) {
            nodes_[k].running = running_on_[k];
            nodes_[k].most_running = (std::max)(nodes_[k].most_running, running_on_[k]);
        }
    }

    // Drops an incomplete snapshot, so that no view mixes two.
    struct half_a_snapshot {
        job_progress& job;
        bool whole = false;
        ~half_a_snapshot() {
            if (whole) return;
            job.running_.clear();
            job.runs_on_.clear();
            job.counts_ = {};
            for (job_node& n : job.nodes_) n.running = 0;
        }
    };

    // Where the next task is written in `running_`, and where its node probably is among those of the last
    // snapshot: most tasks are still there, in the same order, and comparing a name is cheaper than looking
    // it up.
    struct place {
        std::size_t used = 0, next = 0, end;
        Time begin;                   // the earliest start
        std::size_t stop = 0;         // the last snapshot and the allocated memory reach up to here
        std::uint64_t unreported = 0; // among the used ones
        std::uint32_t row = 0;
        int strangers = 0;  // consecutive tasks that were not found
        bool moved = false; // the tasks no longer match the previous nodes one by one
    };

    // Reads tasks as long as they are usable and on the same nodes as in the last snapshot. It calls no
    // function of ours, so that all its state stays in registers.
    template <class Task, class Last, class Fields>
    STRAGGLE_ALWAYS_INLINE place read_those_still_there(Task& task, Last const& last, Fields const& fields,
                                                        Time const& now, place at) {
        NodeId const* const names = ids_.ids().data();
        std::uint32_t const* before = ran_on_.data() + at.next;
        std::uint32_t const* const stop = ran_on_.data() + (std::max)(at.next, at.stop);
        std::uint32_t* on = runs_on_.data() + at.used;
        running_task* to = running_.data() + at.used;
        for (; before != stop && task != last; ++task) {
            auto const& record = *task;
            auto&& node = detail::project(fields.node, record);
            std::uint32_t const index = *before;
            if (!detail::is_present(node) || !(names[index] == detail::unwrap(node))) break;
            if (detail::read_numbers(record, fields, now, *to, at.begin, at.unreported)) break;
            ++before;
            *on++ = index;
            to->node = index;
            to->row = at.row++;
            ++to;
        }
        std::size_t const read = static_cast<std::size_t>(before - ran_on_.data()) - at.next;
        if (read != 0) at.strangers = 0;
        at.next += read;
        at.used += read;
        return at;
    }

    // Reads any other task.
    template <class Task, class Fields>
    STRAGGLE_NEVER_INLINE void read_any(Task const& task, Fields const& fields, Time const& now, place& at) {
        std::uint32_t const row = at.row++;
        auto const reject = [this](record::running_rejection r) { ++counts_.rejected[r]; };
        auto&& node = detail::project(fields.node, task);
        if (!detail::is_present(node)) return reject(record::running_rejection::missing_node);
        running_task t;
        if (auto const fault = detail::read_numbers(task, fields, now, t, at.begin, at.unreported))
            return reject(*fault);
        t.node = node_index(detail::unwrap(node));
        t.row = row;
        if (at.used == running_.size())
            running_.resize(at.used + 1 + (at.end > at.next ? at.end - at.next : 0));
        if (runs_on_.size() < running_.size()) runs_on_.resize(running_.capacity());
        running_[at.used] = t;
        follow(t.node, at);
        runs_on_[at.used++] = t.node;
        at.stop = (std::min)(at.end, at.next + (running_.size() - at.used));
    }
    // Searches for a task on that node among the next ones of the last snapshot.
    void follow(std::uint32_t node, place& at) noexcept {
        constexpr std::size_t ended = 8;   // consecutive tasks that may have ended
        constexpr int most_strangers = 16; // beyond this, the order has changed
        std::size_t next = at.next, last = (std::min)(at.end, next + ended);
        while (next < last && ran_on_[next] != node) ++next;
        if (next < last) {
            at.strangers = 0;
            at.moved = at.moved || next != at.used;
            at.next = next + 1;
        } else {
            at.moved = true;
            if (++at.strangers > most_strangers) at.end = 0;
        }
    }

    struct sorted_times {
        std::vector<double> times;
        std::size_t sorted = 0; // this many are sorted, the rest in order of arrival
    };

    void sort(sorted_times& t) {
        if (t.sorted == t.times.size()) return;
        auto const middle = t.times.begin() + static_cast<std::ptrdiff_t>(t.sorted);
        std::sort(middle, t.times.end());
        // Merge from the back, in place except for a copy of the new ones.
        fresh_.assign(middle, t.times.end());
        std::size_t old = t.sorted, added = fresh_.size(), at = t.times.size();
        while (added > 0)
            t.times[--at] =
                old > 0 && t.times[old - 1] > fresh_[added - 1] ? t.times[--old] : fresh_[--added];
        t.sorted = t.times.size();
    }

    void sum_up() {
        std::vector<double> const& times = finished_.times;
        double const n = static_cast<double>(times.size());
        double sum = 0, squares = 0;
        // Relative to the shortest: the mean of equal times is then exact.
        for (double const t : times) sum += t - times.front();
        mean_finished_ = times.front() + sum / n;
        for (double const t : times) squares += (t - mean_finished_) * (t - mean_finished_);
        sd_finished_ = std::sqrt(squares / n);
        summed_ = times.size();
    }

    interner<NodeId> ids_;
    std::vector<job_node> nodes_; // by index
    sorted_times finished_;
    sorted_times per_input_;    // kept only once an input was passed
    std::vector<double> fresh_; // scratch
    std::vector<running_task> running_;
    std::vector<std::uint32_t> runs_on_,
        ran_on_; // nodes of these tasks, and of those in the previous snapshot
    std::vector<std::uint32_t>
        running_on_; // tasks of the snapshot per node: a table small enough for the caches
    record::running_counts counts_;
    std::optional<Time> begin_, now_;
    std::uint64_t tasks_;
    std::uint64_t slots_ = 0;
    double input_ = 0; // of the finished tasks
    double mean_finished_ = 0, sd_finished_ = 0;
    std::size_t summed_ = 0; // finished tasks included in these sums
    bool inputs_told_ = false;
    bool usual_told_ = false;
};

} // namespace straggle::detect
