// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "engine.hpp"

#include "accounts.hpp"
#include "attempt.hpp"
#include "invariant.hpp"
#include "speed.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

namespace lab {

namespace {

struct task_state {
    std::vector<std::uint32_t> running{}; // of the attempts
    std::uint32_t attempts = 0;           // made so far
    bool finished = false;
};

struct job_state {
    std::vector<task_state> tasks{};
    std::vector<std::uint32_t> again{};   // tasks that lost their last attempt
    std::vector<std::uint32_t> running{}; // tasks, in order of their start
    std::uint32_t next = 0;               // first task that was never started
    std::uint32_t finished = 0;
    double began = 0; // when its tasks could run
    std::uint32_t waiting() const { return static_cast<std::uint32_t>(again.size() + tasks.size()) - next; }
};

struct coming_end {
    double time;
    std::uint32_t attempt;
    bool operator>(coming_end const& other) const {
        return std::tie(time, attempt) > std::tie(other.time, other.attempt);
    }
};

class master final : public truth {
  public:
    master(plan const& what, policy& decides) : plan_(what), policy_(decides), jobs_(what.jobs.size()) {
        for (node_spec const& n : what.nodes) {
            node_view v{.slots = n.slots, .domain = n.domain};
            if (what.classes_told) v.machine_class = n.machine_class;
            nodes_.push_back(v);
        }
        wants_.nodes.assign(nodes_.size(), service::normal);
        crowds_.resize(what.shares_link ? 1 : what.nodes.size());
        crowd_slots_.resize(crowds_.size());
        for (std::uint32_t n = 0; n < nodes_.size(); ++n) crowd_slots_[crowd_of(n)] += nodes_[n].slots;
        policy_.on_start(*this);
    }

    result work() {
        double const limit = 1000 * plan_.heartbeat + 100 * (last_arrival() + least_time());
        for (double round = 0;; ++round) {
            now_ = round * plan_.heartbeat;
            while (arrived_ < jobs_.size() && plan_.jobs[arrived_].arrival <= now_) arrive();
            hear_of_ends();
            if (active_.empty() && arrived_ == jobs_.size()) break;
            if (now_ > limit) {
                out_.stuck = true;
                for (std::uint32_t const j : active_) end_job(last_stage(j), now_);
                break;
            }
            if (active_.empty()) { // the next round that has anything to do
                double const next = std::ceil(plan_.jobs[arrived_].arrival / plan_.heartbeat);
                round = std::max(round, next - 1);
                continue;
            }
            look_for_nodes();
            bool const is_turn = std::fmod(round, plan_.decide_every) == 0;
            if (plan_.copies_first && is_turn) decide();
            place_tasks();
            if (!plan_.copies_first && is_turn) decide();
            accounts_.count_out(nodes_, wants_, now_);
        }
        if (!out_.stuck) check_the_end();
        std::sort(ended_.begin(), ended_.end());
        for (auto const& [job, time] : ended_) out_.job_times.push_back(time);
        count_deadlines();
        out_.first_wait /= static_cast<double>(std::max<std::uint64_t>(started_, 1));
        return out_;
    }

    double speed(std::uint32_t node) const override {
        for (time_span const& hole : plan_.nodes[node].holes)
            if (now_ >= hole.from && now_ < hole.to) return 0;
        return plan_.nodes[node].speed / slowdown_at(plan_.nodes[node], now_);
    }
    double work(std::uint32_t job, std::uint32_t task) const override {
        return plan_.jobs[job].tasks[task].work;
    }
    double done(running_attempt const& r) const override {
        double const begins = r.start + plan_.launch + (r.copy ? plan_.copy_start : 0);
        return work_between(plan_.nodes[r.node], begins, std::max(begins, now_));
    }
    std::optional<double> left(running_attempt const& r) const override {
        bool const hides = plan_.progress == progress_mode::absent ||
                           (plan_.progress == progress_mode::jumping && r.progress.value_or(0) >= 0.9);
        if (hides || !(r.progress.value_or(0) > 0)) return std::nullopt;
        for (std::uint32_t const id : jobs_[r.job].tasks[r.task].running)
            if (attempts_[id].record.number == r.number) return std::max(0.0, attempts_[id].work - done(r));
        return std::nullopt;
    }
    std::span<double const> luck(std::uint32_t job) const override {
        std::uint32_t const which = plan_.jobs[job].luck;
        lucks_.resize(plan_.lucks.size());
        std::vector<double>& known = lucks_[which];
        if (known.empty()) {
            draw d(plan_.seed, 21, which);
            for (int i = 0; i < 4096; ++i) known.push_back(plan_.lucks[which](d));
            std::sort(known.begin(), known.end());
        }
        return known;
    }

