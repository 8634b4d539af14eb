// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/learn/weak_nodes.hpp>

#include <support/allocations.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <vector>

using namespace straggle;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

// Days of nodes whose scores lie around a mean each.
learn::feature_matrix<double> days_of(std::vector<double> const& means, std::vector<double>& memory,
                                      std::size_t days = 6) {
    std::mt19937_64 engine(4);
    learn::node_days<int> table(days);
    for (std::size_t d = 0; d < days; ++d)
        for (std::size_t k = 0; k < means.size(); ++k)
            for (int i = 0; i < 40; ++i)
                table.observe(static_cast<int>(k), d, means[k] + base::uniform_unit(engine) - 0.5);
    return table.table(memory);
}

} // namespace

TEST_CASE("weak_nodes: the number of groups, by table I of the paper") {
    // Month 1: the score is best at 9 groups, 18 % of the nodes in the weakest.
    std::vector<learn::group_count_score> const first{{2, 252.05, 0.5}, {3, 219.60, 0.4},   {4, 212.24, 0.3},
                                                      {5, 241.34, 0.3}, {6, 267.97, 0.3},   {7, 357.94, 0.2},
                                                      {8, 389.98, 0.2}, {9, 447.72, 0.1846}};
    CHECK(*choose_group_count(first) == 9);
    // Month 7: at 3 groups the weakest is too large; 4 has the next best score, 13 % in the weakest.
    std::vector<learn::group_count_score> seventh{{2, 68.39, 0.6},  {3, 154.48, 0.4}, {4, 124.28, 0.1321},
                                                  {5, 113.03, 0.1}, {6, 105.02, 0.1}, {7, 98.69, 0.1},
                                                  {8, 97.83, 0.1},  {9, 94.52, 0.1}};
    CHECK(*choose_group_count(seventh) == 4);
    std::reverse(seventh.begin(), seventh.end());
    CHECK(*choose_group_count(seventh) == 4);
    // A smaller number is not gone back to, and there may be none.
    CHECK(*choose_group_count(std::vector<learn::group_count_score>{
              {2, 1, 0.1}, {3, 9, 0.3}, {4, 3, 0.26}, {5, 2, 0.25}}) == 5);
    CHECK(choose_group_count(std::vector<learn::group_count_score>{{2, 1, 0.1}, {3, 9, 0.3}}).reason() ==
          status::insufficient_evidence);
    CHECK(learn::choose_group_count({}).reason() == status::insufficient_evidence);
    CHECK(*choose_group_count(std::vector<learn::group_count_score>{{3, 1, 0.1}, {2, 1, 0.1}}) ==
          2); // equal scores
}

TEST_CASE("weak_nodes: finds the slow ones") {
    std::vector<double> means(40, -0.1);
    for (std::size_t const k : {3u, 17u, 30u, 31u}) means[k] = 1.5;
    std::vector<double> memory;
    learn::weak_node_finder find;
    learn::weak_nodes found;
    std::mt19937_64 engine(2);
    REQUIRE(find(days_of(means, memory), engine, found) == status::ok);
    for (std::size_t k = 0; k < means.size(); ++k) CHECK(found.weak[k] == (means[k] > 0 ? 1 : 0));
    REQUIRE(found.groups.size() >= 2);
    CHECK(found.groups[0].nodes == 4);
    CHECK(found.groups[0].slow_days == 6);
    CHECK(found.tried.size() == 5); // 2 to 6 groups: six is the square root of forty
    learn::weak_node_finder as_many({.up_to_square_root = false});
    REQUIRE(as_many(days_of(means, memory), engine, found) == status::ok);
    CHECK(found.tried.size() == 9);
    CHECK(found.tried.front().groups == 2);
}

TEST_CASE("weak_nodes: ten nodes are at most three groups, whatever they are like") {
    std::mt19937_64 engine(5);
    for (int round = 0; round < 20; ++round) {
        std::vector<double> means(10);
        for (double& m : means) m = static_cast<double>(engine() % 1000) / 500 - 1;
        std::vector<double> memory;
        learn::weak_node_finder find;
        learn::weak_nodes found;
        (void)find(days_of(means, memory), engine, found);
        CHECK(found.tried.size() <= 2); // two groups and three
        CHECK(found.groups.size() <= 3);
    }
}

TEST_CASE("weak_nodes: nobody is weak where that cannot be said") {
    std::vector<double> memory;
    learn::weak_node_finder find;
    learn::weak_nodes found;
    std::mt19937_64 engine(2);
    auto const nobody = [&] {
        return std::count(found.weak.begin(), found.weak.end(), std::uint8_t{1}) == 0;
    };
    // Half of the nodes are slow and half are not, and within a half they are all the same.
    std::vector<double> halves;
    for (int k = 0; k < 20; ++k) halves.insert(halves.end(), {k % 2 ? 1.0 : -1.0, 0.5, 0.0});
    CHECK(find(learn::feature_matrix(halves, 3), engine, found) != status::ok);
    CHECK(found.weak.size() == 20);
    CHECK(nobody());
    std::vector<double> const equal(30, 1.0);
    CHECK(find(learn::feature_matrix(equal, 3), engine, found) == status::no_spread);
    CHECK(nobody());
    CHECK(find(learn::feature_matrix(std::vector<double>{1, 2, 3}, 3), engine, found) ==
          status::insufficient_evidence);
    CHECK(find(learn::feature_matrix<double>{}, engine, found) == status::insufficient_evidence);
    std::vector<double> const blank(30, no_number);
    CHECK(find(learn::feature_matrix(blank, 3), engine, found) == status::insufficient_evidence);
    CHECK(nobody());
}

TEST_CASE("weak_nodes: days on which nobody ran anything are left out, gaps are not bad") {
    std::vector<double> means(30, -0.1);
    means[5] = means[6] = 2;
    std::vector<double> memory;
    auto const full = days_of(means, memory);
    std::vector<double> holes(full.values().begin(), full.values().end());
    for (std::size_t row = 0; row < 30; ++row)
        for (std::size_t c = 0; c < 6; ++c) // two days
            holes[row * full.columns() + c] = no_number;
    for (std::size_t c = 6; c < 12; ++c) holes[9 * full.columns() + c] = no_number; // two more of one node
    learn::weak_node_finder find;
    learn::weak_nodes found;
    std::mt19937_64 engine(2);
    REQUIRE(find(learn::feature_matrix(holes, full.columns()), engine, found) == status::ok);
    for (std::size_t k = 0; k < means.size(); ++k) CHECK(found.weak[k] == (means[k] > 0 ? 1 : 0));
    CHECK(found.groups[0].slow_days == 4);
}

TEST_CASE("weak_nodes: allocates nothing once it has seen a table as large") {
    std::vector<double> means(40, 0.0);
    means[1] = 2;
    std::vector<double> memory;
    auto const table = days_of(means, memory);
    learn::weak_node_finder find;
    learn::weak_nodes found;
    auto const work = [&] {
        std::mt19937_64 engine(3);
        (void)find(table, engine, found);
    };
    work();
    // Only `weakest_groups_first` takes a row of centers, once per number of groups and once for the best.
    CHECK(straggle_test::allocations_during(work) <= 10);
}
