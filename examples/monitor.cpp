// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A scheduler that monitors its nodes: it reports each attempt as it ends, decides every ten minutes, and
/// obeys the decisions. Ten nodes, of which one is slow from the second hour to the end of the fourth.

#include <straggle/blacklist/windowed_blacklist.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

//! [record]
struct attempt {
    std::string job, host;
    std::chrono::milliseconds took;
    std::chrono::sys_time<std::chrono::milliseconds> ended;
    bool ok;
};
constexpr straggle::attempt_fields fields{.job = &attempt::job,
                                          .node = &attempt::host,
                                          .end = &attempt::ended,
                                          .duration = &attempt::took,
                                          .status = &attempt::ok};
//! [record]

namespace {

// Whole numbers that look random and are the same everywhere.
std::int64_t noise(std::uint64_t& state) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state >> 33) % 2000);
}

} // namespace

int main() {
    //! [watch]
    straggle::windowed_blacklist watch(straggle::monitor_of<attempt>(fields, {.window = 10min}));
    //! [watch]

    std::array<std::string, 10> const hosts{"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"};
    std::chrono::sys_time<std::chrono::milliseconds> const start{};
    std::uint64_t state = 1;
    auto const minutes = [&](auto time) {
        return std::chrono::duration_cast<std::chrono::minutes>(time - start).count();
    };
    auto const run = [&](int job, std::string const& host, std::chrono::milliseconds started) {
        bool const slow = host == "n4" && started >= 60min && started < 240min;
        std::chrono::milliseconds const took{(20'000 + 4 * noise(state)) * (slow ? 2 : 1)};
        watch.observe(attempt{"job-" + std::to_string(job), host, took, start + started + took, true});
    };

    // A job of forty tasks every two minutes, on the nodes that are in service; one backup copy on each node
    // that is on probation, never the only copy of a task.
    int job = 0;
    std::string said;
    for (auto now = start; now < start + 6h; now += 2min, ++job) {
        //! [decide]
        auto const& decision = watch.decide(now);
        for (int task = 0; task < 40; ++task) {
            std::string const& host = hosts[static_cast<std::size_t>(task) % hosts.size()];
            if (!decision.avoids(host) && !decision.tries(host)) run(job, host, now - start);
        }
        for (auto const& node : decision.on_probation()) run(job, node.id, now - start);
        //! [decide]

        std::string says;
        for (auto const& v : decision.blacklisted())
            says += " avoid " + v.id + ", exclusion " + std::to_string(v.strikes) + " of " +
                    std::to_string(static_cast<int>(v.until - v.since)) + " windows;";
        for (auto const& v : decision.on_probation()) says += " try " + v.id + ";";
        if (says != said)
            std::cout << minutes(now) << " min:" << (says.empty() ? " all in service" : says) << '\n';
        said = says;
    }

    //! [latest]
    auto const latest = watch.latest(); // from any thread
    std::cout << "after window " << latest->window() << ": " << latest->blacklisted().size() << " avoided\n";
    //! [latest]
}
