// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "options.hpp"
#include "parameters.hpp"

namespace straggle_rank {

namespace {

constexpr double tiny = 1e-9;
constexpr double huge = 1e9;
constexpr std::size_t many = 1'000'000'000;

top_k read_top_k(parameters const& p) {
    top_k policy{p.required<std::size_t>(0, 0, many), {}};
    if (p.has(1)) policy.seed = p.required<std::uint64_t>(1, 0, UINT64_MAX);
    return policy;
}

} // namespace

selection parse_selection(std::string_view specification) {
    parameters const p("--select", specification);
    auto const is = [&](std::string_view name, std::size_t most) {
        if (p.name() != name) return false;
        p.at_most(most);
        return true;
    };
    if (is("slowdown", 1)) return by_slowdown{p.optional(0, 1.1, 1.0, huge)};
    if (is("slower_by", 1))
        return straggle::blacklist::slower_by{.least_slowdown = p.optional(0, 1.1, 1.0, huge)};
    if (is("dominated", 2)) {
        straggle::blacklist::dominated policy{.q = p.optional(0, 0.5, tiny, 1.0)};
        if (p.has(1)) policy.least_mean = p.optional(1, 0.0, -huge, huge);
        return policy;
    }
    if (is("dominated_fdr", 2))
        return straggle::blacklist::dominated_fdr{.q = p.optional(0, 0.5, tiny, 1.0),
                                                  .alpha = p.optional(1, 0.05, tiny, 1 - tiny)};
    if (is("weakest_level", 0)) return straggle::blacklist::weakest_level{};
    if (is("top_k", 2)) return read_top_k(p);
    if (is("median_mad", 2))
        return median_mad{.deviations = p.optional(0, 3.0, 0.0, huge),
                          .low = p.optional(1, 0.0, -huge, huge)};
    if (is("leave_top_k_out", 2))
        return leave_top_k_out{.k = p.required<std::size_t>(0, 0, many),
                               .sigmas = p.optional(1, 5.0, 0.0, huge)};
    if (is("mean_plus_sigmas", 1)) return mean_plus_sigmas{.sigmas = p.optional(0, 1.9, 0.0, huge)};
    p.wrong("no such policy");
}

} // namespace straggle_rank
