// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The k weakest nodes of level 0 by two orders combined: *P-Cores with number* (DSB section 4.2.4).
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/random.hpp>
#include <straggle/blacklist/selection.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::blacklist {

/// Fills the remaining places by rank instead of at random.
struct deterministic_fill {};

/// What to do when level 0 holds fewer than k nodes.
enum class fill_from : std::uint8_t {
    level_0,     ///< select those only
    next_levels, ///< fill up to k from the next levels, level by level, the worst mean first
};

/// At most k nodes of level 0. If it holds more, they are ranked by deviation and by mean, both descending:
/// the nodes among the first k of both are taken, and the remaining places are filled from those among the
/// first k of one only.
///
/// Source: DSB section 4.2.4. Changed: the remaining places are filled by rank (worse mean, then more scores,
/// then first seen), so that equal input gives an equal answer; pass an engine for the paper's uniform draw
/// without replacement. `fill_from::next_levels` is for k beyond the size of level 0, as in figure 9 (k of 4
/// and 5), of which the section says nothing.
///
/// Verdict: value = mean, threshold = mean of the k-th node in order of mean.
/// @par Cost
/// O(level 0) expected, plus O(k log k) to put the result in order; O(n log n) to fill up from the next
/// levels; allocates nothing in the steady state
/// @tparam Fill `deterministic_fill`, or a `random_engine` owned by the caller
template <class Fill = deterministic_fill>
    requires std::same_as<Fill, deterministic_fill> || base::random_engine<Fill>
class top_k_intersection {
  public:
    static constexpr std::string_view name = "top_k_intersection";

    /// Deterministic.
    /// @param k maximum number of nodes to select
    /// @param where whether nodes beyond level 0 may be selected
    explicit constexpr top_k_intersection(std::size_t k, fill_from where = fill_from::level_0) noexcept
        requires std::same_as<Fill, deterministic_fill>
        : k_(k), where_(where) {}
    /// The paper's random fill.
    /// @param k maximum number of nodes to select
    /// @param engine must outlive the policy
    /// @param where whether nodes beyond level 0 may be selected
    constexpr top_k_intersection(std::size_t k, Fill& engine, fill_from where = fill_from::level_0) noexcept
        requires base::random_engine<Fill>
        : k_(k), where_(where), engine_(&engine) {}

    template <class Node>
    selection_note select(std::span<Node const> nodes, selection_scratch& scratch,
                          std::vector<candidate>& out) {
        std::size_t const size = detail::size_of_weakest_level(nodes);
        if (size == 0) return selection_note::too_few_nodes;
        std::size_t const first = out.size();
        if (size <= k_) {
            for (std::uint32_t i = 0; i < size; ++i) out.push_back({i, nodes[i].mean, nodes[i].mean});
        } else if (k_ > 0) {
            pick(nodes.first(size), scratch, out);
        }
        detail::worst_first(nodes, std::span(out).subspan(first));
        if (where_ == fill_from::next_levels && size < k_) fill_up(nodes, size, scratch.order, out);
        if (out.size() > first) {
            double const threshold = nodes[out.back().node].mean;
            for (candidate& c : std::span(out).subspan(first)) c.threshold = threshold;
        }
        return selection_note::none;
    }

  private:
    // Where the first k of an order end: everything above the cut, and as many of those at the cut as fit,
    // first seen first.
    struct cut {
        double at;
        std::size_t ties;

        bool takes(double x) noexcept {
            if (x > at) return true;
            if (x < at || ties == 0) return false;
            --ties;
            return true;
        }
    };

    [[nodiscard]] cut first_k(std::vector<double>& values) const {
        auto const kth = values.begin() + static_cast<std::ptrdiff_t>(k_ - 1);
        std::nth_element(values.begin(), kth, values.end(), [](double a, double b) { return a > b; });
        double const at = *kth;
        auto const above = std::count_if(values.begin(), kth, [at](double x) { return x > at; });
        return {at, k_ - static_cast<std::size_t>(above)};
    }

    template <class Node>
    void pick(std::span<Node const> weakest, selection_scratch& scratch, std::vector<candidate>& out) {
        scratch.values.clear();
        for (Node const& node : weakest) scratch.values.push_back(node.mean);
        cut mean = first_k(scratch.values);
        for (std::size_t i = 0; i < weakest.size(); ++i) scratch.values[i] = weakest[i].sd;
        cut deviation = first_k(scratch.values);

        std::vector<std::uint32_t>& singles = scratch.order;
        singles.clear();
        std::size_t left = k_;
        for (std::uint32_t i = 0; i < weakest.size(); ++i) {
            bool const slow = mean.takes(weakest[i].mean);
            bool const erratic = deviation.takes(weakest[i].sd);
            if (slow && erratic) {
                out.push_back({i, weakest[i].mean, 0});
                --left;
            } else if (slow || erratic) {
                singles.push_back(i);
            }
        }
        fill(weakest, std::span(singles), left);
        for (std::uint32_t node : std::span(singles).first(left))
            out.push_back({node, weakest[node].mean, 0});
    }

    // Appends the worst nodes behind level 0, which has `size` nodes, until there are k.
    template <class Node>
    void fill_up(std::span<Node const> nodes, std::size_t size, std::vector<std::uint32_t>& order,
                 std::vector<candidate>& out) const {
        order.clear();
        for (std::size_t i = size; i < nodes.size(); ++i) order.push_back(static_cast<std::uint32_t>(i));
        std::sort(order.begin(), order.end(), [nodes](std::uint32_t a, std::uint32_t b) {
            Node const &x = nodes[a], &y = nodes[b];
            if (x.level != y.level) return x.level < y.level;
            return x.mean > y.mean || (!(y.mean > x.mean) && x.seen < y.seen);
        });
        for (std::uint32_t const node : std::span(order).first((std::min)(k_ - size, order.size())))
            out.push_back({node, nodes[node].mean, 0});
    }

    // Moves the `count` singles to take to the front.
    template <class Node>
    void fill(std::span<Node const> weakest, std::span<std::uint32_t> singles, std::size_t count) {
        if constexpr (base::random_engine<Fill>) {
            base::sample_to_front(singles, count, *engine_);
        } else {
            std::partial_sort(singles.begin(), singles.begin() + static_cast<std::ptrdiff_t>(count),
                              singles.end(), [weakest](std::uint32_t a, std::uint32_t b) {
                                  Node const &x = weakest[a], &y = weakest[b];
                                  if (x.mean > y.mean || y.mean > x.mean) return x.mean > y.mean;
                                  return x.n > y.n || (x.n == y.n && x.seen < y.seen);
                              });
        }
    }

    std::size_t k_;
    fill_from where_;
    Fill* engine_ = nullptr;
};

top_k_intersection(std::size_t, fill_from = fill_from::level_0) -> top_k_intersection<deterministic_fill>;
template <base::random_engine Engine>
top_k_intersection(std::size_t, Engine&, fill_from = fill_from::level_0) -> top_k_intersection<Engine>;

} // namespace straggle::blacklist