  private:
    double last_arrival() const { return plan_.jobs.empty() ? 0 : plan_.jobs.back().arrival; }
    double least_time() const { // of all work, on all slots
        double work = 0, slots = 0;
        for (job_spec const& j : plan_.jobs)
            for (task_spec const& t : j.tasks) work += t.work + plan_.launch;
        for (node_spec const& n : plan_.nodes) slots += n.slots * n.speed;
        return work / slots;
    }

    void arrive() {
        if (!plan_.jobs[arrived_].follows) begin(arrived_, plan_.jobs[arrived_].arrival);
        ++arrived_;
    }
    void begin(std::uint32_t j, double when) {
        jobs_[j].tasks.resize(plan_.jobs[j].tasks.size());
        jobs_[j].began = when;
        active_.push_back(j);
    }
    bool is_followed(std::uint32_t j) const { return j + 1 < plan_.jobs.size() && plan_.jobs[j + 1].follows; }
    std::uint32_t last_stage(std::uint32_t j) const {
        while (is_followed(j)) ++j;
        return j;
    }

    void hear_of_ends() {
        while (!ends_.empty() && ends_.top().time <= now_) {
            auto const [time, id] = ends_.top();
            ends_.pop();
            if (attempts_[id].over || attempts_[id].record.end != time) continue;
            attempt_record const who = attempts_[id].record;
            end(id, who.end, who.how, false);
            job_state& job = jobs_[who.job];
            task_state& task = job.tasks[who.task];
            if (who.how != ending::finished) {
                requeue(who.job, who.task);
                continue;
            }
            LAB_INVARIANT(!task.finished);
            task.finished = true;
            ++job.finished;
            while (!task.running.empty()) {
                attempt const& loser = attempts_[task.running.back()];
                end(task.running.back(), std::min(loser.record.end, now_), ending::killed, true);
            }
            std::erase(job.running, who.task);
            if (job.finished < job.tasks.size()) continue;
            end_job(who.job, who.end);
            std::erase(active_, who.job);
            policy_.on_job_end(who.job, now_);
            job = {};
            if (is_followed(who.job)) begin(who.job + 1, who.end);
        }
    }

    void end_job(std::uint32_t job, double end) {
        job_spec const& what = plan_.jobs[job];
        if (!is_followed(job) && !what.is_service) ended_.push_back({job, end - what.arrival});
        out_.makespan = std::max(out_.makespan, end);
    }

    void count_deadlines() {
        std::uint64_t others = 0;
        for (auto const& [job, time] : ended_) {
            job_spec const& what = plan_.jobs[job];
            if (what.deadline > 0) {
                ++out_.due;
                if (what.arrival + time > what.deadline) ++out_.missed;
            } else {
                ++others;
                out_.others += time;
            }
        }
        if (others > 0) out_.others /= static_cast<double>(others);
    }

    std::optional<double> deadline_of(std::uint32_t job) const {
        double const d = plan_.jobs[job].deadline;
        return d > 0 ? std::optional(d) : std::nullopt;
    }

    void end(std::uint32_t id, double when, ending how, bool outrun) {
        attempt& a = attempts_[id];
        a.over = true;
        keep_truth(a, when);
        a.record.end = when;
        a.record.how = how;
        a.record.outrun = outrun;
        node_view& node = nodes_[a.record.node];
        LAB_INVARIANT(node.busy > 0);
        --node.busy;
        if (a.record.copy) --node.copies;
        std::erase(jobs_[a.record.job].tasks[a.record.task].running, id);
        leave_crowd(id, when);
        accounts_.add(a.record);
        policy_.on_task_end(a.record, now_);
    }

    void keep_truth(attempt& a, double when) {
        double const begins = begin_of(plan_, a.record),
                     could = work_between(plan_.nodes[a.record.node], begins, when),
                     did = done_by(plan_, a, when);
        if (when > begins && could > 0 && did > 0)
            out_.causes.push_back(
                {a.record.job, a.record.task, a.record.number, (when - begins) / could, could / did, a.work});
    }

    void requeue(std::uint32_t j, std::uint32_t t) {
        job_state& job = jobs_[j];
        if (!job.tasks[t].running.empty()) return;
        job.again.push_back(t);
        std::erase(job.running, t);
    }

    void look_for_nodes() {
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            nodes_[n].away = false;
            for (time_span const& gone : plan_.nodes[n].away)
                if (now_ >= gone.from && now_ < gone.to) nodes_[n].away = true;
            LAB_INVARIANT(!nodes_[n].away || nodes_[n].busy == 0);
        }
    }

