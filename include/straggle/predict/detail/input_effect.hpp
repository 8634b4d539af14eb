// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/sibling_times.hpp`: learns whether, and how fast, time grows with input, within
/// jobs and on logarithmic scales; and likewise with the share of busy slots beside it.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>

#include <cmath>

namespace straggle::inline STRAGGLE_ABI::detail {

// Sums of squared deviations of x = log input and y = log time.
struct input_sums {
    double n = 0, x = 0, y = 0; // means
    double xx = 0, xy = 0, yy = 0;

    // Adds a task, and returns the increase of the sums of squares.
    input_sums add(double log_input, double log_time) noexcept {
        n += 1;
        double const dx = log_input - x, dy = log_time - y;
        x += dx / n;
        y += dy / n;
        input_sums more;
        more.n = n > 1 ? 1 : 0; // the first task of a job carries no information
        more.xx = dx * (log_input - x);
        more.xy = dx * (log_time - y);
        more.yy = dy * (log_time - y);
        xx += more.xx;
        xy += more.xy;
        yy += more.yy;
        return more;
    }
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.n, self.x, self.y, self.xx, self.xy, self.yy);
        a.expect(self.n >= 0 && self.n < 1e15);
        for (double const sum : {self.x, self.y, self.xx, self.xy, self.yy}) a.expect(std::fabs(sum) < 1e24);
    }
};

// The exponent of time in input, with a normal distribution.
class input_effect {
  public:
    void add(input_sums const& more) noexcept {
        n_ += more.n;
        xx_ += more.xx;
        xy_ += more.xy;
        yy_ += more.yy;
        constexpr double most = 5000; // tasks; beyond this, older ones fade
        if (n_ > most) {
            n_ *= 0.5;
            xx_ *= 0.5;
            xy_ *= 0.5;
            yy_ *= 0.5;
        }
    }
    void add(input_effect const& other) noexcept {
        add({.n = other.n_, .xx = other.xx_, .xy = other.xy_, .yy = other.yy_});
    }
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.n_, self.xx_, self.xy_, self.yy_);
        for (double const square : {self.n_, self.xx_, self.yy_}) a.expect(square >= 0 && square < 1e12);
        // Cauchy-Schwarz, with room for rounding.
        a.expect(self.xy_ * self.xy_ <= 1.001 * self.xx_ * self.yy_ + 1e-6);
    }
    // Combined with the others' effect, which counts as one observation with the variance between kinds.
    [[nodiscard]] input_effect over(input_effect const& others) const noexcept {
        // Prior: an exponent between 0 and 1.
        constexpr double middle = 0.5, variance = 0.25, between = 0.04;
        double prior = middle, prior_variance = variance;
        if (others.xx_ > 0) {
            double const v = others.noise() / others.xx_;
            double const precision = 1 / variance + 1 / (v + between);
            prior = (middle / variance + others.xy_ / others.xx_ / (v + between)) / precision;
            prior_variance = 1 / precision;
        }
        input_effect out = *this;
        double const own = xx_ > 0 ? xx_ / noise() : 0.0, precision = own + 1 / prior_variance;
        out.mean_ = ((xx_ > 0 ? own * (xy_ / xx_) : 0.0) + prior / prior_variance) / precision;
        out.mean_ = out.mean_ > 0 ? (out.mean_ < 1.5 ? out.mean_ : 1.5) : 0.0;
        out.deviation_ = std::sqrt(1 / precision);
        return out;
    }
    // Alone, with the prior that there is no effect.
    [[nodiscard]] input_effect from_none() const noexcept {
        constexpr double variance = 0.25;
        double const own = xx_ > 0 ? xx_ / noise() : 0.0, precision = own + 1 / variance;
        input_effect out = *this;
        out.mean_ = xx_ > 0 ? own * (xy_ / xx_) / precision : 0.0;
        if (!(out.mean_ > 0)) out.mean_ = 0;
        out.deviation_ = std::sqrt(1 / precision);
        return out;
    }
    [[nodiscard]] double mean() const noexcept { return mean_; }
    [[nodiscard]] double deviation() const noexcept { return deviation_; }
    // Upper bound for the log factor by which a task with that much more log input is longer.
    [[nodiscard]] double longest(double more) const noexcept {
        if (!(more > 0 || more < 0)) return 0;
        double const up = more > 0 ? mean_ + deviation_ : mean_ - deviation_;
        return more * (up > 0 ? (up < 1.5 ? up : 1.5) : 0.0);
    }

  private:
    // Variance of a log time given the input; bounded below by what is indistinguishable.
    [[nodiscard]] double noise() const noexcept {
        double const rest = yy_ - (xx_ > 0 ? xy_ * (xy_ / xx_) : 0.0);
        constexpr double least = 1e-4, assumed = 0.1; // the latter with a weight of two tasks
        return ((rest > 0 ? rest : 0.0) + 2 * assumed) / (n_ + 2) + least;
    }

    double n_ = 0, xx_ = 0, xy_ = 0, yy_ = 0;
    double mean_ = 0.5, deviation_ = 0.5;
};

} // namespace straggle::detail
