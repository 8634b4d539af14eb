// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whether what is claimed of running tasks comes true, for docs/reference/claims.md (bench/claims.sh writes
// it): what they have left, on real histories and simulated ones; that copies win, of all pairs priced and of
// those launched; which tasks are late, with progress of each kind and without any.
//
//   claims FOLDER left|wins|late      FOLDER has the shared histories

#include <straggle/blacklist/node_decisions.hpp>
#include <straggle/mitigate/copy_planner.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace straggle;
using mitigate::attempt_end;
using mitigate::copy_planner;
using mitigate::copy_row;
using mitigate::place_row;
using mitigate::running_row;
using engine = std::mt19937_64;

// Claims by tenths against what came of them. What is claimed of one job errs together: intervals are
// clustered by job.
class reliability {
  public:
    void add(std::uint64_t job, double claim, bool came) {
        auto const tenth = (std::min)(static_cast<std::size_t>(claim * 10), std::size_t{9});
        cell& c = cells_[tenth];
        double const is = came ? 1 : 0;
        c.claimed += claim;
        c.came += is;
        c.count += 1;
        c.by_job[job] += claim - is;
        all_ += 1;
        sum_ += claim;
        squares_ += claim * claim;
        came_ += is;
        error_ += (claim - is) * (claim - is);
    }
    // Tenths that hold: off by at most 0.1, or 0.1 lies within the interval of what they are off by.
    bool print(std::string const& name) const {
        bool all_hold = true;
        std::string line;
        for (cell const& c : cells_) {
            double const jobs = static_cast<double>(c.by_job.size());
            if (jobs < 5) { // no interval can be made of that
                line += " |";
                continue;
            }
            double const off = (c.claimed - c.came) / c.count;
            double sum = 0;
            for (auto const& [job, d] : c.by_job) sum += d * d;
            double const half = 1.96 * std::sqrt(sum * jobs / (jobs - 1)) / c.count;
            bool const holds = std::abs(off) <= 0.1 || std::abs(off) - half <= 0.1;
            all_hold = all_hold && holds;
            char text[96];
            std::snprintf(text, sizeof text, " %+.2f ± %.2f%s |", off, half, holds ? "" : " **off**");
            line += text;
        }
        double const mean = sum_ / all_, base = came_ / all_;
        std::printf("| %s | %.0f |%s %.3f | %.3f | %.3f |\n", name.c_str(), all_, line.c_str(), error_ / all_,
                    base * (1 - base), squares_ / all_ - mean * mean);
        std::fflush(stdout);
        return all_hold;
    }
    static void head(char const* what) {
        std::printf("| %s | claims |", what);
        for (int i = 0; i < 10; ++i) std::printf(" 0.%d |", i);
        std::printf(" Brier | of the mean | sharpness |\n|---|---:|");
        for (int i = 0; i < 13; ++i) std::printf("---:|");
        std::printf("\n");
    }

  private:
    struct cell {
        double claimed = 0, came = 0, count = 0;
        std::map<std::uint64_t, double> by_job;
    };
    std::array<cell, 10> cells_{};
    double all_ = 0, sum_ = 0, squares_ = 0, came_ = 0, error_ = 0;
};

struct recorded {
    std::uint64_t job = 0;
    std::uint32_t kind = 0, node = 0;
    double start = 0, end = 0;
    double input = std::nan("");
};

std::vector<recorded> history(std::string const& path) {
    std::vector<recorded> all;
    std::map<std::string, std::uint64_t> jobs;
    std::map<std::string, std::uint32_t> kinds, nodes;
    std::ifstream file(path);
    std::string line, cell;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::vector<std::string> c;
        bool quoted = false;
        c.emplace_back();
        for (char const x : line) {
            if (x == '"')
                quoted = !quoted;
            else if (x == ',' && !quoted)
                c.emplace_back();
            else
                c.back() += x;
        }
        if (c.size() < 7 || c[6] != "success" || c[4].empty() || c[5].empty()) continue;
        recorded r{.start = std::stod(c[4]), .end = std::stod(c[5])};
        if (!(r.end > r.start)) continue;
        r.job = jobs.emplace(c[0], jobs.size()).first->second;
        r.kind = kinds.emplace(c[0].substr(c[0].find('/') + 1), std::uint32_t(kinds.size())).first->second;
        r.node = nodes.emplace(c[3], std::uint32_t(nodes.size())).first->second;
        if (c.size() > 8 && !c[8].empty() && std::stod(c[8]) > 0) r.input = std::stod(c[8]);
        all.push_back(r);
    }
    return all;
}

