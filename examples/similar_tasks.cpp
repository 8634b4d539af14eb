// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A scheduler that remembers how long tasks took, and predicts how long one would take on each host. Five
/// hosts, of which "old" is slow and "ssd" is fast if there is much to read. docs/reference/detecting.md
/// shows the marked parts.

#include <straggle/predict/calibration.hpp>
#include <straggle/predict/similar_tasks.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

//! [profile]
struct task {
    std::string program, host;
    double megabytes = 0;
    int user = 0;
    std::chrono::milliseconds took{};
};

constexpr straggle::predict::task_profile profile{
    .node = &task::host,
    .time = &task::took,
    .factors = straggle::predict::factors(straggle::predict::numeric(&task::megabytes, "megabytes"),
                                          straggle::predict::categorical(&task::program, "program"),
                                          straggle::predict::categorical(&task::user, "user"))};
//! [profile]

namespace {

// Whole numbers that look random and are the same everywhere.
std::int64_t noise(std::int64_t below) {
    static std::uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(below));
}

std::array<std::string, 5> const hosts{"n1", "n2", "n3", "old", "ssd"};

task run_one() {
    task t;
    t.host = hosts[static_cast<std::size_t>(noise(5))];
    t.program = noise(2) == 0 ? "sort" : "count";
    t.megabytes = static_cast<double>(20 + noise(180));
    t.user = static_cast<int>(noise(3));
    double const per_megabyte = t.host == "ssd" ? 60 : 100;
    double const time = 2000 + t.megabytes * per_megabyte + (t.program == "sort" ? 20'000 : 0);
    double const chance = 0.9 + 0.0002 * static_cast<double>(noise(1000));
    t.took = std::chrono::milliseconds(static_cast<std::int64_t>(time * chance * (t.host == "old" ? 2 : 1)));
    return t;
}

} // namespace

int main() {
    std::cout << std::fixed << std::setprecision(0);

    //! [learn]
    auto history = straggle::predict::similar_tasks_of<task>(profile, {.capacity = 20'000});
    straggle::predict::calibration fair(0.8); // ranges that hold 80 %
    for (int i = 0; i < 5000; ++i) {
        task const finished = run_one(); // in a scheduler: predicted at its start, learned at its end
        if (auto const times = history.predict(finished, finished.host)) {
            double const seconds = std::chrono::duration<double>(finished.took).count();
            fair.record(*fair.range(*times), seconds);
        }
        history.observe(finished);
    }
    //! [learn]

    //! [ask]
    task const next{.program = "sort", .host = {}, .megabytes = 100, .user = 7};
    for (std::string const& host : hosts) {
        auto const times = history.predict(next, host);
        auto const range = fair.range(*times);
        std::cout << "on " << host << ": " << range->low << " to " << range->high << " s, half of them in "
                  << *times->quantile(0.5) << " s, within 32 s at " << 100 * *times->up_to(32) << " %\n";
    }
    //! [ask]

    //! [remaining]
    auto const left = history.remaining(next, "old", 62s); // it has been running on "old" for 62 s
    std::cout << "after 62 s on old: still " << *left->mean() << " s\n";
    std::cout << "usually, on a good host: " << *history.usual_time(next) << " s\n";
    //! [remaining]

    //! [weights]
    std::cout << "what matters:" << std::setprecision(2);
    for (std::size_t k = 0; k < history.factor_count; ++k)
        std::cout << ' ' << history.factor_name(k) << ' ' << history.fleet_weights()[k];
    std::cout << "\nranges that held: " << *fair.coverage() << '\n';
    //! [weights]
}
