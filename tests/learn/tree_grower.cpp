// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Growing: the trees of XGBoost (tests/golden/boosted_trees.py), the best split by brute force, and what must
// not matter.

#include <straggle/learn/boosted_trees_trainer.hpp>

#include "../support/golden.hpp"
#include "../support/seed.hpp"
#include "tree_examples.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace straggle;
using namespace straggle_test;

namespace {

// As the script of the golden table makes them.
example_set golden_examples(golden_row const& how, std::size_t rows) {
    example_set set;
    set.columns = how.integer<std::size_t>(2);
    std::string const& shape = how.text(4);
    double const missing = how.real(5), cut = how.real(7), flip = how.real(8);
    bool const odd = how.text(6) == "1";
    straggle_test::golden_sequence draw(how.integer<std::uint64_t>(3));
    for (std::size_t r = 0; r < rows; ++r) {
        double const tendency = draw.unit();
        double absent = 0;
        if (shape == "days" && draw.unit() < 0.3) absent = 3 * std::floor(draw.unit() * 8);
        for (std::size_t c = 0; c < set.columns; ++c) {
            double const noise = draw.unit();
            double x = c % 3 == 2 ? noise : (tendency + noise) * 0.5;
            if (shape == "few") x = std::floor(4 * x) - 1.0;
            if (shape == "wide") x = std::ldexp(x - 0.5, static_cast<int>((draw() >> 33) % 61) - 30);
            if (shape == "neighbours") x = 1 + std::floor(6 * x) * 0x1p-23;
            if (shape == "days") x = tendency + (noise - 0.5) / static_cast<double>(1 + c / 3);
            if (draw.unit() < missing || static_cast<double>(c) < absent) x = lacking;
            if (odd && c == 0) x = tendency < 0.625 ? 7 : lacking;
            if (odd && c == 2) x = set.table.back();
            if (odd && c == set.columns - 1) x = lacking;
            set.table.push_back(x);
        }
        set.labels.push_back((tendency > cut) != (draw.unit() < flip) ? 1 : 0);
    }
    return set;
}

learn::boosted_trees_options golden_options(golden_row const& how) {
    return {.rounds = how.integer<std::uint32_t>(10),
            .eta = how.real(11),
            .max_depth = how.integer<std::uint32_t>(12),
            .lambda = how.real(13),
            .gamma = how.real(14),
            .min_child_weight = how.real(15),
            .base_score = how.real(16),
            .patience = how.text(9) == "0" ? 0u : 4u};
}

// Thresholds, directions and gains to the bit; leaves within 1e-6, since `exp` may differ in the last place.
void check_tree(std::span<learn::tree_node const> tree, golden_row const& expected) {
    std::size_t cell = 1, next = 1;
    for (learn::tree_node const& n : tree) {
        REQUIRE(cell + 1 < expected.size());
        std::string const& question = expected.text(cell);
        auto const number = static_cast<float>(expected.real(cell + 1));
        REQUIRE(n.is_leaf() == (question == "="));
        if (n.is_leaf()) {
            CHECK(static_cast<double>(n.value()) ==
                  doctest::Approx(expected.real(cell + 1)).epsilon(1e-6).scale(1));
            cell += 2;
            continue;
        }
        CHECK(std::to_string(n.column()) + (n.default_left() ? 'l' : 'r') == question);
        CHECK(n.threshold() == number);
        CHECK(static_cast<double>(n.gain()) == doctest::Approx(expected.real(cell + 2)).epsilon(1e-5));
        CHECK(n.left() == next);
        next += 2;
        cell += 3;
    }
    CHECK(cell == expected.size());
    CHECK(next == tree.size());
}

} // namespace

TEST_CASE("tree_grower: the trees and predictions of XGBoost") {
    learn::boosted_trees_trainer trainer;
    example_set examples;
    golden_row how("");
    std::size_t sets = 0, tree = 0, splits = 0;
    for (golden_row const& row : straggle_test::golden_table("boosted_trees.csv")) {
        std::string const& what = row.text(0);
        CAPTURE(sets);
        if (what == "set") {
            ++sets;
            how = row;
            tree = 0;
            auto const rows = how.integer<std::size_t>(1), watched = how.integer<std::size_t>(9);
            examples = golden_examples(how, rows + watched);
            trainer = learn::boosted_trees_trainer(golden_options(how));
            auto const learned = examples.all().between(0, rows);
            auto const labels = examples.all_labels().first(rows);
            if (watched == 0)
                REQUIRE(trainer.fit(learned, labels) == status::ok);
            else
                REQUIRE(trainer.fit(learned, labels, examples.all().between(rows, watched),
                                    examples.all_labels().subspan(rows)) == status::ok);
        } else if (what == "best") {
            CHECK(trainer.best_round() == row.integer<std::size_t>(1));
            CHECK(trainer.model().trees() == trainer.best_round() + 1);
        } else if (what == "losses") {
            REQUIRE(trainer.validation_losses().size() == row.size() - 1);
            for (std::size_t i = 1; i < row.size(); ++i)
                CHECK(trainer.validation_losses()[i - 1] == doctest::Approx(row.real(i)).epsilon(1e-6));
        } else if (what == "tree") {
            if (tree < trainer.model().trees()) { // those after the best round are gone
                CAPTURE(tree);
                check_tree(trainer.model().tree(tree), row);
                splits += trainer.model().tree(tree).size() / 2;
            }
            ++tree;
        } else if (what == "use" && how.text(9) == "0") { // XGBoost counts the later trees, too
            std::vector<learn::feature_use> uses(trainer.model().columns());
            trainer.model().importances(uses);
            learn::feature_use const& use = uses.at(row.integer<std::size_t>(1));
            CHECK(use.splits == row.integer<std::uint64_t>(2));
            CHECK(use.gain == doctest::Approx(row.real(3)).epsilon(1e-5));
        } else if (what == "predicted") {
            for (std::size_t i = 0; i + 1 < row.size(); ++i)
                CHECK(std::fabs(trainer.predict(examples.all().row(i)) - row.real(i + 1)) <= 1e-6);
        }
    }
    CHECK(sets == 21);
    CHECK(splits > 1000);
}