// Jobs of 40 tasks on 20 slots, one after the other.
std::vector<recorded> simulated(std::function<double(engine&)> const& next) {
    engine g(7);
    std::vector<recorded> all;
    double at = 0;
    for (std::uint64_t job = 0; job < 300; ++job) {
        std::array<double, 20> free;
        free.fill(at);
        for (int i = 0; i < 40; ++i) {
            auto const slot = std::min_element(free.begin(), free.end());
            double const end = *slot + next(g);
            all.push_back(
                {.job = job, .node = std::uint32_t(slot - free.begin()), .start = *slot, .end = end});
            *slot = end;
        }
        at = *std::max_element(free.begin(), free.end());
    }
    return all;
}

// Of every task that runs, four times in a usual task's time: whether it takes longer than so much more.
// (Looks at shares of a job's life would know when it ends.)
reliability left(std::vector<recorded> tasks) {
    struct look {
        double at;
        std::uint64_t job;
    };
    std::map<std::uint64_t, std::vector<recorded>> jobs;
    std::map<std::uint64_t, std::size_t> to_come;
    for (recorded const& t : tasks) {
        jobs[t.job].push_back(t);
        ++to_come[t.job];
    }
    std::vector<look> looks;
    for (auto const& [job, own] : jobs) {
        double from = 1e300, to = -1e300;
        std::vector<double> took;
        for (recorded const& t : own) {
            from = (std::min)(from, t.start);
            to = (std::max)(to, t.end);
            took.push_back(t.end - t.start);
        }
        std::nth_element(took.begin(), took.begin() + std::ptrdiff_t(took.size() / 2), took.end());
        double const step = took[took.size() / 2] / 4;
        for (double at = from + step / 2; at < to; at += step) looks.push_back({at, job});
    }
    std::sort(looks.begin(), looks.end(),
              [](look const& a, look const& b) { return a.at < b.at || (a.at == b.at && a.job < b.job); });
    std::sort(tasks.begin(), tasks.end(), [](recorded const& a, recorded const& b) { return a.end < b.end; });
    // Nodes are as slow as has been proved by then, as for a mitigator.
    node_decisions nodes;
    std::vector<blacklist::node_row> rows;
    for (recorded const& t : tasks)
        while (rows.size() <= t.node) rows.push_back({.node = std::uint32_t(rows.size()), .slots = 4});
    auto const slow = [&](recorded const& t) {
        slowdown const s = nodes.slowdown_of(t.node);
        return s.is_known() && s.low > 1 ? s.value : 1.0;
    };
    std::uint64_t task = 0;
    double decided = -1e300;
    predict::sibling_times times;
    predict::time_outlook out;
    std::vector<predict::sized_task> running;
    reliability r;
    std::size_t next = 0;
    for (look const& l : looks) {
        for (; next < tasks.size() && tasks[next].end <= l.at; ++next) {
            recorded const& t = tasks[next];
            nodes.observe({.node = t.node, .job = t.job, .task = ++task, .start = t.start, .end = t.end},
                          t.end);
            times.observe(t.job, t.kind, t.end - t.start, slow(t), t.input);
            if (--to_come[t.job] == 0) times.finish(t.job);
        }
        if (l.at >= decided + (looks.back().at - looks.front().at) / 500) {
            decided = l.at;
            nodes.decide(l.at, {}, rows, {});
        }
        running.clear();
        auto const& own = jobs[l.job];
        for (recorded const& t : own)
            if (t.start <= l.at && t.end > l.at)
                running.push_back({.age = l.at - t.start, .slowdown = slow(t), .input = t.input});
        if (running.empty() || !times.outlook(l.job, own.front().kind, running, out)) continue;
        for (recorded const& t : own) {
            if (!(t.start <= l.at && t.end > l.at)) continue;
            double const age = l.at - t.start;
            double const f = times.factor(l.job, t.kind, {.slowdown = slow(t), .input = t.input});
            for (double const more : {0.1, 0.25, 0.5, 1.0, 2.0}) {
                double const until = age + more * out.usual();
                r.add(l.job, out.survival_after(age / f, until / f), t.end - t.start > until);
            }
        }
    }
    return r;
}

double normal(engine& g) {
    return std::normal_distribution<>()(g);
}
double uniform(engine& g) {
    return std::uniform_real_distribution<>()(g);
}
double even(engine&) {
    return 1;
}
double lognormal(engine& g) {
    return std::exp(0.3 * normal(g));
}
double pareto(engine& g) {
    return std::pow(1 - uniform(g), -1 / 1.8);
}
double bimodal(engine& g) {
    return (uniform(g) < 0.1 ? 4 : 1) * std::exp(0.1 * normal(g));
}

