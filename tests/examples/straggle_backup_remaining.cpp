// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// What straggle-backup says a task still takes.
#include "../../examples/programs/straggle-backup/remaining.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

using straggle_backup::basis;
using straggle_backup::find_time_left;
using straggle_backup::progress_report;
using straggle_backup::time_left;
using straggle_backup::trust;

namespace {

time_left after(std::vector<double> const& similar, double elapsed,
                std::optional<progress_report> const& report = std::nullopt, trust const& how = {}) {
    straggle::stats::empirical times;
    times.assign(similar);
    return find_time_left(times.view(), elapsed, report, how);
}
double mean(time_left const& left) {
    return left.times.view().mean().value();
}
double median(time_left const& left) {
    return left.times.view().quantile(0.5).value();
}

std::vector<double> const ten{27, 28, 29, 29.5, 30, 30.5, 31, 32, 33, 34};

// The posterior of log T for a normal prior and one reading, beyond `elapsed`: mean time left by a sum over a
// fine grid, which knows nothing of quantiles or of formulas for the product of two normal densities.
double grid_mean(double prior, double prior_variance, double told, double told_variance, double elapsed) {
    double weights = 0, sum = 0;
    for (int i = -400'000; i <= 400'000; ++i) {
        double const x = prior + i * 2e-5;
        double const t = std::exp(x);
        if (t <= elapsed) continue;
        double const a = x - prior, b = x - told;
        double const w = std::exp(-a * a / (2 * prior_variance) - b * b / (2 * told_variance));
        weights += w;
        sum += w * (t - elapsed);
    }
    return sum / weights;
}

} // namespace

TEST_CASE("time left: similar tasks that took longer, and one that is beyond them all") {
    // Of ten 27.. 34 those beyond 30, ten times each, and ten quantiles of one that ends 34 s later than 34.
    time_left const left = after(ten, 30);
    CHECK(left.from == basis::similar);
    CHECK(left.times.size() == 5 * 10 + 10);
    double sum = 10 * (0.5 + 1 + 2 + 3 + 4);
    for (int k = 0; k < 10; ++k) sum += 34 - 30 - 34 * std::log(1 - (k + 0.5) / 10);
    CHECK(mean(left) == doctest::Approx(sum / 60).epsilon(1e-12));
    // Nothing is certain: one in eleven of what has just begun is longer than all that are known.
    time_left const begun = after(ten, 0);
    straggle::stats::empirical_view const all = begun.times.view();
    CHECK(all.up_to(34).value() == doctest::Approx(10.0 / 11));
    CHECK(all.lowest().value() == 27);
}

TEST_CASE("time left: a task that outlived all others lasts as long again") {
    for (double const elapsed : {34.0, 60.0, 1e6}) {
        time_left const left = after(ten, elapsed);
        CHECK(left.from == basis::age);
        CHECK(left.times.size() == 20);
        // The mean of 20 quantiles of an exponential distribution is a little short of its mean, which is 1.
        CHECK(mean(left) / elapsed == doctest::Approx(1).epsilon(0.02));
        CHECK(median(left) / elapsed == doctest::Approx(std::log(2)).epsilon(0.03));
        CHECK(left.times.view().lowest().value() > 0);
    }
}

TEST_CASE("time left: progress and similar tasks, each as sure as it is") {
    // Similar tasks: logarithms with mean m and sample variance v, times 1.1 for the mean is not known
    // either.
    double m = 0, v = 0;
    for (double const t : ten) m += std::log(t) / 10;
    for (double const t : ten) v += (std::log(t) - m) * (std::log(t) - m) / 9;
    double const prior = (std::max)(v, 0.01) * 1.1;
    struct reading {
        double at, done, old;
    };
    for (reading const r :
         {reading{16, 0.5, 0}, reading{12, 0.4, 1}, reading{20, 0.55, 2}, reading{5, 0.1, 5}}) {
        double const worked = r.at - r.old / 2, told = std::log(worked / r.done);
        double const variance = std::pow(0.02 / r.done, 2) + std::pow(0.3 * (1 - r.done), 2) +
                                std::pow(r.old / std::sqrt(12.0) / worked, 2);
        time_left const left = after(ten, r.at, progress_report{r.at, r.done, r.old}, {.samples = 2000});
        CHECK(left.from == basis::both);
        CHECK(mean(left) == doctest::Approx(grid_mean(m, prior, told, variance, r.at)).epsilon(0.002));
    }
}

