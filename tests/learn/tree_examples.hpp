// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Examples for the tests of boosted trees.
#pragma once

#include <straggle/learn/boosted_trees_trainer.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

namespace straggle_test {

/// A value that is missing.
inline constexpr double lacking = std::numeric_limits<double>::quiet_NaN();

struct example_set {
    std::size_t columns = 0;
    std::vector<double> table;
    std::vector<std::uint8_t> labels;

    straggle::learn::feature_matrix<double> all() const {
        return straggle::learn::feature_matrix(table, columns);
    }
    std::span<std::uint8_t const> all_labels() const { return labels; }
};

/// Random examples whose labels follow the features in part.
inline example_set random_examples(std::mt19937_64& draw, std::size_t rows, std::size_t columns,
                                   double missing = 0) {
    auto const unit = [&] { return static_cast<double>(draw() >> 11) * 0x1p-53; };
    example_set set;
    set.columns = columns;
    for (std::size_t r = 0; r < rows; ++r) {
        double const tendency = unit();
        for (std::size_t c = 0; c < columns; ++c)
            set.table.push_back(
                unit() < missing ? lacking : static_cast<double>(static_cast<float>(tendency + unit())));
        set.labels.push_back((tendency > 0.6) != (unit() < 0.1) ? 1 : 0);
    }
    return set;
}

inline straggle::learn::boosted_trees trained(example_set const& set,
                                              straggle::learn::boosted_trees_options const& how = {}) {
    straggle::learn::boosted_trees_trainer trainer(how);
    REQUIRE(trainer.fit(set.all(), set.labels) == straggle::status::ok);
    return trainer.model();
}

} // namespace straggle_test