int print_left(std::string const& folder) {
    reliability::head("tasks of");
    bool holds = true;
    for (char const* name : {"bytedance-AR", "hadoop-19jobs", "hadoop-gridmix-a", "hadoop-sls",
                             "spark-groupon", "spark-speculation"}) {
        auto const tasks = history(folder + "/" + name + ".csv");
        if (tasks.size() > 20) holds = left(tasks).print(name) && holds;
    }
    struct family {
        char const* name;
        double (*next)(engine&);
    };
    for (family const& f : {family{"lognormal, cv 0.3", lognormal}, family{"Pareto 1.8", pareto},
                            family{"one in ten takes four times as long", bimodal}})
        holds = left(simulated(f.next)).print(f.name) && holds;
    return holds ? 0 : 1;
}

// A planner that is obeyed, and one that prices all late tasks at nothing and is not, on jobs of 40 tasks on
// 20 nodes. What a copy would have taken is drawn anew for each pair that is priced.
struct luck {
    char const* name;
    double (*of_task)(engine&);
    double (*of_place)(engine&);
    bool reports; // its progress
};
std::array<reliability, 2> wins(luck const& l) {
    engine g(41), other(43);
    copy_planner planner;
    copy_planner all(
        {.least_win = 0, .most_copies = 1, .storm = 1, .copies_per_task = 1, .price = {.least = 0}});
    std::vector<place_row> places;
    for (std::uint32_t n = 0; n < 20; ++n) places.push_back({.row = n, .node = n, .slots = 4, .free = 2});
    std::vector<running_row> running;
    std::array<reliability, 2> out; // of all pairs, of copies
    for (std::uint64_t job = 0; job < 600; ++job) {
        double const at = 1000.0 * static_cast<double>(job);
        std::array<double, 40> own{}, took{}, copy_from{}, copy_end{}, claim{};
        std::array<bool, 40> told{};
        for (std::size_t i = 0; i < 40; ++i) {
            own[i] = 10 * l.of_task(g);
            took[i] = own[i] * l.of_place(g);
        }
        for (double age = 2; age < 300; age += 2) {
            running.clear();
            for (std::size_t i = 0; i < 40; ++i) {
                bool const copied = claim[i] > 0;
                double const end = copied ? (std::min)(took[i], copy_end[i]) : took[i];
                auto const node = std::uint32_t(i % 20);
                if (end <= age) {
                    if (told[i]) continue;
                    told[i] = true;
                    bool const won = copied && copy_end[i] < took[i];
                    for (copy_planner* p : {&planner, &all}) {
                        p->observe_ended({.job = job,
                                          .task = i,
                                          .kind = 1,
                                          .node = node,
                                          .start = at,
                                          .end = at + end,
                                          .how = won ? attempt_end::killed : attempt_end::success});
                        if (copied)
                            p->observe_ended({.job = job,
                                              .task = i,
                                              .kind = 1,
                                              .node = 19,
                                              .start = at + copy_from[i],
                                              .end = at + end,
                                              .how = won ? attempt_end::success : attempt_end::killed,
                                              .is_copy = true});
                    }
                    if (copied && job >= 100) out[1].add(job, claim[i], won);
                    continue;
                }
                auto const add = [&](bool is_copy, double start, double whole) {
                    running.push_back({.row = std::uint32_t(running.size()),
                                       .job = job,
                                       .task = i,
                                       .kind = 1,
                                       .node = is_copy ? 19u : node,
                                       .start = at + start,
                                       .attempts = copied ? 2u : 1u,
                                       .is_copy = is_copy});
                    if (!l.reports) return;
                    running.back().progress = (age - start) / whole;
                    running.back().reported = at + age;
                };
                add(false, 0, took[i]);
                if (copied) add(true, copy_from[i], copy_end[i] - copy_from[i]);
            }
            all.plan(at + age, running, places, {});
            for (copy_row const& c : all.copies()) {
                running_row const& t = running[c.task_row];
                if (job < 100 || t.is_copy || claim[t.task] > 0) continue;
                out[0].add(job, c.win_probability, age + own[t.task] * l.of_place(other) < took[t.task]);
            }
            planner.plan(at + age, running, places, {});
            for (copy_row const& c : planner.copies()) {
                std::uint64_t const i = running[c.task_row].task;
                if (claim[i] > 0) continue;
                claim[i] = c.win_probability;
                copy_from[i] = age;
                copy_end[i] = age + own[i] * l.of_place(g);
            }
        }
    }
    return out;
}
int print_wins() {
    reliability::head("what makes a task late");
    bool holds = true;
    for (luck const& l : {luck{"Pareto, of the place", even, pareto, false},
                          luck{"Pareto, of the place; progress", even, pareto, true},
                          luck{"bimodal, of the place", even, bimodal, false},
                          luck{"bimodal, of the place; progress", even, bimodal, true},
                          luck{"lognormal, half of it the task's", lognormal, lognormal, false},
                          luck{"bimodal, of the task", bimodal, lognormal, false},
                          luck{"bimodal, of the task; progress", bimodal, lognormal, true},
                          luck{"bimodal, of both", bimodal, bimodal, false}}) {
        auto const [priced, launched] = wins(l);
        holds = priced.print(std::string(l.name) + ": all priced") && holds;
        holds = launched.print(std::string(l.name) + ": launched") && holds;
    }
    return holds ? 0 : 1;
}

