// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Defines classifiers: small types that learn from examples with labels 0 and 1, and then predict the
/// probability that a new example is a 1. `boosted_trees_trainer` is the one of ML-NA; custom ones plug in.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/learn/feature_matrix.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::learn {

/// Learns to separate two classes, such as weak nodes (1) and others (0).
///
/// `fit(rows, labels)` learns from scratch; a row may hold NaN for missing values. On failure it returns the
/// reason and keeps the old model: `status::insufficient_evidence` without rows, `status::out_of_domain` for
/// labels that are not 0 or 1, infinite values or mismatched sizes. Examples of a single class are not a
/// failure.
///
/// `predict(row)` is the probability in [0, 1] that the label of a row is 1; the row has as many values as
/// the training rows. Before training it is any constant.
///
/// `name` appears in reports.
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
