// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/limits.hpp>
#include <straggle/blacklist/timed_limits.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace straggle;

namespace {

struct record {
    std::uint64_t node;
    double score;
};
// Durations already are scores.
struct as_is {
    status normalize(std::span<double>, std::span<double>) const { return status::ok; }
};
constexpr attempt_fields fields{
    .job = [](record const&) { return 0; }, .node = &record::node, .duration = &record::score};

// Nodes 0, 1, 2... with these mean scores, and after them nodes with a single score: unranked.
auto ranking_of(std::vector<double> const& means, std::size_t unranked = 0) {
    std::vector<record> records;
    for (std::size_t i = 0; i < means.size(); ++i)
        for (int twice = 0; twice < 2; ++twice) records.push_back({i, means[i]});
    for (std::size_t i = 0; i < unranked; ++i) records.push_back({means.size() + i, 1.0});
    return rank_nodes(records, fields, rank_options{.normalizer = as_is{}});
}

// Everybody above a limit, worst first.
struct slower_than {
    static constexpr std::string_view name = "slower_than";
    double limit = 0;
    template <class Node>
    blacklist::selection_note select(std::span<Node const> nodes, blacklist::selection_scratch&,
                                     std::vector<blacklist::candidate>& out) const {
        for (std::uint32_t i = 0; i < nodes.size(); ++i)
            if (nodes[i].mean > limit) out.push_back({i, nodes[i].mean, limit});
        detail::worst_first(nodes, std::span(out));
        return blacklist::selection_note::none;
    }
};
static_assert(blacklist::selection_policy<slower_than>);

using ids = std::vector<std::uint64_t>;

struct outcome_of_guards {
    ids blacklisted, spared;
    std::vector<std::string_view> spared_by;
};

// Everybody with a mean above 5 is a candidate.
template <class Ranking, class... Limits>
outcome_of_guards guarded(Ranking const& ranking, Limits... limits) {
    blacklister b(slower_than{5}, std::move(limits)...);
    auto const decision = b.decide(ranking);
    outcome_of_guards o;
    for (auto const& v : decision.blacklisted()) o.blacklisted.push_back(v.id);
    for (auto const& v : decision.spared()) {
        o.spared.push_back(v.id);
        o.spared_by.push_back(v.spared_by);
    }
    return o;
}

std::vector<double> weak(std::size_t how_many, std::size_t of) { // node 0 is the worst
    std::vector<double> means(of, 1.0);
    for (std::size_t i = 0; i < how_many; ++i) means[i] = 100.0 - static_cast<double>(i);
    return means;
}

struct broken {};
struct throwing_contracts {
    base::contract_handler before =
        base::set_contract_handler([](base::contract_violation const&) { throw broken{}; });
    throwing_contracts() = default;
    throwing_contracts(throwing_contracts const&) = delete;
    ~throwing_contracts() { base::set_contract_handler(before); }
};

struct rack_of {
    std::uint64_t operator()(std::uint64_t id) const { return id / 2; }
};
using one_per_rack = blacklist::one_per_domain<rack_of, std::uint64_t>;

// Near misses of a limit.
struct no_take {
    [[maybe_unused]] static constexpr std::string_view name = "no_take";
    void begin(auto const&, std::size_t) {}
    bool admits(auto const&) { return true; }
};
struct no_verdict {
    [[maybe_unused]] static constexpr std::string_view name = "no_verdict";
    void begin(auto const&, std::size_t) {}
    void admits(auto const&) {}
    void take(auto const&) {}
};

static_assert(blacklist::node_limit<straggle::record::unlimited> &&
              blacklist::node_limit<blacklist::at_most> && blacklist::node_limit<blacklist::fail_open> &&
              blacklist::node_limit<blacklist::at_most_slot_fraction<>> &&
              blacklist::node_limit<blacklist::share_of_slots<>> &&
              blacklist::node_limit<blacklist::at_least_healthy_slots<>> &&
              blacklist::node_limit<one_per_rack>);
static_assert(!blacklist::node_limit<no_take> && !blacklist::node_limit<no_verdict> &&
              !blacklist::node_limit<int>);
static_assert(blacklist::slots_projection<blacklist::one_slot, std::string> &&
              !blacklist::slots_projection<blacklist::one_slot*, std::string>);

} // namespace

