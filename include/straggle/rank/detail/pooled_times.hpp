// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: how far attempts lag behind the median of their job, pooled
/// over finished jobs.
#pragma once

#include <straggle/base/config.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace straggle::inline STRAGGLE_ABI::detail {

// The survival function of the upper half of the times, in logarithms relative to the job's median, and its
// weight in attempts: the more jobs differ in their spread, the smaller the weight. A job has few siblings,
// and its longest attempts are the doubtful ones; the pool has many.
class pooled_times {
  public:
    // Adds a finished job: logarithms of its times relative to their median, in any order.
    void learn(std::span<double const> times) noexcept {
        constexpr double jobs = 0.98, attempts = 4096;
        auto const n = static_cast<double>(times.size());
        if (n >= least && total_ >= 8 * least)
            for (std::size_t l = 0; l < levels.size(); ++l) {
                std::size_t const at = edge_of(levels[l]);
                double const p = share(at), pq = p * (1 - p);
                double above = 0;
                for (double const x : times) above += x > static_cast<double>(at) * step ? 1.0 : 0.0;
                double const off = above - n * p;
                between_[l] = jobs * between_[l] + off * off - n * pq;
                scale_[l] = jobs * scale_[l] + n * (n - 1) * pq;
            }
        double const kept = total_ + n > attempts ? attempts / (total_ + n) : 1.0;
        total_ = kept * (total_ + n);
        for (double& a : above_) a *= kept;
        for (double const x : times) {
            if (!(x > 0)) continue;
            auto const last = static_cast<std::size_t>((std::min)(x / step, static_cast<double>(edges - 1)));
            for (std::size_t k = 0; k <= last; ++k) above_[k] += kept;
        }
    }

    // The share of attempts that take longer; 1 up to the median, and soon after it the true share. Errs on
    // the high side, as if one more had taken longer.
    [[nodiscard]] double survival(double log_time) const noexcept {
        if (!(log_time > 0)) return 1;
        double const place = log_time / step;
        if (!(place < static_cast<double>(edges - 1))) return share(edges - 1);
        auto const k = static_cast<std::size_t>(place);
        double const by = place - static_cast<double>(k), low = k == 0 ? 1.0 : share(k);
        return low + by * (share(k + 1) - low);
    }
    // Its weight in attempts of a job: from the beta-binomial spread of the shares of long attempts.
    [[nodiscard]] double weight() const noexcept {
        if (!(total_ >= 8 * least)) return 0;
        constexpr double assumed = 0.05, as_much = 200; // prior, until jobs have ended
        double most = 0.005;
        for (std::size_t l = 0; l < levels.size(); ++l)
            most = (std::max)(most, (between_[l] + assumed * as_much) / (scale_[l] + as_much));
        return most < 1 ? 1 / most - 1 : 0.0;
    }
    // Whether the pool explains a job's number of long times: `longer(x)` of its `all` attempts.
    template <class Longer>
    [[nodiscard]] bool explains(double all, Longer&& longer) const {
        std::size_t const at = edge_of(levels[0]);
        double const p = share(at), each = p * (1 - p) * (1 + (all - 1) / (weight() + 1));
        return longer(static_cast<double>(at) * step) <= all * p + 2 * std::sqrt(all * each);
    }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.total_, self.above_, self.between_, self.scale_);
        a.expect(self.total_ >= 0 && self.total_ < 1e300);
        double before = self.total_;
        for (double const x : self.above_) {
            a.expect(x >= 0 && x <= before);
            before = x;
        }
        for (double const x : self.between_) a.expect(x > -1e300 && x < 1e300);
        for (double const x : self.scale_) a.expect(x >= 0 && x < 1e300);
    }

  private:
    static constexpr double step = 0.125, least = 8; // nats; attempts of a job
    static constexpr std::size_t edges = 34;         // up to 64 times the median
    static constexpr std::array<double, 2> levels{0.1, 0.02};

    [[nodiscard]] double share(std::size_t edge) const noexcept { return (above_[edge] + 1) / (total_ + 1); }
    [[nodiscard]] std::size_t edge_of(double level) const noexcept {
        std::size_t at = 1;
        while (at + 1 < edges && share(at) > level) ++at;
        return at;
    }

    std::array<double, edges> above_{}; // attempts longer than each edge
    double total_ = 0;
    std::array<double, levels.size()> between_{}, scale_{};
};

} // namespace straggle::detail
