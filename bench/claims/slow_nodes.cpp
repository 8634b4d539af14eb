// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Table "nodes": whether copies win as often as claimed where nodes are slow for a while.

#include "reliability.hpp"

#include <straggle/blacklist/node_stage.hpp>
#include <straggle/mitigate/speculator.hpp>

#include <cstddef>
#include <vector>

namespace claims {
namespace {

using namespace straggle;
using speculator = mitigate::speculator<>;
using mitigate::copy_row;
using mitigate::place_row;
using mitigate::running_row;

constexpr std::size_t node_count = 20, task_count = 40;

struct attempt {
    std::uint32_t node = 0;
    double start = 0, end = 0;
};
struct task {
    double work = 0;
    attempt original, copy;
    double claim = 0; // above 0: it was copied
    bool over = false;
};

// Jobs of forty tasks, one after the other, on twenty nodes; a node becomes slow in one job of 33, for four
// jobs on average. What is known about nodes is learned from the attempts, as in a mitigator. One planner is
// obeyed; another prices all late tasks at no cost and is not obeyed.
class cluster {
  public:
    cluster(double (*luck)(engine&), double slow, bool reports)
        : luck_(luck), slow_(slow), reports_(reports) {
        for (std::uint32_t n = 0; n < node_count; ++n) {
            rows_.push_back({.node = n, .slots = 4});
            places_.push_back({.row = n, .node = n, .slots = 4, .free = 2});
        }
    }
    std::array<reliability, 2> run(std::uint64_t jobs) {
        for (std::uint64_t job = 0; job < jobs; ++job) {
            for (bool& is : is_slow_) is = uniform(state_) < (is ? 0.75 : 0.03);
            begin();
            bool goes_on = true;
            for (double const from = now_; goes_on && now_ < from + 600; now_ += 2) goes_on = step(job);
        }
        return out_;
    }

  private:
    double time_of(double work, std::uint32_t node, engine& g) {
        return work * luck_(g) * (is_slow_[node] ? slow_ : 1);
    }
    void begin() {
        for (std::size_t i = 0; i < task_count; ++i) {
            auto const node = static_cast<std::uint32_t>(i % node_count);
            tasks_[i] = {.work = 20, .original = {node, now_, 0}, .copy = {}};
            tasks_[i].original.end = now_ + time_of(tasks_[i].work, node, g_);
        }
    }
    void tell(std::uint64_t job, std::size_t i, attempt const& a, double end, bool is_copy) {
        bool const ends = a.end <= end;
        for (speculator* p : {&obeyed_, &all_})
            p->observe_ended({.job = job,
                              .task = i,
                              .kind = 1,
                              .node = a.node,
                              .start = a.start,
                              .end = end,
                              .how = ends ? attempt_status::success : attempt_status::killed,
                              .is_copy = is_copy});
        nodes_.observe({.node = a.node,
                        .job = job,
                        .task = i,
                        .start = a.start,
                        .end = end,
                        .as = ends ? attempt_status::success : attempt_status::outrun,
                        .copy = is_copy},
                       now_);
    }
    void run_on(std::uint64_t job, std::size_t i, attempt const& a, bool is_copy) {
        task const& t = tasks_[i];
        attempts_.push_back({.node = a.node, .job = job, .task = i, .start = a.start, .copy = is_copy});
        running_.push_back({.row = std::uint32_t(running_.size()),
                            .job = job,
                            .task = i,
                            .kind = 1,
                            .node = a.node,
                            .start = a.start,
                            .attempts = t.claim > 0 ? 2u : 1u,
                            .is_copy = is_copy});
        if (!reports_ || !(now_ > a.start)) return;
        running_.back().progress = (now_ - a.start) / (a.end - a.start);
        running_.back().reported = now_;
    }
    // Returns whether the job continues.
    bool step(std::uint64_t job) {
        running_.clear();
        attempts_.clear();
        bool goes_on = false;
        for (std::size_t i = 0; i < task_count; ++i) {
            task& t = tasks_[i];
            if (t.over) continue;
            bool const copied = t.claim > 0;
            double const end = copied ? (std::min)(t.original.end, t.copy.end) : t.original.end;
            if (end > now_) {
                goes_on = true;
                run_on(job, i, t.original, false);
                if (copied) run_on(job, i, t.copy, true);
                continue;
            }
            t.over = true;
            tell(job, i, t.original, end, false);
            if (copied) tell(job, i, t.copy, end, true);
            if (copied && job >= 100) out_[1].add(job, t.claim, t.copy.end < t.original.end);
        }
        nodes_.decide(now_, attempts_, rows_, {});
        for (place_row& p : places_) {
            p.slow = nodes_.slowdown_of(p.node);
            p.slow_now = nodes_.slow_now(p.node);
        }
        price(job);
        return goes_on;
    }
    void price(std::uint64_t job) {
        all_.plan(now_, running_, places_, {});
        for (copy_row const& c : all_.copies()) {
            running_row const& r = running_[c.task_row];
            task const& t = tasks_[r.task];
            if (job < 100 || r.is_copy || t.claim > 0) continue;
            out_[0].add(job, c.win_probability, now_ + time_of(t.work, c.node_row, other_) < t.original.end);
        }
        obeyed_.plan(now_, running_, places_, {});
        for (copy_row const& c : obeyed_.copies()) {
            task& t = tasks_[running_[c.task_row].task];
            if (t.claim > 0) continue;
            t.claim = c.win_probability;
            t.copy = {c.node_row, now_, now_ + time_of(t.work, c.node_row, g_)};
        }
    }

    double (*luck_)(engine&);
    double slow_;
    bool reports_;
    engine g_{47}, other_{53}, state_{59};
    double now_ = 0;
    speculator obeyed_;
    speculator all_{all_priced()};
    node_stage nodes_;
    std::array<bool, node_count> is_slow_{};
    std::array<task, task_count> tasks_{};
    std::vector<blacklist::node_row> rows_;
    std::vector<place_row> places_;
    std::vector<running_row> running_;
    std::vector<running_attempt> attempts_;
    std::array<reliability, 2> out_; // of all pairs, of copies
};

double wide(engine& g) {
    return std::exp(0.6 * normal(g));
}

} // namespace

int print_nodes() {
    reliability::head("times, and how slow nodes are for a while");
    bool holds = true;
    struct family {
        char const* name;
        double (*luck)(engine&);
        double slow;
        bool reports;
    };
    for (family const& f : {family{"lognormal, cv 0.3; 3 times", lognormal, 3, false},
                            family{"lognormal, cv 0.3; 3 times; progress", lognormal, 3, true},
                            family{"lognormal, cv 0.3; 1.7 times", lognormal, 1.7, false},
                            family{"lognormal, cv 0.7; 3 times", wide, 3, false},
                            family{"Pareto; 3 times", pareto, 3, false}}) {
        auto const [priced, launched] = cluster(f.luck, f.slow, f.reports).run(600);
        holds = priced.print(std::string(f.name) + ": all priced") && holds;
        holds = launched.print(std::string(f.name) + ": launched") && holds;
    }
    return holds ? 0 : 1;
}

} // namespace claims
