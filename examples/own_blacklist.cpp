// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A scheduler with a custom dynamic blacklist: its own selection, exclusions and limits. It is a member of a
/// class, worker threads query it, and its knowledge about nodes is passed to a detector.
/// docs/reference/monitoring.md and docs/reference/detecting.md show the marked parts.

#include <straggle/detect/tail_of_siblings.hpp>
#include <straggle/straggle.hpp>

#include <chrono>
#include <cmath>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;

struct attempt {
    std::string job, host;
    std::chrono::milliseconds took;
    std::chrono::sys_time<std::chrono::milliseconds> ended;
};
constexpr straggle::attempt_fields fields{
    .job = &attempt::job, .node = &attempt::host, .end = &attempt::ended, .duration = &attempt::took};

//! [make]
// "r1-n2" stands in rack r1.
std::string_view rack_of(std::string const& host) {
    return std::string_view(host).substr(0, 2);
}

inline auto make_watch() {
    namespace blacklist = straggle::blacklist;
    return straggle::windowed_blacklist(
        straggle::monitor_of<attempt>(fields, {.window = 10min}),
        straggle::rolling_blacklister_of<std::string>(
            blacklist::clearly_dominated{.q = 0.4},                                       // which are weak
            blacklist::probation{.inner = blacklist::escalating{.base = 2}, .probes = 5}, // for how long
            blacklist::at_most_slot_fraction{0.25}, blacklist::one_per_domain{rack_of})); // how many
}
//! [make]

//! [member]
class scheduler {
  public:
    void ended(attempt const& a) { watch_.observe(a); }
    auto const& decide(std::chrono::sys_time<std::chrono::milliseconds> now) { return watch_.decide(now); }
    bool may_run_on(std::string const& host) const { return !watch_.avoids(host); } // any thread, at any time

  private:
    decltype(make_watch()) watch_ = make_watch();
};
//! [member]

struct running_task {
    std::string host;
    double done;
    std::chrono::milliseconds elapsed;
};

int main() {
    std::vector<std::string> const hosts{"r1-n1", "r1-n2", "r2-n1", "r2-n2",
                                         "r3-n1", "r3-n2", "r4-n1", "r4-n2"};
    scheduler mine;
    std::vector<attempt> window;
    std::chrono::sys_time<std::chrono::milliseconds> const start{1'700'000'400s};
    for (int task = 0; task < 480; ++task) {
        std::string const& host = hosts[static_cast<std::size_t>(task) % hosts.size()];
        auto const usual = 1000ms + std::chrono::milliseconds(task * task * 7919 % 101);
        bool const slow = host.starts_with("r2"); // both nodes of the rack
        window.push_back(
            {"job-" + std::to_string(task / 48), host, slow ? 2 * usual : usual, start + task * 1s});
        mine.ended(window.back());
    }

    //! [spared]
    auto const& decision = mine.decide(start + 10min);
    for (auto const& verdict : decision.blacklisted()) std::cout << "avoid " << verdict.id << '\n';
    for (auto const& verdict : decision.spared())
        std::cout << verdict.id << " is weak too, but " << verdict.spared_by << " keeps it in service\n";
    //! [spared]
    std::cout << std::boolalpha << "new tasks on r2-n1: " << mine.may_run_on("r2-n1")
              << ", on r2-n2: " << mine.may_run_on("r2-n2") << '\n';

    //! [slowdown]
    // How many times as long tasks take on each node: scores that are ratios, and their mean.
    auto const ranking = straggle::rank_nodes(
        window, fields, straggle::rank_options{.normalizer = straggle::rank::ratio_to_median{}});
    straggle::detect::job_progress<std::string, std::chrono::milliseconds> job(8);
    for (auto const& node : ranking.nodes()) job.set_slowdown(node.id, node.mean);
    //! [slowdown]

    for (int task = 0; task < 4; ++task) job.observe("r1-n1", 1000ms);
    std::vector<running_task> const tasks{
        {"r1-n2", 0.25, 260ms}, {"r2-n1", 0.25, 520ms}, {"r3-n1", 0.24, 250ms}};
    job.running(tasks,
                straggle::running_fields{.node = &running_task::host,
                                         .start = [](running_task const& t) { return 1000ms - t.elapsed; },
                                         .progress = &running_task::done},
                1000ms);
    //! [suspect]
    straggle::detect::straggler_scan scan{straggle::detect::tail_of_siblings{}};
    for (auto const& [row, left, why] : scan(job.view(), tasks)) { // row points to your own record
        std::cout << "the task on " << row->host << " has " << std::round(10 * left.value_or(0)) / 10
                  << " s left and will take " << std::round(10 * why.value) / 10 << " s, where "
                  << std::round(10 * why.usual) / 10 << " s are usual and a straggler takes "
                  << std::round(10 * why.threshold) / 10 << " s (" << why.rule << ")\n";
    }
    //! [suspect]
}
