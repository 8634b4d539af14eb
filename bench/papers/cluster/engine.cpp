// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "engine.hpp"

#include "attempt.hpp"
#include "draw.hpp"
#include "machines.hpp"

#include <simgrid/plugins/energy.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>

namespace cluster {

namespace {

namespace s4u = simgrid::s4u;

struct task_state {
    std::vector<std::unique_ptr<attempt>> running{};
    std::uint32_t attempts = 0; // made so far
};

struct phase_state {
    std::uint32_t job = 0;
    std::uint32_t number = 0;
    std::uint32_t kind = 0;
    std::vector<task_spec> const* work = nullptr;
    std::vector<task_state> tasks{};
    std::vector<std::uint32_t> again{}; // tasks that lost their last attempt
    std::uint32_t next = 0;             // first task that has not started
    std::uint32_t finished = 0;
    double began = 0;
    bool passed = false; // would rather wait than take what is free
    std::uint32_t waiting() const { return static_cast<std::uint32_t>(again.size() + tasks.size()) - next; }
    std::uint32_t next_task() const { return again.empty() ? next : again.front(); }
};

class master {
  public:
    master(plan const& what, policy& decides, std::vector<machine> const& machines, result& out)
        : plan_(what), policy_(decides), machines_(machines), out_(out), random_(what.seed, 1) {
        for (node_spec const& node : what.nodes) nodes_.push_back({.slots = node.slots});
        order_.resize(nodes_.size());
        std::iota(order_.begin(), order_.end(), 0u);
        out_.jobs.resize(what.jobs.size());
    }

    void work() {
        std::size_t arrived = 0;
        while (arrived < plan_.jobs.size() || !phases_.empty()) {
            double const now = s4u::Engine::get_clock();
            while (arrived < plan_.jobs.size() && plan_.jobs[arrived].arrival <= now) {
                out_.jobs[arrived] = {plan_.jobs[arrived].kind, plan_.jobs[arrived].arrival, 0};
                begin_phase(static_cast<std::uint32_t>(arrived++), 0, now);
            }
            hear_of_ends(now);
            policy_.round(now);
            if (policy_.copies_first()) step(now);
            place_tasks(now);
            if (!policy_.copies_first()) step(now);
            double next = now + plan_.heartbeat;
            if (phases_.empty() && arrived < plan_.jobs.size()) // nothing to do but advance the time
                next = std::max(next, std::min(plan_.jobs[arrived].arrival, now + 30));
            if (phases_.empty() && arrived == plan_.jobs.size()) break;
            s4u::this_actor::sleep_until(next);
        }
        out_.makespan = s4u::Engine::get_clock();
        for (machine const& m : machines_) out_.joules += sg_host_get_consumed_energy(m.host);
    }

  private:
    void begin_phase(std::uint32_t job, std::size_t which, double now) {
        auto phase = std::make_unique<phase_state>();
        phase->job = job;
        phase->number = phases_begun_++;
        phase->kind =
            kinds_.try_emplace({plan_.jobs[job].kind, which}, static_cast<std::uint32_t>(kinds_.size()))
                .first->second;
        phase->work = &plan_.jobs[job].phases[which].tasks;
        phase->tasks.resize(phase->work->size());
        phase->began = now;
        phase_of_job_.resize(plan_.jobs.size());
        phase_of_job_[job] = which;
        phases_.push_back(std::move(phase));
    }

    void end_attempt(attempt const& a, double end, ending how, double progress, double now,
                     bool outrun = false) {
        attempt_record record = a.who();
        record.end = end;
        record.how = how;
        record.outrun = outrun;
        record.progress = progress;
        --nodes_[record.node].used;
        if (record.copy) --nodes_[record.node].copies;
        if (record.copy && how == ending::finished) ++out_.won;
        out_.attempts.push_back(record);
        policy_.ended(record, now);
    }
    void kill(attempt& a, double now, bool outrun) {
        double const progress = a.progress(), end = a.over() ? a.end() : now;
        a.kill();
        end_attempt(a, end, ending::killed, progress, now, outrun);
    }

