// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/predict/progress_trust.hpp>

#include <straggle/predict/sibling_times.hpp>

#include <doctest/doctest.h>

#include <support/allocations.hpp>
#include <support/seed.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace straggle;
using predict::progress_track;
using predict::progress_trust;

namespace {

// What a task reports at a share of its time.
struct reporting {
    std::string name;
    std::function<double(double, std::mt19937_64&)> at;
};
std::vector<reporting> habits() {
    return {{"even", [](double s, auto&) { return s; }},
            {"phased", [](double s, auto&) { return s < 0.6 ? s / 1.8 : 1.0 / 3 + (s - 0.6) / 0.6; }},
            {"jumping", [](double s, auto&) { return s < 0.9 ? 0.02 + 0.05 * s : 0.9; }},
            {"noisy", [](double s, auto& g) {
                 return std::min(0.99, s * std::exp(0.5 * std::normal_distribution<>()(g)));
             }}};
}

progress_track followed(reporting const& how, double start, double took, double until, std::mt19937_64& g) {
    progress_track track;
    for (double t = took / 25; t < until; t += took / 25) track.observe(how.at(t / took, g), start + t);
    return track;
}

} // namespace

TEST_CASE("progress_track: a rate starts at its first report, and what makes no sense changes nothing") {
    progress_track t;
    CHECK(t.left() == 0);
    t.observe(0, 5); // nothing done yet: the task may not have begun
    t.observe(0.2, 50);
    CHECK(t.left() == 0);
    t.observe(0.4, 60);
    CHECK(t.left() == doctest::Approx(30)); // and not 60 x 0.6 / 0.4
    progress_track const before = t;
    for (double const bad : {0.4, 0.3, -1.0, 1.5, std::nan("")}) t.observe(bad, 70);
    t.observe(0.5, 60);
    t.observe(0.5, std::numeric_limits<double>::infinity());
    CHECK(t.left() == before.left());
    CHECK(t.time == 60);
    CHECK(t.reached == 6);
    CHECK(t.promise() == doctest::Approx(30));
    CHECK(t.since_promise(100) == doctest::Approx(40));
}

TEST_CASE("progress_trust: even progress is trusted, phases are corrected, jumps are not believed") {
    std::uint64_t const seed = straggle_test::seed_or(3);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    for (reporting const& how : habits()) {
        CAPTURE(how.name);
        progress_trust trust;
        CHECK(trust.worth(1, 8).variance > 1); // nothing is known
        for (int i = 0; i < 60; ++i) {
            double const took = 50 * std::exp(0.3 * std::normal_distribution<>()(g));
            trust.observe_ended(1, followed(how, 1000, took, took, g), 1000 + took);
        }
        predict::progress_worth const w = trust.worth(1, 8);
        if (how.name == "even") {
            CHECK(w.variance < 0.1);
            CHECK(std::abs(w.bias) < 0.05);
        }
        if (how.name == "phased") {
            CHECK(w.variance < 0.1);
            CHECK(w.bias > 0.2); // the second phase is three times as fast
        }
        if (how.name == "jumping") CHECK(w.variance > 1); // no task was seen there, and the others are unlike
        if (how.name == "noisy") CHECK(w.variance > 0.15);
    }
}

TEST_CASE("progress_trust: a part that no task has shown is taken to be as the others are") {
    std::mt19937_64 g(6);
    reporting const even = habits()[0], phased = habits()[1], noisy = habits()[3];
    // Five reports in a task: none falls into the first part, or twice into another.
    auto const seldom = [&](reporting const& how, double took) {
        progress_track track;
        for (double t = took / 10; t < took; t += took / 5) track.observe(how.at(t / took, g), t);
        return track;
    };
    auto const learned = [&](reporting const& how, std::uint32_t kind, progress_trust& trust) {
        for (int i = 0; i < 200; ++i) {
            double const took = 50 * std::exp(0.3 * std::normal_distribution<>()(g));
            trust.observe_ended(kind, seldom(how, took), took);
        }
    };
    progress_trust trust;
    learned(even, 1, trust);
    predict::progress_worth const first = trust.worth(1, 0), shown = trust.worth(1, 8);
    CHECK(first.tasks == 200);
    CHECK(std::abs(first.bias) < 0.05);
    CHECK(first.variance < 1); // three parts are alike: a fourth may still differ
    CHECK(first.variance > 4 * shown.variance);
    // A kind whose progress tells less is doubted in such a part, too, whatever others are like.
    learned(noisy, 2, trust);
    CHECK(trust.worth(2, 0).variance > 1.5 * trust.worth(1, 0).variance);
    // Where phases differ, so may the next part.
    progress_trust uneven;
    learned(phased, 1, uneven);
    CHECK(uneven.worth(1, 0).variance > first.variance);
    // One task is no proof for any part.
    progress_trust early;
    early.observe_ended(1, seldom(even, 50), 50);
    CHECK(early.worth(1, 0).variance > 1);
    CHECK(early.worth(1, 0).tasks == 1);
}

