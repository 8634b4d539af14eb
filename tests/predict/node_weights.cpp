// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/predict/node_weights.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/golden.hpp"
#include "../support/seed.hpp"
#include "pairs_of_tasks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace {

using straggle::status;
using straggle::predict::node_weight_options;
using straggle::predict::node_weights;
using straggle::predict::weight_fit;
using straggle::predict::weight_scratch;
using straggle_test::furthest;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
// Nothing fades, so that sums can be compared.
constexpr node_weight_options lasting{.fit = {.memory = 0}, .node_memory = 0, .prior_pairs = 512};

std::vector<double> copy(std::span<double const> w) {
    return {w.begin(), w.end()};
}

// Two kinds of nodes: on the even ones times are like the disks are, on the odd ones like the processors.
// Factors: node, disk, processor, and a number that tells nothing.
struct observation {
    int node = 0, other = 0;
    std::vector<double> s;
    double r = 0;
};
class cluster {
  public:
    cluster(int nodes, std::uint64_t seed) : nodes_(nodes), next_(seed) {}

    observation draw() {
        observation o;
        o.node = static_cast<int>((next_() >> 33) % static_cast<unsigned>(nodes_));
        // Half of all pairs are within a node.
        o.other =
            next_() >> 63 == 0 ? o.node : static_cast<int>((next_() >> 33) % static_cast<unsigned>(nodes_));
        return draw(o.node, o.other);
    }
    observation draw(int node, int other) {
        observation o{node, other, {}, 0};
        double const disk = next_.unit(), processor = next_.unit();
        o.s = {node == other ? 1.0 : 0.0, disk, processor, next_.unit()};
        double const disks = node % 2 == 0 ? 0.4 : 0.1;
        o.r = 0.3 * o.s[0] + disks * disk + (0.5 - disks) * processor + 0.2 * next_.unit();
        return o;
    }

  private:
    int nodes_;
    straggle_test::golden_sequence next_;
};

std::string name_of(int node) {
    return "node-" + std::to_string(node);
}

template <class Weights>
status observe(Weights& weights, observation const& o) {
    if (o.node != o.other) return weights.observe(o.s, o.r);
    if constexpr (std::same_as<typename Weights::key_type, std::string_view>)
        return weights.observe(name_of(o.node), o.s, o.r);
    else
        return weights.observe(o.node, o.s, o.r);
}

TEST_CASE("node weights: equal before there is evidence, the fleet's for nodes not known") {
    node_weights<std::string> weights(4);
    CHECK(weights.factors() == 4);
    CHECK(furthest(weights.weights_of("nobody"), std::vector(4, 0.25)) == 0);
    CHECK(weights.fleet_status() == status::insufficient_evidence);
    cluster all(6, 1);
    for (int i = 0; i < 31; ++i) observe(weights, all.draw());
    CHECK(weights.fleet_status() == status::insufficient_evidence);
    for (int i = 0; i < 6; ++i) CHECK(furthest(weights.weights_of(name_of(i)), std::vector(4, 0.25)) == 0);
    for (int i = 0; i < 2000; ++i) observe(weights, all.draw());
    CHECK(weights.fleet_status() == status::ok);
    CHECK(weights.nodes() == 6);
    CHECK(weights.find("nobody") == nullptr);
    CHECK(furthest(weights.weights_of("nobody"), weights.fleet_weights()) == 0);
    // 0.3, 0.25, 0.25 and 0 of 0.8.
    CHECK(furthest(weights.fleet_weights(), std::vector{0.375, 0.3125, 0.3125, 0.0}) < 0.05);
}

TEST_CASE("node weights: what matters on one node need not matter on another") {
    node_weights<int> weights(4, lasting);
    cluster all(4, 2);
    for (int i = 0; i < 80000; ++i) REQUIRE(observe(weights, all.draw()) == status::ok);
    for (int node = 0; node < 4; ++node) {
        auto const w = weights.weights_of(node);
        INFO("node ", node, ": ", w[0], " ", w[1], " ", w[2], " ", w[3]);
        double const disks = node % 2 == 0 ? 0.4 : 0.1;
        // The factor "which node" has its weight from the fleet; a random number gets none.
        CHECK(furthest(w, std::vector{0.375, disks / 0.8, (0.5 - disks) / 0.8, 0.0}) < 0.03);
        CHECK(weights.find(node)->pairs() > 5000);
    }
    CHECK(furthest(weights.fleet_weights(), std::vector{0.375, 0.3125, 0.3125, 0.0}) < 0.02);
}

