// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "study.hpp"

#include "causes.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <unistd.h>

namespace lab {

namespace {

std::mutex keeping; // guards results, file and terminal

// Shows the progress on a terminal.
class progress_line {
  public:
    explicit progress_line(std::size_t all) : all_(all), shown_(isatty(STDERR_FILENO) == 1) {}
    ~progress_line() {
        if (shown_) std::fputs("\r\033[K", stderr);
    }
    progress_line(progress_line const&) = delete;
    progress_line& operator=(progress_line const&) = delete;
    void one_more(std::string const& last) {
        ++done_;
        if (shown_) std::fprintf(stderr, "\r\033[K%zu of %zu %s", done_, all_, last.c_str());
    }

  private:
    std::size_t all_, done_ = 0;
    bool shown_;
};

} // namespace

study::study(options const& how, std::vector<scenario> scenarios, std::vector<std::string> policies,
             histories const& seen)
    : how_(how), scenarios_(std::move(scenarios)), policies_(std::move(policies)), seen_(seen) {
    if (!how_.out.empty()) read_old();
}

void study::read_old() {
    std::ifstream in(how_.out);
    std::string line;
    bool const is_old = static_cast<bool>(std::getline(in, line));
    if (is_old && line != measurement_header)
        throw std::runtime_error(how_.out.string() + " holds something else than results");
    while (std::getline(in, line)) {
        measurement m = from_row(line);
        found_[{m.scenario, m.policy, m.seed}] = m;
    }
    if (is_old) return;
    if (how_.out.has_parent_path()) std::filesystem::create_directories(how_.out.parent_path());
    std::ofstream out(how_.out);
    out << measurement_header << '\n';
    if (!out) throw std::runtime_error("cannot write " + how_.out.string());
}

void study::run() {
    if (!how_.causes.empty()) std::ofstream(how_.causes) << causes_header << '\n';
    run(next_units(0));
    for (std::size_t made = how_.seeds; made < how_.most_seeds;) {
        std::vector<unit> const more = next_units(made);
        if (more.empty()) return;
        run(more);
        made += how_.seeds;
    }
}

// First the initial seeds of all; later, as many again of those not known well enough.
std::vector<study::unit> study::next_units(std::size_t seeds_made) const {
    std::vector<unit> units;
    std::size_t const until =
        seeds_made == 0 ? how_.seeds : std::min(seeds_made + how_.seeds, how_.most_seeds);
    std::vector<std::vector<std::string>> unsure(scenarios_.size());
    for (std::size_t s = 0; s < scenarios_.size(); ++s)
        for (std::string const& p : policies_)
            if (p == "nothing" || seeds_made == 0 || !is_sure(scenarios_[s].name, p)) unsure[s].push_back(p);
    // Seed by seed, so that a study stopped early has seen all scenarios.
    for (std::size_t i = seeds_made; i < until; ++i)
        for (std::size_t s = 0; s < scenarios_.size(); ++s) {
            if (seeds_made > 0 && unsure[s].size() < 2) continue;
            unit u{s, how_.first_seed + i, {}};
            for (std::string const& p : unsure[s])
                if (!found_.contains({scenarios_[s].name, p, u.seed})) u.policies.push_back(p);
            if (!u.policies.empty()) units.push_back(std::move(u));
        }
    return units;
}

void study::run(std::vector<unit> const& units) {
    std::atomic<std::size_t> next{0};
    progress_line line(units.size());
    auto const work = [&] {
        for (std::size_t i = next++; i < units.size(); i = next++) {
            run(units[i]);
            std::lock_guard const lock(keeping);
            line.one_more(scenarios_[units[i].scenario].name);
        }
    };
    std::vector<std::thread> workers;
    for (std::size_t w = 0; w < std::min(how_.workers, units.size()); ++w) workers.emplace_back(work);
    for (std::thread& w : workers) w.join();
}

void study::run(unit const& u) {
    scenario const& where = scenarios_[u.scenario];
    plan made = make_plan(where, u.seed, seen_);
    if (how_.deadlines > 0) give_deadlines(made, how_.deadlines, how_.due_every);
    double const load = healthy_load(where, made);
    for (std::string const& name : u.policies) {
        auto const decides = distorted(find_policy(name).make({.nodes = where.nodes * where.more.lives,
                                                               .slots = where.nodes * where.slots,
                                                               .heartbeat = made.heartbeat,
                                                               .launch = made.launch,
                                                               .seed = made.seed}),
                                       where.more.seen, made.seed);
        result const became = lab::run(made, *decides);
        measurement m = measure(became);
        m.scenario = where.name;
        m.policy = name;
        m.seed = u.seed;
        m.healthy_load = load;
        std::lock_guard const lock(keeping);
        if (!how_.causes.empty()) {
            std::ofstream out(how_.causes, std::ios::app);
            write_causes(out, m.scenario + ',' + m.policy + ',' + std::to_string(m.seed), made, became,
                         decides->claims());
        }
        if (!how_.out.empty()) {
            std::ofstream out(how_.out, std::ios::app);
            out << to_row(m) << '\n';
        }
        found_[{m.scenario, m.policy, m.seed}] = std::move(m);
    }
}

comparison study::compare(std::string const& scenario, std::string const& policy,
                          double measurement::* what) const {
    std::vector<double> with, base;
    std::uint64_t const end = how_.first_seed + std::max(how_.seeds, how_.most_seeds);
    for (std::uint64_t seed = how_.first_seed; seed < end; ++seed) {
        auto const a = found_.find({scenario, policy, seed}), b = found_.find({scenario, "nothing", seed});
        if (a == found_.end() || b == found_.end()) continue;
        with.push_back(a->second.*what);
        base.push_back(b->second.*what);
    }
    return lab::compare(with, base);
}

bool study::is_sure(std::string const& scenario, std::string const& policy) const {
    return compare(scenario, policy, &measurement::mean).half_width <= 0.01 &&
           compare(scenario, policy, &measurement::p99).half_width <= 0.02;
}

void study::print() const {
    std::printf("Job time against doing nothing, %% (mean / p99, half of the 95 %% interval)\n%-26s", "");
    std::vector<std::string> names;
    for (std::string const& p : policies_)
        if (p != "nothing") names.push_back(p);
    for (std::string const& p : names) std::printf(" %22s", p.c_str());
    std::puts("");
    std::vector<double> log_mean(names.size()), log_p99(names.size());
    std::vector<std::size_t> hurts(names.size());
    for (scenario const& s : scenarios_) {
        std::printf("%-26s", s.name.c_str());
        for (std::size_t i = 0; i < names.size(); ++i) {
            comparison const mean = compare(s.name, names[i], &measurement::mean);
            comparison const p99 = compare(s.name, names[i], &measurement::p99);
            std::printf(" %+6.1f~%-3.1f %+6.1f~%-3.1f", 100 * mean.point,
                        std::min(100 * mean.half_width, 99.), 100 * p99.point,
                        std::min(100 * p99.half_width, 99.));
            log_mean[i] += std::log1p(mean.point);
            log_p99[i] += std::log1p(p99.point);
            if (mean.point > 0.02 || p99.point > 0.02) ++hurts[i];
        }
        std::puts("");
    }
    double const n = static_cast<double>(scenarios_.size());
    std::printf("%-26s", "geometric mean");
    for (std::size_t i = 0; i < names.size(); ++i)
        std::printf(" %+6.1f     %+6.1f    ", 100 * std::expm1(log_mean[i] / n),
                    100 * std::expm1(log_p99[i] / n));
    std::printf("\n%-26s", "scenarios above +2 %");
    for (std::size_t const h : hurts) std::printf(" %6zu of %-12zu", h, scenarios_.size());
    std::puts("");
}

void study::print_deadlines() const {
    if (!(how_.deadlines > 0)) return;
    std::printf("\nMissed deadlines, %% (time of %s against doing nothing, %%)\n%-26s",
                how_.due_every > 1 ? "the other jobs" : "all jobs", "");
    for (std::string const& p : policies_) std::printf(" %18s", p.c_str());
    std::puts("");
    std::vector<double> all_missed(policies_.size()), all_due(policies_.size());
    for (scenario const& s : scenarios_) {
        std::printf("%-26s", s.name.c_str());
        for (std::size_t i = 0; i < policies_.size(); ++i) {
            double due = 0, missed = 0;
            for (auto const& [k, m] : found_)
                if (m.scenario == s.name && m.policy == policies_[i]) {
                    due += static_cast<double>(m.due);
                    missed += static_cast<double>(m.missed);
                }
            comparison const time =
                compare(s.name, policies_[i], how_.due_every > 1 ? &measurement::others : &measurement::mean);
            std::printf("   %6.2f (%+6.1f)", 100 * missed / due, 100 * time.point);
            all_missed[i] += missed;
            all_due[i] += due;
        }
        std::puts("");
    }
    std::printf("%-26s", "all");
    for (std::size_t i = 0; i < policies_.size(); ++i)
        std::printf("   %6.2f         ", 100 * all_missed[i] / all_due[i]);
    std::puts("");
}

} // namespace lab
