// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/rank/normalize.hpp>

#include <doctest/doctest.h>
#include <straggle/rank/performance.hpp>
#include <straggle/rank/rank_nodes.hpp>
#include <straggle/rank/sibling_normalizers.hpp>

#include <cmath>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

using namespace straggle;

namespace {

struct attempt {
    std::string job, host;
    std::int64_t took;
    bool ok = true;
};
constexpr attempt_fields fields{
    .job = &attempt::job, .node = &attempt::host, .duration = &attempt::took, .status = &attempt::ok};

struct numbered {
    std::uint32_t job, node;
    double took;
};
constexpr attempt_fields numbered_fields{
    .job = &numbered::job, .node = &numbered::node, .duration = &numbered::took};

std::vector<attempt> history() {
    std::vector<attempt> all;
    std::uint32_t noise = 3;
    for (int i = 0; i < 400; ++i) {
        noise = noise * 1664525u + 1013904223u;
        all.push_back({"job" + std::to_string(i % 9), "host" + std::to_string((noise >> 20) % 7),
                       static_cast<std::int64_t>(500 + (noise >> 8) % 1000), i % 11 != 0});
    }
    all.push_back({"lonely", "host1", 5}); // a job of one task has no scores
    return all;
}

} // namespace

TEST_CASE("every scored attempt is listed with its row, its names and equation 1") {
    auto const records = history();
    auto const result = rank::normalize(records, fields);

    std::map<std::string, std::vector<double>> siblings;
    for (attempt const& a : records)
        if (a.ok) siblings[a.job].push_back(static_cast<double>(a.took));
    std::size_t expected = 0;
    for (auto const& [job, durations] : siblings)
        if (durations.size() >= 5) expected += durations.size();
    REQUIRE(result.attempts.size() == expected);
    CHECK(result.counts.seen == records.size());
    CHECK(result.counts.used == expected + 1);

    std::size_t last_row = 0;
    for (rank::normalized_attempt const& n : result.attempts) {
        REQUIRE(n.row < records.size());
        CHECK((n.row > last_row || &n == &result.attempts.front()));
        last_row = n.row;
        attempt const& record = records[n.row];
        CHECK(record.ok);
        CHECK(result.jobs[n.job] == record.job);
        CHECK(result.nodes[n.node] == record.host);
        long double mean = 0, squares = 0;
        auto const& durations = siblings[record.job];
        for (double d : durations) mean += static_cast<long double>(d);
        mean /= static_cast<long double>(durations.size());
        for (double d : durations)
            squares += (static_cast<long double>(d) - mean) * (static_cast<long double>(d) - mean);
        long double const sd = std::sqrt(squares / static_cast<long double>(durations.size()));
        double const z = static_cast<double>((static_cast<long double>(record.took) - mean) / sd);
        CHECK(std::fabs(n.score - z) <= 1e-14 * (1 + std::fabs(z)));
    }
}

TEST_CASE("scores by node are what rank_nodes judges") {
    auto const records = history();
    auto const check = [&](auto const& options) {
        auto const result = rank::normalize(records, fields, options);
        std::vector<rank::score_moments> by_node(result.nodes.size());
        for (rank::normalized_attempt const& n : result.attempts) by_node[n.node].add(n.score);
        auto const ranking = rank_nodes(records, fields, options);
        CHECK(ranking.nodes().size() + ranking.unranked().size() == result.nodes.size());
        for (auto const& node : ranking.nodes()) {
            CHECK(result.nodes[node.seen] == node.id);
            CHECK(by_node[node.seen].count() == node.n);
            // Those of one job on one node enter a ranking together, by their mean: rounded once to the grid
            // of scores where each by itself is rounded here, to 2^-45 = 2.9e-14 every time.
            CHECK(std::fabs(by_node[node.seen].mean() - node.mean) <= 2.9e-14);
        }
        CHECK(ranking.scored_attempts() == result.attempts.size());
    };
    check(rank_options<>{});
    check(rank_options{.normalizer = rank::robust_z{}});
    check(rank_options{.normalizer = rank::work_rate<>{}});
}

TEST_CASE("numbers read in place give what the same numbers give when hashed") {
    std::vector<numbered> records;
    std::uint32_t noise = 9;
    for (std::uint32_t i = 0; i < 300; ++i) {
        noise = noise * 1664525u + 1013904223u;
        records.push_back({i % 5, (noise >> 20) % 4, 100.0 + (noise >> 8) % 50});
    }
    std::list<numbered> const hashed(records.begin(), records.end());
    for (auto const& options : {rank_options<>{}}) {
        auto const a = rank::normalize(records, numbered_fields, options);
        auto const b = rank::normalize(hashed, numbered_fields, options);
        REQUIRE(a.attempts.size() == b.attempts.size());
        CHECK(a.nodes == b.nodes);
        CHECK(a.jobs == b.jobs);
        for (std::size_t i = 0; i < a.attempts.size(); ++i) {
            CHECK(a.attempts[i].row == b.attempts[i].row);
            CHECK(a.attempts[i].node == b.attempts[i].node);
            CHECK(a.attempts[i].job == b.attempts[i].job);
            CHECK(a.attempts[i].score == b.attempts[i].score);
        }
    }
}

TEST_CASE("nothing in, nothing out") {
    auto const result = rank::normalize(std::vector<attempt>{}, fields);
    CHECK(result.attempts.empty());
    CHECK(result.nodes.empty());
    CHECK(result.counts == attempt_counts{});
}