TEST_CASE("node weights: from the fleet's to the node's without a step") {
    node_weights<int> weights(4, lasting);
    cluster all(40, 3);
    for (int i = 0; i < 20000; ++i) {
        observation o = all.draw();
        if (o.node != 0 && o.other != 0) observe(weights, o);
    }
    double before = weights.fleet_weights()[1];
    CHECK(weights.weights_of(0)[1] == before);
    double most = 0;
    for (int i = 1; i <= 6000; ++i) {
        observe(weights, all.draw(0, 0));
        double const now = weights.weights_of(0)[1];
        most = (std::max)(most, std::fabs(now - before));
        if (i == 1) CHECK(std::fabs(now - weights.fleet_weights()[1]) < 0.01);
        before = now;
    }
    CHECK(most < 0.02);
    CHECK(before > 0.44); // 0.3125 for the fleet, 0.5 for the node
}

TEST_CASE("node weights: are those of the pairs of the node and some of the fleet") {
    node_weight_options options = lasting;
    options.prior_pairs = 100;
    node_weights<int> weights(4, options);
    weight_fit fleet(4);
    std::vector<weight_fit> nodes(5, fleet);
    cluster all(5, 4);
    for (int i = 0; i < 3000; ++i) {
        observation const o = all.draw();
        observe(weights, o);
        fleet.observe(o.s, o.r);
        if (o.node == o.other) nodes[static_cast<std::size_t>(o.node)].observe(o.s, o.r);
    }
    weights.fit();
    weight_scratch scratch;
    std::vector<double> w(4);
    CHECK(fleet.fit(w, scratch) == status::ok);
    CHECK(furthest(weights.fleet_weights(), w) == 0);
    for (int node = 0; node < 5; ++node) {
        CHECK(nodes[static_cast<std::size_t>(node)].fit(w, scratch, fleet, 100) == status::ok);
        CHECK(furthest(weights.weights_of(node), w) == 0);
    }
}

TEST_CASE("node weights: are never far behind the evidence") {
    node_weights<int> weights(4, lasting);
    cluster all(30, 5);
    double most = 0;
    for (int i = 0; i < 6000; ++i) {
        observe(weights, all.draw());
        if (i < 1000 || i % 50 != 0) continue;
        node_weights<int> now = weights;
        now.fit();
        for (int node = 0; node < 30; ++node)
            most = (std::max)(most, furthest(weights.weights_of(node), now.weights_of(node)));
        most = (std::max)(most, furthest(weights.fleet_weights(), now.fleet_weights()));
    }
    // At most 1/16 of the evidence is missing, of weights that are still known to a few percent.
    CHECK(most < 0.03);
    CHECK(most > 0);
}

TEST_CASE("node weights: a node that is idle follows the fleet") {
    node_weights<int> weights(4, lasting);
    cluster all(20, 6);
    for (int i = 0; i < 8; ++i) observe(weights, all.draw(7, 7)); // the first of all pairs, then never again
    CHECK(furthest(weights.weights_of(7), std::vector(4, 0.25)) == 0);
    for (int i = 0; i < 3000; ++i) {
        observation o = all.draw();
        if (o.node == 7) o.node = 8, o.other = 8, o = all.draw(8, 8);
        observe(weights, o);
    }
    CHECK(furthest(weights.weights_of(7), weights.fleet_weights()) < 0.02);
}

TEST_CASE("node weights: follow a change") {
    node_weight_options options;
    options.fit.memory = 1000;
    options.node_memory = 500;
    node_weights<int> weights(2, options);
    straggle_test::golden_sequence next(7);
    for (int i = 0; i < 40000; ++i) {
        double const a = next.unit(), b = next.unit();
        weights.observe(i % 4, std::vector{a, b}, i < 30000 ? a : b);
    }
    CHECK(weights.fleet_weights()[1] > 0.98);
    for (int node = 0; node < 4; ++node) CHECK(weights.weights_of(node)[1] > 0.97); // e^-5 of it is left
}

TEST_CASE("node weights: a bad pair is counted and adds no node") {
    node_weights<std::string> weights(2);
    CHECK(weights.observe("a", std::vector{0.5, nan}, 0.5) == status::out_of_domain);
    CHECK(weights.observe("a", std::vector{0.5, 0.5}, -0.1) == status::out_of_domain);
    CHECK(weights.observe(std::vector{0.5, 1.5}, 0.5) == status::out_of_domain);
    CHECK(weights.nodes() == 0);
    CHECK(weights.fleet().rejected() == 3);
    CHECK(weights.fleet().pairs() == 0);
}