TEST_CASE("a fleet is the nodes of the ranking and the silent ones") {
    auto const ranking = ranking_of(weak(0, 3), 2);
    std::uint64_t const gone = 77;
    std::uint64_t const* const silent[] = {&gone};
    blacklist::fleet_view<std::uint64_t> const fleet(ranking, 12, silent);
    ids all;
    fleet.for_each_id([&](std::uint64_t id) { all.push_back(id); });
    CHECK(all == ids{0, 1, 2, 3, 4, 77});
    CHECK(fleet.fleet_size() == 6);
    CHECK(fleet.nodes().size() == 3);
    CHECK(fleet.unranked().size() == 2);
    CHECK(fleet.silent().size() == 1);
    CHECK(fleet.window() == 12);
}

TEST_CASE("unlimited admits everybody") {
    auto const o = guarded(ranking_of(weak(3, 3)), straggle::record::unlimited{});
    CHECK(o.blacklisted == ids{0, 1, 2});
    CHECK(o.spared.empty());
}

TEST_CASE("an optional limit is its limit, or nothing") {
    auto const ranking = ranking_of(weak(4, 6));
    auto const absent = guarded(ranking, std::optional<blacklist::at_most>{});
    CHECK(absent.blacklisted == ids{0, 1, 2, 3});
    auto const present = guarded(ranking, std::optional<blacklist::at_most>{blacklist::at_most(1)});
    CHECK(present.blacklisted == ids{0});
    CHECK(present.spared == ids{1, 2, 3});
    CHECK(present.spared_by[0] == "at_most");
}

TEST_CASE("at_most: the worst k") {
    auto const ranking = ranking_of(weak(4, 6));
    auto const o = guarded(ranking, blacklist::at_most(3));
    CHECK(o.blacklisted == ids{0, 1, 2});
    CHECK(o.spared == ids{3});
    CHECK(o.spared_by[0] == "at_most");
    CHECK(guarded(ranking, blacklist::at_most(0)).blacklisted.empty());
    CHECK(guarded(ranking, blacklist::at_most(0)).spared == ids{0, 1, 2, 3});
    CHECK(guarded(ranking, blacklist::at_most(4)).spared.empty());
}

TEST_CASE("limits take projections without a default, such as a lambda with captures") {
    double each = 2;
    auto const slots = [&each](std::uint64_t) { return each; };
    static_assert(!std::default_initializable<decltype(slots)>);
    blacklister decide{blacklist::dominated{}, blacklist::at_most_slot_fraction{0.5, slots},
                       blacklist::at_least_healthy_slots{1, slots}};
    static_assert(std::move_constructible<decltype(decide)>);
    blacklist::release_on_demand const demand([] { return 1; }, slots);
    static_assert(blacklist::node_limit<std::remove_const_t<decltype(demand)>, std::uint64_t>);
    static_assert(std::default_initializable<blacklist::at_most_slot_fraction<>> &&
                  std::default_initializable<blacklist::share_of_slots<>>);
    blacklist::share_of_slots const share(0.5, slots);
    static_assert(blacklist::node_limit<std::remove_const_t<decltype(share)>, std::uint64_t>);
}

TEST_CASE("at_most_slot_fraction never exceeds the fraction, and a whole number is whole") {
    auto const taken = [](double fraction, std::size_t nodes) {
        return guarded(ranking_of(weak(nodes, nodes)), blacklist::at_most_slot_fraction(fraction))
            .blacklisted.size();
    };
    CHECK(taken(0.3, 10) == 3);
    CHECK(taken(0.2, 8) == 1);
    CHECK(taken(0.2, 5) == 1);
    CHECK(taken(0.2, 4) == 0);
    CHECK(taken(0.0, 10) == 0);
    CHECK(taken(1.0, 10) == 10);
    CHECK(taken(0.1, 30) == 3);
    for (std::size_t nodes = 1; nodes <= 60; ++nodes)
        for (std::size_t percent = 0; percent <= 100; ++percent)
            CHECK(taken(static_cast<double>(percent) / 100, nodes) == percent * nodes / 100);
    // Envoy's strict rule of 100 * (active + 1) / hosts <= max.
    CHECK(taken(0.3, 5) == 1);
    CHECK(taken(0.1, 9) == 0);
    CHECK(taken(0.1, 10) == 1);
}

