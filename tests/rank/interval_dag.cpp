// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/rank/interval_dag.hpp>

#include <doctest/doctest.h>

#include "../support/literal_p_cores.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using straggle::rank::dag_edges;
using straggle::rank::edge_rule;
using straggle::rank::interval_dag;
using straggle_test::literal_rule;
using straggle_test::machine;

constexpr std::array both_rules{edge_rule::closed, edge_rule::open};

struct fleet {
    std::vector<double> low;
    std::vector<double> high;
    void add(double a, double b) {
        low.push_back((std::min)(a, b));
        high.push_back((std::max)(a, b));
    }
};

std::vector<machine> graph_of(fleet const& f, edge_rule rule) {
    std::vector<machine> machines(f.low.size());
    for (std::size_t i = 0; i < machines.size(); ++i) {
        machines[i].low = f.low[i];
        machines[i].high = f.high[i];
    }
    straggle_test::literal_edges(machines,
                                 rule == edge_rule::open ? literal_rule::text : literal_rule::not_same_point);
    return machines;
}

std::vector<std::uint32_t> ascending(std::span<std::uint32_t const> edges) {
    std::vector<std::uint32_t> sorted(edges.begin(), edges.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

// Edges i -> j without any k such that i -> k -> j.
std::vector<std::uint32_t> direct(std::vector<machine> const& machines, std::size_t i) {
    std::vector<std::uint32_t> out;
    for (std::uint32_t const j : machines[i].out_edge) {
        bool through = false;
        for (std::uint32_t const k : machines[i].out_edge) {
            auto const& from_k = machines[k].out_edge;
            through = through || std::find(from_k.begin(), from_k.end(), j) != from_k.end();
        }
        if (!through) out.push_back(j);
    }
    return out;
}

// The number of nodes whose edges differ from the literal graph.
std::size_t differences(fleet const& f, edge_rule rule) {
    std::vector<machine> const machines = graph_of(f, rule);
    auto const dag = interval_dag::from(f.low, f.high, rule);
    REQUIRE(dag.has_value());
    REQUIRE(dag->size() == f.low.size());
    std::size_t wrong = 0;
    std::uint64_t all = 0;
    std::uint64_t reduced = 0;
    for (std::size_t i = 0; i < machines.size(); ++i) {
        wrong += ascending(dag->edges_of(i)) != machines[i].out_edge;
        wrong += ascending(dag->reduced_edges_of(i)) != direct(machines, i);
        all += dag->edges_of(i).size();
        reduced += dag->edges_of(i, dag_edges::reduced).size();
    }
    wrong += dag->edge_count() != all;
    wrong += dag->edge_count(dag_edges::reduced) != reduced;
    return wrong;
}

std::string dot_of(fleet const& f, std::vector<std::string> const& names, dag_edges which) {
    std::string out;
    interval_dag::from(f.low, f.high)
        ->append_dot(out, [&](std::size_t i) -> std::string const& { return names[i]; }, which);
    return out;
}

} // namespace

TEST_CASE("interval_dag: edges and reduction equal brute force for all small integer intervals") {
    std::vector<std::pair<double, double>> intervals;
    for (int a = 0; a <= 4; ++a)
        for (int b = a; b <= 4; ++b) intervals.emplace_back(a, b);
    for (edge_rule const rule : both_rules) {
        std::size_t wrong = 0;
        std::size_t tried = 0;
        auto const extend = [&](auto const& self, fleet const& f, std::size_t from) -> void {
            wrong += differences(f, rule);
            ++tried;
            if (f.low.size() == 4) return;
            for (std::size_t i = from; i < intervals.size(); ++i) {
                fleet longer = f;
                longer.add(intervals[i].first, intervals[i].second);
                self(self, longer, i);
            }
        };
        extend(extend, fleet{}, 0);
        CHECK(tried == 3876); // C(19, 4)
        CHECK(wrong == 0);
    }
}

TEST_CASE("interval_dag: edges and reduction equal brute force for random intervals") {
    std::mt19937_64 g(12);
    for (edge_rule const rule : both_rules) {
        for (std::size_t const n : {1U, 2U, 10U, 40U, 90U}) {
            for (std::uint64_t const range : {3U, 10U, 1000U}) {
                fleet points;
                fleet mixed;
                fleet wide;
                for (std::size_t i = 0; i < n; ++i) {
                    auto const a = static_cast<double>(g() % range);
                    points.add(a, a);
                    mixed.add(a, a + static_cast<double>(g() % 3));
                    wide.add(a, static_cast<double>(g() % range));
                }
                CHECK(differences(points, rule) == 0);
                CHECK(differences(mixed, rule) == 0);
                CHECK(differences(wide, rule) == 0);
            }
        }
    }
}

TEST_CASE("interval_dag: acyclic, and its longest paths are the levels") {
    std::mt19937_64 g(13);
    for (edge_rule const rule : both_rules) {
        fleet f;
        for (int i = 0; i < 400; ++i) {
            auto const a = static_cast<double>(g() % 60);
            f.add(a, a + static_cast<double>(g() % 5));
        }
        straggle::rank::p_cores cores(rule);
        std::vector<std::uint32_t> level(f.low.size());
        REQUIRE(cores.levels(f.low, f.high, level).has_value());
        auto const dag = interval_dag::from(f.low, f.high, rule);
        REQUIRE(dag.has_value());
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < dag->size(); ++i) {
            // Every edge leads to a smaller level, so there is no way back.
            for (std::uint32_t const j : dag->edges_of(i)) wrong += level[j] >= level[i];
            // The reduction keeps an edge to the next level: nothing is lost.
            std::uint32_t longest = 0;
            for (std::uint32_t const j : dag->reduced_edges_of(i))
                longest = (std::max)(longest, level[j] + 1);
            wrong += longest != level[i];
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("interval_dag: a chain of 200000 needs no memory for its 2e10 edges") {
    std::size_t const n = 200000;
    fleet f;
    for (std::size_t i = 0; i < n; ++i) f.add(static_cast<double>(i), static_cast<double>(i) + 0.5);
    auto const dag = interval_dag::from(f.low, f.high);
    REQUIRE(dag.has_value());
    CHECK(dag->edge_count() == n * (n - 1) / 2);
    CHECK(dag->edge_count(dag_edges::reduced) == n - 1);
}

TEST_CASE("interval_dag: the order of edges is that of Low, points first, then by place") {
    fleet f;
    f.add(0, 1);
    f.add(5, 6);
    f.add(4, 4);
    f.add(5, 5);
    f.add(5, 7);
    f.add(5, 5);
    auto const dag = interval_dag::from(f.low, f.high);
    REQUIRE(dag.has_value());
    auto const edges = dag->edges_of(0);
    CHECK(std::vector<std::uint32_t>(edges.begin(), edges.end()) ==
          std::vector<std::uint32_t>{2, 3, 5, 1, 4});
}

TEST_CASE("interval_dag: bad data and no data") {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double inf = std::numeric_limits<double>::infinity();
    for (auto const& [low, high] : {std::pair(nan, 1.0), std::pair(0.0, nan), std::pair(0.0, inf),
                                    std::pair(-inf, 0.0), std::pair(1.0, 0.0)}) {
        std::array const lows{0.0, low};
        std::array const highs{1.0, high};
        CHECK(interval_dag::from(lows, highs).reason() == straggle::status::out_of_domain);
    }
    auto const none = interval_dag::from({}, {});
    REQUIRE(none.has_value());
    CHECK(none->size() == 0);
    CHECK(none->edge_count() == 0);
    std::string out;
    none->append_dot(out, [](std::size_t) { return "never called"; });
    CHECK(out == "digraph p_cores {\n}\n");
}

TEST_CASE("interval_dag: DOT text, whole") {
    fleet f;
    f.add(0, 1);
    f.add(2, 3);
    f.add(4, 5);
    std::vector<std::string> const names{"fast", "middle", "slow"};
    CHECK(dot_of(f, names, dag_edges::reduced) == "digraph p_cores {\n"
                                                  "  n0 [label=\"fast\"];\n"
                                                  "  n1 [label=\"middle\"];\n"
                                                  "  n2 [label=\"slow\"];\n"
                                                  "  n0 -> n1;\n"
                                                  "  n1 -> n2;\n"
                                                  "}\n");
    CHECK(dot_of(f, names, dag_edges::all).find("  n0 -> n2;\n") != std::string::npos);
    // Appends, and takes names that own their text.
    std::string out = "// before\n";
    interval_dag::from(f.low, f.high)->append_dot(out, [](std::size_t i) {
        return "node" + std::to_string(i);
    });
    CHECK(out.starts_with("// before\ndigraph p_cores {\n  n0 [label=\"node0\"];\n"));
}

TEST_CASE("interval_dag: hostile names stay within their label") {
    std::vector<std::string> const names{
        "a\"]; evil -> node; x [label=\"",
        "ends in a backslash\\",
        "\\\"",
        "\\N \\G \\n",
        "line\nfeed\r\ttab",
        std::string("nul\0inside", 10),
        "&lt;b&gt; <b> &quot;",
        "// comment /* # */",
        "\x7f\x1b[31m",
        "G\xc3\xb6ttingen",
        "",
    };
    fleet f;
    for (std::size_t i = 0; i < names.size(); ++i) f.add(0, 1);
    std::string const text = dot_of(f, names, dag_edges::all);
    // Reads it back as DOT does: a quoted string ends at the first quote without a backslash, a pair of
    // backslashes is one; then as labels do.
    std::size_t at = text.find('\n') + 1;
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::string const head = "  n" + std::to_string(i) + " [label=\"";
        REQUIRE(text.compare(at, head.size(), head) == 0);
        at += head.size();
        std::string shown;
        while (text[at] != '"') {
            REQUIRE(static_cast<unsigned char>(text[at]) >= 0x20);
            if (text[at] == '\\') {
                ++at;
                REQUIRE((text[at] == '\\' || text[at] == '"'));
                shown += text[at++];
            } else if (text.compare(at, 5, "&amp;") == 0) {
                shown += '&';
                at += 5;
            } else {
                REQUIRE(text[at] != '&');
                shown += text[at++];
            }
        }
        REQUIRE(text.compare(at, 4, "\"];\n") == 0);
        at += 4;
        std::string expected;
        for (char const c : names[i]) {
            auto const code = static_cast<unsigned char>(c);
            char spelled[8];
            std::snprintf(spelled, sizeof spelled, "\\x%02x", static_cast<unsigned>(code));
            expected += code < 0x20 || code == 0x7f ? std::string(spelled) : std::string(1, c);
        }
        CHECK(shown == expected);
    }
    CHECK(text.substr(at) == "}\n");
}
