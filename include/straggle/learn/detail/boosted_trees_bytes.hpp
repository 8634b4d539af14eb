// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `learn/boosted_trees.hpp`: serializes trees, and reads them from untrusted bytes.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/learn/detail/logistic.hpp>
#include <straggle/learn/tree_node.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Nodes are stored level by level without links: each split takes the next two unclaimed nodes as its
// children. So no bytes can describe a loop, or a node with two parents.
struct boosted_trees_bytes {
    static constexpr std::uint32_t kind = frame_kind("tree");
    static constexpr std::uint32_t version = 1;
    // An upper bound for trained leaves: slopes are at most 1, curvatures at least 1e-16. The sum of 2^32
    // such leaves is finite.
    static constexpr float most_in_leaf = 1e17F;
    // As bits: excludes negative numbers, infinity and NaN.
    static constexpr std::uint32_t most_gain = 0x7f7fffff;
    static constexpr std::size_t most_nodes = (std::numeric_limits<std::uint32_t>::max)() - 2;

    template <class Trees>
    [[nodiscard]] static std::vector<std::byte> write(Trees const& trees) {
        byte_writer out;
        out.varint(trees.columns_);
        out.u32(std::bit_cast<std::uint32_t>(trees.base_margin_));
        out.count(trees.trees());
        for (std::size_t t = 0; t < trees.trees(); ++t) {
            for (learn::tree_node const& n : trees.tree(t)) {
                out.varint(n.is_leaf() ? 0
                                       : 2 * (std::uint64_t{n.column()} + 1) + (n.default_left() ? 1 : 0));
                out.u32(std::bit_cast<std::uint32_t>(n.is_leaf() ? n.value() : n.threshold()));
                if (!n.is_leaf()) out.u32(std::bit_cast<std::uint32_t>(n.gain()));
            }
        }
        return std::move(out).seal(kind, version);
    }

    // Reads into empty trees, which are unspecified after a failure.
    template <class Trees>
    [[nodiscard]] static status read(std::span<std::byte const> bytes, Trees& trees) {
        auto const frame = open_frame(bytes, kind, version);
        if (!frame) return frame.reason();
        byte_reader in = frame->payload;
        std::uint64_t const columns = in.varint();
        trees.base_margin_ = real(in);
        if (!in.expect(columns <= learn::tree_node::most_columns && plausible(trees.base_margin_)))
            return in.reason();
        trees.columns_ = static_cast<std::size_t>(columns);
        std::size_t const count = in.count(5);
        in.expect(columns != 0 || count == 0); // a walk reads a value before it recognizes a leaf
        trees.ends_.reserve(count);
        for (std::size_t t = 0; t < count && in.ok(); ++t) {
            std::uint32_t const depth = read_tree(in, trees);
            trees.ends_.push_back({static_cast<std::uint32_t>(trees.nodes_.size()), depth});
        }
        return in.finish();
    }

  private:
    static float real(byte_reader& in) { return std::bit_cast<float>(in.u32()); }
    static bool plausible(float x) noexcept { return magnitude_bits(x) <= magnitude_bits(most_in_leaf); }

    template <class Trees>
    static std::uint32_t read_tree(byte_reader& in, Trees& trees) {
        std::uint64_t known = 1; // nodes of this tree that must follow
        std::uint64_t level_end = 1;
        std::uint32_t depth = 0;
        for (std::uint64_t i = 0; i < known && in.ok(); ++i) {
            if (i == level_end) {
                level_end = known;
                ++depth;
            }
            std::uint64_t const what = in.varint();
            float const number = real(in);
            in.expect(trees.nodes_.size() < most_nodes);
            if (what == 0) {
                in.expect(plausible(number));
                trees.nodes_.push_back(learn::tree_node::leaf(static_cast<std::uint32_t>(i), number));
                continue;
            }
            float const gain = real(in);
            std::uint64_t const column = what / 2 - 1; // wraps around for a `what` of 1
            in.expect(column < trees.columns_ && !is_missing(number) &&
                      std::bit_cast<std::uint32_t>(gain) <= most_gain);
            trees.nodes_.push_back(learn::tree_node::split(static_cast<std::uint32_t>(known),
                                                           static_cast<std::uint32_t>(column), number,
                                                           what % 2 != 0, gain));
            known += 2;
        }
        return depth;
    }
};

} // namespace straggle::detail
