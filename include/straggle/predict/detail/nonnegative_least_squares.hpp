// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/weights.hpp`: nonnegative least squares on the normal matrix.
#pragma once

#include <straggle/base/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Minimizes x'Ax - 2b'x over x >= 0, where A is S'S and b is S'R, by the active set method of Lawson and
// Hanson (Solving Least Squares Problems, 1974, chapter 23) in the form for normal equations (Bro and de
// Jong, 1997).
//
// Their method is guaranteed to terminate only in exact arithmetic. Here a variable becomes positive only if
// that lowers the objective, measured by a difference that does not cancel, and if its column is not a
// combination of the positive ones; the number of steps is bounded, although the bound has never been
// reached.
class nonnegative_least_squares {
  public:
    // Reserves memory for problems of a size.
    void reserve(std::size_t size) {
        numbers_.reserve(2 * size * size + 6 * size);
        positive_.reserve(2 * size);
        blocked_.reserve(size);
    }
    // Starts a problem of a size, with A and b set to 0.
    void begin(std::size_t size) {
        size_ = size;
        numbers_.assign(2 * size * size + 6 * size, 0.0);
        positive_.resize(2 * size);
        blocked_.assign(size, 0);
    }

    // A (only k <= l is read) and b. The solution overwrites both.
    [[nodiscard]] double& matrix(std::size_t k, std::size_t l) noexcept { return numbers_[k * size_ + l]; }
    [[nodiscard]] double& right(std::size_t k) noexcept { return row(right_row)[k]; }

    // False if the steps ran out before the optimum: the solution is then feasible and better than 0. A
    // variable stays 0 if its diagonal element of A is not above `least_diagonal`, or if its slope is not
    // above `least_slope` with its diagonal element scaled to 1.
    bool solve(double least_diagonal, double least_slope) noexcept {
        scale(least_diagonal);
        std::size_t steps = 16 * (size_ + 2);
        std::size_t next = steepest(least_slope);
        while (next != size_ && steps != 0) {
            if (enter(next, steps))
                std::fill(blocked_.begin(), blocked_.end(), static_cast<unsigned char>(0));
            else
                blocked_[next] = 1;
            next = steepest(least_slope);
        }
        for (std::size_t k = 0; k < size_; ++k) row(solution_row)[k] *= row(scale_row)[k];
        return next == size_;
    }
    [[nodiscard]] std::span<double const> solution() noexcept { return {row(solution_row), size_}; }

  private:
    // A smaller pivot is rounding: sums over many pairs have lost a few digits. A column so close to a
    // combination of others could explain at most its square root, 4e-6, of the remainder.
    static constexpr double least_pivot = 0x1p-36;

    enum row_number : std::size_t { right_row, solution_row, slope_row, trial_row, work_row, scale_row };
    [[nodiscard]] double* row(row_number r) noexcept { return numbers_.data() + (2 * size_ + r) * size_; }
    [[nodiscard]] double* factor(std::size_t i) noexcept { return numbers_.data() + (size_ + i) * size_; }

    // Scales all diagonal elements to 1, or to 0 for excluded variables, and makes A symmetric.
    void scale(double least_diagonal) noexcept {
        double* const by = row(scale_row);
        for (std::size_t k = 0; k < size_; ++k)
            by[k] = matrix(k, k) > least_diagonal ? 1 / std::sqrt(matrix(k, k)) : 0;
        for (std::size_t k = 0; k < size_; ++k) {
            right(k) *= by[k];
            for (std::size_t l = k + 1; l < size_; ++l)
                matrix(l, k) = matrix(k, l) = matrix(k, l) * by[k] * by[l];
            matrix(k, k) = by[k] > 0 ? 1 : 0;
        }
        count_ = 0;
        std::copy(row(right_row), row(right_row) + size_, row(slope_row));
    }

    // The zero variable with the steepest descent, the first of equals; size_ if there is none.
    [[nodiscard]] std::size_t steepest(double least_slope) noexcept {
        double const* const slope = row(slope_row);
        double const* const x = row(solution_row);
        std::size_t best = size_;
        for (std::size_t k = 0; k < size_; ++k) {
            if (x[k] > 0 || blocked_[k] != 0 || !(slope[k] > least_slope) ||
                (best != size_ && !(slope[k] > slope[best])))
                continue;
            double terms = std::fabs(right(k)); // the slope is their sum, and no more accurate than they are
            for (std::size_t l = 0; l < size_; ++l) terms += std::fabs(matrix(k, l)) * x[l];
            constexpr double epsilon = std::numeric_limits<double>::epsilon();
            if (slope[k] > 4 * epsilon * static_cast<double>(size_) * terms) best = k;
        }
        return best;
    }