TEST_CASE("time left: progress alone where nothing is similar, and where the similar say something else") {
    // 10 % in 20 s: 180 s to go, give or take what a reading of 0.1 may be off by.
    trust const fine{.samples = 2000};
    for (auto const& similar : {std::vector<double>{}, ten}) {
        time_left const left = after(similar, 20, progress_report{20, 0.1, 0}, fine);
        CHECK(left.from == basis::progress);
        CHECK(median(left) == doctest::Approx(180).epsilon(0.005));
        double const sd = std::sqrt(0.2 * 0.2 + 0.27 * 0.27);
        CHECK(left.times.view().quantile(0.9).value() ==
              doctest::Approx(200 * std::exp(1.2816 * sd) - 20).epsilon(0.005));
    }
    // Nearly done: little is left, however long it took.
    CHECK(median(after(ten, 300, progress_report{300, 0.99, 0})) < 10);
    CHECK(median(after(ten, 300, progress_report{300, 1, 0})) < 10);
}

TEST_CASE("time left: an old report of a task that should have ended long ago is not believed") {
    time_left const left = after(ten, 100, progress_report{20, 0.5, 0});
    CHECK(left.from == basis::age);
    CHECK(mean(left) == doctest::Approx(100).epsilon(0.02));
}

TEST_CASE("time left: more progress is less time, and more time is more") {
    double before = 1e300;
    for (double done = 0.02; done <= 1; done += 0.02) {
        double const now = mean(after({}, 30, progress_report{30, done, 1}));
        CHECK(now < before);
        before = now;
    }
    before = 0;
    for (double elapsed = 10; elapsed < 200; elapsed += 5) {
        double const now = mean(after({}, elapsed, progress_report{elapsed, 0.3, 0}));
        CHECK(now > before);
        before = now;
    }
    // The surer the report, the nearer to what it says: 60 s in all, where 30 s are usual.
    CHECK(mean(after(ten, 24, progress_report{24, 0.6, 0}, {.drift = 1})) <
          mean(after(ten, 24, progress_report{24, 0.6, 0}, {.drift = 0.05})));
}

TEST_CASE("time left: nothing is known of a task without similar ones or progress") {
    CHECK(after({}, 20).times.size() == 0);
    CHECK(after({}, 0, progress_report{0, 0, 0}).times.size() == 0); // no time has passed: nothing was said
    CHECK(after(ten, 0, progress_report{0, 0, 3}).from == basis::similar);
}

TEST_CASE("time left: whatever the numbers, times are finite and not negative") {
    constexpr double tiny = (std::numeric_limits<double>::min)();
    std::vector<std::vector<double>> const similar{{},           {0},         {0, 0, 0},    {30},
                                                   {30, 30, 30}, {1e-9, 1e9}, {1e15, 1e15}, ten};
    for (auto const& times : similar)
        for (double const elapsed : {0.0, tiny, 1e-9, 0.5, 30.0, 1e6, 1e15})
            for (double const at : {0.0, 0.5, 1.0})
                for (double const done : {0.0, tiny, 0.02, 0.5, 1.0})
                    for (double const old : {0.0, 1e-3, 3.0, 1e9}) {
                        CAPTURE(times.size());
                        CAPTURE(elapsed);
                        CAPTURE(done);
                        time_left const left =
                            after(times, elapsed, progress_report{at * elapsed, done, old});
                        straggle::stats::empirical_view const view = left.times.view();
                        if (view.empty()) continue;
                        CHECK(view.lowest().value() >= 0);
                        CHECK(view.highest().has_value());
                        CHECK(view.mean().has_value());
                    }
}