TEST_CASE("left_by_both: never much worse than siblings alone, far better with even progress") {
    std::uint64_t const seed = straggle_test::seed_or(4);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    for (reporting const& how : habits()) {
        CAPTURE(how.name);
        progress_trust trust;
        predict::sibling_times times;
        auto const took_next = [&] { return 50 * std::exp(0.4 * std::normal_distribution<>()(g)); };
        for (int i = 0; i < 200; ++i) {
            double const took = took_next();
            times.observe(1, 1, took);
            trust.observe_ended(1, followed(how, 0, took, took, g), took);
        }
        predict::time_outlook out;
        REQUIRE(times.outlook(1, 1, {}, out));
        double by_siblings = 0, by_both = 0;
        int n = 0, inside = 0;
        for (int i = 0; i < 2000; ++i) {
            double const took = took_next(), age = 40;
            if (took <= age + 2) continue;
            progress_track const track = followed(how, 0, took, age, g);
            if (!(track.promise() > 0)) continue;
            predict::time_points const both =
                predict::left_by_both(out, 1, age, track, age, trust.worth(1, track.reached));
            double const real = std::log(took - age);
            by_siblings += std::abs(std::log(out.median_after(age) - age) - real);
            by_both += std::abs(std::log(both.quantile(0.5)) - real);
            inside += took - age >= both.quantile(0.1) && took - age <= both.quantile(0.9) ? 1 : 0;
            ++n;
        }
        REQUIRE(n > 500);
        CHECK(by_both < 1.03 * by_siblings);
        if (how.name == "even" || how.name == "phased") CHECK(by_both < 0.5 * by_siblings);
        CHECK(inside > 0.7 * n); // of 0.8
        CHECK(inside <= n);
    }
}

namespace {

// The share of the weight below some time, of all cells: as written down, none left out.
double share_below(predict::time_outlook const& out, double factor, double age, progress_track const& track,
                   double now, predict::progress_worth const& worth, double time) {
    double const stale = std::max(track.since_promise(now), 0.0), first = 0.01 * out.usual() * factor;
    auto const fit = [&](double left) {
        double const miss = std::log(left + stale) - std::log(track.promise()) + worth.bias;
        return std::pow(1 + miss * miss / (4 * (worth.variance + 0.0025)), -2.5);
    };
    auto const longer = [&](double left) { return out.survival_after(age / factor, (age + left) / factor); };
    double all = (1 - longer(first)) * fit(first / 2), below = all * std::min(time / first, 1.0);
    for (int i = 0; i < 64; ++i) {
        double const low = first * std::exp(0.14 * i), high = first * std::exp(0.14 * (i + 1));
        double const weight = (longer(low) - longer(high)) * fit(first * std::exp(0.14 * (i + 0.5)));
        all += weight;
        below += weight * std::clamp((time - low) / (high - low), 0.0, 1.0);
    }
    return below / all;
}

} // namespace