// What an attempt shows of a share that is done.
double shown(int kind, double share, double bias, engine& g) {
    switch (kind) {
    case 1: // noisy
        return (std::min)(share * bias * std::exp(0.03 * normal(g)), 0.999);
    case 2: // jumping: soon at 0.9, and there it stays
        return (std::min)(share / 0.6, 1.0) * 0.9;
    case 3: { // three phases that count the same, and take 0.2, 0.3 and 0.5 of the time
        double out = 0;
        for (double const phase : {0.2, 0.3, 0.5}) {
            out += std::clamp(share / phase, 0.0, 1.0) / 3;
            share -= phase;
        }
        return out;
    }
    default:
        return share;
    }
}
struct found {
    double right = 0, wrong = 0, missed = 0;
    [[nodiscard]] double f1() const { return 2 * right / (2 * right + wrong + missed); }
};
// Jobs of 40 tasks, nothing is copied; a task is found that is suspected while it runs, and slow that
// takes 1.5 times the median of its job.
found late(int kind, bool use_progress, double (*next)(engine&)) {
    engine g(11), noise(12);
    copy_planner planner({.use_progress = use_progress});
    std::vector<place_row> const places{{.slots = 1000, .free = 500}};
    std::vector<running_row> running;
    found out;
    for (std::uint64_t job = 0; job < 400; ++job) {
        double const at = 1000.0 * static_cast<double>(job);
        std::array<double, 40> took{}, bias{}, sorted{}, last{};
        std::array<bool, 40> told{}, suspected{};
        for (std::size_t i = 0; i < 40; ++i) {
            took[i] = 10 * next(g);
            bias[i] = std::exp(0.1 * normal(noise));
        }
        sorted = took;
        std::sort(sorted.begin(), sorted.end());
        for (double age = 1; age < sorted.back(); age += 1) {
            running.clear();
            for (std::uint64_t i = 0; i < 40; ++i) {
                if (took[i] <= age) {
                    if (!told[i])
                        planner.observe_ended(
                            {.job = job, .task = i, .kind = 1, .start = at, .end = at + took[i]});
                    told[i] = true;
                    continue;
                }
                running.push_back({.row = std::uint32_t(i), .job = job, .task = i, .kind = 1, .start = at});
                if (kind == 5 || (kind == 4 && i % 2 == 0)) continue;
                last[i] = (std::max)(last[i], shown(kind, age / took[i], bias[i], noise));
                running.back().progress = last[i];
                running.back().reported = at + age;
            }
            planner.plan(at + age, running, places, {});
            for (auto const& s : planner.suspects()) suspected[s.row] = true;
        }
        if (job < 50) continue; // it learns
        double const slow = 1.5 * (sorted[19] + sorted[20]) / 2;
        for (std::size_t i = 0; i < 40; ++i) {
            out.right += took[i] > slow && suspected[i] ? 1 : 0;
            out.wrong += took[i] <= slow && suspected[i] ? 1 : 0;
            out.missed += took[i] > slow && !suspected[i] ? 1 : 0;
        }
    }
    return out;
}
double two_nodes(engine& g) { // a tenth runs on nodes that are twice as slow
    return lognormal(g) * (uniform(g) < 0.1 ? 2 : 1);
}
int print_late() {
    std::printf("| progress | times | precision | recall | F1 | F1 without progress "
                "|\n|---|---|---:|---:|---:|---:|\n");
    bool holds = true;
    constexpr std::array names{"exact", "noisy", "jumping", "phased", "of every other task"};
    struct family {
        char const* name;
        double (*next)(engine&);
    };
    for (family const& f :
         {family{"lognormal, a tenth twice as slow", two_nodes},
          family{"one in ten takes four times as long", bimodal}, family{"Pareto 1.8", pareto}}) {
        double const without = late(5, true, f.next).f1();
        for (int kind = 0; kind < 5; ++kind) {
            found const a = late(kind, true, f.next);
            std::printf("| %s | %s | %.3f | %.3f | %.3f | %.3f |\n", names[static_cast<std::size_t>(kind)],
                        f.name, a.right / (a.right + a.wrong), a.right / (a.right + a.missed), a.f1(),
                        without);
            std::fflush(stdout);
            holds = holds && a.f1() >= without - 0.02;
        }
    }
    return holds ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    std::string const folder = argc > 1 ? argv[1] : "../shared/data", what = argc > 2 ? argv[2] : "";
    int bad = 0;
    if (what.empty() || what == "left") bad += print_left(folder);
    if (what.empty() || what == "wins") bad += print_wins();
    if (what.empty() || what == "late") bad += print_late();
    return bad;
}
