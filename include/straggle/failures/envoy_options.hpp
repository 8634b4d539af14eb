// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The settings of Envoy's outlier detection under their original names, and its counters.
#pragma once

#include <straggle/base/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::failures {

/// Which implementation's details to follow.
enum class envoy_dialect : std::uint8_t {
    envoy,      ///< a host may be ejected if the limit still holds afterward
    envoy_2020, ///< before version 1.18: if the limit is not reached beforehand
    grpc,       ///< as `envoy_2020`, but an interval first judges and then releases expired hosts
};

/// The reason for an ejection.
enum class ejection_rule : std::uint8_t {
    consecutive_5xx,                  ///< consecutive failures of any kind
    consecutive_gateway_failure,      ///< consecutive `gateway` and `local_origin` failures
    consecutive_local_origin_failure, ///< consecutive `local_origin` failures, if counted separately
    success_rate,                     ///< success rate far below the mean
    failure_percentage,               ///< failure percentage too high
    local_origin_success_rate,        ///< the same for attempts to reach the host
    local_origin_failure_percentage,  ///< the same for attempts to reach the host
};
/// Number of rules.
inline constexpr std::size_t ejection_rule_count = 7;

/// Envoy's settings under their names, in seconds and percent.
struct envoy_outlier_detection_options {
    std::uint32_t consecutive_5xx = 5;                       ///< 0: never
    std::uint32_t consecutive_gateway_failure = 5;           ///< 0: never
    std::uint32_t consecutive_local_origin_failure = 5;      ///< 0: never
    double interval = 10;                                    ///< between two checks of rates
    double base_ejection_time = 30;                          ///< of the first ejection; longer each time
    double max_ejection_time = 300;                          ///< of the longest, unless the base is longer
    double max_ejection_percent = 10;                        ///< of the hosts
    bool always_eject_one_host = false;                      ///< regardless of the percentage
    std::uint32_t success_rate_minimum_hosts = 5;            ///< with enough requests
    std::uint64_t success_rate_request_volume = 100;         ///< in an interval
    double success_rate_stdev_factor = 1900;                 ///< thousandths of a deviation
    double failure_percentage_threshold = 85;                ///< at least that, for gRPC above that
    std::uint32_t failure_percentage_minimum_hosts = 5;      ///< with enough requests
    std::uint64_t failure_percentage_request_volume = 50;    ///< in an interval
    bool split_external_local_origin_errors = false;         ///< count failures to reach the host separately
    std::uint32_t enforcing_consecutive_5xx = 100;           ///< percent of cases
    std::uint32_t enforcing_consecutive_gateway_failure = 0; ///< percent of cases
    std::uint32_t enforcing_consecutive_local_origin_failure = 100; ///< percent of cases
    std::uint32_t enforcing_success_rate = 100;                     ///< percent of cases
    std::uint32_t enforcing_failure_percentage = 0;                 ///< percent of cases
    std::uint32_t enforcing_local_origin_success_rate = 100;        ///< percent of cases
    std::uint32_t enforcing_failure_percentage_local_origin = 0;    ///< percent of cases
    double healthy_panic_threshold = 50;          ///< percent of hosts, below which none counts as ejected
    envoy_dialect dialect = envoy_dialect::envoy; ///< which implementation to follow
    std::uint32_t max_nodes = 1 << 20;            ///< limit on hosts remembered

    /// The percentage of cases in which a rule is enforced.
    [[nodiscard]] constexpr std::uint32_t enforcing(ejection_rule rule) const noexcept {
        switch (rule) {
        case ejection_rule::consecutive_5xx:
            return enforcing_consecutive_5xx;
        case ejection_rule::consecutive_gateway_failure:
            return enforcing_consecutive_gateway_failure;
        case ejection_rule::consecutive_local_origin_failure:
            return enforcing_consecutive_local_origin_failure;
        case ejection_rule::success_rate:
            return enforcing_success_rate;
        case ejection_rule::failure_percentage:
            return enforcing_failure_percentage;
        case ejection_rule::local_origin_success_rate:
            return enforcing_local_origin_success_rate;
        default:
            return enforcing_failure_percentage_local_origin;
        }
    }
    /// The number of consecutive failures that triggers a rule; 0 if the rule is about rates.
    [[nodiscard]] constexpr std::uint32_t in_a_row(ejection_rule rule) const noexcept {
        switch (rule) {
        case ejection_rule::consecutive_5xx:
            return consecutive_5xx;
        case ejection_rule::consecutive_gateway_failure:
            return consecutive_gateway_failure;
        case ejection_rule::consecutive_local_origin_failure:
            return consecutive_local_origin_failure;
        default:
            return 0;
        }
    }
};

/// gRPC's settings: only rates, and failure percentages are enforced, too.
[[nodiscard]] constexpr envoy_outlier_detection_options grpc_outlier_detection_options() noexcept {
    envoy_outlier_detection_options o;
    o.consecutive_5xx = o.consecutive_gateway_failure = o.consecutive_local_origin_failure = 0;
    o.enforcing_failure_percentage = 100;
    o.healthy_panic_threshold = 0;
    o.dialect = envoy_dialect::grpc;
    return o;
}

/// The yardstick for success rates, in percent.
struct success_rates {
    bool is_known = false; ///< enough hosts had enough requests
    double average = 0;    ///< of the hosts' rates
    double threshold = 0;  ///< hosts below are ejected
};

/// Counters.
struct envoy_counts {
    std::uint64_t ejections = 0;                               ///< hosts ejected
    std::uint64_t overflow = 0;                                ///< hosts spared because too many were ejected
    std::array<std::uint64_t, ejection_rule_count> detected{}; ///< by `ejection_rule`
    std::array<std::uint64_t, ejection_rule_count> enforced{}; ///< those that were enforced
};

} // namespace straggle::failures