    void start(std::uint32_t j, std::uint32_t t, std::uint32_t n, bool copy) {
        job_state& job = jobs_[j];
        task_state& task = job.tasks[t];
        job_spec const& what = plan_.jobs[j];
        node_view& node = nodes_[n];
        LAB_INVARIANT(!task.finished && node.free() > 0);
        if (task.running.empty()) job.running.push_back(t);
        if (task.attempts == 0) {
            out_.first_wait += now_ - job.began;
            ++started_;
        }
        attempt_record who{.job = j, .task = t, .node = n, .kind = what.kind, .number = task.attempts++};
        who.start = now_;
        who.input = what.tasks[t].input;
        who.copy = copy;
        ++node.busy;
        if (copy) ++node.copies;
        auto const id = static_cast<std::uint32_t>(attempts_.size());
        attempts_.push_back(start_attempt(plan_, who));
        task.running.push_back(id);
        ends_.push({attempts_.back().record.end, id});
        join_crowd(id);
    }

    // Those that run on one node, or share one link.
    std::size_t crowd_of(std::uint32_t node) const { return plan_.shares_link ? 0 : node; }
    void join_crowd(std::uint32_t id) {
        if (!(plan_.contention > 0)) return;
        std::size_t const which = crowd_of(attempts_[id].record.node);
        crowds_[which].push_back(id);
        press(which, now_);
    }
    void leave_crowd(std::uint32_t id, double when) {
        if (!(plan_.contention > 0)) return;
        std::size_t const which = crowd_of(attempts_[id].record.node);
        std::erase(crowds_[which], id);
        press(which, when);
    }
    void press(std::size_t which, double when) {
        std::vector<std::uint32_t> const& all = crowds_[which];
        if (all.empty() || crowd_slots_[which] < 2) return;
        double const full = static_cast<double>(all.size() - 1) / (crowd_slots_[which] - 1.0);
        for (std::uint32_t const id : all) {
            crowd(plan_, attempts_[id], std::max(when, attempts_[id].done_at), 1 + plan_.contention * full);
            ends_.push({attempts_[id].record.end, id});
        }
    }

    // Serves jobs in order of arrival. A job whose task would rather wait is passed over in this round.
    void place_tasks() {
        std::uint32_t waiting = 0;
        for (std::uint32_t const j : active_) waiting += jobs_[j].waiting();
        if (waiting == 0) return;
        free_.clear();
        for (std::uint32_t n = 0; n < nodes_.size(); ++n)
            if (nodes_[n].free() > 0) free_.push_back(n);
        draw_order();
        for (std::uint32_t const j : active_)
            while (jobs_[j].waiting() > 0 && !free_.empty())
                if (!place_one(j)) break;
    }

    // The order in which tasks get nodes if the policy does not choose: all of `normal` equally likely, then
    // last resorts.
    void draw_order() {
        for (service const to : {service::normal, service::last_resort}) {
            std::vector<std::uint32_t>& drawn = drawn_[to == service::last_resort];
            drawn.clear();
            for (std::uint32_t const n : free_)
                if (wants_.nodes[n] == to) drawn.push_back(n);
            draw(plan_.seed, 22, static_cast<std::uint64_t>(to), std::bit_cast<std::uint64_t>(now_))
                .shuffle(drawn);
            first_[to == service::last_resort] = 0;
        }
    }
    std::optional<std::uint32_t> next_drawn() {
        for (std::size_t i = 0; i < drawn_.size(); ++i)
            while (first_[i] < drawn_[i].size()) {
                std::uint32_t const n = drawn_[i][first_[i]++];
                if (nodes_[n].free() == 0) continue;
                if (nodes_[n].free() > 1) drawn_[i].push_back(n);
                return n;
            }
        return std::nullopt;
    }

    bool place_one(std::uint32_t j) {
        job_state& job = jobs_[j];
        std::uint32_t const t = job.again.empty() ? job.next : job.again.front();
        job_spec const& what = plan_.jobs[j];
        std::uint32_t const at = policy_.place({j, t, what.kind, what.tasks[t].input}, free_, now_);
        if (at == policy::wait) return false;
        LAB_INVARIANT(at == policy::any || at < free_.size());
        auto const n = at == policy::any ? next_drawn() : free_[at];
        if (!n) return false;
        if (job.again.empty())
            ++job.next;
        else
            job.again.erase(job.again.begin());
        start(j, t, *n, false);
        if (nodes_[*n].free() == 0) std::erase(free_, *n);
        return true;
    }

