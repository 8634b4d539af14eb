// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/papers/dsb_2019.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace straggle;

namespace {

struct attempt {
    int job;
    std::string host;
    double took;
};
constexpr attempt_fields fields{.job = &attempt::job, .node = &attempt::host, .duration = &attempt::took};

} // namespace

TEST_CASE("dsb_2019: two tasks make a job, the deviation is the population's, all of level 0 is out") {
    // z = -1 and +1 in each job; node b has +1 three times: mean 1, deviation 0, a point.
    std::vector<attempt> const attempts{{1, "a", 10}, {1, "b", 20}, {2, "a", 5},
                                        {2, "b", 9},  {3, "a", 1},  {3, "b", 2}};
    auto const ranking = rank_nodes(attempts, fields, papers::dsb_2019.ranking());
    REQUIRE(ranking.levels() == 2);
    CHECK(ranking.level(0)[0].id == "b");
    CHECK(ranking.level(0)[0].mean == 1.0);
    auto const decision = papers::dsb_2019.blacklist().decide(ranking);
    REQUIRE(decision.blacklisted().size() == 1);
    CHECK(decision.blacklisted()[0].id == "b");
    CHECK(decision.spared().empty());
    // The default wants five tasks a job.
    CHECK(rank_nodes(attempts, fields).levels() == 0);
}
