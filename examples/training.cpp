// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// A training job of 64 workers that exchange gradients in each step, so that all of them take equally long.
// From step 100 on worker 17 computes at two thirds of its speed.

#include <straggle/gang.hpp>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <random>
#include <string>
#include <vector>

namespace {

//! [report]
// What a worker reports of a step: how long a section took, and how much of that it waited for the others.
struct report {
    int step, rank;
    std::string host, section;
    double seconds, waited;
};
constexpr straggle::gang::step_fields fields{.step = &report::step,
                                             .rank = &report::rank,
                                             .node = &report::host,
                                             .section = &report::section,
                                             .duration = &report::seconds,
                                             .waited = &report::waited};
//! [report]

constexpr int workers = 64, per_host = 8;

// In the exchange, the others wait for the worker that computes longest.
std::vector<report> train(int step, std::mt19937_64& engine) {
    std::vector<double> forward(workers), backward(workers);
    double last = 0;
    for (int r = 0; r < workers; ++r) {
        double const slow = r == 17 && step >= 100 ? 1.5 : 1.0;
        auto const luck = [&] { return 0.98 + 0.04 * static_cast<double>(engine() >> 11) * 0x1p-53; };
        forward[static_cast<std::size_t>(r)] = 0.3 * slow * luck();
        backward[static_cast<std::size_t>(r)] = 0.6 * slow * luck();
        last = std::max(last, forward[static_cast<std::size_t>(r)] + backward[static_cast<std::size_t>(r)]);
    }
    std::vector<report> reports;
    for (int r = 0; r < workers; ++r) {
        std::string const host = "host-" + std::to_string(r / per_host);
        double const f = forward[static_cast<std::size_t>(r)], b = backward[static_cast<std::size_t>(r)];
        double const exchange = 0.1, wait = last - f - b;
        reports.push_back({step, r, host, "forward", f, 0});
        reports.push_back({step, r, host, "backward", b, 0});
        reports.push_back({step, r, host, "exchange", exchange + wait, wait});
    }
    return reports;
}

} // namespace

int main() {
    std::mt19937_64 engine(1);
    std::cout << std::fixed << std::setprecision(2);
    //! [watch]
    auto watch = straggle::gang::step_watch_of<report>(fields);
    for (int step = 0; step < 500; ++step) {
        for (report const& r : train(step, engine)) watch.observe(r);
        watch.close(step);
        auto const slow = watch.stragglers();
        if (slow.empty()) continue;
        // Restart once that pays: the lower end of its gain exceeds its cost, and the rank stays slow.
        auto const& s = slow.front();
        auto const restart =
            watch.replace(s.rank, {.restart = 60, .since_checkpoint = 20, .steps_left = 10000});
        if (!restart.is_worth) continue;
        std::cout << "step " << step << ": rank " << s.rank << " on " << s.node << " takes " << s.slow.value
                  << " times as long as the others (" << s.slow.low << " to " << s.slow.high
                  << ") since step " << s.since << ", most of it in " << s.section
                  << "; at fault: " << to_string(s.whose) << "\n"
                  << restart.nodes_waiting << " other nodes wait " << restart.gain_per_step
                  << " s for it in each step; to replace its node gains " << restart.gain << " s ("
                  << restart.low << " to " << restart.high << ") until the end, and pays after "
                  << restart.pays_after << " steps\n";
        break;
    }
    auto const loss = watch.loss();
    std::cout << "a step took " << loss.seconds << " s so far, and " << loss.without_stragglers
              << " s without stragglers\n";
    //! [watch]
}
