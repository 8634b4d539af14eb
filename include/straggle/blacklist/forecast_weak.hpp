// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A selection policy for nodes that a forecast expects to be weak, and a policy that combines two others:
/// measured and expected weakness enter the same decision, under the same limits, each with its reason.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/rule_name.hpp>
#include <straggle/blacklist/selection.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::blacklist {

/// Nodes that are likely to be weak, the likeliest first, by a probability that the user supplies: usually
/// the forecast of a `forecaster` for the next period.
///
/// A node without a forecast is not selected, regardless of its measurements (`either` uses both). Nodes
/// outside the ranking cannot be selected: a policy names ranked nodes only.
///
/// Source: ML-NA (Ouyang et al. 2017), section V: blacklist nodes that are likely to be in their weak phase.
/// Verdict: value = probability, threshold = `least`.
/// @tparam Probability `probability_of(id)` is an `outcome<double>` or a number; a status, or a value that is
/// not a number in [0, 1], means no forecast
/// @par Example
/// `blacklister{forecast_weak{[&](std::string const& id) { return forecast.at(id); }}}`
/// @pre `least` in [0, 1]
/// @par Cost
/// one call per ranked node, plus sorting the selected ones; allocates nothing in the steady state
/// @par Guarantees
/// deterministic if the forecast is; ties: the worse mean, then first seen
template <class Probability>
struct forecast_weak {
    static constexpr std::string_view name = "forecast_weak";

    Probability probability_of; ///< probability that a node is weak
    double least = 0.5;         ///< selects nodes with at least this probability

    template <class Node>
    selection_note select(std::span<Node const> nodes, selection_scratch& scratch,
                          std::vector<candidate>& out) {
        STRAGGLE_EXPECTS(least >= 0 && least <= 1);
        std::size_t const first = out.size();
        scratch.values.clear();
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
            outcome<double> const p = probability_of(nodes[i].id);
            if (p && *p >= least && *p <= 1) out.push_back({i, *p, least});
        }
        std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                  [nodes](candidate const& a, candidate const& b) {
                      if (a.value != b.value) return a.value > b.value;
                      return detail::is_worse(nodes[a.node], nodes[b.node]);
                  });
        return selection_note::none;
    }
};

template <class Probability>
forecast_weak(Probability) -> forecast_weak<Probability>;
template <class Probability>
forecast_weak(Probability, double) -> forecast_weak<Probability>;

} // namespace straggle::blacklist

namespace straggle::inline STRAGGLE_ABI::detail {
inline constexpr char either_name[] = "either";
} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::blacklist {

/// Nodes that either policy selects: first those of the first policy, in its order, then those that the
/// second adds.
///
/// Verdict: that of the policy that named the node first, under its name; the note is that of the first
/// policy, or of the second if the first has none.
/// @par Example
/// `blacklister{either{dominated{}, forecast_weak{probability_of}}}`
/// @par Cost
/// of both, plus O(nodes); allocates nothing in the steady state
/// @par Guarantees
/// deterministic if both are
template <selection_policy First, selection_policy Second>
struct either {
    static constexpr std::string_view name = detail::nested_name<detail::either_name, First, Second>;

    First first{};   ///< takes precedence
    Second second{}; ///< adds its nodes after the first

    template <class Node>
    selection_note select(std::span<Node const> nodes, selection_scratch& scratch,
                          std::vector<candidate>& out) {
        std::size_t const begin = out.size();
        selection_note const note = first.select(nodes, scratch, out);
        std::size_t const middle = out.size();
        selection_note const other = second.select(nodes, scratch, out);
        scratch.order.assign(nodes.size(), 0);
        for (std::size_t k = begin; k < middle; ++k) scratch.order[out[k].node] = 1;
        for (std::size_t k = begin; k < out.size(); ++k)
            if (out[k].rule.empty())
                out[k].rule = k < middle ? std::string_view(First::name) : std::string_view(Second::name);
        auto const named = [&](candidate const& c) { return scratch.order[c.node] != 0; };
        out.erase(std::remove_if(out.begin() + static_cast<std::ptrdiff_t>(middle), out.end(), named),
                  out.end());
        return note != selection_note::none ? note : other;
    }
};

template <class First, class Second>
either(First, Second) -> either<First, Second>;

} // namespace straggle::blacklist
