// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Envoy's outlier detection, and gRPC's, which is a subset.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/failures/attempt.hpp>
#include <straggle/failures/detail/keyed.hpp>
#include <straggle/failures/envoy_options.hpp>
#include <straggle/stats/moments.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::failures {

/// Ejects hosts: at once after too many consecutive failures; at the end of each interval those whose success
/// rate is too many deviations below the mean, or whose failure percentage is too high. Ejections get longer
/// each time. If too few hosts are left (panic), none counts as out.
///
/// Source: Envoy 1.30, `DetectorImpl`, and gRPC proposal A50; `envoy_dialect` documents the differences.
/// Changed: a rule enforced in p percent of cases is enforced in every (100/p)-th case instead of at random;
/// there is no jitter of ejection times. A success is a response of 200, a failure one of 500, or as
/// `failure_kind` says.
/// @par Cost
/// `observe` O(1); an interval O(hosts)
class envoy_outlier_detection {
  public:
    static constexpr std::string_view name = "envoy_outlier_detection";

    /// @param options settings
    explicit envoy_outlier_detection(envoy_outlier_detection_options options = {})
        : options_(options), hosts_(options.max_nodes) {
        STRAGGLE_EXPECTS(options.interval > 0 && options.base_ejection_time >= 0 &&
                         options.max_ejection_time >= 0);
    }
    /// Replaces the settings. Current ejections keep their length.
    void set_options(envoy_outlier_detection_options options) {
        STRAGGLE_EXPECTS(options.interval > 0 && options.base_ejection_time >= 0 &&
                         options.max_ejection_time >= 0);
        options_ = options;
    }

    /// Adds a host of the cluster. Attempts also add theirs.
    void add(std::uint32_t node) {
        if (host* const h = hosts_.at(node); h != nullptr && !h->is_known) {
            h->is_known = true;
            ++count_;
        }
    }
    /// Removes a host.
    void remove(std::uint32_t node) {
        if (node >= hosts_.all().size() || !hosts_.all()[node].is_known) return;
        if (hosts_.all()[node].is_ejected) --active_;
        hosts_.all()[node] = {};
        --count_;
    }

    /// Adds an attempt.
    void observe(attempt const& a) {
        if (record::was_stopped(a.as)) return;
        add(a.node);
        host* const h = hosts_.at(a.node);
        if (h == nullptr) return;
        bool const failed = a.as == attempt_status::failed;
        if (options_.split_external_local_origin_errors) {
            bool const unreachable = failed && a.kind == failure_kind::local_origin;
            count(h->local, !unreachable);
            if (unreachable) {
                in_a_row(*h, h->local_origin, ejection_rule::consecutive_local_origin_failure, a.end);
                return;
            }
            h->local_origin = 0;
        }
        count(h->external, !failed);
        if (!failed) {
            h->server_errors = h->gateway_errors = 0;
            return;
        }
        if (a.kind == failure_kind::gateway || a.kind == failure_kind::local_origin)
            in_a_row(*h, h->gateway_errors, ejection_rule::consecutive_gateway_failure, a.end);
        else
            h->gateway_errors = 0;
        in_a_row(*h, h->server_errors, ejection_rule::consecutive_5xx, a.end);
    }

    /// Ends the intervals that are over; the first starts with the first call.
    void advance(double now) {
        if (!has_begun_) {
            has_begun_ = true;
            due_ = now + options_.interval;
        }
        for (; due_ <= now; due_ += options_.interval) {
            end_interval(due_);
            if (is_quiet()) {
                // Skip the other intervals: nothing would happen in them.
                due_ = (std::max)(due_, now - std::fmod(now - due_, options_.interval));
            }
        }
    }
    /// Ends an interval, regardless of its start.
    void end_interval(double now) {
        if (options_.dialect != envoy_dialect::grpc) give_back(now);
        judge(&host::external, ejection_rule::success_rate, ejection_rule::failure_percentage, external_,
              now);
        judge(&host::local, ejection_rule::local_origin_success_rate,
              ejection_rule::local_origin_failure_percentage, local_, now);
        if (options_.dialect == envoy_dialect::grpc) give_back(now);
    }

