// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A small cluster whose scheduler obeys a mitigator, for tests: jobs arrive, tasks run, nodes are slow, hang
/// or fail. After each step what must always hold is checked, and what was decided can be compared between
/// runs.
#pragma once

#include <straggle/mitigate/mitigator.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace straggle_test {

struct ended_task {
    std::string job, node;
    int task = 0;
    double start = 0, end = 0;
    straggle::attempt_status how = straggle::attempt_status::success;
};
struct running_task {
    std::string job, node;
    int task = 0;
    double start = 0;
};
struct told_host {
    std::string name;
    int slots = 0, busy = 0;
    straggle::record::condition condition = straggle::record::condition::present;
};
inline constexpr straggle::attempt_fields ended_fields{.job = &ended_task::job,
                                                       .task = &ended_task::task,
                                                       .node = &ended_task::node,
                                                       .start = &ended_task::start,
                                                       .end = &ended_task::end,
                                                       .status = &ended_task::how};
inline constexpr straggle::running_fields running_task_fields{.job = &running_task::job,
                                                              .task = &running_task::task,
                                                              .node = &running_task::node,
                                                              .start = &running_task::start};
inline constexpr straggle::node_fields told_host_fields{.node = &told_host::name,
                                                        .slots = &told_host::slots,
                                                        .busy = &told_host::busy,
                                                        .condition = &told_host::condition};
using small_mitigator = decltype(straggle::mitigator(ended_fields, running_task_fields, told_host_fields,
                                                     straggle::mitigator_options{}));

/// What a node is like.
enum class health : std::uint8_t { well, slow, hangs, fails, gone };

struct small_cluster_options {
    int nodes = 20, slots = 4, tasks = 24;
    int between = 16;  ///< steps from job to job; a task takes 20 to 60 steps
    double unit = 1;   ///< of time: all times are so many times as long
    double origin = 0; ///< all times are later by it
    std::string prefix = "node-";
    bool reversed = false; ///< nodes and running attempts are told in the other order
    bool obeys = true;     ///< false: shadow mode
    bool is_checked = true;
    std::uint64_t seed = 1;
};

/// One run of it.
class small_cluster {
  public:
    explicit small_cluster(small_cluster_options const& how, straggle::mitigator_options const& options = {})
        : m(ended_fields, running_task_fields, told_host_fields, options), how_(how) {
        for (int n = 0; n < how.nodes; ++n) {
            hosts_.push_back({how.prefix + std::to_string(100 + n), how.slots});
            healths.push_back(health::well);
            begun_on_.push_back(0);
        }
    }

    small_mitigator m;
    std::vector<health> healths;
    double clock_error = 0;       ///< what its clock shows too much, in steps
    bool is_silent = false;       ///< ends are not told
    std::vector<std::string> log; ///< what was decided, by number of node
    int failed_attempts = 0, finished_jobs = 0, copies_run = 0, jobs_begun = 0;
    double time_of_jobs = 0;

    [[nodiscard]] double now() const { return how_.origin + how_.unit * (step_ + clock_error); }
    [[nodiscard]] std::vector<told_host> const& hosts() const { return hosts_; }

    void run(int steps) {
        for (int i = 0; i < steps; ++i) step();
    }
    void step() {
        ++step_;
        end_attempts();
        if (static_cast<int>(step_) % how_.between == 1) arrive();
        auto const& plan = decide();
        write_log(plan);
        if (how_.is_checked) check(plan);
        if (how_.obeys) launch(plan);
        place();
    }
    [[nodiscard]] std::vector<running_task> running() const {
        std::vector<running_task> rows;
        for (attempt const& a : attempts_) rows.push_back(row_of(a));
        return rows;
    }
    [[nodiscard]] int attempts_on(std::size_t node) const { return begun_on_[node]; }
    [[nodiscard]] int excluded() const {
        int n = 0;
        for (auto const& p : m.plan().nodes()) n += p.state == straggle::node_state::excluded ? 1 : 0;
        return n;
    }
    [[nodiscard]] straggle::node_state state(int node) const {
        return m.state(hosts_[static_cast<std::size_t>(node)].name);
    }

  private:
    struct attempt {
        int job = 0, task = 0;
        std::size_t node = 0;
        double start = 0, ends = 0; // ends by the true clock, in steps
        double shown_start = 0;
        bool fails = false;
    };
    struct job_entry {
        double begun = 0;
        int left = 0;
    };
    struct waiting_task {
        int job = 0, task = 0;
    };

    static std::string name_of(int job) { return "job-" + std::to_string(job); }
    running_task row_of(attempt const& a) const {
        return {name_of(a.job), hosts_[a.node].name, a.task, a.shown_start};
    }

