// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Training: early stopping, what must be refused, what it costs. The trees themselves are in tree_grower.cpp.

#include <straggle/learn/boosted_trees_trainer.hpp>
#include <straggle/learn/classifier.hpp>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/seed.hpp"
#include "tree_examples.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace straggle;
using namespace straggle_test;

static_assert(learn::classifier<learn::boosted_trees_trainer>);

namespace {
constexpr double infinite = std::numeric_limits<double>::infinity();
} // namespace

TEST_CASE("boosted_trees_trainer: early stopping keeps the best round") {
    std::mt19937_64 draw(straggle_test::seed_or(16));
    example_set const set = random_examples(draw, 120, 5), other = random_examples(draw, 80, 5);
    learn::boosted_trees_options how{.rounds = 200, .eta = 0.5};
    learn::boosted_trees_trainer all(how);
    REQUIRE(all.fit(set.all(), set.labels, other.all(), other.labels) == status::ok);
    CHECK(all.model().trees() == 200);
    auto const losses = all.validation_losses();
    REQUIRE(losses.size() == 200);
    // Of all rounds the loss is what the first trees predict.
    for (std::uint32_t const rounds : {1u, 7u, 200u}) {
        learn::boosted_trees const first = trained(set, {.rounds = rounds, .eta = 0.5});
        double sum = 0;
        for (std::size_t i = 0; i < other.labels.size(); ++i) {
            double const p = first.predict(other.all().row(i));
            sum -= std::log(other.labels[i] != 0 ? p : 1 - p);
        }
        CHECK(losses[rounds - 1] == doctest::Approx(sum / 80).epsilon(1e-5));
    }
    for (std::uint32_t const patience : {1u, 3u, 20u, 500u}) {
        how.patience = patience;
        learn::boosted_trees_trainer trainer(how);
        REQUIRE(trainer.fit(set.all(), set.labels, other.all(), other.labels) == status::ok);
        std::size_t best = 0, last = 0;
        for (; last < 200; ++last) {
            if (losses[last] < losses[best]) best = last;
            if (last - best >= patience) break;
        }
        CHECK(trainer.best_round() == best);
        CHECK(trainer.validation_losses().size() == (std::min)(last + 1, std::size_t{200}));
        CHECK(trainer.model() == trained(set, {.rounds = static_cast<std::uint32_t>(best + 1), .eta = 0.5}));
    }
    // Of equally good rounds the first: two rows weigh too little for anything to be learned.
    learn::boosted_trees_trainer idle({.patience = 3});
    auto const two = set.all().between(0, 2);
    auto const labels = set.all_labels().first(2);
    REQUIRE(idle.fit(two, labels, two, labels) == status::ok);
    CHECK(idle.best_round() == 0);
    CHECK(idle.validation_losses().size() == 4);
    CHECK(idle.model().trees() == 1);
    // What was watched is forgotten by a training that watches nothing.
    REQUIRE(all.fit(set.all(), set.labels) == status::ok);
    CHECK(all.validation_losses().empty());
    CHECK(all.best_round() == 0);
}

TEST_CASE("boosted_trees_trainer: floats are as good as doubles") {
    std::mt19937_64 draw(straggle_test::seed_or(17));
    example_set const set = random_examples(draw, 90, 4, 0.1), other = random_examples(draw, 30, 4, 0.1);
    std::vector<float> const table(set.table.begin(), set.table.end());
    std::vector<float> const watched(other.table.begin(), other.table.end());
    learn::boosted_trees_trainer wide({.patience = 5}), narrow({.patience = 5});
    REQUIRE(wide.fit(set.all(), set.labels, other.all(), other.labels) == status::ok);
    REQUIRE(narrow.fit(learn::feature_matrix(table, 4), set.labels, learn::feature_matrix(watched, 4),
                       other.labels) == status::ok);
    CHECK(wide.model() == narrow.model());
    CHECK(wide.best_round() == narrow.best_round());
    REQUIRE(narrow.fit(learn::feature_matrix(table, 4), set.labels) == status::ok);
    CHECK(narrow.model() == trained(set));
    for (std::size_t i = 0; i < set.labels.size(); ++i)
        CHECK(narrow.predict(learn::feature_matrix(table, 4).row(i)) == narrow.predict(set.all().row(i)));
}

