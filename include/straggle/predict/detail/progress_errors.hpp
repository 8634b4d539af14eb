// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/progress_trust.hpp`: by how much progress erred, in each part of the way and in
/// all.
#pragma once

#include <straggle/base/config.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace straggle::inline STRAGGLE_ABI::detail {

// Logarithms of what was promised / what came, of some tasks.
struct part_errors {
    double n = 0, mean = 0, variance = 0;

    void add(double error) noexcept {
        constexpr double remembered = 200; // tasks, then older ones fade
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
        constexpr double most = 1500; // no logarithm of a ratio of two times is larger
        a.expect(self.n >= 0 && self.n <= 200 && std::fabs(self.mean) <= most);
        a.expect(self.variance >= 0 && self.variance <= most * most);
    }
};

struct progress_errors {
    static constexpr std::size_t count = 16; // equal parts of the way
    // Variance of tasks that erred by a factor of 4.5: not trusted until shown.
    static constexpr double doubt = 2.25;

    std::array<part_errors, count> parts{};
    part_errors together{}; // of all parts; `n`: of the part with most tasks
    double seen = 0;        // how many parts were

    // After the parts have changed.
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
    // Variance in a part of which nothing is known. That one more part is unlike the others has probability
    // 1 / (seen + 1), by Laplace's rule of succession.
    [[nodiscard]] double of_another() const noexcept { return together.variance + doubt / (seen + 1); }
    // How many times as large the variance is as that of another one.
    [[nodiscard]] double louder_than(progress_errors const& other) const noexcept {
        constexpr double slight = 0.0025; // below which nothing matters
        return (together.variance + slight) / (other.together.variance + slight);
    }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.parts);
        if constexpr (Archive::reads) self.settle();
    }
};

} // namespace straggle::detail
