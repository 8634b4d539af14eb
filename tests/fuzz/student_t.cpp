// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
// Whatever the probability and the degrees of freedom: the quantile of Student's t is one only within its
// domain, odd, rises with the probability, and lies where its distribution function says; that function is
// one, too. tests/property/numeric_corpora.cpp replays the corpus.

#include <straggle/stats/student_t.hpp>

#include "fuzzing.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace fuzz_student_t {

inline constexpr double ulp = std::numeric_limits<double>::epsilon();

using fuzzing::demand;

// Five times what the documentation says was the largest error seen.
inline double slack(double dof) {
    return 32 * ulp * (dof < 1 ? 1 / dof : 1.0);
}

inline void check_inverse(double q, double dof, double t) {
    double const magnitude = std::fabs(t), tail = t < 0 ? 1 - q : q;
    if (!(tail >= 1e-300) || !(tail < 0.5) || !(slack(dof) < 0.5)) return;
    // Not the tail of the quantile itself, which may be much steeper than it: a little to either side.
    auto const above = straggle::stats::student_t_cdf_upper(magnitude * (1 - slack(dof)), dof);
    demand(above && *above >= tail * (1 - 64 * ulp));
    double const beyond = magnitude * (1 + slack(dof));
    if (!std::isfinite(beyond)) return;
    auto const below = straggle::stats::student_t_cdf_upper(beyond, dof);
    demand(below && *below <= tail * (1 + 64 * ulp));
}

inline void check_quantile(double q, double dof) {
    auto const upper = straggle::stats::student_t_quantile_upper(q, dof);
    auto const lower = straggle::stats::student_t_quantile(q, dof);
    bool const inside = q > 0 && q < 1 && dof > 0;
    demand(upper.reason() == lower.reason());
    if (!inside) {
        demand(upper.reason() == straggle::status::out_of_domain);
        return;
    }
    if (!upper) {
        demand(upper.reason() == straggle::status::out_of_range && dof < 2);
        return;
    }
    double const t = *upper;
    demand(std::isfinite(t) && *lower == -t && (q < 0.5 ? t >= 0 : t <= 0));
    if (1 - (1 - q) == q) { // both sides are doubles
        auto const other = straggle::stats::student_t_quantile_upper(1 - q, dof);
        demand(other && *other == -t);
    }
    check_inverse(q, dof, t);
    double const next = std::nextafter(q, 0.0);
    if (next > 0) {
        auto const further = straggle::stats::student_t_quantile_upper(next, dof);
        demand(!further || *further >= t - slack(dof) * std::fabs(t));
    }
}

inline void check_probability(double t, double dof) {
    auto const above = straggle::stats::student_t_cdf_upper(t, dof),
               below = straggle::stats::student_t_cdf(t, dof);
    demand(above.has_value() == below.has_value());
    if (!above) {
        demand(std::isnan(t) || !(dof > 0));
        return;
    }
    demand(*above >= 0 && *above <= 1 && *below >= 0 && *below <= 1);
    demand(std::fabs((*above + *below) - 1) <= 8 * ulp);
    auto const further =
        straggle::stats::student_t_cdf_upper(std::nextafter(t, std::numeric_limits<double>::infinity()), dof);
    demand(!further || *further <= *above * (1 + 64 * ulp));
}

} // namespace fuzz_student_t

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    auto const number = [&](std::size_t at) {
        std::uint64_t bits = 0;
        for (std::size_t k = 0; k < 8; ++k) bits |= std::uint64_t{data[at + k]} << (8 * k);
        return std::bit_cast<double>(bits);
    };
    for (std::size_t at = 0; at + 16 <= size && at < 512; at += 16) {
        double const x = number(at), dof = number(at + 8);
        fuzz_student_t::check_quantile(x, dof);
        fuzz_student_t::check_probability(x, dof);
        // Most doubles are no probabilities, and few are whole.
        double const share = static_cast<double>(std::bit_cast<std::uint64_t>(x) >> 11) * 0x1p-53;
        double const whole = static_cast<double>(data[at + 8]) + 1;
        fuzz_student_t::check_quantile(share, dof);
        fuzz_student_t::check_quantile(share, whole);
        fuzz_student_t::check_probability(64 * share - 32, whole);
    }
    return 0;
}