TEST_CASE("share_of_slots: a share, or one node from three on") {
    auto const taken = [](double share, std::size_t nodes) {
        return guarded(ranking_of(weak(nodes, nodes)), blacklist::share_of_slots(share)).blacklisted.size();
    };
    for (std::size_t nodes = 1; nodes <= 60; ++nodes)
        for (std::size_t percent = 0; percent <= 100; ++percent) {
            std::size_t const share = percent * nodes / 100, one = percent > 0 ? 1 : 0;
            CHECK(taken(static_cast<double>(percent) / 100, nodes) == (nodes < 3 ? 0 : std::max(share, one)));
        }
    auto const o = guarded(ranking_of(weak(4, 4)), blacklist::share_of_slots<>{});
    CHECK(o.blacklisted == ids{0}); // the worst
    CHECK(o.spared == ids{1, 2, 3});
    CHECK(o.spared_by[0] == "share_of_slots");
    // Unranked nodes are part of the fleet.
    CHECK(guarded(ranking_of(weak(2, 2)), blacklist::share_of_slots<>{}).blacklisted.empty());
    CHECK(guarded(ranking_of(weak(2, 2), 1), blacklist::share_of_slots<>{}).blacklisted == ids{0});
    CHECK(guarded(ranking_of(weak(5, 5), 5), blacklist::share_of_slots<>{}).blacklisted == ids{0, 1});
    // Slots count, not nodes: one node may hold half of them, and no more than a share once it is out.
    auto const half = [](std::uint64_t id) { return id == 0 ? 9 : 1; }; // of 18
    CHECK(guarded(ranking_of(weak(10, 10)), blacklist::share_of_slots(0.2, half)).blacklisted == ids{0});
    auto const more = [](std::uint64_t id) { return id == 0 ? 10 : 1; }; // of 19
    CHECK(guarded(ranking_of(weak(10, 10)), blacklist::share_of_slots(0.2, more)).blacklisted ==
          ids{1, 2, 3});
}

TEST_CASE("the default is a fifth") {
    CHECK(guarded(ranking_of(weak(10, 10)), blacklist::share_of_slots<>{}).blacklisted == ids{0, 1});
    blacklister by_default(slower_than{5});
    auto const decision = by_default.decide(ranking_of(weak(10, 10)));
    CHECK(decision.blacklisted().size() == 2);
    CHECK(decision.spared().size() == 8);
}

TEST_CASE("at_most_slot_fraction counts slots, not nodes") {
    auto const slots = [](std::uint64_t id) { return id == 0 ? 64 : 4; }; // 64 + 9 * 4 = 100
    auto const ranking = ranking_of(weak(10, 10));
    // The worst node is too big to go; those after it still fit.
    auto const o = guarded(ranking, blacklist::at_most_slot_fraction(0.09, slots));
    CHECK(o.blacklisted == ids{1, 2});
    CHECK(o.spared == ids{0, 3, 4, 5, 6, 7, 8, 9});
    CHECK(guarded(ranking, blacklist::at_most_slot_fraction(0.64, slots)).blacklisted == ids{0});
    CHECK(guarded(ranking, blacklist::at_most_slot_fraction(0.68, slots)).blacklisted == ids{0, 1});
    // Fractions of slots: ten times 0.1 of 10 * 0.1.
    auto const tenth = [](std::uint64_t) { return 0.1; };
    CHECK(guarded(ranking, blacklist::at_most_slot_fraction(0.3, tenth)).blacklisted.size() == 3);
    CHECK(guarded(ranking, blacklist::at_most_slot_fraction(0.8, tenth)).blacklisted.size() == 8);
}