    void hear_of_ends(double now) {
        for (std::size_t p = 0; p < phases_.size(); ++p) {
            phase_state& phase = *phases_[p];
            for (task_state& task : phase.tasks) {
                attempt* first = nullptr;
                for (auto const& a : task.running)
                    if (a->over() && (!first || a->end() < first->end())) first = a.get();
                if (!first) continue;
                for (auto const& a : task.running)
                    if (a.get() != first) kill(*a, now, true);
                end_attempt(*first, first->end(), ending::finished, 1, now);
                task.running.clear();
                ++phase.finished;
            }
        }
        for (std::size_t p = 0; p < phases_.size();) {
            phase_state const& phase = *phases_[p];
            if (phase.finished < phase.tasks.size()) {
                ++p;
                continue;
            }
            std::uint32_t const job = phase.job;
            policy_.phase_over(phase.number);
            phases_.erase(phases_.begin() + static_cast<std::ptrdiff_t>(p));
            std::size_t const next = phase_of_job_[job] + 1;
            if (next < plan_.jobs[job].phases.size())
                begin_phase(job, next, now);
            else
                out_.jobs[job].end = now;
        }
    }

    // Machines ask for work in no particular order, one task at a time; jobs are served in order of arrival.
    void place_tasks(double now) {
        straggle::base::sample_to_front(std::span(order_), order_.size(), random_);
        offer(false, now);
        offer(true, now);
    }
    void offer(bool last_resort, double now) {
        free_.clear();
        for (std::uint32_t const n : order_)
            if (policy_.is_last_resort(n) == last_resort && takes_tasks(n)) free_.push_back(n);
        for (auto const& phase : phases_) phase->passed = false;
        for (std::size_t first = 0; first < free_.size();) {
            phase_state* const phase = first_waiting();
            if (!phase) return;
            std::uint32_t const task = phase->next_task();
            std::size_t const at =
                policy_.place_task({phase->job, phase->number, task, phase->kind, (*phase->work)[task].input},
                                   std::span(free_).subspan(first), now);
            if (at >= free_.size() - first) {
                phase->passed = true;
                continue;
            }
            std::swap(free_[first], free_[first + at]);
            std::uint32_t const node = free_[first++];
            if (phase->again.empty())
                ++phase->next;
            else
                phase->again.erase(phase->again.begin());
            start(*phase, task, node, false, now);
            if (takes_tasks(node)) free_.push_back(node);
        }
    }
    bool takes_tasks(std::uint32_t n) const {
        node_view const& node = nodes_[n];
        return node.free() > 0 && !policy_.avoids(n) && node.used - node.copies < policy_.task_slots(n, node);
    }
    phase_state* first_waiting() {
        phase_state* first = nullptr;
        for (auto const& phase : phases_)
            if (phase->waiting() > 0 && !phase->passed && (!first || phase->job < first->job))
                first = phase.get();
        return first;
    }

    void start(phase_state& phase, std::uint32_t task, std::uint32_t node, bool copy, double now) {
        task_spec const& work = (*phase.work)[task];
        std::uint64_t from = straggle::base::uniform_below(random_, machines_.size());
        if (machines_.size() > 1 && from == node) from = (from + 1) % machines_.size();
        attempt_record who;
        who.job = phase.job;
        who.phase = phase.number;
        who.task = task;
        who.node = node;
        who.kind = phase.kind;
        who.number = phase.tasks[task].attempts++;
        who.start = now;
        who.copy = copy;
        who.input = work.input;
        task_spec done = work;
        if (plan_.attempt_noise > 0) done.flops *= random_.lognormal(plan_.attempt_noise);
        ++nodes_[node].used;
        if (copy) {
            ++nodes_[node].copies;
            ++out_.copies;
        }
        phase.tasks[task].running.push_back(
            std::make_unique<attempt>(plan_, done, machines_[node], machines_[from], who));
    }

    void step(double now) {
        look(now);
        wants_.copies.clear();
        wants_.kills.clear();
        policy_.step(view_, wants_);
        for (copy_request const& r : wants_.copies) copy(r, now);
        for (kill_request const& r : wants_.kills) stop(r, now);
    }

    phase_state* find(std::uint32_t number, std::uint32_t task) {
        for (auto const& phase : phases_)
            if (phase->number == number && task < phase->tasks.size()) return phase.get();
        return nullptr;
    }