TEST_CASE("left_by_both: what progress makes unlikely is left out, and no point moves by more than that") {
    std::uint64_t const seed = straggle_test::seed_or(6);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    std::uniform_real_distribution<> any(0, 1);
    for (reporting const& how : habits()) {
        CAPTURE(how.name);
        predict::sibling_times times;
        auto const took_next = [&] { return 50 * std::exp(0.4 * std::normal_distribution<>()(g)); };
        for (int i = 0; i < 60; ++i) times.observe(1, 1, took_next());
        predict::time_outlook out;
        REQUIRE(times.outlook(1, 1, {}, out));
        double most = 0;
        int n = 0;
        for (int i = 0; i < 1500; ++i) {
            double const took = took_next() * (i % 4 == 0 ? 5 : 1), age = 0.9 * took * any(g);
            double const factor = 0.5 + any(g);
            progress_track const track = followed(how, 0, took, age, g);
            if (!(track.promise() > 0)) continue;
            double const now = age + (i % 3 == 0 ? 40 * any(g) * any(g) : 0.0); // reports that are old
            // From hardly any doubt to next to no worth, and far from what siblings say.
            predict::progress_worth const worth{3 * any(g) - 1.5, std::pow(any(g), 6), 20};
            predict::time_points const both = predict::left_by_both(out, factor, age, track, now, worth);
            for (std::size_t k = 0; k < predict::time_points::count; ++k) {
                double const share = share_below(out, factor, age, track, now, worth, both.at[k]);
                most = std::max(most, std::abs(share - (static_cast<double>(k) + 0.5) / 16));
            }
            ++n;
        }
        CHECK(n > 700);
        CHECK(most <= 0.001 + 1e-6); // what may be left out, and rounding of chances
    }
}

TEST_CASE("is_soon_by_both: never says so where left_by_both does not, and mostly where it does") {
    std::uint64_t const seed = straggle_test::seed_or(5);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    std::uniform_real_distribution<> any(0, 1);
    int soon = 0, told = 0, not_soon = 0;
    for (reporting const& how : habits()) {
        CAPTURE(how.name);
        progress_trust trust;
        predict::sibling_times times;
        auto const took_next = [&] { return 50 * std::exp(0.4 * std::normal_distribution<>()(g)); };
        for (int i = 0; i < 60; ++i) {
            double const took = took_next();
            times.observe(1, 1, took);
            trust.observe_ended(1, followed(how, 0, took, took, g), took);
        }
        predict::time_outlook out;
        REQUIRE(times.outlook(1, 1, {}, out));
        for (int i = 0; i < 1500; ++i) {
            double const took = took_next(), age = 100 * any(g) * any(g), factor = 0.5 + any(g);
            if (took <= age) continue;
            progress_track const track = followed(how, 0, took, age, g);
            if (!(track.promise() > 0)) continue;
            double const now = age + 20 * any(g) * any(g) * any(g); // reports that are old
            predict::progress_worth const worth = trust.worth(1, track.reached);
            predict::time_points const both = predict::left_by_both(out, factor, age, track, now, worth);
            for (double const time : {both.quantile(0.5) * (0.5 + any(g)), both.at[8], both.at[7],
                                      both.quantile(0.5) * 5 * any(g), 1e-9, 1e9}) {
                bool const is_soon = both.at[8] <= time;
                bool const is_told = predict::is_soon_by_both(out, factor, age, track, now, worth, time);
                int longer = 0;
                for (double const l : both.at) longer += l > time ? 1 : 0;
                if (is_told) CHECK((is_soon && longer <= 7));
                ++(is_soon ? soon : not_soon);
                told += is_told ? 1 : 0;
            }
        }
    }
    CHECK(not_soon > 5000);
    CHECK(told > 0.4 * soon);
    // Without a promise, or anything it was learned from, there is nothing to say.
    predict::time_outlook out;
    CHECK_FALSE(predict::is_soon_by_both(out, 1, 1, {}, 2, {0, 1, 5}, 10));
}

TEST_CASE("progress_trust: kinds are told apart, stored, merged, and cost nothing in the steady state") {
    std::mt19937_64 g(1);
    auto const even = habits()[0], noisy = habits()[3];
    progress_trust a, b;
    for (int i = 0; i < 40; ++i) {
        a.observe_ended(1, followed(even, 0, 10, 10, g), 10);
        b.observe_ended(2, followed(noisy, 0, 10, 10, g), 10);
    }
    a.merge(b);
    CHECK(a.worth(1, 8).variance < a.worth(2, 8).variance);
    byte_writer out;
    a.write(out);
    progress_trust back;
    byte_reader in(out.payload());
    back.read(in);
    CHECK(in.finish() == status::ok);
    CHECK(back.worth(2, 3).variance == a.worth(2, 3).variance);
    CHECK(back.worth(9, 3).bias == a.worth(9, 3).bias);
    CHECK(back.worth(2, 0).variance == a.worth(2, 0).variance);
    progress_track const t = followed(even, 0, 10, 10, g);
    CHECK(straggle_test::allocations_during([&] { back.observe_ended(1, t, 10); }) == 0);
}
