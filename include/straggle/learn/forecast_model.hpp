// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A learned forecast that can be stored and used later by another process: how to compute features from the
/// history of nodes, and the trees trained on them.
///
/// Source: X. Ouyang et al., ML-NA (ICPADS 2017), section IV.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/learn/boosted_trees.hpp>
#include <straggle/learn/features.hpp>
#include <straggle/learn/forecast.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::learn {

/// A stored forecast: a `forecaster` with `forecast_from::period_before` learns it, and a process with the
/// last days of each node uses it.
///
/// @par Example
/// `model.trees = learned.learner().model();  file = model.serialize();  ...  model.forecast(days, rows,
/// out);`
/// @par Cost
/// that of the trees
/// @par Guarantees
/// any number of threads may forecast at once, each with its own memory; the same model and days give the
/// same forecast on every machine, up to the last place of the platform's `exp`
struct forecast_model {
    std::uint32_t days = 30; ///< length of a period: both the one the forecast uses and the one it predicts
    std::uint64_t day_length = 0; ///< in a unit of the user's choice; stored for the user, not used here
    feature_options features{.look_back = 3}; ///< how features are computed
    boosted_trees trees{};                    ///< trained on such features
    bool is_tested = false;                   ///< on periods not used for learning
    std::uint64_t better = 0; ///< in that test: nodes for which it was right and "as it was before" wrong
    std::uint64_t worse = 0;  ///< in that test: nodes for which "as it was before" was right and it was wrong

    /// Limit on days, of a period or of the look-back, that can be stored: more than a hundred years.
    static constexpr std::uint32_t most_days = 40000;

    /// Whether to act on it: false if it was tested and is no better than "as it was before", see
    /// `beats_repeat`.
    [[nodiscard]] constexpr bool is_useful() const noexcept {
        return !is_tested || beats_repeat(better, worse);
    }

    /// Number of features per node.
    [[nodiscard]] std::size_t columns() const noexcept { return features_per_day * std::size_t{days}; }

    /// How likely each node is to be weak in the period after these days.
    /// @param recent the last period of the nodes
    /// @param rows working memory for the features
    /// @param out replaced: the nodes in order of first appearance
    /// @return `status::out_of_domain` unless `recent.days() == days` and the trees have that many columns,
    /// `status::insufficient_evidence` without trees
    /// @par Cost
    /// that of `node_days::table` and of the trees; allocates nothing but copies of names, once its
    /// memory is large enough
    template <base::identifier NodeId>
    status forecast(node_days<NodeId> const& recent, std::vector<double>& rows,
                    std::vector<node_forecast<NodeId>>& out) const {
        if (trees.trees() == 0) return status::insufficient_evidence;
        if (recent.days() != days || trees.columns() != columns()) return status::out_of_domain;
        feature_matrix<double> const table = recent.table(rows, features);
        out.resize(recent.size());
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i].id = recent.node(i);
            out[i].probability = trees.predict(table.row(i));
        }
        return status::ok;
    }

    /// Serializes the model: the same bytes on every machine, in a frame of kind "fore" and version 1.
    /// @pre `days` from 1 to `most_days`, `features.look_back` at most that
    /// @par Cost
    /// that of the trees
    [[nodiscard]] std::vector<std::byte> serialize() const {
        STRAGGLE_EXPECTS(days > 0 && days <= most_days && features.look_back <= most_days);
        byte_writer out;
        out.varint(days);
        out.varint(day_length);
        out.flag(features.idle == idle_days::missing);
        out.varint(features.look_back);
        out.flag(is_tested);
        out.varint(better);
        out.varint(worse);
        std::vector<std::byte> const grown = trees.serialize();
        out.text({reinterpret_cast<char const*>(grown.data()), grown.size()});
        return std::move(out).seal(kind, version);
    }
    /// Restores a model from bytes, which may be arbitrary.
    /// @return `status::ok`, or an error with nothing changed: see `open_frame` and `boosted_trees::restore`;
    /// `status::corrupt` for trees with other columns
    /// @par Cost
    /// O(bytes); allocates at most a fixed multiple of the bytes
    [[nodiscard]] status restore(std::span<std::byte const> bytes) {
        auto const frame = open_frame(bytes, kind, version);
        if (!frame) return frame.reason();
        byte_reader in = frame->payload;
        forecast_model read;
        std::uint64_t const its_days = in.varint();
        read.day_length = in.varint();
        read.features.idle = in.flag() ? idle_days::missing : idle_days::carried;
        std::uint64_t const back = in.varint();
        read.is_tested = in.flag();
        read.better = in.varint();
        read.worse = in.varint();
        std::string_view const grown = in.text();
        in.expect(its_days > 0 && its_days <= most_days && back <= most_days);
        if (status const s = in.finish(); s != status::ok) return s;
        read.days = static_cast<std::uint32_t>(its_days);
        read.features.look_back = static_cast<std::size_t>(back);
        auto const trees_bytes =
            detail::span_of(reinterpret_cast<std::byte const*>(grown.data()), grown.size());
        if (status const s = read.trees.restore(trees_bytes); s != status::ok) return s;
        if (read.trees.trees() > 0 && read.trees.columns() != read.columns()) return status::corrupt;
        *this = std::move(read);
        return status::ok;
    }

    friend bool operator==(forecast_model const&, forecast_model const&) = default;

  private:
    static constexpr std::uint32_t kind = frame_kind("fore");
    static constexpr std::uint32_t version = 1;
};

} // namespace straggle::learn
