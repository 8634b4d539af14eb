// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/speculator.hpp`: how the nodes of a cluster differ, for a node of which little
/// is known.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/detect/late_cause.hpp>
#include <straggle/mitigate/copy_rows.hpp>
#include <straggle/record/slowdown.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace straggle::inline STRAGGLE_ABI::detail {

// Usual nodes, and a share of slow ones: two normal distributions of log slowdowns, fitted by a few steps of
// expectation and maximization.
class node_spread {
  public:
    void fit(std::span<mitigate::place_row const> places) noexcept {
        *this = {};
        constexpr std::size_t most = 256; // a sample suffices
        std::size_t const step = places.size() / most + 1;
        double usable = 0;
        std::array<sample, most> above{}; // the others cannot be slow
        std::size_t count = 0;
        for (std::size_t p = 0; p < places.size(); p += step) {
            if (!is_usable(places[p].slow)) continue;
            usable += 1;
            guess const seen = guess_of(places[p].slow);
            if (seen.mean > 0) above[count++] = {seen, usual.density(seen)};
        }
        for (int i = 0; i < 8; ++i) {
            // One slow node in twenty, about twice as slow: worth twenty nodes, and one slow node.
            double slow = 1, logs = start.mean, squares = start.variance;
            for (auto const& [seen, as_usual] : std::span(above).first(count)) {
                double const by = chance_slow(seen, as_usual), off = seen.mean - slow_.mean;
                guess const fits = slow_.given(seen);
                slow += by;
                logs += by * fits.mean;
                squares += by * (fits.variance +
                                 off * off * square(slow_.variance / (slow_.variance + seen.variance)));
            }
            share_ = slow / (20 + usable);
            slow_ = {logs / slow, squares / slow};
        }
    }
    // A node that is usual, or one of the slow ones.
    [[nodiscard]] std::array<detect::node_case, 2> cases(slowdown const& s) const noexcept {
        if (!is_usable(s)) return {{{1 - share_, usual.factor()}, {share_, slow_.factor()}}};
        guess const seen = guess_of(s);
        double const chance = seen.mean > 0 ? chance_slow(seen, usual.density(seen)) : 0.0;
        return {{{1 - chance, usual.given(seen).factor()}, {chance, slow_.given(seen).factor()}}};
    }

  private:
    struct guess {
        double mean = 0, variance = 0;

        [[nodiscard]] guess given(guess const& seen) const noexcept {
            double const share = variance / (variance + seen.variance);
            return {mean + share * (seen.mean - mean), share * seen.variance};
        }
        [[nodiscard]] double density(guess const& seen) const noexcept {
            double const v = variance + seen.variance, off = seen.mean - mean;
            return std::exp(-off * off / (2 * v)) / std::sqrt(v);
        }
        [[nodiscard]] predict::log_factor factor() const noexcept { return {mean, std::sqrt(variance)}; }
    };
    struct sample {
        guess seen{};
        double as_usual = 0; // its density among usual nodes, the same in every step
    };
    static constexpr guess usual{0, 0.0025}, start{0.6931471805599453, 0.16};

    [[nodiscard]] static double square(double x) noexcept { return x * x; }
    [[nodiscard]] static bool is_usable(slowdown const& s) noexcept {
        return s.is_known() && s.value > 0 && s.low > 0;
    }
    [[nodiscard]] static guess guess_of(slowdown const& s) noexcept {
        auto const [log, error] = predict::log_factor_of(s);
        return {log, (std::max)(square(error), 1e-6)};
    }
    // @param as_usual the density of usual nodes there
    [[nodiscard]] double chance_slow(guess const& seen, double as_usual) const noexcept {
        double const slow = share_ * slow_.density(seen), plain = (1 - share_) * as_usual;
        return slow > 0 ? slow / (slow + plain) : 0.0;
    }

    double share_ = 0.05;
    guess slow_ = start;
};

} // namespace straggle::detail