    void copy(copy_request const& r, double now) {
        if (r.node >= nodes_.size() || nodes_[r.node].free() == 0) return;
        phase_state* const phase = find(r.phase, r.task);
        if (!phase) return;
        auto& running = phase->tasks[r.task].running;
        bool const there = std::any_of(running.begin(), running.end(),
                                       [&r](auto const& a) { return a->who().node == r.node; });
        if (running.empty() || there) return;
        if (r.kill) {
            for (auto const& a : running) kill(*a, now, false);
            running.clear();
        }
        start(*phase, r.task, r.node, true, now);
    }

    void stop(kill_request const& r, double now) {
        phase_state* const phase = find(r.phase, r.task);
        if (!phase) return;
        auto& running = phase->tasks[r.task].running;
        auto const at = std::find_if(running.begin(), running.end(),
                                     [&r](auto const& a) { return a->who().node == r.node; });
        if (at == running.end() || (*at)->over()) return; // the master hears of its end in the next round
        kill(**at, now, false);
        running.erase(at);
        if (running.empty()) phase->again.push_back(r.task);
    }

    void look(double now) {
        running_.resize(std::max(running_.size(), phases_.size()));
        attempts_.resize(running_.size());
        shown_.clear();
        view_.waiting = 0;
        for (std::size_t p = 0; p < phases_.size(); ++p) {
            phase_state const& phase = *phases_[p];
            running_[p].clear();
            attempts_[p].clear();
            for (std::uint32_t t = 0; t < phase.next; ++t)
                if (!phase.tasks[t].running.empty()) show(t, phase.tasks[t], now, p);
            view_.waiting += phase.waiting();
            shown_.push_back({phase.job, phase.number, phase.kind,
                              static_cast<std::uint32_t>(phase.tasks.size()), phase.finished, phase.waiting(),
                              phase.began, running_[p], attempts_[p]});
        }
        view_.now = now;
        view_.phases = shown_;
        view_.nodes = nodes_;
    }
    void show(std::uint32_t number, task_state const& task, double now, std::size_t p) {
        running_view v{.task = number};
        v.progress = -1;
        v.attempts = static_cast<std::uint32_t>(task.running.size());
        for (auto const& a : task.running) {
            attempt_record const& who = a->who();
            double const done = a->reported(now);
            attempts_[p].push_back({who, std::nullopt, a->reported_at()});
            if (a->reported_at() > who.start) attempts_[p].back().progress = done;
            v.nodes.push_back(who.node);
            if (done <= v.progress) continue;
            v.progress = done;
            v.node = who.node;
            v.start = who.start;
            v.input = who.input;
        }
        running_[p].push_back(std::move(v));
    }

    plan const& plan_;
    policy& policy_;
    std::vector<machine> const& machines_;
    result& out_;
    draw random_;
    std::vector<std::unique_ptr<phase_state>> phases_;
    std::vector<std::size_t> phase_of_job_;
    std::uint32_t phases_begun_ = 0;
    std::vector<node_view> nodes_;
    std::map<std::pair<std::string, std::size_t>, std::uint32_t> kinds_;
    std::vector<std::uint32_t> order_, free_;
    std::vector<std::vector<running_view>> running_;
    std::vector<std::vector<attempt_view>> attempts_;
    std::vector<phase_view> shown_;
    cluster_view view_;
    requests wants_;
};

} // namespace

result run(plan const& what, policy& decides) {
    // Only the bandwidth of the network matters here: no slow start, no cross traffic.
    char name[] = "cluster", log[] = "--log=root.thres:warning", tcp[] = "--cfg=network/crosstraffic:0",
         stack[] = "--cfg=contexts/stack-size:128";
    char* arguments[] = {name, log, tcp, stack, nullptr};
    int count = 4;
    sg_host_energy_plugin_init();
    s4u::Engine engine(&count, arguments);
    s4u::Host* home = nullptr;
    std::vector<machine> const machines = build_machines(what, home);
    start_faults(what, machines);
    result out;
    s4u::Actor::create("master", home, [&] { master(what, decides, machines, out).work(); });
    engine.run();
    return out;
}

} // namespace cluster