    // Between 20 and 60 steps, whole, the same for the same attempt under all circumstances.
    double length(attempt const& a, bool is_copy) const {
        std::mt19937_64 random(how_.seed * 1000003 + static_cast<std::uint64_t>(a.job) * 997 +
                               static_cast<std::uint64_t>(a.task) * 2 + (is_copy ? 1 : 0));
        double const base = 20 + static_cast<double>(random() % 40);
        return healths[a.node] == health::slow ? 2.5 * base : base;
    }
    void start(int job, int task, std::size_t node, bool is_copy) {
        attempt a{job, task, node, step_, 0, now(), false};
        switch (healths[node]) {
        case health::hangs:
            a.ends = 1e300;
            break;
        case health::fails:
            a.ends = step_ + 2;
            a.fails = true;
            break;
        default:
            a.ends = step_ + length(a, is_copy);
        }
        attempts_.push_back(a);
        ++hosts_[node].busy;
        ++begun_on_[node];
        if (is_copy) ++copies_run;
    }
    void arrive() {
        jobs_[jobs_begun] = {step_, how_.tasks};
        for (int t = 0; t < how_.tasks; ++t) waiting_.push_back({jobs_begun, t});
        ++jobs_begun;
    }
    void tell(attempt const& a, straggle::attempt_status status) {
        if (is_silent) return;
        m.observe(ended_task{name_of(a.job), hosts_[a.node].name, a.task, a.shown_start, now(), status},
                  now());
    }
    void remove(std::size_t i) {
        --hosts_[attempts_[i].node].busy;
        attempts_.erase(attempts_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    void end_attempts() {
        for (std::size_t i = 0; i < attempts_.size();) {
            if (attempts_[i].ends > 1e299 && healths[attempts_[i].node] != health::hangs)
                attempts_[i].ends = step_ + 20; // it hangs no longer
            attempt const a = attempts_[i];
            bool const is_lost = healths[a.node] == health::gone;
            if (!is_lost && a.ends > step_) {
                ++i;
                continue;
            }
            remove(i);
            if (is_lost || a.fails) {
                failed_attempts += is_lost ? 0 : 1;
                if (!is_lost) tell(a, straggle::attempt_status::failed);
                bool runs = false;
                for (attempt const& b : attempts_) runs = runs || (b.job == a.job && b.task == a.task);
                if (!runs) waiting_.push_back({a.job, a.task});
                continue;
            }
            tell(a, straggle::attempt_status::success);
            for (std::size_t k = 0; k < attempts_.size();) {
                attempt const b = attempts_[k];
                if (b.job != a.job || b.task != a.task) {
                    ++k;
                    continue;
                }
                remove(k);
                tell(b, straggle::attempt_status::killed);
                i = 0;
            }
            job_entry& j = jobs_[a.job];
            if (--j.left == 0) {
                ++finished_jobs;
                time_of_jobs += step_ - j.begun;
                jobs_.erase(a.job);
                m.finish(name_of(a.job));
            }
        }
    }
    straggle::mitigation_plan const& decide() {
        using straggle::record::condition;
        rows_ = running();
        told_ = hosts_;
        for (std::size_t n = 0; n < hosts_.size(); ++n)
            told_[n].condition = healths[n] == health::gone ? condition::away : hosts_[n].condition;
        if (how_.reversed) {
            std::reverse(rows_.begin(), rows_.end());
            std::reverse(told_.begin(), told_.end());
        }
        return m.decide(now(), rows_, told_, {.waiting = waiting_.size()});
    }
    [[nodiscard]] std::size_t node_of(std::size_t row) const {
        return how_.reversed ? hosts_.size() - 1 - row : row;
    }
    void write_log(straggle::mitigation_plan const& plan) {
        std::string line(hosts_.size(), '.');
        for (std::size_t row = 0; row < plan.nodes().size(); ++row)
            line[node_of(row)] = ".lpx-"[static_cast<std::size_t>(plan.state(row))];
        std::vector<std::string> copies;
        for (auto const& c : plan.copies())
            copies.push_back(' ' + rows_[c.row].job + '/' + std::to_string(rows_[c.row].task));
        std::sort(copies.begin(), copies.end());
        for (auto const& c : copies) line += c;
        log.push_back(line);
    }
    // What must always hold.
    void check(straggle::mitigation_plan const& plan) const {
        using straggle::node_state;
        INFO("seed ", how_.seed, ", step ", step_);
        REQUIRE(plan.nodes().size() == hosts_.size());
        int out = 0, present = 0;
        for (std::size_t row = 0; row < plan.nodes().size(); ++row) {
            auto const& n = plan.nodes()[row];
            CHECK(n.row == row);
            CHECK((n.slow.low <= n.slow.value && n.slow.value <= n.slow.high));
            CHECK(n.lasted >= 0);
            CHECK(n.left >= 0);
            bool const is_gone = healths[node_of(row)] == health::gone;
            CHECK((n.state == node_state::away) == is_gone);
            if (!is_gone) present += how_.slots;
            if (n.state == node_state::excluded) {
                out += how_.slots;
                CHECK(n.causes != 0);
                CHECK(!n.why.rule.empty());
            }
            if (n.state == node_state::healthy && n.spared_by == straggle::blacklist::spared::no)
                CHECK(n.why.rule.empty());
        }
        // A fifth of the slots, or one node.
        CHECK((out <= std::max(how_.slots, static_cast<int>(0.2 * how_.nodes * how_.slots)) || present == 0));
        std::map<std::pair<std::string, int>, int> attempts;
        for (auto const& r : rows_) ++attempts[{r.job, r.task}];
        std::vector<int> busy;
        for (auto const& h : told_) busy.push_back(h.busy);
        for (auto const& c : plan.copies()) {
            REQUIRE(c.row < rows_.size());
            REQUIRE(c.node_row < told_.size());
            auto const& r = rows_[c.row];
            CHECK(++attempts[{r.job, r.task}] == 2); // of a task that runs once, and once in a plan
            CHECK(told_[c.node_row].name != r.node);
            CHECK(++busy[c.node_row] <= told_[c.node_row].slots);
            node_state const state = plan.state(c.node_row);
            CHECK((state == node_state::healthy || (state == node_state::on_probation && c.is_probe)));
            CHECK((c.win_probability >= 0 && c.win_probability <= 1));
            CHECK(c.there.low <= c.there.middle);
            CHECK(c.there.middle <= c.there.high);
            CHECK((std::isfinite(c.gain) && std::isfinite(c.cost)));
        }
        CHECK(plan.kills().empty()); // `kill_hung` is off
        for (std::size_t i = 0; i < plan.notes().size(); ++i)
            for (std::size_t k = 0; k < i; ++k) CHECK(plan.notes()[i] != plan.notes()[k]);
    }
    void launch(straggle::mitigation_plan const& plan) {
        struct one {
            int job, task;
            std::size_t node;
        };
        std::vector<one> copies;
        for (auto const& c : plan.copies()) {
            auto const& r = rows_[c.row];
            copies.push_back({std::stoi(r.job.substr(4)), r.task, node_of(c.node_row)});
        }
        for (one const& c : copies)
            if (hosts_[c.node].busy < hosts_[c.node].slots && healths[c.node] != health::gone)
                start(c.job, c.task, c.node, true);
    }
    void place() {
        while (!waiting_.empty()) {
            std::vector<told_host> now_hosts = hosts_;
            for (std::size_t n = 0; n < hosts_.size(); ++n)
                if (healths[n] == health::gone) now_hosts[n].busy = now_hosts[n].slots;
            std::size_t node = hosts_.size();
            if (how_.obeys) {
                auto const ranked = m.rank_places(name_of(waiting_.front().job), now_hosts);
                if (!ranked.empty()) node = ranked.front().row;
            } else {
                for (std::size_t n = 0; n < now_hosts.size() && node == hosts_.size(); ++n)
                    if (now_hosts[n].busy < now_hosts[n].slots) node = n;
            }
            if (node == hosts_.size()) {
                // No task waits while a slot that is admitted for it idles.
                if (how_.is_checked && how_.obeys)
                    for (std::size_t n = 0; n < now_hosts.size(); ++n)
                        CHECK((now_hosts[n].busy >= now_hosts[n].slots ||
                               m.state(hosts_[n].name) != straggle::node_state::healthy));
                return;
            }
            if (how_.is_checked && how_.obeys && !m.is_left_alone(name_of(waiting_.front().job)))
                // No task has its only attempt on probation, none begins where it must not.
                CHECK((m.state(hosts_[node].name) == straggle::node_state::healthy ||
                       m.state(hosts_[node].name) == straggle::node_state::last_resort));
            waiting_task const t = waiting_.front();
            waiting_.erase(waiting_.begin());
            start(t.job, t.task, node, false);
        }
    }

    small_cluster_options how_;
    double step_ = 0;
    std::vector<told_host> hosts_, told_;
    std::vector<int> begun_on_; // attempts, by node
    std::vector<attempt> attempts_;
    std::vector<running_task> rows_;
    std::vector<waiting_task> waiting_;
    std::map<int, job_entry> jobs_;
};

} // namespace straggle_test
