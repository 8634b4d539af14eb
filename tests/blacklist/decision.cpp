// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/decision.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace straggle;

namespace {

struct attempt {
    int job;
    std::string node;
    double took;
};
constexpr attempt_fields fields{.job = &attempt::job, .node = &attempt::node, .duration = &attempt::took};

// Ten nodes, of which "slow" and "slower" stand out.
auto ranked_fleet(double slow = 60, double slower = 90) {
    std::vector<attempt> attempts;
    for (int job = 0; job < 12; ++job) {
        for (int i = 0; i < 8; ++i)
            attempts.push_back({job, "node" + std::to_string(i), 20.0 + (job * 7 + i * 5) % 11});
        attempts.push_back({job, "slow", slow + job % 3});
        attempts.push_back({job, "slower", slower + job % 3});
    }
    return rank_nodes(attempts, fields);
}

} // namespace

TEST_CASE("a decision that was never made blacklists nobody") {
    blacklist_decision<std::string> const decision;
    CHECK(decision.blacklisted().empty());
    CHECK(decision.spared().empty());
    CHECK(!decision.avoids("n"));
    CHECK(decision.rule().empty());
    CHECK(decision.note() == blacklist::selection_note::none);
}

TEST_CASE("a decision says where each node stands") {
    auto const ranking = ranked_fleet();
    auto const one = blacklister(blacklist::dominated{}, blacklist::at_most(1)).decide(ranking);
    CHECK(one.state("slower") == node_state::excluded);
    CHECK(one.state("slow") == node_state::last_resort); // spared, but slow all the same
    CHECK(one.state("node0") == node_state::healthy);
    CHECK(one.state("never heard of") == node_state::healthy);
    // Two of several nodes are weak: with a lower threshold nobody believes that.
    auto const distrusted =
        blacklister(blacklist::dominated{}, blacklist::fail_open(0.1, 0.05)).decide(ranking);
    REQUIRE(distrusted.spared().size() == 2);
    CHECK(distrusted.state("slower") == node_state::healthy);
}

TEST_CASE("a decision that is filled again says nothing of before") {
    blacklist_decision<std::string> decision;
    auto const ranking = ranked_fleet();
    blacklister(blacklist::dominated{}, record::unlimited{}).decide(ranking, decision);
    CHECK(decision.state("slow") == node_state::excluded);
    blacklister(blacklist::dominated{.least_mean = 100}, record::unlimited{}).decide(ranking, decision);
    CHECK(decision.state("slow") == node_state::healthy);
}

TEST_CASE("a decision tells which nodes to avoid, worst first, and why") {
    auto const ranking = ranked_fleet();
    auto const decision = blacklister(blacklist::dominated{}, record::unlimited{}).decide(ranking);
    CHECK(decision.rule() == "dominated");
    CHECK(decision.note() == blacklist::selection_note::none);
    REQUIRE(decision.blacklisted().size() == 2);
    CHECK(decision.blacklisted()[0].id == "slower");
    CHECK(decision.blacklisted()[1].id == "slow");
    CHECK(decision.spared().empty());
    for (auto const& v : decision.blacklisted()) {
        ranked_node<std::string> const* node = nullptr;
        for (auto const& n : ranking.nodes())
            if (n.id == v.id) node = &n;
        REQUIRE(node != nullptr);
        CHECK(v.n == 12);
        CHECK(v.n == node->n);
        CHECK(v.mean == node->mean);
        CHECK(v.sd == node->sd);
        CHECK(v.ci == node->ci);
        CHECK(v.level == node->level);
        CHECK(v.value == node->ci.low);
        CHECK(v.value > v.threshold);
        CHECK(v.rule == "dominated");
        CHECK(v.spared_by.empty());
    }
    CHECK(decision.blacklisted()[0].provably_slower == 0);
    CHECK(decision.blacklisted()[0].provably_faster == 9);
    CHECK(decision.blacklisted()[1].provably_slower == 1);
    CHECK(decision.blacklisted()[1].provably_faster == 8);
}

TEST_CASE("avoids asks by any type that compares with an identifier") {
    auto const decision = blacklister(blacklist::dominated{}, blacklist::at_most(1)).decide(ranked_fleet());
    CHECK(decision.avoids("slower"));
    CHECK(decision.avoids(std::string("slower")));
    CHECK(decision.avoids(std::string_view("slower")));
    CHECK(!decision.avoids("slow")); // weak, but spared
    CHECK(!decision.avoids("node1"));
    CHECK(!decision.avoids("nobody"));
}

TEST_CASE("the spared carry the name of the limit that kept them") {
    auto const decision = blacklister(blacklist::dominated{}, blacklist::at_most(1)).decide(ranked_fleet());
    REQUIRE(decision.spared().size() == 1);
    auto const& v = decision.spared()[0];
    CHECK(v.id == "slow");
    CHECK(v.spared_by == "at_most");
    CHECK(v.value > v.threshold);
    CHECK(v.provably_faster == 8);
}

TEST_CASE("an empty answer is an answer") {
    auto const decision =
        blacklister(blacklist::dominated{}, blacklist::at_most(1)).decide(ranked_fleet(25, 25));
    CHECK(decision.blacklisted().empty());
    CHECK(decision.spared().empty());
    CHECK(!decision.avoids("slow"));
    CHECK(decision.rule() == "dominated");
}

TEST_CASE("a decision is plain data: it can be copied and outlives its ranking") {
    blacklist_decision<std::string> kept;
    {
        auto const ranking = ranked_fleet();
        auto const decision = blacklister(blacklist::dominated{}, blacklist::at_most(1)).decide(ranking);
        kept = decision;
    }
    CHECK(kept.avoids("slower"));
    CHECK(kept.spared()[0].id == "slow");
    auto const moved = std::move(kept);
    CHECK(moved.avoids("slower"));
}
