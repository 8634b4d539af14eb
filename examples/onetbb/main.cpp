// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A mitigator inside a program that runs on oneTBB: four groups of workers, an arena each, of which one is
/// three times as slow. Work stealing cannot help a task that a slow worker has begun.

#include <straggle/mitigate/mitigator.hpp>
#include <straggle/mitigate/reason.hpp>

#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

using straggle::attempt_status;

struct attempt {
    int job, task, group;
    double start, end;
    attempt_status how;
    std::shared_ptr<std::atomic<bool>> done; // of the task: the first of its attempts sets it
};
struct ended : attempt {};
struct worker_group {
    int name, slots, busy;
    double factor; // what nobody told the mitigator
};
template <>
struct straggle::task_traits<ended> {
    static constexpr auto fields = attempt_fields{.job = &ended::job,
                                                  .node = &ended::group,
                                                  .start = &ended::start,
                                                  .end = &ended::end,
                                                  .status = &ended::how,
                                                  .task = &ended::task};
};
template <>
struct straggle::task_traits<attempt> {
    static constexpr auto fields = running_fields{
        .job = &attempt::job, .task = &attempt::task, .node = &attempt::group, .start = &attempt::start};
};
template <>
struct straggle::task_traits<worker_group> {
    static constexpr auto fields =
        node_fields{.node = &worker_group::name, .slots = &worker_group::slots, .busy = &worker_group::busy};
};
double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class engine {
  public:
    explicit engine(bool is_enabled) { straggler_.enable(is_enabled); }
    double run(int jobs, int tasks, bool tells_each) { // the mean time of a job
        double const begin = now();
        for (int job = 0; job < jobs; ++job, straggler_.finish(job - 1)) {
            double const submitted = now();
            for (int begun = 0, left = tasks; left > 0;) {
                while (begun < tasks && place(job, begun)) ++begun;
                decide(static_cast<std::uint64_t>(tasks - begun));
                ended a;
                ended_.pop(a);
                do left -= end(a) ? 1 : 0;
                while (ended_.try_pop(a));
            }
            if (tells_each) std::printf("job %d: %.1f ms\n", job, 1000 * (now() - submitted));
        }
        double const took = now() - begin;
        for (ended a; !running_.empty(); end(a)) ended_.pop(a); // copies that lost
        return took / jobs;
    }

  private:
    bool place(int job, int task) {
        auto const places = straggler_.rank_places(job, groups_);
        if (places.empty()) return false;
        start({job, task, 0, 0, 0, {}, std::make_shared<std::atomic<bool>>()}, places[0].row);
        return true;
    }
    void start(attempt a, std::size_t row) {
        ++groups_[row].busy;
        a.group = groups_[row].name;
        a.start = now();
        running_.push_back(a);
        double const takes = (8 + (a.job * 31 + a.task * 17) % 10 * 0.4) / 1000 * groups_[row].factor;
        arenas_[row].enqueue([this, a, takes] {
            while (now() < a.start + takes && !*a.done) // work, in pieces between which it looks up
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            ended over{a};
            over.how = a.done->exchange(true) ? attempt_status::killed : attempt_status::success;
            over.end = now();
            ended_.push(over);
        });
    }
    bool end(ended const& a) { // whether its task has ended with it
        --groups_[static_cast<std::size_t>(a.group)].busy;
        std::erase_if(running_, [&](attempt const& r) { return r.done == a.done && r.group == a.group; });
        straggler_.observe(a, now());
        return a.how == attempt_status::success;
    }
    void decide(std::uint64_t waiting) {
        auto const& plan = straggler_.decide(now(), running_, groups_, {.waiting = waiting});
        for (auto const& n : plan.nodes())
            if (std::exchange(said_[n.row], n.state) != n.state)
                std::printf("group %zu is %s\n", n.row, straggle::mitigate::reason(n).c_str());
        auto const seen = running_; // the plan's rows are of these
        for (auto const& c : plan.copies())
            if (groups_[c.node_row].busy < groups_[c.node_row].slots) start(seen[c.row], c.node_row);
    }

    straggle::mitigator<ended, attempt, worker_group> straggler_{{}};
    std::vector<worker_group> groups_{{0, 2, 0, 1}, {1, 2, 0, 1}, {2, 2, 0, 3}, {3, 2, 0, 1}};
    std::array<tbb::task_arena, 4> arenas_{tbb::task_arena{2, 0}, {2, 0}, {2, 0}, {2, 0}};
    tbb::concurrent_bounded_queue<ended> ended_;
    std::vector<attempt> running_;
    std::array<straggle::node_state, 4> said_{};
};

int main(int argc, char** argv) {
    tbb::global_control const threads(tbb::global_control::max_allowed_parallelism, 9);
    int const tasks = argc > 1 ? std::atoi(argv[1]) : 12; // of a job
    bool const each = argc > 2;                           // says how long each job took, for a picture
    double const without = engine(false).run(40, tasks, each), with = engine(true).run(40, tasks, each);
    std::printf("a job takes %.1f ms, and %.1f ms without\n", 1000 * with, 1000 * without);
}
