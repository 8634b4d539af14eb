// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A small event-driven scheduler with a mitigator linked in: jobs of 24 tasks, 16 nodes of four slots, one
/// of which becomes 2.5 times slower. Everything about the mitigator is between marks.

#include <straggle/mitigate/mitigator.hpp>
#include <straggle/mitigate/reason.hpp>

#include <cstdint>
#include <cstdio>
#include <queue>
#include <string>
#include <vector>

//! [records]
struct ended { // an attempt that ended, as the scheduler logs it
    std::string job;
    int task;
    std::string host;
    double start, end;
    straggle::attempt_status how;
};
struct attempt { // one that runs
    std::string job;
    int task;
    std::string host;
    double start;
    std::uint64_t id;
};
struct host {
    std::string name;
    int slots, busy;
};
//! [records]

//! [fields]
template <>
struct straggle::task_traits<ended> {
    static constexpr auto fields = attempt_fields{.job = &ended::job,
                                                  .task = &ended::task,
                                                  .node = &ended::host,
                                                  .start = &ended::start,
                                                  .end = &ended::end,
                                                  .status = &ended::how};
};
template <>
struct straggle::task_traits<attempt> {
    static constexpr auto fields = running_fields{
        .job = &attempt::job, .task = &attempt::task, .node = &attempt::host, .start = &attempt::start};
};
template <>
struct straggle::task_traits<host> {
    static constexpr auto fields =
        node_fields{.node = &host::name, .slots = &host::slots, .busy = &host::busy};
};
//! [fields]

namespace {

struct event {
    double time;
    std::uint64_t attempt; // 0: the heartbeat
    bool operator<(event const& other) const { return time > other.time; }
};
struct waiting_task {
    std::string job;
    int task;
};

class scheduler {
  public:
    explicit scheduler(straggle::mitigator_options const& options) : straggler_(options) {
        for (int n = 0; n < 16; ++n)
            hosts_.push_back({std::string("n").append(std::to_string(10 + n)), 4, 0});
        events_.push({0, 0});
    }
    void run(double until) {
        for (; events_.top().time < until; events_.pop()) {
            event const e = events_.top();
            now_ = e.time;
            if (e.attempt != 0)
                end(e.attempt);
            else
                heartbeat();
            dispatch();
        }
    }
    [[nodiscard]] double job_time() const { return time_of_jobs_ / finished_; }

  private:
    void heartbeat() {
        events_.push({now_ + 1, 0});
        if (static_cast<int>(now_) % 20 == 0) submit();
        //! [decide]
        auto const& plan = straggler_.decide(now_, running_, hosts_, {.waiting = waiting_.size()});
        for (auto const& n : plan.nodes()) report(n);
        std::vector<waiting_task> copies; // what starts or stops changes what runs, whose rows the plan names
        std::vector<std::size_t> where;
        std::vector<std::uint64_t> stops;
        for (auto const& c : plan.copies()) {
            copies.push_back({running_[c.row].job, running_[c.row].task});
            where.push_back(c.node_row);
        }
        for (auto const& k : plan.kills()) stops.push_back(running_[k.row].id);
        for (std::size_t i = 0; i < copies.size(); ++i) start(copies[i], where[i]);
        for (std::uint64_t const id : stops) stop(id);
        //! [decide]
    }
    void dispatch() {
        while (!waiting_.empty()) {
            //! [place]
            auto const places =
                straggler_.rank_places(waiting_.front().job, hosts_, {.waiting = waiting_.size() - 1});
            if (places.empty()) return; // all are busy, or it does better to wait
            start(waiting_.front(), places.front().row);
            //! [place]
            waiting_.erase(waiting_.begin());
        }
    }
    void end(std::uint64_t id) {
        std::size_t at = 0;
        while (at < running_.size() && running_[at].id != id) ++at;
        if (at == running_.size()) return; // another attempt of its task ended first
        attempt const won = running_[at];
        for (std::size_t i = 0; i < running_.size();)
            if (running_[i].job == won.job && running_[i].task == won.task)
                leave(i, running_[i].id == id);
            else
                ++i;
        finish_task(won.job);
    }
    void stop(std::uint64_t id) {
        for (std::size_t i = 0; i < running_.size(); ++i)
            if (running_[i].id == id) return leave(i, false);
    }
    void leave(std::size_t at, bool has_won) {
        attempt const a = running_[at];
        --host_of(a.host).busy;
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(at));
        //! [observe]
        using enum straggle::attempt_status;
        straggler_.observe({a.job, a.task, a.host, a.start, now_, has_won ? success : killed}, now_);
        //! [observe]
    }

    void report(straggle::mitigate::planned_node const& n) {
        if (n.row != 5 || n.state == said_) return;
        said_ = n.state;
        std::printf("%6.0f s  %s %s\n", now_, hosts_[n.row].name.c_str(),
                    straggle::mitigate::reason(n).c_str());
    }
    void submit() {
        std::string const job = "job-" + std::to_string(submitted_.size());
        submitted_.push_back({now_, 24});
        for (int t = 0; t < 24; ++t) waiting_.push_back({job, t});
    }
    void start(waiting_task const& t, std::size_t row) {
        host& h = hosts_[row];
        if (h.busy == h.slots) return;
        ++h.busy;
        std::uint64_t const id = ++attempts_;
        std::uint64_t const luck = (id * 6364136223846793005u + 1442695040888963407u) >> 40;
        double const takes = 20 + static_cast<double>(luck % 20);
        bool const is_slow = row == 5 && now_ > 1000 && now_ < 6000;
        running_.push_back({t.job, t.task, h.name, now_, id});
        events_.push({now_ + takes * (is_slow ? 2.5 : 1), id});
    }
    void finish_task(std::string const& job) {
        auto& [since, left] = submitted_[static_cast<std::size_t>(std::stoi(job.substr(4)))];
        if (--left != 0) return;
        straggler_.finish(job);
        time_of_jobs_ += now_ - since;
        ++finished_;
    }
    host& host_of(std::string const& name) {
        return hosts_[static_cast<std::size_t>(std::stoi(name.substr(1)) - 10)];
    }

    //! [mitigator]
    straggle::mitigator<ended, attempt, host> straggler_;
    //! [mitigator]

    std::vector<host> hosts_;
    std::vector<attempt> running_;
    std::vector<waiting_task> waiting_;
    std::priority_queue<event> events_;
    struct job_state {
        double since;
        int left;
    };
    std::vector<job_state> submitted_;
    straggle::node_state said_ = straggle::node_state::healthy;
    double now_ = 0, time_of_jobs_ = 0;
    int finished_ = 0;
    std::uint64_t attempts_ = 0;
};

} // namespace

int main() {
    scheduler with({}), without({.is_enabled = false});
    with.run(12000);
    without.run(12000);
    std::printf("a job takes %.0f s, and %.0f s without\n", with.job_time(), without.job_time());
}