TEST_CASE("tree_grower: the first split by hand") {
    // Slopes are -0.5 for a 1 and 0.5 for a 0, curvatures 0.25. Split behind the second row: 1 / 1.5 on each
    // side, 0 before; the leaves are -+1 / 1.5 times eta.
    std::vector<double> const table{1, 2, 4, 8};
    std::vector<std::uint8_t> const labels{0, 0, 1, 1};
    learn::boosted_trees_trainer trainer({.rounds = 1, .eta = 0.5, .min_child_weight = 0.5});
    REQUIRE(trainer.fit(learn::feature_matrix(table, 1), labels) == status::ok);
    auto const tree = trainer.model().tree(0);
    REQUIRE(tree.size() == 3);
    CHECK(tree[0].threshold() == 3);
    CHECK(tree[0].gain() == doctest::Approx(4.0 / 3).epsilon(1e-6));
    CHECK(tree[0].default_left());
    CHECK(tree[1].value() == doctest::Approx(-1.0 / 3).epsilon(1e-6));
    CHECK(tree[2].value() == doctest::Approx(1.0 / 3).epsilon(1e-6));
    CHECK(trainer.predict(std::span(table).last(1)) ==
          doctest::Approx(1 / (1 + std::exp(-1.0 / 3))).epsilon(1e-6));

    // Each child has a curvature of 0.5 at most.
    learn::boosted_trees_trainer careful({.rounds = 1, .min_child_weight = 0.51});
    REQUIRE(careful.fit(learn::feature_matrix(table, 1), labels) == status::ok);
    CHECK(careful.model().nodes() == 1);
    // And gains less than gamma are taken back.
    learn::boosted_trees_trainer thrifty({.rounds = 1, .gamma = 1.34, .min_child_weight = 0.5});
    REQUIRE(thrifty.fit(learn::feature_matrix(table, 1), labels) == status::ok);
    CHECK(thrifty.model().nodes() == 1);
}

TEST_CASE("tree_grower: no other first split gains more") {
    std::uint64_t const seed = straggle_test::seed_or(11);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (int round = 0; round < 60; ++round) {
        std::size_t const examples = 5 + draw() % 60, features = 1 + draw() % 4;
        example_set const set = random_examples(draw, examples, features, round % 4 < 2 ? 0 : 0.3);
        double const lambda = round % 3, least = round % 2;
        learn::boosted_trees const model =
            trained(set, {.rounds = 1, .max_depth = 1, .lambda = lambda, .min_child_weight = least});
        auto const tree = model.tree(0);
        // Every threshold, each default direction, from the definition.
        auto const score = [&](double ones, double n) {
            double const g = (n - ones) / 2 - ones / 2;
            return n == 0 ? 0 : g * g / (n / 4 + lambda);
        };
        double const rows = static_cast<double>(set.labels.size());
        double ones = 0, best = 0;
        for (std::uint8_t const label : set.labels) ones += label;
        for (std::size_t c = 0; c < set.columns; ++c)
            for (std::size_t i = 0; i < set.labels.size(); ++i)
                for (bool const missing_left : {false, true}) {
                    double left = 0, left_ones = 0;
                    for (std::size_t j = 0; j < set.labels.size(); ++j) {
                        double const x = set.all().row(j)[c];
                        if (std::isnan(x) ? !missing_left : !(x < set.all().row(i)[c])) continue;
                        ++left;
                        left_ones += set.labels[j];
                    }
                    if (left / 4 < least || (rows - left) / 4 < least) continue;
                    best = (std::max)(best, score(left_ones, left) + score(ones - left_ones, rows - left) -
                                                score(ones, rows));
                }
        if (best > 1e-4) { // less than that is rounded away
            REQUIRE(tree.size() == 3);
            CHECK(static_cast<double>(tree[0].gain()) == doctest::Approx(best).epsilon(1e-4));
        }
    }
}

