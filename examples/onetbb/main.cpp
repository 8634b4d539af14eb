// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A mitigator inside a program that runs on oneTBB: four groups of workers, an arena each, of which one
/// turns out three times as slow. Work stealing balances threads that share one queue; it cannot help a task
/// that a slow worker has begun, and it does not know devices that have queues of their own.

#include <straggle/mitigate/mitigator.hpp>
#include <straggle/mitigate/reason.hpp>

#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using straggle::attempt_status;

struct attempt {
    int job, task;
    std::string group;
    double start, end;
    attempt_status how;
    std::shared_ptr<std::atomic<bool>> done; // of the task: the first of its attempts sets it
};
struct worker_group {
    std::string name;
    int slots, busy;
    double factor; // what nobody told the mitigator
};

auto make_mitigator(bool is_enabled) {
    return straggle::mitigator_of<attempt, attempt, worker_group>(
        straggle::attempt_fields{.job = &attempt::job,
                                 .node = &attempt::group,
                                 .start = &attempt::start,
                                 .end = &attempt::end,
                                 .status = &attempt::how,
                                 .task = &attempt::task},
        straggle::running_fields{
            .job = &attempt::job, .task = &attempt::task, .node = &attempt::group, .start = &attempt::start},
        straggle::node_fields{
            .node = &worker_group::name, .slots = &worker_group::slots, .busy = &worker_group::busy},
        {.is_enabled = is_enabled});
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class engine {
  public:
    explicit engine(bool is_enabled) : straggler_(make_mitigator(is_enabled)) {
        for (int g = 0; g < 4; ++g) {
            groups_.push_back({"group " + std::to_string(g), 2, 0, g == 2 ? 3.0 : 1.0});
            arenas_.push_back(std::make_unique<tbb::task_arena>(2, 0));
        }
    }
    /// The mean time of a job.
    double run(int jobs, int tasks) {
        double sum = 0;
        for (int job = 0; job < jobs; ++job) {
            double const begin = now();
            int begun = 0, left = tasks;
            while (left > 0) {
                while (begun < tasks && place(job, begun)) ++begun;
                decide(static_cast<std::uint64_t>(tasks - begun));
                attempt a;
                ended_.pop(a);
                do left -= end(a) ? 1 : 0;
                while (ended_.try_pop(a));
            }
            straggler_.finish(job);
            sum += now() - begin;
        }
        for (attempt a; !running_.empty(); end(a)) ended_.pop(a); // copies that lost
        return sum / jobs;
    }

  private:
    bool place(int job, int task) {
        auto const places = straggler_.rank_places(job, groups_);
        if (places.empty()) return false;
        start({job, task, "", 0, 0, {}, std::make_shared<std::atomic<bool>>(false)}, places.front().row);
        return true;
    }
    void start(attempt a, std::size_t row) {
        worker_group& g = groups_[row];
        ++g.busy;
        a.group = g.name;
        a.start = now();
        running_.push_back(a);
        double const takes = (0.008 + 0.004 * ((a.job * 31 + a.task * 17) % 10) / 10) * g.factor;
        arenas_[row]->enqueue([this, a, takes] {
            while (now() < a.start + takes && !*a.done) // work, in pieces between which it looks up
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            attempt over = a;
            over.how = a.done->exchange(true) ? attempt_status::killed : attempt_status::success;
            over.end = now();
            ended_.push(over);
        });
    }
    bool end(attempt const& a) {
        for (worker_group& g : groups_) g.busy -= g.name == a.group ? 1 : 0;
        std::erase_if(running_, [&](attempt const& r) {
            return r.job == a.job && r.task == a.task && r.group == a.group;
        });
        straggler_.observe(a, now());
        return a.how == attempt_status::success;
    }
    void decide(std::uint64_t waiting) {
        auto const& plan = straggler_.decide(now(), running_, groups_, {.waiting = waiting});
        for (auto const& n : plan.nodes()) {
            if (said_[n.row] == n.state) continue;
            said_[n.row] = n.state;
            std::printf("%s is %s\n", groups_[n.row].name.c_str(), straggle::mitigate::reason(n).c_str());
        }
        std::vector<std::pair<attempt, std::size_t>> copies;
        for (auto const& c : plan.copies()) copies.emplace_back(running_[c.row], c.node_row);
        for (auto const& [original, row] : copies)
            if (groups_[row].busy < groups_[row].slots) start(original, row);
    }

    decltype(make_mitigator(true)) straggler_;
    std::vector<worker_group> groups_;
    std::vector<std::unique_ptr<tbb::task_arena>> arenas_;
    tbb::concurrent_bounded_queue<attempt> ended_;
    std::vector<attempt> running_;
    std::vector<straggle::node_state> said_ = std::vector<straggle::node_state>(4);
};

} // namespace

int main() {
    tbb::global_control const threads(tbb::global_control::max_allowed_parallelism, 9);
    double const without = engine(false).run(40, 12), with = engine(true).run(40, 12);
    std::printf("a job takes %.1f ms, and %.1f ms without\n", 1000 * with, 1000 * without);
}