TEST_CASE("node weights: only so many nodes") {
    node_weight_options options = lasting;
    options.most_nodes = 3;
    node_weights<int> weights(4, options);
    cluster all(10, 8);
    for (int i = 0; i < 10; ++i) observe(weights, all.draw(i, i));
    for (int i = 0; i < 400; ++i) observe(weights, all.draw());
    CHECK(weights.nodes() == 3);
    CHECK(weights.over_capacity() > 7);
    CHECK(furthest(weights.weights_of(5), weights.fleet_weights()) == 0);
    std::uint64_t const before = weights.over_capacity();

    // Who is forgotten makes room, and what was known of it does not come back with the next.
    weights.forget(1);
    weights.forget(99);
    CHECK(weights.nodes() == 2);
    CHECK(weights.find(1) == nullptr);
    CHECK(furthest(weights.weights_of(1), weights.fleet_weights()) == 0);
    observe(weights, all.draw(5, 5));
    CHECK(weights.over_capacity() == before);
    CHECK(weights.nodes() == 3);
    REQUIRE(weights.find(5) != nullptr);
    CHECK(weights.find(5)->pairs() == 1);

    options.most_nodes = 0;
    node_weights<int> none(4, options);
    observe(none, all.draw(0, 0));
    CHECK(none.nodes() == 0);
    CHECK(none.over_capacity() == 1);
    CHECK(none.fleet().pairs() == 1);
}

TEST_CASE("node weights: clear") {
    node_weights<std::string> weights(4, lasting);
    auto const learn = [&] {
        cluster all(5, 9);
        for (int i = 0; i < 500; ++i) observe(weights, all.draw());
        return copy(weights.weights_of(name_of(3)));
    };
    auto const first = learn();
    weights.clear();
    CHECK(weights.nodes() == 0);
    CHECK(weights.fleet().pairs() == 0);
    CHECK(weights.fleet_status() == status::insufficient_evidence);
    CHECK(furthest(weights.weights_of(name_of(3)), std::vector(4, 0.25)) == 0);
    CHECK(furthest(learn(), first) == 0);
}

TEST_CASE("node weights: merging is as good as having seen everything") {
    std::uint64_t const seed = straggle_test::seed_or(10);
    INFO("seed ", seed);
    node_weights<std::string> whole(4, lasting), left = whole, right = whole;
    cluster all(6, seed);
    for (int i = 0; i < 4000; ++i) {
        observation const o = all.draw();
        observe(whole, o);
        observe(o.node < 4 && i % 3 != 0 ? left : right, o); // some nodes in both, some in one
    }
    whole.fit();
    node_weights<std::string> merged = left, other_way = right;
    merged.merge(right);
    other_way.merge(left);
    CHECK(merged.nodes() == 6);
    CHECK(merged.fleet().pairs() == 4000);
    for (int node = 0; node < 6; ++node) {
        std::string const name = name_of(node);
        CHECK(merged.find(name)->pairs() == whole.find(name)->pairs());
        // Sums of some thousand products are off by some roundings.
        CHECK(furthest(merged.weights_of(name), whole.weights_of(name)) <= 1e-11);
        CHECK(furthest(other_way.weights_of(name), whole.weights_of(name)) <= 1e-11);
    }
    CHECK(furthest(merged.fleet_weights(), whole.fleet_weights()) <= 1e-11);

    node_weight_options narrow = lasting;
    narrow.most_nodes = 2;
    node_weights<std::string> two(4, narrow);
    two.merge(whole);
    CHECK(two.nodes() == 2);
    CHECK(two.fleet().pairs() == 4000);
    std::uint64_t within = 0;
    for (int node = 0; node < 6; ++node) within += whole.find(name_of(node))->pairs();
    for (int node = 0; node < 6; ++node)
        if (auto const* fit = two.find(name_of(node))) within -= fit->pairs();
    CHECK(two.over_capacity() == within);
}

template <class Weights>
std::vector<std::byte> stored(Weights const& weights) {
    straggle::byte_writer out;
    weights.write(out);
    return {out.payload().begin(), out.payload().end()};
}

TEST_CASE("node weights: stored and loaded they go on as before") {
    node_weights<std::string> weights(4);
    cluster all(5, 11);
    for (int i = 0; i < 700; ++i) observe(weights, all.draw());
    weights.forget(name_of(2));
    weights.observe("", all.draw(0, 0).s, 0.5); // a name like any other
    auto const bytes = stored(weights);
    node_weights<std::string> back(4);
    observe(back, all.draw(9, 9));
    straggle::byte_reader in(bytes);
    REQUIRE(back.restore(in) == status::ok);
    CHECK(in.at_end());
    CHECK(stored(back).size() == bytes.size());
    CHECK(back.nodes() == 5);
    CHECK(back.find(name_of(9)) == nullptr);
    weights.fit();
    for (int node = 0; node < 5; ++node)
        CHECK(furthest(back.weights_of(name_of(node)), weights.weights_of(name_of(node))) == 0);
    CHECK(furthest(back.fleet_weights(), weights.fleet_weights()) == 0);
    for (int i = 0; i < 300; ++i) {
        observation const o = all.draw();
        observe(back, o);
        observe(weights, o);
    }
    back.fit();
    weights.fit();
    for (int node = 0; node < 5; ++node)
        CHECK(furthest(back.weights_of(name_of(node)), weights.weights_of(name_of(node))) == 0);
}

