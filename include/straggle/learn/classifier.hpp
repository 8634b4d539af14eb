// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What a classifier is: a small type that learns from examples with labels 0 and 1, and then says how likely
/// a new example is a 1. `boosted_trees_trainer` is the one of ML-NA; any other plugs in.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/learn/feature_matrix.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::learn {

/// Something that learns to tell two classes apart, such as weak nodes (1) and others (0).
///
/// `fit(rows, labels)` learns from scratch; a row may hold NaN where a value is missing. It returns why it
/// could not where it could not, and then still predicts as before: `status::insufficient_evidence` for no
/// rows, `status::out_of_domain` for labels that are not 0 or 1, infinite values or sizes that do not fit.
/// Examples of one class only are no failure.
///
/// `predict(row)` is the probability in [0, 1] that the label of a row is 1; the row has as many values as
/// those learned from. Before anything was learned it is any constant.
///
/// `name` stands in reports.
template <class Classifier>
concept classifier =
    std::movable<Classifier> &&
    requires(Classifier& learner, Classifier const& learned, feature_matrix<double> const& rows,
             std::span<std::uint8_t const> labels, std::span<double const> row) {
        { learner.fit(rows, labels) } -> std::same_as<status>;
        { learned.predict(row) } -> std::same_as<double>;
        { Classifier::name } -> std::convertible_to<std::string_view>;
    };

} // namespace straggle::learn
