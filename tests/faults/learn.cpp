// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Failed allocations while it is learned which nodes are weak.

#include "learn/tree_examples.hpp"
#include "support/fault_cases.hpp"
#include "support/faults.hpp"

#include <straggle/learn/boosted_trees_trainer.hpp>
#include <straggle/learn/features.hpp>
#include <straggle/learn/forecast.hpp>
#include <straggle/learn/kmeans.hpp>
#include <straggle/learn/labeling.hpp>
#include <straggle/learn/weak_nodes.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using straggle_test::check_failures;
using straggle_test::long_name;
using straggle_test::named_attempt;
using straggle_test::promise;

using days = straggle::learn::node_days<std::string>;

// Numbers that compare also where they are NaN.
std::vector<std::uint64_t> bits_of(std::vector<double> const& numbers) {
    std::vector<std::uint64_t> bits;
    for (double const x : numbers) bits.push_back(std::bit_cast<std::uint64_t>(x));
    return bits;
}
days month(int nodes) {
    days d(5);
    for (int i = 0; i < nodes; ++i)
        for (std::size_t day = 0; day < 4; ++day)
            d.observe(long_name("node", i), day, i == 1 ? 2.0 : -0.1 * i + 0.01 * static_cast<double>(day));
    return d;
}
auto tabled(days const& d) {
    std::vector<double> values;
    d.table(values);
    std::vector<std::string> names;
    for (std::size_t row = 0; row < d.size(); ++row) names.push_back(d.node(row));
    return std::pair(bits_of(values), names);
}

std::vector<double> cloud(std::size_t rows, std::uint64_t seed) {
    std::mt19937_64 draw(seed);
    std::vector<double> values;
    for (std::size_t i = 0; i < 3 * rows; ++i)
        values.push_back(static_cast<double>(draw() >> 11) * 0x1p-53 + (i / 3 % 4 == 0 ? 3.0 : 0.0));
    return values;
}
struct grouping {
    straggle::learn::kmeans groups{};
    straggle::learn::clustering found{};
};
auto grouped(grouping const& g) {
    return std::pair(std::pair(g.found.label, g.found.size), bits_of(g.found.centers));
}

std::vector<straggle::learn::node_period<std::string>> periods() {
    std::vector<straggle::learn::node_period<std::string>> all(4);
    std::mt19937_64 draw(5);
    for (auto& p : all)
        for (int i = 0; i < 30; ++i) {
            p.nodes.push_back(long_name("node", i));
            p.weak.push_back(i % 5 == 0 ? 1 : 0);
            for (int c = 0; c < 3; ++c)
                p.features.push_back(static_cast<double>(draw() >> 11) * 0x1p-53 + p.weak.back());
        }
    return all;
}

} // namespace

TEST_CASE("node_days: a failed allocation changes nothing") {
    for (int const n : {0, 1, 4, 8, 16})
        check_failures(
            "observe", [n] { return month(n); }, [](days& d) { d.observe(long_name("node", 40), 3, 1.0); },
            tabled);
    auto const attempts = straggle_test::named_history(6, 7);
    auto const day_of = [](named_attempt const& a) { return static_cast<unsigned>(a.end / 150); };
    for (int const n : {0, 3, 9})
        check_failures(
            "observe_attempts", [n] { return month(n); },
            [&](days& d) { d.observe_attempts(attempts, straggle_test::named_ticks, day_of); }, tabled);
    check_failures(
        "copy assignment", [] { return month(3); }, [other = month(20)](days& d) { d = other; }, tabled);
    check_failures("table", [d = month(9)] { return tabled(d); });
    check_failures("complete", [d = month(9)] {
        std::vector<double> values;
        straggle::learn::complete_features all;
        (void)straggle::learn::complete(d.table(values), all);
        return std::pair(bits_of(all.values), all.columns);
    });
}

TEST_CASE("boosted_trees: a failed allocation leaves the last model") {
    std::mt19937_64 draw(3);
    auto const few = straggle_test::random_examples(draw, 40, 3, 0.1);
    auto const many = straggle_test::random_examples(draw, 120, 5, 0.1);
    auto const other = straggle_test::random_examples(draw, 50, 5);
    auto const trained = [&] {
        straggle::learn::boosted_trees_trainer t({.rounds = 4, .max_depth = 3, .patience = 3});
        (void)t.fit(few.all(), few.labels);
        return t;
    };
    auto const learned = [](straggle::learn::boosted_trees_trainer const& t) {
        std::vector<double> const losses(t.validation_losses().begin(), t.validation_losses().end());
        return std::pair(t.model().serialize(), std::pair(losses, t.best_round()));
    };
    check_failures("fit", trained, [&](auto& t) { (void)t.fit(many.all(), many.labels); }, learned);
    check_failures(
        "fit with validation", trained,
        [&](auto& t) { (void)t.fit(many.all(), many.labels, other.all(), other.labels); }, learned);
    auto const bytes = trained().model().serialize();
    check_failures("serialize", [model = trained().model()] { return model.serialize(); });
    auto const is = [](straggle::learn::boosted_trees const& m) { return m.serialize(); };
    auto const large = [&] { return straggle_test::trained(many, {.rounds = 3}); };
    check_failures("restore", large, [&](auto& m) { (void)m.restore(bytes); }, is);
    check_failures(
        "copy assignment", [&] { return trained().model(); }, [m = large()](auto& to) { to = m; }, is);
}