TEST_CASE("node weights: bytes that may be anything") {
    node_weights<std::string> weights(2);
    straggle_test::golden_sequence next(12);
    for (int i = 0; i < 60; ++i)
        weights.observe(name_of(i % 3), std::vector{next.unit(), next.unit()}, next.unit());
    auto const bytes = stored(weights);
    node_weights<std::string> other(2);
    other.observe("x", std::vector{0.5, 0.25}, 0.75);
    auto const before = stored(other);
    auto const load = [&](std::vector<std::byte> const& from) {
        node_weights<std::string> target = other;
        straggle::byte_reader in(from);
        status const s = target.restore(in);
        CHECK(in.reason() == s);
        if (s != status::ok) CHECK(stored(target) == before);
        auto const w = target.weights_of(name_of(1));
        CHECK(std::fabs(std::accumulate(w.begin(), w.end(), 0.0) - 1) <= 1e-12);
        return s;
    };
    CHECK(load(bytes) == status::ok);
    for (std::size_t n = 0; n < bytes.size(); ++n)
        CHECK(load({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n)}) == status::truncated);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        for (int bit = 0; bit < 8; ++bit) {
            auto changed = bytes;
            changed[i] ^= static_cast<std::byte>(1 << bit);
            static_cast<void>(load(changed));
        }

    node_weights<int> numbers(2);
    straggle::byte_reader in(bytes);
    CHECK(numbers.restore(in) == status::wrong_kind);
    node_weights<std::string> three(3);
    straggle::byte_reader again(bytes);
    CHECK(three.restore(again) == status::wrong_kind);
    node_weights<std::string> few(2, {.most_nodes = 2});
    straggle::byte_reader many(bytes);
    CHECK(few.restore(many) == status::out_of_range);

    // The same node twice.
    straggle::byte_writer twice;
    twice.tag(straggle::base::identifier_form<std::string>);
    weights.fleet().write(twice);
    twice.varint(0);
    twice.count(2);
    for (int i = 0; i < 2; ++i) {
        twice.identifier(std::string("a"));
        weight_fit(2).write(twice);
    }
    CHECK(load({twice.payload().begin(), twice.payload().end()}) == status::corrupt);
}

TEST_CASE("node weights: nothing is allocated in the steady state, and memory is as documented") {
    node_weights<int> weights(8);
    std::vector<double> s(8);
    straggle_test::golden_sequence next(13);
    auto const learn = [&](int nodes, int n) {
        for (int i = 0; i < n; ++i) {
            for (double& x : s) x = next.unit();
            weights.observe(i % nodes, s, 0.5 * s[0] + 0.5 * s[1]);
            weights.observe(s, 0.5 * s[0] + 0.5 * s[1]);
        }
    };
    learn(100, 1000);
    double sum = 0;
    CHECK(straggle_test::allocations_during([&] {
              learn(100, 5000);
              for (int node = 0; node < 120; ++node) sum += weights.weights_of(node)[0];
              weights.fit();
              weights.forget(7);
              learn(100, 500);
              weights.clear();
              learn(100, 500);
          }) == 0);
    CHECK(sum > 0);
    node_weights<int> many(8);
    many.observe(0, s, 0.5);
    std::size_t const before = straggle_test::live_bytes();
    for (int node = 1; node <= 1024; ++node) many.observe(node, s, 0.5);
    double const each = static_cast<double>(straggle_test::live_bytes() - before) / 1024;
    MESSAGE("bytes per node: ", each);
    CHECK(each < 4 * 9 * 14 + 8 * 8 + 400); // vectors that double
}

TEST_CASE("node weights: contracts") {
    straggle_test::contract_trap const trap;
    using straggle_test::broken_contract;
    CHECK_THROWS_AS(node_weights<int>(0), broken_contract);
    CHECK_THROWS_AS(node_weights<int>(2, {.node_memory = 0.5}), broken_contract);
    CHECK_THROWS_AS(node_weights<int>(2, {.prior_pairs = 0}), broken_contract);
    CHECK_THROWS_AS(node_weights<int>(2, {.prior_pairs = nan}), broken_contract);
    node_weights<int> weights(2);
    CHECK_THROWS_AS(weights.observe(1, std::vector(3, 0.5), 0.5), broken_contract);
    CHECK(weights.nodes() == 0);
    CHECK_THROWS_AS(weights.merge(node_weights<int>(3)), broken_contract);
}

} // namespace
