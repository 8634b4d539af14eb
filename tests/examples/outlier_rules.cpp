// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The tables below are those of the tests of the systems the rules come from: Hadoop HDFS
// (TestOutlierDetector, TestDataNodeOutlierDetectionViaMetrics), LogDevice (OutlierDetection tests), Envoy
// and gRPC (success rate ejection). Success rates are negated: there the low ones are bad.

#include "../../examples/programs/straggle-rank/outlier_rules.hpp"

#include <support/allocations.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace straggle;

namespace {

using node = ranked_node<std::uint64_t>;
using values = std::vector<double>;

std::vector<node> nodes_with(values const& means) {
    std::vector<node> nodes;
    for (std::uint32_t i = 0; i < means.size(); ++i)
        nodes.push_back({.id = i, .n = 10, .mean = means[i], .ci = {means[i], means[i]}, .seen = i});
    return nodes;
}

struct selected {
    blacklist::selection_note note;
    values means; // of the selected, worst first
    std::vector<std::uint32_t> places;
    double threshold = 0;
};

template <class Policy>
selected select(Policy const& policy, values const& means) {
    auto const nodes = nodes_with(means);
    blacklist::selection_scratch scratch;
    std::vector<blacklist::candidate> out;
    selected s{};
    s.note = policy.select(std::span(nodes), scratch, out);
    for (blacklist::candidate const& c : out) {
        CHECK(c.value == nodes[c.node].mean);
        s.means.push_back(c.value);
        s.places.push_back(c.node);
        s.threshold = c.threshold;
    }
    CHECK(std::ranges::is_sorted(s.means, std::greater{}));
    return s;
}

using places = std::vector<std::uint32_t>;

} // namespace

TEST_CASE("median_mad: HDFS's table of outliers") {
    straggle_rank::median_mad const hdfs{.low = 1000};
    CHECK(select(hdfs, {0, 1001}).note == blacklist::selection_note::too_few_nodes);
    CHECK(select(hdfs, {0, 1001}).places.empty());
    CHECK(select(hdfs, {1, 1, 999}).places.empty());
    CHECK(select(hdfs, {1, 1, 1001}).places == places{2});
    CHECK(select(hdfs, {1000.1, 1000.1, 2999.9}).places.empty());
    CHECK(select(hdfs, {1000.1, 1000.1, 1000.1 * 3 + 0.1}).places == places{2});
    auto const eleven = select(hdfs, {1029.4322, 2647.876, 9194.312, 2.2, 2012.92, 1843.81, 1201.43, 6712.01,
                                      3278.554, 2091.765, 9194.77});
    CHECK(eleven.places == places{10, 2});
    auto const twelve =
        select(hdfs, {5002, 9001, 5004, 1001, 5003, 2001, 5000, 101002, 5001, 5002, 5105, 5006});
    CHECK(twelve.places == places{7});
    CHECK(twelve.threshold == doctest::Approx(15007.5)); // three medians
}

