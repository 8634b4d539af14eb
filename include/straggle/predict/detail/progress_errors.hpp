// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/progress_trust.hpp`: the errors of progress, in each part of the way and overall.
#pragma once

#include <straggle/base/config.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace straggle::inline STRAGGLE_ABI::detail {

// Logarithms of promised time / actual time, over some tasks.
struct part_errors {
    double n = 0, mean = 0, variance = 0;

    void add(double error) noexcept {
        constexpr double remembered = 200; // tasks; beyond this, older ones fade
        n = (std::min)(n + 1, remembered);
        double const step = error - mean, share = 1 / n;
        mean += share * step;
        variance = (1 - share) * (variance + share * step * step);
    }
    void merge(part_errors const& other) noexcept {
        double const all = n + other.n, step = other.mean - mean;
        if (!(all > 0)) return;
        double const share = other.n / all;
        variance = (1 - share) * variance + share * other.variance + share * (1 - share) * step * step;
        mean += share * step;
        n = (std::min)(all, 200.0);
    }
    [[nodiscard]] double square() const noexcept { return n * variance; }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.n, self.mean, self.variance);
        constexpr double most = 1500; // bounds the logarithm of any ratio of times
        a.expect(self.n >= 0 && self.n <= 200 && std::fabs(self.mean) <= most);
        a.expect(self.variance >= 0 && self.variance <= most * most);
    }
};

struct progress_errors {
    static constexpr std::size_t count = 16; // equal parts of the way
    // Variance of errors by a factor of 4.5: not trusted until shown.
    static constexpr double doubt = 2.25;

    std::array<part_errors, count> parts{};
    part_errors together{}; // over all parts; `n`: that of the part with most tasks
    double seen = 0;        // number of parts with data

    // Call after the parts have changed.
    void settle() noexcept {
        double n = 0, sum = 0, square = 0;
        together = {};
        seen = 0;
        for (part_errors const& e : parts) {
            if (!(e.n > 0)) continue;
            seen += 1;
            n += e.n;
            sum += e.n * e.mean;
            together.n = (std::max)(together.n, e.n);
        }
        if (!(n > 0)) return;
        together.mean = sum / n;
        for (part_errors const& e : parts) {
            double const apart = e.mean - together.mean;
            square += e.n * (e.variance + apart * apart);
        }
        together.variance = square / n;
    }
    void merge(progress_errors const& other) noexcept {
        for (std::size_t i = 0; i < count; ++i) parts[i].merge(other.parts[i]);
        settle();
    }
    // Variance for a part without data. By Laplace's rule of succession, it differs from the others with
    // probability 1 / (seen + 1).
    [[nodiscard]] double of_another() const noexcept { return together.variance + doubt / (seen + 1); }
    // Ratio of its variance to that of other errors.
    [[nodiscard]] double louder_than(progress_errors const& other) const noexcept {
        constexpr double slight = 0.0025; // too small to matter
        return (together.variance + slight) / (other.together.variance + slight);
    }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.parts);
        if constexpr (Archive::reads) self.settle();
    }
};

} // namespace straggle::detail