    /// Whether a host gets no work.
    [[nodiscard]] bool is_out(std::uint32_t node) const noexcept {
        return is_ejected(node) && !is_in_panic();
    }
    /// Whether a host is ejected, regardless of panic.
    [[nodiscard]] bool is_ejected(std::uint32_t node) const noexcept {
        host const* const h = hosts_.find(node);
        return h != nullptr && h->is_ejected;
    }
    /// Whether so few hosts are left that all are used.
    [[nodiscard]] bool is_in_panic() const noexcept {
        return 100 * static_cast<double>(count_ - active_) <
               options_.healthy_panic_threshold * static_cast<double>(count_);
    }
    /// The length of a host's current or last ejection.
    [[nodiscard]] double ejection_time(std::uint32_t node) const noexcept {
        host const* const h = hosts_.find(node);
        return h == nullptr ? 0.0 : length(*h);
    }
    /// The stored multiplier of the base time: may exceed what the longest ejection needs.
    [[nodiscard]] std::uint32_t multiplier(std::uint32_t node) const noexcept {
        host const* const h = hosts_.find(node);
        return h == nullptr ? 0 : h->backoff;
    }
    /// The yardstick for success rates in the last interval.
    [[nodiscard]] success_rates rates() const noexcept { return external_; }
    /// The same for attempts to reach the hosts.
    [[nodiscard]] success_rates local_origin_rates() const noexcept { return local_; }
    /// The success rate of a host in its last interval, in percent.
    /// @return `status::insufficient_evidence` below the required volume
    [[nodiscard]] outcome<double> success_rate(std::uint32_t node) const noexcept {
        host const* const h = hosts_.find(node);
        if (h == nullptr || h->external.rate < 0) return status::insufficient_evidence;
        return h->external.rate;
    }
    /// Counters.
    [[nodiscard]] envoy_counts const& counts() const noexcept { return counts_; }
    /// Number of ejected hosts.
    [[nodiscard]] std::size_t ejections_active() const noexcept { return active_; }
    /// Number of observations dropped for lack of room.
    [[nodiscard]] std::uint64_t refused() const noexcept { return hosts_.refused(); }

  private:
    struct bucket {
        std::uint64_t good = 0, all = 0, last = 0;
        double rate = -1; // of the last interval; negative: unknown
    };
    struct host {
        bucket external, local;
        std::uint32_t server_errors = 0, gateway_errors = 0, local_origin = 0; // consecutive
        std::uint32_t backoff = 0;
        double ejected_at = 0;
        bool is_known = false, is_ejected = false;
    };