TEST_CASE("unranked nodes are part of the fleet") {
    CHECK(guarded(ranking_of(weak(5, 5)), blacklist::at_most_slot_fraction(0.2)).blacklisted.size() == 1);
    CHECK(guarded(ranking_of(weak(5, 5), 5), blacklist::at_most_slot_fraction(0.2)).blacklisted.size() == 2);
    CHECK(guarded(ranking_of(weak(5, 5), 3), blacklist::at_least_healthy_slots(4)).blacklisted.size() == 4);
    // Node 4 and the unranked node 5 share a rack.
    auto const o = guarded(ranking_of(weak(5, 5), 1), one_per_rack(rack_of{}));
    CHECK(o.blacklisted == ids{0, 2, 4});
}

TEST_CASE("at_least_healthy_slots keeps so many in service") {
    auto const ranking = ranking_of(weak(6, 6));
    CHECK(guarded(ranking, blacklist::at_least_healthy_slots(4)).blacklisted == ids{0, 1});
    CHECK(guarded(ranking, blacklist::at_least_healthy_slots(0)).blacklisted.size() == 6);
    CHECK(guarded(ranking, blacklist::at_least_healthy_slots(6)).blacklisted.empty());
    CHECK(guarded(ranking, blacklist::at_least_healthy_slots(100))
              .blacklisted.empty()); // there never were so many
    auto const slots = [](std::uint64_t id) { return id == 0 ? 10.0 : 1.0; };
    auto const o = guarded(ranking, blacklist::at_least_healthy_slots(12, slots)); // of 15
    CHECK(o.blacklisted == ids{1, 2, 3});
    CHECK(o.spared == ids{0, 4, 5});
    CHECK(o.spared_by[0] == "at_least_healthy_slots");
    CHECK(guarded(ranking, blacklist::at_least_healthy_slots(0.3, [](std::uint64_t) { return 0.1; }))
              .blacklisted.size() == 3);
}

TEST_CASE("one_per_domain leaves somebody in every rack") {
    // Racks {0,1} {2,3} {4,5}; all but node 5 are weak.
    auto const ranking = ranking_of(weak(5, 6));
    auto const o = guarded(ranking, one_per_rack(rack_of{}));
    CHECK(o.blacklisted == ids{0, 2, 4});
    CHECK(o.spared == ids{1, 3});
    CHECK(o.spared_by[0] == "one_per_domain");
    auto const name_of_rack = [](std::uint64_t id) { return id < 5 ? std::string("all") : "alone"; };
    auto const by_name = guarded(ranking_of(weak(6, 6)), blacklist::one_per_domain(name_of_rack));
    CHECK(by_name.blacklisted == ids{0, 1, 2, 3});
    CHECK(by_name.spared == ids{4, 5});
}

TEST_CASE("fail_open: too many weak nodes are a broken measurement") {
    blacklister b(slower_than{5}, blacklist::fail_open(0.5, 0.25));
    auto const blacklisted = [&](std::size_t how_many, std::size_t of = 20) {
        auto const decision = b.decide(ranking_of(weak(how_many, of)));
        return decision.blacklisted().size();
    };
    CHECK(blacklisted(10) == 10);  // at a half it is still closed
    CHECK(blacklisted(11) == 0);   // opens above
    CHECK(blacklisted(10) == 0);   // and stays open
    CHECK(blacklisted(5) == 0);    // at a quarter, too
    CHECK(blacklisted(0, 0) == 0); // an empty window says nothing
    CHECK(blacklisted(6) == 0);
    CHECK(blacklisted(4) == 4); // closes below
    CHECK(blacklisted(10) == 10);
    CHECK(blacklisted(20) == 0);
    CHECK(blacklisted(0) == 0); // nobody weak: closed again
    CHECK(blacklisted(10) == 10);
}

TEST_CASE("fail_open tells its state, and names itself") {
    blacklist::fail_open limit(0.4, 0.4);
    auto const begin = [&limit](std::vector<double> const& means, std::size_t candidates) {
        auto const ranking = ranking_of(means);
        limit.begin(blacklist::fleet_view(ranking), candidates);
    };
    CHECK(!limit.is_open());
    begin(weak(5, 10), 5);
    CHECK(limit.is_open());
    begin(weak(4, 10), 4);
    CHECK(limit.is_open());
    begin(weak(3, 10), 3);
    CHECK(!limit.is_open());
    auto const o = guarded(ranking_of(weak(9, 10)), blacklist::fail_open());
    CHECK(o.blacklisted.empty());
    CHECK(o.spared.size() == 9);
    for (auto by : o.spared_by) CHECK(by == "fail_open");
    // A share of the ranked nodes: those without evidence do not make weakness rare.
    CHECK(guarded(ranking_of(weak(9, 10), 90), blacklist::fail_open()).blacklisted.empty());
}