TEST_CASE("kmeans: after a failed allocation it can be used again") {
    auto const few = cloud(12, 1), many = cloud(60, 2);
    auto const loaded = [&] {
        grouping g;
        (void)g.groups.fit({few, 3});
        std::mt19937_64 engine(1);
        (void)g.groups.group(2, engine, g.found);
        return g;
    };
    check_failures(
        "load and fit", loaded,
        [&](grouping& g) {
            std::mt19937_64 engine(2);
            (void)g.groups.fit({many, 3});
            (void)g.groups.group(5, engine, g.found);
        },
        grouped, promise::usable);
    // Of a table that was loaded in part there is nothing to group, nor of the one before.
    for (std::size_t n = 1;; ++n) {
        grouping g = loaded();
        bool is_loaded = true;
        {
            straggle_test::failing_allocations const failing(n);
            try {
                (void)g.groups.fit({many, 3});
            } catch (std::bad_alloc const&) {
                is_loaded = false;
            }
        }
        if (is_loaded) break;
        std::mt19937_64 engine(2);
        CHECK(g.groups.group(2, engine, g.found) == straggle::status::insufficient_evidence);
    }
    check_failures("calinski_harabasz", [&] {
        std::vector<std::uint32_t> label;
        for (std::uint32_t i = 0; i < 60; ++i) label.push_back(i % 4 == 0 ? 1 : 0);
        return straggle::learn::calinski_harabasz({many, 3}, label).value_or(-1);
    });
    struct finding {
        straggle::learn::weak_node_finder find = straggle::learn::weak_node_finder();
        straggle::learn::weak_nodes found{};
    };
    std::vector<double> values;
    days const d = month(20);
    auto const table = d.table(values);
    check_failures(
        "weak nodes", [] { return finding{}; },
        [&](finding& f) {
            std::mt19937_64 engine(2);
            (void)f.find(table, engine, f.found);
        },
        [](finding const& f) { return std::pair(f.found.weak, f.found.label); }, promise::usable);
}

TEST_CASE("labels: nothing leaks when an allocation fails") {
    std::vector<double> values;
    days const d = month(20);
    straggle::learn::complete_features all;
    (void)straggle::learn::complete(d.table(values), all);
    std::vector<std::uint32_t> label(20, 0);
    label[1] = 1;
    check_failures("weakest groups", [&] {
        std::vector<straggle::learn::group_profile> groups;
        (void)straggle::learn::weakest_groups_first(all.matrix(), all.columns, label, 2, groups);
        std::vector<std::uint8_t> weak;
        std::vector<std::uint32_t> classes;
        straggle::learn::label_weak(groups, label, weak);
        straggle::learn::label_classes(groups, label, 2, classes);
        return std::pair(weak, classes);
    });
}

TEST_CASE("forecaster: a failed allocation leaves what was learned") {
    auto const all = periods();
    using model = straggle::learn::forecaster<std::string, straggle::learn::boosted_trees_trainer>;
    auto const made = [&] {
        model m(straggle::learn::forecast_from::period_before,
                straggle::learn::boosted_trees_trainer({.rounds = 3, .max_depth = 2}));
        (void)m.fit(std::span(all).first(2));
        return m;
    };
    auto const says = [&](model const& m) {
        model copy = m;
        std::vector<straggle::learn::node_forecast<std::string>> out;
        (void)copy.forecast(all.back(), out);
        return out;
    };
    check_failures("fit", made, [&](model& m) { (void)m.fit(all); }, says);
    check_failures("forecast", made, [&](model& m) { (void)says(m); }, says);
    check_failures("forecast_table", [&] {
        model m = made();
        std::vector<straggle::learn::forecast_cell> cells;
        (void)straggle::learn::forecast_table(std::span<straggle::learn::node_period<std::string> const>(all),
                                              m, cells);
        return cells.size();
    });
}
