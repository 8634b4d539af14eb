// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `learn/boosted_trees_trainer.hpp`: the examples by feature, each sorted by value once for
/// all rounds of training.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/learn/detail/logistic.hpp>
#include <straggle/learn/feature_matrix.hpp>
#include <straggle/learn/tree_node.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// A value that is not missing, and its row.
struct column_entry {
    float value = 0;
    std::uint32_t row = 0;
};

class sorted_columns {
  public:
    // Where the values of a column are, and which splits are tried.
    struct column {
        std::size_t begin = 0;      // index of its first entry
        std::uint32_t count = 0;    // values that are not missing
        bool missing_right = false; // also try splits with missing values on the right
    };

    static constexpr std::uint32_t most_rows = (std::numeric_limits<std::uint32_t>::max)() / 4;

    // On failure it holds no examples at all.
    template <class Real>
    [[nodiscard]] status assign(learn::feature_matrix<Real> const& rows) {
        rows_ = 0;
        entries_.clear();
        columns_.clear();
        if (rows.empty()) return status::insufficient_evidence;
        if (rows.rows() > most_rows || rows.columns() > learn::tree_node::most_columns)
            return status::out_of_range;
        if (status const s = status_of(rows); s != status::ok) return s;
        entries_.reserve(rows.values().size());
        columns_.reserve(rows.columns());
        for (std::size_t c = 0; c < rows.columns(); ++c) add_column(rows, c);
        rows_ = static_cast<std::uint32_t>(rows.rows());
        return status::ok;
    }

    // Ok if every value is missing or, as a float, finite.
    template <class Real>
    [[nodiscard]] static status status_of(learn::feature_matrix<Real> const& rows) noexcept {
        constexpr auto most = magnitude_bits(static_cast<Real>((std::numeric_limits<float>::max)()));
        status result = status::ok;
        for (Real const x : rows.values()) {
            if (magnitude_bits(x) <= most || is_missing(x)) continue;
            if (magnitude_bits(x) == magnitude_of_infinity<Real>) return status::out_of_domain;
            result = status::out_of_range;
        }
        return result;
    }

    [[nodiscard]] std::uint32_t rows() const noexcept { return rows_; }
    [[nodiscard]] std::span<column const> columns() const noexcept { return span_of(columns_); }
    [[nodiscard]] column_entry const* entries() const noexcept { return entries_.data(); }
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

  private:
    // Integers in the order of the floats. Only the two zeros differ; they are neighbors.
    static constexpr std::uint32_t ordered(float x) noexcept {
        auto const bits = std::bit_cast<std::uint32_t>(x);
        return bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u);
    }
    static constexpr float from_ordered(std::uint32_t n) noexcept {
        return std::bit_cast<float>(n ^ ((n >> 31) != 0 ? 0x80000000u : 0xffffffffu));
    }

    template <class Real>
    void add_column(learn::feature_matrix<Real> const& rows, std::size_t c) {
        keys_.clear();
        keys_.reserve(rows.rows());
        Real const* at = rows.values().data() + c;
        for (std::uint32_t r = 0; r < rows.rows(); ++r, at += rows.columns()) {
            if (!is_missing(*at)) keys_.push_back(std::uint64_t{ordered(static_cast<float>(*at))} << 32 | r);
        }
        // Keeps equal values in the order of the rows: the same on every machine, unlike XGBoost.
        std::sort(keys_.begin(), keys_.end());
        column col;
        col.begin = entries_.size();
        col.count = static_cast<std::uint32_t>(keys_.size());
        for (std::uint64_t const key : keys_)
            entries_.push_back(
                {from_ordered(static_cast<std::uint32_t>(key >> 32)), static_cast<std::uint32_t>(key)});
        // The test as XGBoost does it, with its density in float.
        float const lacking = static_cast<float>(rows.rows() - keys_.size());
        float const density = 1.0F - lacking / static_cast<float>(rows.rows());
        col.missing_right =
            density < 1.0F && (keys_.empty() || entries_[col.begin].value != entries_.back().value);
        columns_.push_back(col);
    }

    std::vector<column_entry> entries_; // column after column, each in ascending order
    std::vector<column> columns_;
    std::vector<std::uint64_t> keys_; // value and row of one column
    std::uint32_t rows_ = 0;
};
} // namespace straggle::detail
