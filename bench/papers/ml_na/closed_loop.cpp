// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "closed_loop.hpp"

#include "../cluster/isolated.hpp"
#include "observe.hpp"

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ml_na {

namespace {

using runs = std::vector<std::vector<double>>; // by seed

constexpr severity bad{"weak as in the experiments on blacklisting", 3, 15};
constexpr severity mild{"weak as in the nine months", 1.57, 1.57};
constexpr std::array<char const*, 7> schedulers{"none",       "reactive",    "forecast", "either",
                                                "last month", "month known", "oracle"};
// These show whether avoiding machines is worth anything at all.
constexpr std::array<char const*, 2> bounds{"none", "oracle"};

template <class Value>
report::estimate of(runs const& r, runs const& reference, Value value) {
    std::vector<double> values;
    for (std::size_t i = 0; i < r.size(); ++i) values.push_back(value(r[i], reference[i]));
    return report::median_of(std::move(values));
}

void write_times(report::table& out, char const* group, char const* name, runs const& r, runs const& none) {
    for (auto const& [what, m] :
         {std::pair{"mean time", mean}, {"p99 time", p99}, {"mean time in first weeks", first_week}})
        out.row(group, name, std::string(what) + " over none's",
                of(r, none, [m](auto const& a, auto const& b) { return a[m] / b[m] - 1; }));
    for (auto const& [what, m] : {std::pair{"mean seconds", mean}, {"p99 seconds", p99}})
        out.row(group, name, what, of(r, r, [m](auto const& a, auto const&) { return a[m]; }));
}

void write_avoided(report::table& out, char const* group, char const* name, runs const& r) {
    for (auto const& [what, m] : {std::pair{"precision", precision},
                                  {"recall", recall},
                                  {"recall in the first week of being weak", recall_new},
                                  {"recall after it", recall_old},
                                  {"machines out", machines_out},
                                  {"machines weak", machines_weak}})
        out.row(group, name, what, of(r, r, [m](auto const& a, auto const&) { return a[m]; }));
}

std::vector<runs> observe_all(report::options const& how, severity const& how_weak,
                              std::span<char const* const> names) {
    return cluster::run_grid(
        names.size(), how.repetitions(),
        [&](std::size_t who, std::size_t run) { return observe(how_weak, names[who], run + 1); },
        how.workers);
}

} // namespace

void closed_loop(report::options const& how) {
    report::table out(how, "ml-na-closed-loop");
    std::vector<runs> const all = observe_all(how, bad, schedulers);
    for (std::size_t s = 0; s < all.size(); ++s) write_times(out, bad.name, schedulers[s], all[s], all[0]);
    runs const &reactive = all[1], &either = all[3];
    for (auto const& [what, m] : {std::pair{"mean time", mean}, {"mean time in first weeks", first_week}})
        out.row(bad.name, "either", std::string(what) + " over reactive's",
                of(either, reactive, [m](auto const& a, auto const& b) { return a[m] / b[m] - 1; }));
    constexpr char const* who = "who was avoided";
    for (std::size_t s = 1; s < all.size(); ++s) write_avoided(out, who, schedulers[s], all[s]);
    write_avoided(out, who, "forecast where nobody is avoided", all[0]);
    runs first_days;
    for (std::uint64_t seed = 1; seed <= how.repetitions(); ++seed)
        first_days.push_back(judge_first_days(seed));
    write_avoided(out, who, "weak on the first day", first_days);

    std::vector<runs> const few = observe_all(how, mild, bounds);
    for (std::size_t s = 0; s < few.size(); ++s) write_times(out, mild.name, bounds[s], few[s], few[0]);
}

} // namespace ml_na
