// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Failed allocations while histories are played again.

#include "../../examples/programs/straggle-replay/replay.hpp"
#include "examples/histories.hpp"
#include "support/fault_cases.hpp"
#include "support/faults.hpp"

#include <straggle/detect/average_time.hpp>
#include <straggle/detect/straggler_scan.hpp>
#include <straggle/evaluate/power.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using straggle_test::check_failures;
using straggle_test::promise;

straggle_test::past some_past() {
    std::mt19937_64 engine(9);
    straggle_test::past p = straggle_test::random_past(engine, 6);
    for (auto& a : p.attempts) a.node += " of a cluster with names that need memory";
    for (auto& a : p.attempts) a.job += " of a user whose jobs have names that need memory";
    for (auto& r : p.reports) r.job += " of a user whose jobs have names that need memory";
    return p;
}

} // namespace

TEST_CASE("recording: nothing leaks when an allocation fails") {
    auto const past = some_past();
    check_failures("recording", [&] {
        auto const r = past.taped();
        std::vector<std::string> names;
        for (std::size_t j = 0; j < r.jobs(); ++j) names.push_back(r.job(j));
        std::vector<std::size_t> rows;
        for (std::size_t t = 0; t < r.tasks(); ++t) rows.push_back(r.row_of(t));
        return std::pair(names, rows);
    });
}

TEST_CASE("replayer: after a failed allocation it can play again") {
    auto const taped = some_past().taped();
    auto const results = [](auto const& played) {
        std::vector<std::uint64_t> all;
        for (auto const& m : played.metrics)
            for (std::uint64_t const n : {m.counts().seen, m.counts().stragglers(), m.counts().caught()})
                all.push_back(n);
        return all;
    };
    struct playing {
        decltype(replaying::replayer(taped)) play;
        std::vector<straggle::evaluate::detection_metrics> metrics{};
    };
    for (std::int64_t const interval : {0, 7})
        check_failures(
            "run",
            [&] { return playing{replaying::replayer(taped, {.interval = interval, .min_tasks = 1})}; },
            [](playing& p) {
                straggle::detect::straggler_scan one{straggle::detect::average_time{}};
                straggle::detect::straggler_scan other{straggle::detect::average_time{.factor = 1.5}};
                auto const m = p.play.run(one, other);
                p.metrics.assign(m.begin(), m.end());
            },
            results, promise::usable);
}

TEST_CASE("energy_sweep: a failed allocation changes nothing") {
    auto const with = [](int attempts) {
        straggle::evaluate::energy_sweep s;
        for (int i = 0; i < attempts; ++i) s.observe(static_cast<std::uint32_t>(i % 3), i, i + 2.5);
        return s;
    };
    auto const spent = [](straggle::evaluate::energy_sweep const& s) {
        straggle::evaluate::energy_sweep copy = s;
        return std::pair(
            copy.energy(straggle::evaluate::power_model{.static_watts = 65, .dynamic_watts = 17, .cores = 4})
                ->joules,
            s.attempts());
    };
    for (int const n : {0, 1, 2, 4, 8, 16})
        check_failures(
            "add to a copy", [other = with(n)] { return straggle::evaluate::energy_sweep(other); },
            [](auto& s) { s.observe(7, 1, 2); }, spent);
    check_failures("merge", [&] { return with(5); }, [other = with(20)](auto& s) { s.merge(other); }, spent);
    check_failures("reserve", [&] { return with(5); }, [](auto& s) { s.reserve(100); }, spent);
}
