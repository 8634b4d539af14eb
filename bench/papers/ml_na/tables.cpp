// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "tables.hpp"

#include "../cluster/isolated.hpp"
#include "study.hpp"

#include <straggle/learn/weak_nodes.hpp>
#include <straggle/papers/ml_na_2017.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ml_na {

namespace {

constexpr std::uint64_t printed = 3; // the seed of the history that is printed
constexpr std::size_t months = nine_months::months, most_groups = 10;

using number = std::optional<double>;

// All results of a history, as the numbers that its process returns.
struct numbers {
    double straggler_share, hit_share;
    std::array<double, months> groups, weak;
    std::array<std::array<double, most_groups + 1>, months> score; // by number of groups; NaN: not tried
    std::array<double, 3> third;                                   // precision, recall, accuracy
    grid judged, expected, other, blank;                           // table III by setting and reading
    std::array<double, most_groups + 1> three;                     // figure 5's scores, month 1
    std::array<double, 5> groups_of_five;                          // figure 4's shares, month 1
    std::array<double, 4> nan;                                     // figure 7: carried, blank
};
using plain = std::array<double, sizeof(numbers) / sizeof(double)>;
static_assert(sizeof(plain) == sizeof(numbers));

std::string ml_na_third(std::uint64_t seed) {
    return "ml-na-third-" + std::to_string(seed) + ".data";
}

// Shares of five groups by three features, the weakest first; figure 4.
std::array<double, 5> five_groups(month_of_paper const& month) {
    std::array<double, 5> shares;
    shares.fill(std::nan(""));
    std::vector<double> last;
    std::size_t const per_node = month.carried.features.size() / month.carried.nodes.size();
    for (std::size_t row = 1; row <= month.carried.nodes.size(); ++row)
        for (std::size_t c = straggle::learn::features_per_day; c > 0; --c)
            last.push_back(month.carried.features[row * per_node - c]);
    std::mt19937_64 engine(1);
    straggle::learn::weak_node_finder five(
        {.least_groups = 5, .most_groups = 5, .most_weak = 1.0, .up_to_square_root = false});
    straggle::learn::weak_nodes found;
    five(straggle::learn::feature_matrix<double>(last, straggle::learn::features_per_day), engine, found);
    for (std::size_t g = 0; g < found.groups.size() && g < shares.size(); ++g)
        shares[g] =
            static_cast<double>(found.groups[g].nodes) / static_cast<double>(month.carried.nodes.size());
    return shares;
}

numbers measure(std::uint64_t seed, std::filesystem::path const& out) {
    study const s = look(seed);
    auto const share = [](auto part, auto whole) {
        return static_cast<double>(part) / static_cast<double>(whole);
    };
    numbers n{};
    n.straggler_share = share(s.stragglers.stragglers, s.stragglers.tasks);
    n.hit_share = share(s.stragglers.jobs_hit, s.stragglers.jobs);
    for (std::size_t m = 0; m < months; ++m) {
        month_of_paper const& month = s.by_paper[m];
        n.groups[m] = static_cast<double>(month.found.groups.size());
        n.weak[m] =
            month.found.groups.empty() ? 0 : share(month.found.groups[0].nodes, month.carried.nodes.size());
        n.score[m].fill(std::nan(""));
        for (auto const& t : month.found.tried) n.score[m][t.groups] = t.score;
    }
    straggle::stats::confusion_matrix const third = judge_third(s, seed, out / ml_na_third(seed));
    n.third = {third.precision().value_or(std::nan("")), third.recall().value_or(std::nan("")),
               third.accuracy().value_or(std::nan(""))};
    namespace paper = straggle::papers::ml_na_2017;
    n.judged = judge(s.carried(), paper::classifier);
    n.other = judge(s.carried(), paper::other_classifier);
    n.blank = judge(s.blank(), paper::classifier);
    n.expected = forecast(s.last_days());
    n.three.fill(std::nan(""));
    for (auto const& t : s.by_paper[0].three_features.tried) n.three[t.groups] = t.score;
    n.groups_of_five = five_groups(s.by_paper[0]);
    gaps const carried = gaps_of(s.by_paper[6].carried), blank = gaps_of(s.by_paper[6].blank);
    n.nan = {carried.columns, carried.rest, blank.columns, blank.rest};
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
    // OpenCloud's, by sections I and II of the paper and by the papers it builds on.
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
    report::table out(how, "ml-na-table-2"); // classifiers.py adds the numbers of the other five
    for (told const& t : paper)
        for (std::size_t i = 0; i < what.size(); ++i)
            out.row("a third of all machines in all months", t.name, what[i],
                    over(all, [&, i](auto const& n) { return &t == &paper[0] ? n.third[i] : std::nan(""); }),
                    t.share[i]);
}

// Figures 4 and 5, which the paper shows for three and for two features of one month.
void figures_4_5(report::options const& how, std::vector<numbers> const& all) {
    report::table out(how, "ml-na-figures-4-5");
    for (std::size_t k = 2; k <= most_groups; ++k)
        out.row("score by number of groups, three features", "month 1", std::to_string(k),
                over(all, [k](auto const& n) { return n.three[k]; }));
    for (std::size_t g = 0; g < 5; ++g)
        out.row("share of the machines in each of five groups, the weakest first", "month 1",
                named("group ", g + 1), over(all, [g](auto const& n) { return n.groups_of_five[g]; }));
}

// Figure 6: least, mean and largest accuracy over the windows that can be learned from, by month.
void figure_6(report::options const& how, std::vector<numbers> const& all) {
    report::table out(how, "ml-na-figure-6");
    auto const over_windows = [](grid const& g, std::size_t month, std::size_t what) {
        double least = 1, most = 0, sum = 0, count = 0;
        for (std::size_t row = grid::by_count; row < grid::any; ++row) {
            double const a = g.share[row][month - 1];
            if (std::isnan(a)) continue;
            least = std::min(least, a);
            most = std::max(most, a);
            sum += a;
            count += 1;
        }
        return what == 0 ? least : what == 1 ? sum / count : most;
    };
    constexpr std::array<char const*, 3> what{"least", "mean", "most"};
    // From table III of the paper.
    constexpr std::array<std::array<double, 3>, months> paper{{{},
                                                               {.6849, .6849, .6849},
                                                               {.6452, .79, .9355},
                                                               {.6901, .8404, .9155},
                                                               {.7938, .8442, .9437},
                                                               {.75, .8587, 1},
                                                               {.4151, .7152, 1},
                                                               {.7321, .8586, .9821},
                                                               {.8621, .9201, .9821}}};
    auto const write = [&](char const* setting, grid numbers::* which, bool told) {
        for (std::size_t m = 1; m < months; ++m)
            for (std::size_t i = 0; i < what.size(); ++i)
                out.row(setting, what[i], named("month ", m + 1),
                        over(all, [&](auto const& n) { return over_windows(n.*which, m, i); }),
                        told && i != 1 ? number(paper[m][i]) : std::nullopt);
    };
    write("(a) eta 0.1, depth 12", &numbers::judged, true);
    write("(b) eta 0.3, depth 9", &numbers::other, false);
    write("every idle day is NaN", &numbers::blank, false);
    // Figure 7: what of month 7 is NaN, and how well that month is judged.
    constexpr std::array<char const*, 2> reading{"idle days carried on", "every idle day is NaN"};
    constexpr std::array<grid numbers::*, 2> grids{&numbers::judged, &numbers::blank};
    report::table seven(how, "ml-na-figure-7");
    for (std::size_t i = 0; i < reading.size(); ++i) {
        seven.row("month 7", reading[i], "columns that are NaN for all machines",
                  over(all, [i](auto const& n) { return n.nan[2 * i]; }), 9);
        seven.row("month 7", reading[i], "share of the other values that is NaN",
                  over(all, [i](auto const& n) { return n.nan[2 * i + 1]; }));
        seven.row("month 7", reading[i], "accuracy, from the month before",
                  over(all, [&](auto const& n) { return (n.*grids[i]).share[0][5]; }), 0.4528);
        seven.row("month 7", reading[i], "less than the mean of the other months",
                  over(all,
                       [&](auto const& n) {
                           auto const& row = (n.*grids[i]).share[0];
                           double others = 0;
                           for (std::size_t m = 1; m < months; ++m) others += m == 6 ? 0 : row[m - 1] / 7;
                           return others - row[5];
                       }),
                  (0.6849 + 0.9355 + 0.9155 + 0.7938 + 0.7857 + 0.8750 + 0.8621) / 7 - 0.4528);
    }
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
        histories.push_back([seed, &how] {
            auto const values = std::bit_cast<plain>(measure(seed, how.out));
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
    figures_4_5(how, all);
    table_3(how, all);
    figure_6(how, all);
}

} // namespace ml_na
