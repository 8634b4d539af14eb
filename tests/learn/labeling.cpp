// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/learn/labeling.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

using namespace straggle;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

// Two days of mean, deviation and number per row.
struct fleet {
    std::vector<double> values;
    std::vector<std::uint32_t> label;
    std::vector<std::uint32_t> columns{0, 1, 2, 3, 4, 5};

    void add(std::uint32_t group, double mean1, double sd1, double mean2, double sd2) {
        values.insert(values.end(), {mean1, sd1, 9.0, mean2, sd2, -9.0});
        label.push_back(group);
    }
    [[nodiscard]] status order(std::size_t groups, std::vector<learn::group_profile>& out) const {
        return learn::weakest_groups_first(learn::feature_matrix(values, columns.size()), columns, label,
                                           groups, out);
    }
};

std::vector<std::uint32_t> order_of(std::vector<learn::group_profile> const& groups) {
    std::vector<std::uint32_t> order;
    for (auto const& g : groups) order.push_back(g.group);
    return order;
}

} // namespace

TEST_CASE("labeling: C1, the most days with a positive mean at the centre") {
    fleet f;
    f.add(0, -1, 1, -1, 1);
    f.add(1, 5, 1, -1, 1);      // a very slow day, and one that is not
    f.add(2, 0.2, 1, 0.1, 1);   // slow on both
    f.add(2, 0.2, 1, -0.05, 1); // of its group only the center counts
    std::vector<learn::group_profile> groups;
    REQUIRE(f.order(3, groups) == status::ok);
    CHECK(order_of(groups) == std::vector<std::uint32_t>{2, 1, 0});
    CHECK(groups[0].slow_days == 2);
    CHECK(groups[0].nodes == 2);
    CHECK(groups[0].mean_score == doctest::Approx((0.2 + 0.025) / 2));
    CHECK(groups[1].slow_days == 1);
    std::vector<std::uint8_t> weak;
    learn::label_weak(groups, f.label, weak);
    CHECK(weak == std::vector<std::uint8_t>{0, 0, 1, 1});
}

TEST_CASE("labeling: C2, of those the one whose slowdown is the surest") {
    fleet f;
    f.add(0, 1, 0.9, 1, 0.7);
    f.add(1, 1, 0.5, 1, 0.4);
    f.add(2, -1, 0.1, -1, 0.1);
    std::vector<learn::group_profile> groups;
    REQUIRE(f.order(3, groups) == status::ok);
    CHECK(order_of(groups) == std::vector<std::uint32_t>{1, 0, 2});
    CHECK(groups[0].mean_sd == doctest::Approx(0.45));
}

TEST_CASE("labeling: then the slower one, then the first; empty groups last") {
    fleet f;
    f.add(3, 1, 0.5, 1, 0.5);
    f.add(1, 2, 0.5, 1, 0.5);
    f.add(2, 1, 0.5, 1, 0.5);
    std::vector<learn::group_profile> groups;
    REQUIRE(f.order(5, groups) == status::ok);
    CHECK(order_of(groups) == std::vector<std::uint32_t>{1, 2, 3, 0, 4});
    CHECK(groups[3].nodes == 0);
}

TEST_CASE("labeling: more than two classes") {
    fleet f;
    for (std::uint32_t g = 0; g < 4; ++g) f.add(g, g < 2 ? 1 : -1, 0.1 * (g + 1), -1, 0.1);
    std::vector<learn::group_profile> groups;
    REQUIRE(f.order(4, groups) == status::ok);
    CHECK(order_of(groups) == std::vector<std::uint32_t>{0, 1, 2, 3});
    std::vector<std::uint32_t> classes;
    learn::label_classes(groups, f.label, 3, classes);
    CHECK(classes == std::vector<std::uint32_t>{0, 1, 2, 2});
    learn::label_classes(groups, f.label, 1, classes);
    CHECK(classes == std::vector<std::uint32_t>{0, 0, 0, 0});
    learn::label_classes(groups, f.label, 9, classes);
    CHECK(classes == std::vector<std::uint32_t>{0, 1, 2, 3});
}

TEST_CASE("labeling: columns that are left out count for nothing") {
    fleet f; // the first day of a node_days table of two is not known
    f.columns = {2, 3, 4};
    f.values = {9, 1, 0.5, 9, -1, 0.5};
    f.label = {0, 1};
    std::vector<learn::group_profile> groups;
    REQUIRE(f.order(2, groups) == status::ok);
    CHECK(groups[0].group == 0);
    CHECK(groups[0].slow_days == 1);
    CHECK(groups[0].mean_sd == 0.5);
}

TEST_CASE("labeling: what cannot be ordered") {
    fleet f;
    std::vector<learn::group_profile> groups;
    CHECK(f.order(1, groups) == status::insufficient_evidence); // nobody
    f.add(0, 1, 1, 1, 1);
    CHECK(f.order(0, groups) == status::insufficient_evidence);
    f.add(1, no_number, 1, 1, 1);
    CHECK(f.order(2, groups) == status::out_of_domain);
    CHECK(f.order(1, groups) == status::out_of_domain); // a label that is no group
    f.values = {1, 2};
    f.columns = {2};
    CHECK(f.order(2, groups) == status::insufficient_evidence); // numbers of tasks only
    std::vector<std::uint8_t> weak;
    learn::label_weak({}, f.label, weak);
    CHECK(weak == std::vector<std::uint8_t>{0, 0});
}