TEST_CASE("boosted_trees_trainer: bad examples are refused, and what was learned before stays") {
    std::mt19937_64 draw(straggle_test::seed_or(18));
    example_set const set = random_examples(draw, 60, 3);
    learn::boosted_trees_trainer trainer({.patience = 3});
    CHECK(trainer.model() == learn::boosted_trees());
    CHECK(trainer.predict(set.all().row(0)) == 0.5);
    REQUIRE(trainer.fit(set.all(), set.labels, set.all(), set.labels) == status::ok);
    learn::boosted_trees const before = trainer.model();
    auto const losses = trainer.validation_losses().size();

    auto const refused = [&](status expected, example_set const& bad) {
        CHECK(trainer.fit(bad.all(), bad.labels) == expected);
        if (bad.labels.size() == bad.all().rows()) // as examples to watch
            CHECK(trainer.fit(set.all(), set.labels, bad.all(), bad.labels) == expected);
        CHECK(trainer.model() == before);
        CHECK(trainer.validation_losses().size() == losses);
    };
    example_set bad;
    refused(status::insufficient_evidence, bad);
    bad.columns = 3;
    refused(status::insufficient_evidence, bad);
    for (double const x : {infinite, -infinite}) {
        bad = set;
        bad.table[100] = x;
        refused(status::out_of_domain, bad);
    }
    for (double const x : {3.5e38, -1e300}) {
        bad = set;
        bad.table[100] = x;
        refused(status::out_of_range, bad);
        bad.table[101] = infinite;
        refused(status::out_of_domain, bad);
    }
    bad = set;
    bad.labels[5] = 2;
    refused(status::out_of_domain, bad);
    bad = set;
    bad.labels.pop_back();
    refused(status::out_of_domain, bad);
    bad.labels.resize(61);
    refused(status::out_of_domain, bad);
    bad = random_examples(draw, 60, 2);
    CHECK(trainer.fit(set.all(), set.labels, bad.all(), bad.labels) == status::out_of_domain);
    CHECK(trainer.fit(set.all(), set.labels, set.all(), bad.all_labels().first(3)) == status::out_of_domain);
    CHECK(trainer.model() == before);

    // And it still learns.
    REQUIRE(trainer.fit(set.all(), set.labels) == status::ok);
    CHECK(trainer.model() == trained(set));
}

TEST_CASE("boosted_trees_trainer: options are a contract") {
    straggle_test::contract_trap const trap;
    auto const broken = [](learn::boosted_trees_options const& how) {
        CHECK_THROWS_AS(learn::boosted_trees_trainer{how}, straggle_test::broken_contract);
    };
    for (double const bad : {lacking, infinite, -infinite, -1.0, 1e39}) {
        broken({.eta = bad});
        broken({.lambda = bad});
        broken({.gamma = bad});
        broken({.min_child_weight = bad});
        broken({.base_score = bad});
    }
    broken({.eta = 0});
    broken({.eta = 1.01});
    broken({.max_depth = 0});
    broken({.max_depth = 65});
    for (double const bad : {0.0, 1.0, 1e-300, 1 - 0x1p-53}) broken({.base_score = bad});
    learn::boosted_trees_trainer const good({.eta = 1, .max_depth = 64, .lambda = 0, .min_child_weight = 0});
    CHECK(good.how().eta == 1);
}

TEST_CASE("boosted_trees_trainer: learning again allocates nothing, and gives the same") {
    std::mt19937_64 draw(straggle_test::seed_or(19));
    example_set const set = random_examples(draw, 116, 20, 0.1), other = random_examples(draw, 50, 20, 0.1);
    example_set const smaller = random_examples(draw, 30, 10);
    learn::boosted_trees_trainer trainer({.rounds = 30});
    for (int i = 0; i < 2; ++i)
        REQUIRE(trainer.fit(set.all(), set.labels, other.all(), other.labels) == status::ok);
    learn::boosted_trees const model = trainer.model();
    CHECK(straggle_test::allocations_during([&] {
              (void)trainer.fit(smaller.all(), smaller.labels);
              (void)trainer.fit(set.all(), set.labels, other.all(), other.labels);
          }) == 0);
    CHECK(trainer.model() == model);
    learn::boosted_trees_trainer copy = trainer; // nothing in it points into another one
    trainer = learn::boosted_trees_trainer();
    REQUIRE(copy.fit(set.all(), set.labels) == status::ok);
    CHECK(copy.model() == model);
}