TEST_CASE("median_mad: HDFS's test through metrics") {
    std::mt19937_64 engine(1);
    std::uniform_real_distribution<double> fast(0.0, 5.0);
    values peers(10);
    for (double& p : peers) p = fast(engine);
    CHECK(select(straggle_rank::median_mad{.low = 1000}, peers).places.empty());
    peers.push_back(20'000);
    CHECK(select(straggle_rank::median_mad{.low = 1000}, peers).places == places{10});
}

TEST_CASE("median_mad: each of the three limits decides in its turn") {
    values const means{1, 2, 3, 4, 20};
    // median 3, deviations 2 1 0 1 17: MAD 1.4826
    CHECK(select(straggle_rank::median_mad{}, means).threshold == 9.0);
    CHECK(select(straggle_rank::median_mad{.ratio = 1}, means).threshold == doctest::Approx(3 + 3 * 1.4826));
    CHECK(select(straggle_rank::median_mad{.low = 15}, means).threshold == 15.0);
    CHECK(select(straggle_rank::median_mad{.low = 20}, means).places.empty()); // above, not at
    CHECK(select(straggle_rank::median_mad{.deviations = 20}, means).places.empty());
    CHECK(select(straggle_rank::median_mad{.min_nodes = 6}, means).note ==
          blacklist::selection_note::too_few_nodes);
    CHECK(select(straggle_rank::median_mad{.min_nodes = 0}, {}).places.empty());
    CHECK(select(straggle_rank::median_mad{.min_nodes = 1}, {4}).places.empty());
}

TEST_CASE("leave_top_k_out: LogDevice's tables") {
    straggle_rank::leave_top_k_out const rule{.k = 0, .sigmas = 3};
    auto const at_most = [&](std::size_t k, values const& v) {
        straggle_rank::leave_top_k_out r = rule;
        r.k = k;
        return select(r, v).means;
    };
    values v{52, 49, 54, 47, 52, 55, 48, 50, 52, 50, 51, 48, 53, 54, 130};
    SUBCASE("one outlier") {
        CHECK(at_most(1, v) == values{130});
        CHECK(at_most(2, v) == values{130});
        CHECK(at_most(0, v).empty());
    }
    SUBCASE("two outliers") {
        v[5] = 110;
        CHECK(at_most(2, v) == values{130, 110});
        CHECK(at_most(3, v) == values{130, 110});
    }
    SUBCASE("two outliers, one much further out: it hides the other if only one may be named") {
        v[5] = 410;
        CHECK(at_most(2, v) == values{410, 130});
        CHECK(at_most(3, v) == values{410, 130});
        CHECK(at_most(1, v).empty());
    }
    SUBCASE("four outliers are more than may be named") {
        values const four{52, 49, 54, 115, 52, 110, 48, 50, 120, 50, 51, 48, 53, 54, 130};
        for (std::size_t k : {1u, 2u, 3u}) CHECK(at_most(k, four).empty());
    }
    SUBCASE("two stand out from two others") {
        CHECK(at_most(2, {52, 49, 113, 315, 52, 110, 48, 50, 120, 50, 51, 48, 53, 54, 330}) ==
              values{330, 315});
    }
    SUBCASE("nearly equal: the margin decides") {
        values flat(15, 50.0);
        flat[7] = 51;
        CHECK(select(straggle_rank::leave_top_k_out{.k = 2, .sigmas = 5, .margin = 0.1}, flat).means.empty());
        CHECK(select(straggle_rank::leave_top_k_out{.k = 2, .sigmas = 5, .margin = 0.01}, flat).means ==
              values{51});
    }
    SUBCASE("evenly spread") {
        values even;
        for (int i = 1; i <= 15; ++i) even.push_back(10.0 * i);
        for (std::size_t k : {1u, 2u})
            CHECK(select(straggle_rank::leave_top_k_out{.k = k, .sigmas = 5}, even).means.empty());
    }
    SUBCASE("few values") {
        CHECK(select(straggle_rank::leave_top_k_out{}, {50}).means.empty());
        CHECK(select(straggle_rank::leave_top_k_out{}, {50}).note ==
              blacklist::selection_note::too_few_nodes);
        CHECK(select(straggle_rank::leave_top_k_out{}, {}).means.empty());
        for (double const sigmas : {1.0, 3.0, 5.0})
            CHECK(
                select(straggle_rank::leave_top_k_out{.k = 8, .sigmas = sigmas}, {10, 30, 40}).means.size() <
                3);
    }
}

TEST_CASE("leave_top_k_out: the selected stand clear of the rest") {
    std::mt19937_64 engine(2);
    std::lognormal_distribution<double> draw(3.0, 0.8);
    int selected_some = 0;
    for (int trial = 0; trial < 500; ++trial) {
        values v(2 + engine() % 20);
        for (double& x : v) x = draw(engine);
        std::size_t const k = engine() % 6;
        auto const s = select(straggle_rank::leave_top_k_out{.k = k, .sigmas = 3}, v);
        CHECK(s.means.size() <= k);
        CHECK(s.means.size() < v.size());
        // By definition, for every number of candidates: the largest that works is taken.
        std::ranges::sort(v, std::greater{});
        std::size_t expected = 0;
        for (std::size_t take = 1; take <= std::min(k, v.size() - 1); ++take) {
            long double mean = 0, square = 0;
            long double const rest = static_cast<long double>(v.size() - take);
            for (std::size_t i = take; i < v.size(); ++i) mean += static_cast<long double>(v[i]) / rest;
            for (std::size_t i = take; i < v.size(); ++i)
                square += std::pow(static_cast<long double>(v[i]) - mean, 2) / rest;
            double const limit = static_cast<double>(mean + 3 * std::sqrt(square));
            if (v[take - 1] >= limit && v[take] < limit) expected = take;
        }
        CHECK(s.means == values(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(expected)));
        selected_some += expected > 0;
    }
    CHECK(selected_some > 100);
}

TEST_CASE("mean_plus_sigmas: Envoy's threshold") {
    // Success rates 50, 100, 100, 100, 100: mean 90, deviation 20, threshold 52.
    auto const s = select(straggle_rank::mean_plus_sigmas{}, {-50, -100, -100, -100, -100});
    CHECK(s.places == places{0});
    CHECK(s.threshold == doctest::Approx(-52.0).epsilon(1e-15));
    CHECK(s.note == blacklist::selection_note::none);
}

TEST_CASE("mean_plus_sigmas: gRPC's numbers") {
    // {600, 470, 170, 430, 300}: mean 394, population deviation 147.32277488562318
    auto const s = select(straggle_rank::mean_plus_sigmas{.sigmas = 1}, {600, 470, 170, 430, 300});
    CHECK(s.means == values{600});
    CHECK(s.threshold == doctest::Approx(394 + 147.32277488562318).epsilon(1e-15));
    SUBCASE("one of five fails always") {
        CHECK(select(straggle_rank::mean_plus_sigmas{}, {-1, -1, 0, -1, -1}).places == places{2});
    }
    SUBCASE("two outliers hide each other at 1.9 sigmas, not at 0.001") {
        CHECK(select(straggle_rank::mean_plus_sigmas{}, {0, 0, -1, -1, -1}).places.empty());
        CHECK(select(straggle_rank::mean_plus_sigmas{.sigmas = 0.001}, {0, 0, -1, -1, -1}).places ==
              places{0, 1});
    }
    SUBCASE("three outliers") {
        CHECK(select(straggle_rank::mean_plus_sigmas{.sigmas = 0.001}, {0, 0, 0, -1, -1}).places ==
              places{0, 1, 2});
    }
    SUBCASE("not enough hosts") {
        CHECK(select(straggle_rank::mean_plus_sigmas{}, {0, -1, -1, -1}).note ==
              blacklist::selection_note::too_few_nodes);
        CHECK(select(straggle_rank::mean_plus_sigmas{.sigmas = 1, .min_nodes = 4}, {0, -1, -1, -1}).places ==
              places{0});
    }
}

TEST_CASE("mean_plus_sigmas says when it can never trigger") {
    values outlier{1e9, 0, 0, 0, 0}; // 2 = sqrt(n - 1) deviations above the mean: the most there is
    CHECK(select(straggle_rank::mean_plus_sigmas{.sigmas = 1.999}, outlier).places == places{0});
    for (double const sigmas : {2.0, 3.0, 1e300, std::nan("")}) {
        auto const s = select(straggle_rank::mean_plus_sigmas{.sigmas = sigmas}, outlier);
        CHECK(s.note == blacklist::selection_note::unreachable_threshold);
        CHECK(s.places.empty());
    }
    outlier.resize(11, 0.0);
    CHECK(select(straggle_rank::mean_plus_sigmas{.sigmas = 3}, outlier).places == places{0}); // sqrt(10) > 3
    outlier.resize(10);
    CHECK(select(straggle_rank::mean_plus_sigmas{.sigmas = 3}, outlier).note ==
          blacklist::selection_note::unreachable_threshold);
    CHECK(select(straggle_rank::mean_plus_sigmas{.min_nodes = 0}, {}).note ==
          blacklist::selection_note::too_few_nodes);
    CHECK(select(straggle_rank::mean_plus_sigmas{.sigmas = 0, .min_nodes = 0}, {1.0}).note ==
          blacklist::selection_note::unreachable_threshold);
}

TEST_CASE("a fleet of equals has no outliers") {
    values const equal(20, 0.3);
    CHECK(select(straggle_rank::median_mad{}, equal).places.empty());
    CHECK(select(straggle_rank::mean_plus_sigmas{}, equal).places.empty());
    CHECK(select(straggle_rank::mean_plus_sigmas{.sigmas = 0}, equal).places.empty());
    CHECK(select(straggle_rank::leave_top_k_out{}, equal).places.empty());
}

TEST_CASE("selecting again allocates nothing") {
    auto const nodes = nodes_with({52, 49, 54, 47, 52, 55, 48, 50, 52, 50, 51, 48, 53, 54, 230});
    blacklist::selection_scratch scratch;
    std::vector<blacklist::candidate> out;
    auto const run = [&] {
        out.clear();
        (void)straggle_rank::median_mad{}.select(std::span(nodes), scratch, out);
        (void)straggle_rank::leave_top_k_out{}.select(std::span(nodes), scratch, out);
        (void)straggle_rank::mean_plus_sigmas{}.select(std::span(nodes), scratch, out);
    };
    run();
    CHECK(out.size() == 3);
    CHECK(straggle_test::allocations_during(run) == 0);
}
