// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "tables.hpp"

#include "../cluster/isolated.hpp"
#include "study.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ml_na {

namespace {

constexpr std::uint64_t printed = 3; // the seed of the history that is printed
constexpr std::size_t months = nine_months::months, most_groups = 10;

using number = std::optional<double>;

// All that a history gives, as the numbers in which it comes from its process.
struct numbers {
    double straggler_share, hit_share;
    std::array<double, months> groups, weak;
    std::array<std::array<double, most_groups + 1>, months> score; // by number of groups; NaN: not tried
    std::array<double, 3> third;                                   // precision, recall, accuracy
    grid judged, expected;
};
using plain = std::array<double, sizeof(numbers) / sizeof(double)>;
static_assert(sizeof(plain) == sizeof(numbers));

numbers measure(std::uint64_t seed) {
    study const s = look(seed);
    auto const share = [](auto part, auto whole) {
        return static_cast<double>(part) / static_cast<double>(whole);
    };
    numbers n{};
    n.straggler_share = share(s.stragglers.stragglers, s.stragglers.tasks);
    n.hit_share = share(s.stragglers.jobs_hit, s.stragglers.jobs);
    for (std::size_t m = 0; m < months; ++m) {
        n.groups[m] = static_cast<double>(s.months[m].found.groups.size());
        n.weak[m] = weak_share(s.months[m]);
        n.score[m].fill(std::nan(""));
        for (auto const& t : s.months[m].found.tried) n.score[m][t.groups] = t.score;
    }
    straggle::stats::confusion_matrix const third = judge_third(s, seed);
    n.third = {third.precision().value_or(std::nan("")), third.recall().value_or(std::nan("")),
               third.accuracy().value_or(std::nan(""))};
    n.judged = forecast(s.whole(), straggle::learn::forecast_from::same_period);
    n.expected = forecast(s.last_days(), straggle::learn::forecast_from::period_before);
    if (seed == printed) print(s, n.judged, n.expected);
    return n;
}

template <class Of>
report::estimate over(std::vector<numbers> const& all, Of of) {
    std::vector<double> values;
    for (numbers const& n : all) values.push_back(of(n));
    return report::median_of(std::move(values));
}

std::string named(char const* what, std::size_t which) {
    return what + std::to_string(which);
}

void table_1(report::options const& how, std::vector<numbers> const& all) {
    constexpr std::array<std::array<double, 8>, months> scores{
        {{252.05, 219.60, 212.24, 241.34, 267.97, 357.94, 389.98, 447.72},
         {1449.31, 968.79, 778.84, 767.33, 762.84, 762.31, 761.51, 741.02},
         {128.80, 107.89, 110.40, 153.44, 200.49, 275.37, 357.01, 393.83},
         {428.35, 452.37, 446.41, 373.91, 333.96, 302.50, 288.48, 285.85},
         {345.36, 257.99, 280.71, 296.65, 297.33, 333.09, 324.92, 316.74},
         {124.19, 121.24, 121.23, 124.35, 133.90, 131.06, 124.73, 119.51},
         {68.39, 154.48, 124.28, 113.03, 105.02, 98.69, 97.83, 94.52},
         {90.36, 92.16, 84.52, 77.26, 67.87, 69.39, 64.08, 64.63},
         {107.25, 123.62, 107.18, 97.08, 95.62, 86.36, 83.89, 81.18}}};
    constexpr std::array<double, months> chosen{9, 2, 9, 3, 7, 6, 4, 4, 4};
    constexpr std::array<double, months> weak{0.1846, 0.1370, 0.0323, 0.0845, 0.1753,
                                              0.2143, 0.1321, 0.1250, 0.1034};
    report::table out(how, "ml-na-table-1");
    for (std::size_t m = 0; m < months; ++m) {
        std::string const month = named("month ", m + 1);
        out.row("groups", month, "groups chosen", over(all, [m](auto const& n) { return n.groups[m]; }),
                chosen[m]);
        out.row("groups", month, "share that is weak", over(all, [m](auto const& n) { return n.weak[m]; }),
                weak[m]);
        for (std::size_t k = 2; k <= most_groups; ++k)
            out.row("Calinski-Harabasz score by number of groups", month, std::to_string(k),
                    over(all, [m, k](auto const& n) { return n.score[m][k]; }),
                    k < 10 ? number(scores[m][k - 2]) : std::nullopt);
    }
    // OpenCloud's, as sections I and II of the paper and those it builds on tell.
    out.row("history", "nine months", "tasks that are stragglers",
            over(all, [](auto const& n) { return n.straggler_share; }));
    out.row("history", "nine months", "jobs that have one",
            over(all, [](auto const& n) { return n.hit_share; }));
}

void table_2(report::options const& how, std::vector<numbers> const& all) {
    struct told {
        char const* name;
        std::array<double, 3> share;
    };
    constexpr std::array<told, 6> paper{{{"boosted trees (XGBoost)", {0.8261, 0.6552, 0.9286}},
                                         {"random forest", {0.8947, 0.5862, 0.9286}},
                                         {"SVM", {1, 0.069, 0.8622}},
                                         {"AdaBoost", {0.7895, 0.5172, 0.9082}},
                                         {"decision tree", {0.6296, 0.5862, 0.8878}},
                                         {"naive Bayes", {0.1667, 0.2759, 0.6888}}}};
    constexpr std::array<char const*, 3> what{"precision", "recall", "accuracy"};
    report::table out(how, "ml-na-table-2");
    for (told const& t : paper)
        for (std::size_t i = 0; i < what.size(); ++i)
            out.row("a third of all machines in all months", t.name, what[i],
                    over(all, [&, i](auto const& n) { return &t == &paper[0] ? n.third[i] : std::nan(""); }),
                    t.share[i]);
}

void table_3(report::options const& how, std::vector<numbers> const& all) {
    // By number of months learned from; a row begins with the first month that can be tested.
    std::array<std::vector<double>, 8> const accuracy{
        {{0.6849, 0.9355, 0.9155, 0.7938, 0.7857, 0.4528, 0.8750, 0.8621},
         {0.6452, 0.9155, 0.8247, 0.7857, 0.4151, 0.8393, 0.8793},
         {0.6901, 0.8144, 0.7500, 0.5094, 0.7321, 0.9138},
         {0.9437, 1, 1, 0.9245, 0.9821},
         {0.9859, 1, 0.9821, 0.9433},
         {0.7736, 0.8214, 0.9483},
         {0.8571, 0.8966},
         {0.9286}}};
    constexpr std::array<double, 8> average{0.7882, 0.7578, 0.7350, 0.9701, 0.9778, 0.8478, 0.8769, 0.9286};
    report::table out(how, "ml-na-table-3");
    auto const write = [&](char const* group, grid numbers::* which, bool has_paper) {
        for (std::size_t row = 0; row < grid::rows; ++row) {
            std::string const name = row == grid::any        ? "any number of months"
                                     : row == grid::majority ? "all are what most were"
                                     : row == grid::repeat   ? "as in the month before"
                                     : row == 0              ? "1 month"
                                                             : std::to_string(row + 1) + " months";
            for (std::size_t c = 0; c < grid::columns; ++c) {
                auto const e = over(all, [&](auto const& n) { return (n.*which).share[row][c]; });
                if (e.runs == 0) continue;
                number paper;
                if (has_paper && row < grid::any && c < grid::accuracy) paper = accuracy[row][c - row];
                if (has_paper && row < grid::any && c == grid::accuracy) paper = average[row];
                out.row(group, name,
                        c == grid::accuracy    ? "all"
                        : c == grid::precision ? "precision"
                        : c == grid::recall    ? "recall"
                                               : named("month ", c + 2),
                        e, paper);
            }
        }
    };
    write("by the features of the month itself", &numbers::judged, true);
    write("by the last days of the month before", &numbers::expected, false);
}

} // namespace

void tables(report::options const& how) {
    std::vector<cluster::measurement> histories;
    for (std::uint64_t seed = 1; seed <= how.repetitions(); ++seed)
        histories.push_back([seed] {
            auto const values = std::bit_cast<plain>(measure(seed));
            return std::vector<double>(values.begin(), values.end());
        });
    std::vector<numbers> all;
    for (std::vector<double> const& found : cluster::run_isolated(histories, how.workers)) {
        plain values;
        std::ranges::copy(found, values.begin());
        all.push_back(std::bit_cast<numbers>(values));
    }
    table_1(how, all);
    table_2(how, all);
    table_3(how, all);
}

} // namespace ml_na
