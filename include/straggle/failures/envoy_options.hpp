// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The settings of Envoy's outlier detection under their names, and what it counts.
#pragma once

#include <straggle/base/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::failures {

/// Whose details.
enum class envoy_dialect : std::uint8_t {
    envoy,      ///< one more host may be ejected if with it no more than the limit are
    envoy_2020, ///< before version 1.18: if without it fewer than the limit are
    grpc,       ///< as `envoy_2020`, but an interval judges first and then lets back hosts whose time is over
};

/// What a host is ejected by.
enum class ejection_rule : std::uint8_t {
    consecutive_5xx,                  ///< failures of any kind in a row
    consecutive_gateway_failure,      ///< `gateway` and `local_origin` in a row
    consecutive_local_origin_failure, ///< `local_origin` in a row, where it is counted apart
    success_rate,                     ///< far below the mean
    failure_percentage,               ///< too high
    local_origin_success_rate,        ///< the same of attempts to reach the host
    local_origin_failure_percentage,  ///< the same of attempts to reach the host
};
/// How many there are.
inline constexpr std::size_t ejection_rule_count = 7;

/// Envoy's settings under their names, in seconds and percent.
struct envoy_outlier_detection_options {
    std::uint32_t consecutive_5xx = 5;                       ///< 0: never
    std::uint32_t consecutive_gateway_failure = 5;           ///< 0: never
    std::uint32_t consecutive_local_origin_failure = 5;      ///< 0: never
    double interval = 10;                                    ///< between two looks at rates
    double base_ejection_time = 30;                          ///< of the first ejection; more each time
    double max_ejection_time = 300;                          ///< of the longest, if the base is not longer
    double max_ejection_percent = 10;                        ///< of the hosts
    bool always_eject_one_host = false;                      ///< whatever the percentage
    std::uint32_t success_rate_minimum_hosts = 5;            ///< with enough requests
    std::uint64_t success_rate_request_volume = 100;         ///< in an interval
    double success_rate_stdev_factor = 1900;                 ///< thousandths of a deviation
    double failure_percentage_threshold = 85;                ///< at least that, for gRPC above that
    std::uint32_t failure_percentage_minimum_hosts = 5;      ///< with enough requests
    std::uint64_t failure_percentage_request_volume = 50;    ///< in an interval
    bool split_external_local_origin_errors = false;         ///< ways to the host are counted apart
    std::uint32_t enforcing_consecutive_5xx = 100;           ///< percent of cases
    std::uint32_t enforcing_consecutive_gateway_failure = 0; ///< percent of cases
    std::uint32_t enforcing_consecutive_local_origin_failure = 100; ///< percent of cases
    std::uint32_t enforcing_success_rate = 100;                     ///< percent of cases
    std::uint32_t enforcing_failure_percentage = 0;                 ///< percent of cases
    std::uint32_t enforcing_local_origin_success_rate = 100;        ///< percent of cases
    std::uint32_t enforcing_failure_percentage_local_origin = 0;    ///< percent of cases
    double healthy_panic_threshold = 50;          ///< percent of hosts, below which none counts as ejected
    envoy_dialect dialect = envoy_dialect::envoy; ///< whose details
    std::uint32_t max_nodes = 1 << 20;            ///< hosts that are remembered

    /// In how many percent of cases a rule is enforced.
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
    /// How many failures in a row a rule takes; 0 if it does not count them.
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

/// gRPC's settings: rates alone, and failure percentages are enforced, too.
[[nodiscard]] constexpr envoy_outlier_detection_options grpc_outlier_detection_options() noexcept {
    envoy_outlier_detection_options o;
    o.consecutive_5xx = o.consecutive_gateway_failure = o.consecutive_local_origin_failure = 0;
    o.enforcing_failure_percentage = 100;
    o.healthy_panic_threshold = 0;
    o.dialect = envoy_dialect::grpc;
    return o;
}

/// What rates of success are measured by, in percent.
struct success_rates {
    bool is_known = false; ///< enough hosts had enough requests
    double average = 0;    ///< of the hosts' rates
    double threshold = 0;  ///< below which a host is ejected
};

/// What has happened.
struct envoy_counts {
    std::uint64_t ejections = 0;                               ///< hosts ejected
    std::uint64_t overflow = 0;                                ///< hosts that were not, as too many were
    std::array<std::uint64_t, ejection_rule_count> detected{}; ///< by `ejection_rule`
    std::array<std::uint64_t, ejection_rule_count> enforced{}; ///< the part of them that counted
};

} // namespace straggle::failures
