// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Table "left": how much time running tasks have left, on real and simulated histories.
#include "reliability.hpp"

#include <straggle/blacklist/node_stage.hpp>
#include <straggle/mitigate/speculator.hpp>

#include <fstream>
#include <functional>
#include <sstream>
#include <vector>

namespace claims {

namespace {

using namespace straggle;
using speculator = mitigate::speculator<>;
using mitigate::running_row;

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

// For every running task, four times per usual task time: whether it takes longer than a given time more.
// (Looks at fixed shares of a job's life would reveal when it ends.)
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
    // Nodes are as slow as has been proven by then, as for a mitigator.
    node_stage nodes;
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

} // namespace

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

} // namespace claims