    static void count(bucket& b, bool good) noexcept {
        b.good += good ? 1u : 0u;
        ++b.all;
    }
    void in_a_row(host& h, std::uint32_t& failures, ejection_rule rule, double now) {
        if (++failures != options_.in_a_row(rule)) return;
        if (h.is_ejected) return;
        failures = 0;
        eject(h, rule, now);
    }
    // Length of a host's ejection.
    [[nodiscard]] double length(host const& h) const noexcept {
        return (std::min)(options_.base_ejection_time * h.backoff, longest());
    }
    [[nodiscard]] double longest() const noexcept {
        return (std::max)(options_.max_ejection_time, options_.base_ejection_time);
    }
    void give_back(double now) noexcept {
        for (host& h : hosts_.all()) {
            if (!h.is_known) continue;
            if (!h.is_ejected) {
                if (h.backoff > 0) --h.backoff;
                continue;
            }
            double const out = now - h.ejected_at;
            if (options_.dialect == envoy_dialect::grpc ? out > length(h) : out >= length(h)) {
                h.is_ejected = false;
                h.server_errors = h.gateway_errors = h.local_origin = 0;
                --active_;
            }
        }
    }
    // Whether another host may be ejected.
    [[nodiscard]] bool has_room() const noexcept {
        double const all = static_cast<double>(count_), out = static_cast<double>(active_);
        if (options_.dialect != envoy_dialect::envoy) return 100 * out / all < options_.max_ejection_percent;
        return (active_ == 0 && options_.always_eject_one_host) ||
               100 * (out + 1) / all <= (std::min)(100.0, options_.max_ejection_percent);
    }
    void eject(host& h, ejection_rule rule, double now) {
        auto const which = static_cast<std::size_t>(rule);
        ++counts_.detected[which];
        if (!has_room()) {
            ++counts_.overflow;
            return;
        }
        // Enforces exactly the requested percentage of each hundred cases.
        due_percent_[which] += (std::min)(options_.enforcing(rule), 100u);
        if (due_percent_[which] < 100) return;
        due_percent_[which] -= 100;
        ++counts_.enforced[which];
        ++counts_.ejections;
        ++active_;
        h.is_ejected = true;
        h.ejected_at = now;
        if (options_.dialect == envoy_dialect::grpc ||
            h.backoff * options_.base_ejection_time < longest() + options_.base_ejection_time)
            ++h.backoff;
    }
    // The rules that judge a whole interval.
    void judge(bucket host::* which, ejection_rule by_rate, ejection_rule by_percentage,
               success_rates& measured, double now) {
        measured = {};
        std::size_t rated = 0, counted = 0;
        stats::moments fleet;
        for (host& h : hosts_.all()) {
            bucket& b = h.*which;
            b.rate = -1;
            b.last = b.all;
            if (h.is_known && !h.is_ejected && b.all > 0) {
                double const rate = 100 * static_cast<double>(b.good) / static_cast<double>(b.all);
                if (b.all >= (std::min)(options_.success_rate_request_volume,
                                        options_.failure_percentage_request_volume))
                    b.rate = rate;
                if (b.all >= options_.success_rate_request_volume) {
                    ++rated;
                    fleet.add(rate);
                }
                if (b.all >= options_.failure_percentage_request_volume) ++counted;
            }
            b.good = b.all = 0;
        }
        if (rated > 0 && rated >= options_.success_rate_minimum_hosts) {
            double const deviation = std::sqrt(fleet.population_variance());
            measured = {true, fleet.mean(),
                        fleet.mean() - options_.success_rate_stdev_factor / 1000.0 * deviation};
            for (host& h : hosts_.all())
                if (bucket const& b = h.*which; b.last >= options_.success_rate_request_volume &&
                                                b.rate >= 0 && !h.is_ejected && b.rate < measured.threshold)
                    eject(h, by_rate, now);
        }
        if (counted > 0 && counted >= options_.failure_percentage_minimum_hosts)
            for (host& h : hosts_.all())
                if (bucket const& b = h.*which; b.last >= options_.failure_percentage_request_volume &&
                                                b.rate >= 0 && !h.is_ejected && fails_too_often(100 - b.rate))
                    eject(h, by_percentage, now);
    }
    [[nodiscard]] bool fails_too_often(double percent) const noexcept {
        return options_.dialect == envoy_dialect::grpc ? percent > options_.failure_percentage_threshold
                                                       : percent >= options_.failure_percentage_threshold;
    }
    [[nodiscard]] bool is_quiet() const noexcept {
        return std::all_of(hosts_.all().begin(), hosts_.all().end(),
                           [](host const& h) { return !h.is_ejected && h.backoff == 0; });
    }

    envoy_outlier_detection_options options_;
    detail::by_node<host> hosts_;
    envoy_counts counts_;
    success_rates external_, local_;
    std::array<std::uint32_t, ejection_rule_count> due_percent_{};
    std::size_t count_ = 0, active_ = 0;
    double due_ = 0;
    bool has_begun_ = false;
};

} // namespace straggle::failures
