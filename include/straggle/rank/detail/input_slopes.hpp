// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: the power of input by which task times grow, for each kind
/// of job.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/rank/detail/job_memory.hpp>
#include <straggle/rank/detail/log_ticks.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// log time = job + node + slope * log input, per kind of job. The slope comes from differences within a job
// *and* within a node: a node that always gets the large inputs, slow or not, does not affect it.
class input_slopes {
  public:
    static constexpr std::size_t most_kinds = 1024; // further kinds share one slope

    [[nodiscard]] double slope(std::uint64_t kind) const {
        std::size_t const at = place_of(kind);
        return at < kinds_.size() ? kinds_[at].used : 0.0;
    }
    // The attempts of a job, each relative to the means of the job.
    void learn(std::uint64_t kind, std::span<timed_attempt const> attempts) {
        double input = 0, time = 0, n = 0;
        auto const counts = [](timed_attempt const& a) {
            return !a.censored && !a.copy && !is_nan(static_cast<double>(a.input));
        };
        for (timed_attempt const& a : attempts) {
            if (!counts(a)) continue;
            input += static_cast<double>(a.input);
            time += a.ticks * nats_per_tick;
            ++n;
        }
        if (n < 2) return;
        for (timed_attempt const& a : attempts)
            if (counts(a))
                learn(kind, a.node, static_cast<double>(a.input) - input / n,
                      a.ticks * nats_per_tick - time / n);
    }
    // What is learned between `keep` and `restore` is discarded, except for the slopes in use.
    void keep() {
        reserve_for(kept_kinds_, kinds_.size());
        reserve_for(kept_nodes_, nodes_.size());
        kept_kinds_.assign(kinds_.begin(), kinds_.end());
        kept_nodes_.assign(nodes_.begin(), nodes_.end());
    }
    void restore() noexcept {
        for (std::size_t k = 0; k < kinds_.size(); ++k) {
            double const used = kinds_[k].used;
            kinds_[k] = k < kept_kinds_.size() ? kept_kinds_[k] : kind_sums{};
            kinds_[k].used = used;
        }
        for (std::size_t n = 0; n < nodes_.size(); ++n)
            nodes_[n] = n < kept_nodes_.size() ? kept_nodes_[n] : node_means{};
    }
    // Decides on the slope to use from now on.
    // @return the change
    double settle(std::uint64_t kind) {
        std::size_t const at = place_of(kind);
        return at < kinds_.size() ? kinds_[at].settle() : 0.0;
    }

    // Forgets a node: its number may be given to another.
    void forget(std::uint32_t node) noexcept {
        if (node < nodes_.size()) nodes_[node] = {};
    }
    // Calls visit(kind, change of its slope) for every kind with its own slope.
    template <class Visit>
    void settle_all(Visit&& visit) {
        for (std::size_t k = 1; k < kinds_.size(); ++k)
            visit(names_[static_cast<std::uint32_t>(k - 1)], kinds_[k].settle());
    }

    void merge(input_slopes const& other) {
        if (other.kinds_.size() > kinds_.size()) kinds_.resize(other.kinds_.size());
        if (!other.kinds_.empty()) kinds_[0].add(other.kinds_[0]);
        for (std::uint32_t k = 0; k + std::size_t{1} < other.kinds_.size(); ++k) {
            std::size_t const at = place_for(other.names_[k]);
            if (at >= kinds_.size()) kinds_.resize(at + 1);
            kinds_[at].add(other.kinds_[k + std::size_t{1}]);
        }
    }
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a.items(self.kinds_, 40);
        a.items(self.nodes_, 24);
        if (!a.expect(self.kinds_.size() <= most_kinds + 1)) return;
        for (std::uint32_t k = 0; k + std::size_t{1} < self.kinds_.size(); ++k) {
            std::uint64_t name = 0;
            if constexpr (!Archive::reads) name = self.names_[k];
            a(name);
            if constexpr (Archive::reads) a.expect(self.names_.insert(name) == k);
        }
    }

  private:
    static constexpr double steepest = 2;
    struct node_means {
        double n = 0, input = 0, time = 0;

        template <class Self, class Archive>
        static void fields(Self& self, Archive& a) {
            a(self.n, self.input, self.time);
            a.expect(self.n >= 0 && are_finite(self.n, self.input, self.time));
        }
    };
    struct kind_sums {
        double n = 0, xx = 0, xy = 0, yy = 0; // sums of squares within jobs and nodes
        double used = 0;                      // slope by which times are corrected

        template <class Self, class Archive>
        static void fields(Self& self, Archive& a) {
            a(self.n, self.xx, self.xy, self.yy, self.used);
            a.expect(are_finite(self.n, self.xx, self.xy, self.yy) && self.n >= 0 && self.xx >= 0 &&
                     self.yy >= 0 && self.used >= 0 && self.used <= steepest);
        }
        void add(double xx_more, double xy_more, double yy_more) noexcept {
            n += 1;
            xx += xx_more;
            xy += xy_more;
            yy += yy_more;
            constexpr double remembered = 5000; // beyond this, older ones fade
            if (n > remembered) {
                n /= 2;
                xx /= 2;
                xy /= 2;
                yy /= 2;
            }
        }
        void add(kind_sums const& s) noexcept {
            n += s.n;
            xx += s.xx;
            xy += s.xy;
            yy += s.yy;
        }
        double settle() noexcept {
            // Use the slope once it exceeds three standard errors, until it falls below two.
            constexpr double least = 8, known = 9, doubted = 4;
            if (n < least || !(xx > 0)) return 0;
            double const best = xy / xx, noise = (yy - xy * best) / (n - 1);
            double const error = noise > 0 ? noise / xx : 0.0; // squared
            double next = best > 0 && best * best > (used > 0 ? doubted : known) * error ? best : 0.0;
            if (next > steepest) next = steepest;
            double const change = next - used;
            // Every change solves everything anew: skip changes too small to matter.
            constexpr double grain = 0.01;
            bool const is_new = (next > 0) != (used > 0);
            if (!is_new && !(change * change > (error / 4 > grain * grain ? error / 4 : grain * grain)))
                return 0;
            used = next;
            return change;
        }
    };

    void learn(std::uint64_t kind, std::uint32_t node, double input, double time) {
        std::size_t const at = place_for(kind);
        if (at >= kinds_.size()) kinds_.resize(at + 1);
        if (node >= nodes_.size()) nodes_.resize(std::size_t{node} + 1);
        node_means& m = nodes_[node];
        constexpr double remembered = 64; // attempts per node: its speed may change
        m.n = m.n < remembered ? m.n + 1 : remembered;
        double const dx = input - m.input, dy = time - m.time, kept = 1 - 1 / m.n;
        m.input += dx / m.n;
        m.time += dy / m.n;
        if (m.n > 1) kinds_[at].add(dx * dx * kept, dx * dy * kept, dy * dy * kept);
    }

    // Place 0 is shared by all kinds beyond the limit.
    [[nodiscard]] std::size_t place_of(std::uint64_t kind) const {
        std::uint32_t const k = names_.find(kind);
        return k == interner<std::uint64_t>::none ? 0 : std::size_t{k} + 1;
    }
    std::size_t place_for(std::uint64_t kind) {
        if (names_.size() >= most_kinds) return place_of(kind);
        return std::size_t{names_.insert(kind)} + 1;
    }

    interner<std::uint64_t> names_;
    std::vector<kind_sums> kinds_, kept_kinds_;
    std::vector<node_means> nodes_, kept_nodes_;
};

} // namespace straggle::detail