TEST_CASE("tree_grower: neither the order of rows nor the scale of features matters") {
    std::uint64_t const seed = straggle_test::seed_or(12);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (int round = 0; round < 10; ++round) {
        example_set const set = random_examples(draw, 150, 6, round % 2 == 0 ? 0 : 0.2);
        learn::boosted_trees const model = trained(set, {.rounds = 20});

        example_set shuffled = set;
        for (std::size_t i = set.labels.size(); i-- > 1;) {
            std::size_t const j = draw() % (i + 1);
            std::swap(shuffled.labels[i], shuffled.labels[j]);
            for (std::size_t c = 0; c < set.columns; ++c)
                std::swap(shuffled.table[i * set.columns + c], shuffled.table[j * set.columns + c]);
        }
        CHECK(trained(shuffled, {.rounds = 20}) == model); // the sums are exact

        example_set scaled = set;
        for (double& x : scaled.table) x *= 0x1p40;
        learn::boosted_trees const larger = trained(scaled, {.rounds = 20});
        REQUIRE(larger.nodes() == model.nodes());
        for (std::size_t i = 0; i < set.labels.size(); ++i)
            CHECK(larger.predict(scaled.all().row(i)) == model.predict(set.all().row(i)));
    }
}

TEST_CASE("tree_grower: features that say nothing are not asked") {
    std::mt19937_64 draw(straggle_test::seed_or(13));
    example_set const set = random_examples(draw, 100, 3);
    example_set padded;
    padded.columns = 7; // constant, missing, the three, two of them again
    for (std::size_t i = 0; i < set.labels.size(); ++i) {
        auto const row = set.all().row(i);
        padded.table.insert(padded.table.end(), {5.0, lacking, row[0], row[1], row[2], row[2], row[0]});
    }
    padded.labels = set.labels;
    learn::boosted_trees const plain = trained(set), model = trained(padded);
    std::vector<learn::feature_use> uses(7), plain_uses(3);
    model.importances(uses);
    plain.importances(plain_uses);
    for (std::size_t const c : {0u, 1u, 5u, 6u}) CHECK(uses[c] == learn::feature_use{});
    for (std::size_t c = 0; c < 3; ++c) CHECK(uses[2 + c] == plain_uses[c]);
}

TEST_CASE("tree_grower: depth is bounded, and more rounds only add trees") {
    std::mt19937_64 draw(straggle_test::seed_or(14));
    example_set const set = random_examples(draw, 300, 4);
    for (std::uint32_t const depth : {1u, 2u, 5u, 64u}) {
        learn::boosted_trees const model =
            trained(set, {.rounds = 8, .max_depth = depth, .min_child_weight = 0});
        for (std::size_t t = 0; t < model.trees(); ++t) {
            auto const tree = model.tree(t);
            std::vector<std::uint32_t> level(tree.size(), 0);
            for (std::size_t i = 0; i < tree.size(); ++i)
                if (!tree[i].is_leaf()) level[tree[i].left()] = level[tree[i].right()] = level[i] + 1;
            CHECK(level.back() <= depth);
            if (depth == 1) CHECK(tree.size() == 3);
        }
    }
    learn::boosted_trees const few = trained(set, {.rounds = 5}), many = trained(set, {.rounds = 9});
    CHECK(many.trees() == 9);
    for (std::size_t t = 0; t < 5; ++t)
        CHECK(std::equal(few.tree(t).begin(), few.tree(t).end(), many.tree(t).begin(), many.tree(t).end()));
    learn::boosted_trees const none = trained(set, {.rounds = 0, .base_score = 0.25});
    CHECK(none.trees() == 0);
    CHECK(none.predict(set.all().row(0)) == 0.25);
}

TEST_CASE("tree_grower: one class tends to certainty, without a question") {
    std::mt19937_64 draw(straggle_test::seed_or(15));
    for (std::uint8_t const label : {std::uint8_t{0}, std::uint8_t{1}}) {
        example_set set = random_examples(draw, 50, 3);
        std::fill(set.labels.begin(), set.labels.end(), label);
        learn::boosted_trees const model = trained(set, {.rounds = 200});
        CHECK(model.nodes() == 200);
        double const p = model.predict(set.all().row(0));
        CHECK((label == 1 ? p : 1 - p) > 0.98);
    }
}

TEST_CASE("tree_grower: extreme values are values") {
    // The middle of two huge floats overflows, of two neighbors it is one of them.
    double const most = static_cast<double>((std::numeric_limits<float>::max)());
    for (double const step : {most, 1e-45, 0x1p-149})
        for (double const lambda : {0.0, 1.0}) {
            example_set set;
            set.columns = 2;
            for (int i = 0; i < 40; ++i) {
                set.table.push_back(i % 2 == 0 ? step : -step);
                set.table.push_back(i % 5 == 0 ? lacking : step * (i % 3 == 0 ? 1 : 0.75));
                set.labels.push_back(i % 2 == 0 || i % 7 == 0 ? 1 : 0);
            }
            learn::boosted_trees const model =
                trained(set, {.rounds = 20, .lambda = lambda, .min_child_weight = 0});
            for (std::size_t i = 0; i < 40; ++i) {
                double const p = model.predict(set.all().row(i));
                CHECK((p >= 0 && p <= 1));
            }
        }
}
