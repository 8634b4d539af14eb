// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Failed allocations while a gang reports.

#include "support/fault_cases.hpp"
#include "support/faults.hpp"

#include <straggle/gang/step_watch.hpp>

#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using straggle_test::check_failures;
using straggle_test::long_name;

struct report {
    int step;
    std::string rank, section;
    double seconds;
};
constexpr straggle::gang::step_fields fields{
    .step = &report::step, .rank = &report::rank, .section = &report::section, .duration = &report::seconds};
using watch_type = straggle::gang::step_watch<report, std::remove_const_t<decltype(fields)>>;

void report_step(watch_type& watch, int step, int ranks) {
    for (int r = 0; r < ranks; ++r)
        for (char const* const section : {"forward", "backward"})
            watch.observe({step, long_name("rank", r), section, r == 1 ? 2.0 : 1.0});
}

TEST_CASE("step_watch: a failed allocation loses no step") {
    auto const made = [] {
        watch_type watch(fields);
        for (int step = 0; step < 3; ++step) report_step(watch, step, 5); // none is closed yet
        return watch;
    };
    auto const seen = [](watch_type& watch) {
        std::vector<std::pair<std::string, double>> out;
        for (auto const& s : watch.stragglers()) out.emplace_back(s.rank, s.slow.low);
        auto const loss = watch.loss();
        return std::tuple(out, loss.steps, loss.seconds, loss.without_stragglers);
    };
    check_failures(
        "close", made, [](watch_type& watch) { watch.close(2); }, seen, straggle_test::promise::usable);
}

} // namespace