TEST_CASE("limits compose: the strictest wins, the first to object is named") {
    auto const ranking = ranking_of(weak(8, 20));
    auto const o = guarded(ranking, blacklist::at_most(5), blacklist::at_most_slot_fraction(0.2),
                           blacklist::at_least_healthy_slots(1));
    CHECK(o.blacklisted == ids{0, 1, 2, 3});
    for (std::size_t i = 0; i < o.spared.size(); ++i) {
        CHECK(o.spared[i] == i + 4);
        CHECK(o.spared_by[i] == "at_most_slot_fraction");
    }
    CHECK(guarded(ranking, blacklist::at_most_slot_fraction(0.5), blacklist::at_most(2)).blacklisted ==
          ids{0, 1});
    CHECK(guarded(ranking, blacklist::at_most_slot_fraction(0.5), blacklist::at_most(2)).spared_by[0] ==
          "at_most");
    // Both object to node 4: the first named is the one that was given first.
    CHECK(guarded(ranking, blacklist::at_most(4), blacklist::at_most_slot_fraction(0.2)).spared_by[0] ==
          "at_most");
    CHECK(guarded(ranking, blacklist::at_most_slot_fraction(0.2), blacklist::at_most(4)).spared_by[0] ==
          "at_most_slot_fraction");
}

TEST_CASE("a node that one limit spares does not use up the others' room") {
    // Racks of two: node 1 may not go with node 0. It must not count as one of the three.
    auto const ranking = ranking_of(weak(6, 8));
    auto const o = guarded(ranking, blacklist::at_most(3), one_per_rack(rack_of{}));
    CHECK(o.blacklisted == ids{0, 2, 4});
    CHECK(o.spared == ids{1, 3, 5});
    CHECK(o.spared_by == std::vector<std::string_view>{"one_per_domain", "one_per_domain", "at_most"});
}

TEST_CASE("limits start anew with every decision") {
    blacklister b(slower_than{5}, blacklist::at_most(2), blacklist::at_most_slot_fraction(0.5),
                  one_per_rack(rack_of{}), blacklist::at_least_healthy_slots(2));
    for (int i = 0; i < 3; ++i) {
        auto const decision = b.decide(ranking_of(weak(6, 6)));
        REQUIRE(decision.blacklisted().size() == 2);
        CHECK(decision.blacklisted()[0].id == 0);
        CHECK(decision.blacklisted()[1].id == 2);
    }
}

TEST_CASE("limits that make no sense break the contract") {
    throwing_contracts const handler;
    double const nan = std::nan("");
    CHECK_THROWS_AS(blacklist::share_of_slots(-0.1), broken);
    CHECK_THROWS_AS(blacklist::share_of_slots(20.0), broken);
    CHECK_THROWS_AS(blacklist::at_most_slot_fraction(-0.1), broken);
    CHECK_THROWS_AS(blacklist::at_most_slot_fraction(1.1), broken);
    CHECK_THROWS_AS(blacklist::at_most_slot_fraction(20.0), broken); // per cent
    CHECK_THROWS_AS((blacklist::at_most_slot_fraction{nan}), broken);
    CHECK_THROWS_AS(blacklist::at_least_healthy_slots(-1.0), broken);
    CHECK_THROWS_AS((blacklist::at_least_healthy_slots{nan}), broken);
    CHECK_THROWS_AS(blacklist::fail_open(0.0), broken);
    CHECK_THROWS_AS(blacklist::fail_open(1.5), broken);
    CHECK_THROWS_AS(blacklist::fail_open(0.5, 0.6), broken);
    CHECK_THROWS_AS(blacklist::fail_open(nan, 0.1), broken);
    CHECK_THROWS_AS(blacklist::fail_open(0.5, nan), broken);
}
