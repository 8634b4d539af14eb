// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/forecast_weak.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include <support/allocations.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <map>
#include <string>
#include <vector>

using namespace straggle;

namespace {

using node = ranked_node<std::uint64_t>;

std::vector<node> nodes_with(std::vector<double> const& means) {
    std::vector<node> nodes;
    for (std::uint32_t i = 0; i < means.size(); ++i)
        nodes.push_back({.id = i, .n = 10, .mean = means[i], .ci = {means[i], means[i]}, .seen = i});
    return nodes;
}

template <class Policy>
std::vector<std::uint32_t> select(Policy policy, std::vector<node> const& nodes,
                                  std::vector<blacklist::candidate>* all = nullptr) {
    blacklist::selection_scratch scratch;
    std::vector<blacklist::candidate> out{{77, 0, 0}}; // what stood there before stays
    CHECK(policy.select(std::span<node const>(nodes), scratch, out) == blacklist::selection_note::none);
    CHECK(out.front().node == 77);
    std::vector<std::uint32_t> places;
    for (std::size_t i = 1; i < out.size(); ++i) places.push_back(out[i].node);
    if (all) all->assign(out.begin() + 1, out.end());
    return places;
}
using places = std::vector<std::uint32_t>;

auto by_table(std::vector<double> table) {
    return [table](std::uint64_t id) { return table[id]; };
}

// Above 10 is slow.
struct above_ten {
    static constexpr std::string_view name = "above_ten";
    template <class Node>
    blacklist::selection_note select(std::span<Node const> nodes, blacklist::selection_scratch&,
                                     std::vector<blacklist::candidate>& out) const {
        for (std::uint32_t i = 0; i < nodes.size(); ++i)
            if (nodes[i].mean > 10) out.push_back({i, nodes[i].mean, 10});
        return blacklist::selection_note::none;
    }
};

struct attempt {
    std::string job, host;
    int took;
};
constexpr attempt_fields fields{.job = &attempt::job, .node = &attempt::host, .duration = &attempt::took};

} // namespace

TEST_CASE("forecast_weak: the likeliest first, ties by the worse mean, then by who was seen first") {
    std::vector<blacklist::candidate> all;
    auto const nodes = nodes_with({0, 1, 2, 0, 0, 3});
    CHECK(select(blacklist::forecast_weak{by_table({0.5, 0.9, 0.9, 0.49, 0.5, 1.0})}, nodes, &all) ==
          places{5, 2, 1, 0, 4});
    CHECK(all[1].value == 0.9);
    CHECK(all[1].threshold == 0.5);
    CHECK(select(blacklist::forecast_weak{by_table({0.5, 0.9, 0.9, 0.49, 0.5, 1.0}), 0.95}, nodes) ==
          places{5});
    CHECK(select(blacklist::forecast_weak{by_table({})}, {}).empty());
}

TEST_CASE("forecast_weak: what is no probability is no forecast") {
    auto const forecast = [](std::uint64_t id) -> outcome<double> {
        constexpr double numbers[] = {std::numeric_limits<double>::quiet_NaN(), -0.5, 1.5, 0.7};
        if (id > 3) return status::insufficient_evidence;
        return numbers[id];
    };
    CHECK(select(blacklist::forecast_weak{forecast, 0.0}, nodes_with({9, 9, 9, 0, 9})) == places{3});
}

TEST_CASE("forecast_weak: either of two policies") {
    auto const nodes = nodes_with({0, 0, 0, 0, 0, 0, 0, 0, 0, 50});
    auto const forecast = by_table({0, 0, 0.8, 0, 0, 0, 0, 0, 0, 0.9});
    std::vector<blacklist::candidate> all;
    blacklist::either policy{above_ten{}, blacklist::forecast_weak{forecast}};
    CHECK(std::string_view(policy.name) == "either(above_ten,forecast_weak)");
    CHECK(select(policy, nodes, &all) == places{9, 2});
    CHECK(all[0].value == 50); // as the first policy found it
    CHECK(all[1].value == 0.8);
    CHECK(select(blacklist::either{blacklist::forecast_weak{forecast}, above_ten{}}, nodes, &all) ==
          places{9, 2});
    CHECK(all[0].value == 0.9);
    CHECK(all[0].rule == "forecast_weak");
    blacklist::either three{
        policy,
        blacklist::either{above_ten{}, blacklist::forecast_weak{by_table({1, 0, 0, 0, 0, 0, 0, 0, 0, 0})}}};
    CHECK(select(three, nodes, &all) == places{9, 2, 0});
    CHECK(all[0].rule == "above_ten"); // the innermost
    CHECK(all[2].rule == "forecast_weak");
    static_assert(blacklist::selection_policy<decltype(policy)>);
}

TEST_CASE("forecast_weak: enters a decision under the same limits, with its reason") {
    std::vector<attempt> attempts;
    for (int job = 0; job < 30; ++job)
        for (int i = 0; i < 20; ++i)
            attempts.push_back({"job " + std::to_string(job), "host " + std::to_string(i % 10),
                                100 + (i % 10 == 7 ? 60 : 0) + (i * job) % 5});
    std::map<std::string, double> const forecast{{"host 1", 0.6}, {"host 2", 0.95}, {"host 7", 0.1}};
    auto const probability_of = [&](std::string const& id) -> outcome<double> {
        auto const at = forecast.find(id);
        return at == forecast.end() ? outcome<double>(status::insufficient_evidence) : at->second;
    };
    blacklister keeper{blacklist::either{blacklist::dominated{}, blacklist::forecast_weak{probability_of}},
                       blacklist::at_most{2}};
    auto const ranking = rank_nodes(attempts, fields);
    auto const decision = keeper.decide(ranking);
    REQUIRE(decision.blacklisted().size() == 2);
    CHECK(decision.blacklisted()[0].id == "host 7"); // measured
    CHECK(decision.blacklisted()[1].id == "host 2"); // expected
    CHECK(decision.blacklisted()[1].value == 0.95);
    CHECK(decision.blacklisted()[1].threshold == 0.5);
    CHECK(decision.rule() == "either(dominated,forecast_weak)");
    CHECK(decision.blacklisted()[0].rule == "dominated"); // each says which of the two
    CHECK(decision.blacklisted()[1].rule == "forecast_weak");
    REQUIRE(decision.spared().size() == 1);
    CHECK(decision.spared()[0].id == "host 1");
    CHECK(decision.spared()[0].spared_by == "at_most");
}

TEST_CASE("forecast_weak: allocates nothing in the steady state") {
    auto const nodes = nodes_with(std::vector<double>(1000, 1.0));
    blacklist::either policy{blacklist::dominated{}, blacklist::forecast_weak{[](std::uint64_t id) {
                                 return id % 3 == 0 ? 0.9 : 0.1;
                             }}};
    blacklist::selection_scratch scratch;
    std::vector<blacklist::candidate> out;
    auto const work = [&] {
        out.clear();
        (void)policy.select(std::span<node const>(nodes), scratch, out);
    };
    work();
    CHECK(out.size() == 334);
    CHECK(straggle_test::allocations_during(work) == 0);
}