    void decide() {
        if (!policy_.is_due(now_)) return;
        look();
        wants_.copies.clear();
        wants_.kills.clear();
        auto const before = std::chrono::steady_clock::now();
        policy_.decide(view_, wants_);
        out_.decision_time +=
            std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
        ++out_.decisions;
        LAB_INVARIANT(wants_.nodes.size() == nodes_.size());
        for (copy_request const& c : wants_.copies) copy(c);
        for (kill_request const& k : wants_.kills) kill(k);
    }

    void copy(copy_request const& c) {
        LAB_INVARIANT(c.node < nodes_.size() && c.job < arrived_);
        job_state const& job = jobs_[c.job];
        if (c.task >= job.tasks.size() || nodes_[c.node].free() == 0) return;
        task_state const& task = job.tasks[c.task];
        bool const there = std::any_of(task.running.begin(), task.running.end(),
                                       [&](std::uint32_t id) { return attempts_[id].record.node == c.node; });
        if (!task.running.empty() && !there) start(c.job, c.task, c.node, true);
    }

    void kill(kill_request const& k) {
        if (k.job >= jobs_.size() || k.task >= jobs_[k.job].tasks.size()) return;
        for (std::uint32_t const id : jobs_[k.job].tasks[k.task].running) {
            if (attempts_[id].record.node != k.node) continue;
            end(id, now_, ending::killed, false);
            requeue(k.job, k.task);
            return;
        }
    }

    void look() {
        running_.clear();
        shown_.clear();
        view_.waiting = 0;
        for (std::uint32_t const j : active_) {
            job_state const& job = jobs_[j];
            job_view v{.job = j, .kind = plan_.jobs[j].kind, .finished = job.finished};
            v.tasks = static_cast<std::uint32_t>(job.tasks.size());
            v.waiting = job.waiting();
            v.arrival = job.began;
            v.first = static_cast<std::uint32_t>(running_.size());
            for (std::uint32_t const t : job.running)
                for (std::uint32_t const id : job.tasks[t].running) show(attempts_[id], job.tasks[t]);
            v.count = static_cast<std::uint32_t>(running_.size()) - v.first;
            v.deadline = deadline_of(j);
            view_.waiting += v.waiting;
            shown_.push_back(v);
        }
        view_.now = now_;
        view_.running = running_;
        view_.jobs = shown_;
        view_.nodes = nodes_;
        view_.copies_first = plan_.copies_first;
    }

    void show(attempt& a, task_state const& task) {
        report(plan_, a, now_);
        attempt_record const& who = a.record;
        running_.push_back({.job = who.job,
                            .task = who.task,
                            .node = who.node,
                            .kind = who.kind,
                            .number = who.number,
                            .attempts = static_cast<std::uint32_t>(task.running.size()),
                            .job_tasks = static_cast<std::uint32_t>(plan_.jobs[who.job].tasks.size()),
                            .start = who.start,
                            .input = who.input,
                            .progress = a.shown,
                            .reported = a.shown_at,
                            .copy = who.copy,
                            .deadline = deadline_of(who.job)});
    }

    void check_the_end() const {
        for (node_view const& n : nodes_) LAB_INVARIANT(n.busy == 0 && n.copies == 0);
        for (attempt const& a : attempts_) LAB_INVARIANT(a.over && a.record.end >= a.record.start);
        LAB_INVARIANT(attempts_.size() == out_.attempts);
        accounts_.check();
    }

    plan const& plan_;
    policy& policy_;
    result out_;
    accounts accounts_{plan_, out_};
    double now_ = 0;
    std::vector<job_state> jobs_;
    std::vector<std::uint32_t> active_; // jobs, in order of arrival
    std::uint32_t arrived_ = 0;
    std::uint64_t started_ = 0;
    std::vector<std::pair<std::uint32_t, double>> ended_; // jobs, and their times
    std::vector<attempt> attempts_;
    std::priority_queue<coming_end, std::vector<coming_end>, std::greater<>> ends_;
    std::vector<std::vector<std::uint32_t>> crowds_; // attempts
    std::vector<std::uint32_t> crowd_slots_;
    std::vector<std::uint32_t> free_;                 // nodes, in order
    std::array<std::vector<std::uint32_t>, 2> drawn_; // `normal` ones and last resorts, in random order
    std::array<std::size_t, 2> first_{};              // of `drawn_` that is not taken
    std::vector<node_view> nodes_;
    std::vector<running_attempt> running_;
    std::vector<job_view> shown_;
    cluster_view view_;
    decisions wants_;
    mutable std::vector<std::vector<double>> lucks_;
};

} // namespace

result run(plan const& what, policy& decides) {
    return master(what, decides).work();
}

} // namespace lab