    // Makes a variable positive, and others 0 if necessary. False, with nothing changed, if the objective
    // would not fall.
    bool enter(std::size_t next, std::size_t& steps) noexcept {
        double* const x = row(solution_row);
        double* const slope = row(slope_row);
        double* const trial = row(trial_row);
        double* const z = row(work_row);
        std::size_t const count = count_;
        positive_[count_++] = next;
        if (!factorise(count)) {
            count_ = count;
            return false;
        }
        std::copy(positive_.begin(), positive_.begin() + static_cast<std::ptrdiff_t>(size_), before());
        std::copy(x, x + size_, trial);
        do {
            if (steps != 0) --steps;
            minimise(z);
        } while (!advance(trial, z));
        residual(trial, z);
        // f(x + d) - f(x) = -d'(s(x) + s(x + d)) for a quadratic f of slope -2s.
        double fall = 0;
        for (std::size_t k = 0; k < size_; ++k) fall += (trial[k] - x[k]) * (slope[k] + z[k]);
        if (!(fall > 0)) {
            std::copy(before(), before() + static_cast<std::ptrdiff_t>(size_), positive_.begin());
            count_ = count;
            factorise(0);
            return false;
        }
        std::copy(trial, trial + size_, x);
        std::copy(z, z + size_, slope);
        return true;
    }
    [[nodiscard]] std::vector<std::size_t>::iterator before() noexcept {
        return positive_.begin() + static_cast<std::ptrdiff_t>(size_);
    }

    // Moves from the trial toward z until a variable would become negative; variables that reach 0 are no
    // longer positive. True if z is reached.
    bool advance(double* trial, double const* z) noexcept {
        auto const share_of = [&](std::size_t k) {
            return trial[k] > 0 ? trial[k] / (trial[k] - z[k]) : 0.0;
        };
        double share = 1;
        for (std::size_t i = 0; i < count_; ++i)
            if (std::size_t const k = positive_[i]; !(z[k] > 0)) share = (std::min)(share, share_of(k));
        std::size_t kept = 0, first = count_;
        for (std::size_t i = 0; i < count_; ++i) {
            std::size_t const k = positive_[i];
            if (!(z[k] > 0) && !(share_of(k) > share)) {
                trial[k] = 0;
                first = (std::min)(first, i);
            } else {
                trial[k] += share * (z[k] - trial[k]);
                positive_[kept++] = k;
            }
        }
        bool const all = kept == count_;
        count_ = kept;
        if (all)
            for (std::size_t i = 0; i < count_; ++i) trial[positive_[i]] = z[positive_[i]];
        else
            factorise(first);
        return all;
    }

    // b - A x.
    void residual(double const* x, double* out) noexcept {
        for (std::size_t k = 0; k < size_; ++k) {
            double sum = right(k);
            for (std::size_t i = 0; i < count_; ++i) sum -= matrix(k, positive_[i]) * x[positive_[i]];
            out[k] = sum;
        }
    }

    // Updates the Cholesky factor of the positive variables, in their order, from a row on. False if the last
    // pivot is too small; removing earlier variables cannot cause that.
    bool factorise(std::size_t from) noexcept {
        bool good = true;
        for (std::size_t i = from; i < count_; ++i) {
            double* const l = factor(i);
            for (std::size_t j = 0; j <= i; ++j) {
                double sum = matrix(positive_[i], positive_[j]);
                for (std::size_t m = 0; m < j; ++m) sum -= l[m] * factor(j)[m];
                good = j < i || sum > least_pivot;
                l[j] = j < i ? sum / factor(j)[j] : std::sqrt((std::max)(sum, least_pivot));
            }
        }
        return good;
    }

    // The minimum over the positive variables without the sign constraint; 0 for the others.
    void minimise(double* z) noexcept {
        std::fill(z, z + size_, 0.0);
        for (std::size_t i = 0; i < count_; ++i) {
            double sum = right(positive_[i]);
            for (std::size_t j = 0; j < i; ++j) sum -= factor(i)[j] * z[positive_[j]];
            z[positive_[i]] = sum / factor(i)[i];
        }
        for (std::size_t i = count_; i-- > 0;) {
            double const value = z[positive_[i]] /= factor(i)[i];
            for (std::size_t j = 0; j < i; ++j) z[positive_[j]] -= factor(i)[j] * value;
        }
    }

    std::size_t size_ = 0;
    std::size_t count_ = 0;       // number of positive variables
    std::vector<double> numbers_; // A, the factor, and a row of each row_number
    std::vector<std::size_t>
        positive_; // in the order in which they became positive, followed by those before the step
    std::vector<unsigned char> blocked_; // known not to help
};
} // namespace straggle::detail
