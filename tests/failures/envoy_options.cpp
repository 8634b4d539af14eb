// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/failures/envoy_options.hpp>

#include <doctest/doctest.h>

using straggle::failures::ejection_rule;
using straggle::failures::envoy_outlier_detection_options;

TEST_CASE("envoy_options: the defaults of Envoy and of gRPC") {
    constexpr envoy_outlier_detection_options envoy;
    static_assert(envoy.consecutive_5xx == 5 && envoy.interval == 10 && envoy.base_ejection_time == 30);
    static_assert(envoy.max_ejection_time == 300 && envoy.max_ejection_percent == 10);
    static_assert(envoy.success_rate_minimum_hosts == 5 && envoy.success_rate_request_volume == 100);
    static_assert(envoy.success_rate_stdev_factor == 1900 && envoy.failure_percentage_threshold == 85);
    static_assert(envoy.enforcing(ejection_rule::consecutive_gateway_failure) == 0);
    static_assert(envoy.enforcing(ejection_rule::failure_percentage) == 0);
    static_assert(envoy.enforcing(ejection_rule::success_rate) == 100);
    static_assert(envoy.in_a_row(ejection_rule::consecutive_5xx) == 5);
    static_assert(envoy.in_a_row(ejection_rule::success_rate) == 0);
    constexpr envoy_outlier_detection_options grpc = straggle::failures::grpc_outlier_detection_options();
    static_assert(grpc.consecutive_5xx == 0 && grpc.enforcing(ejection_rule::failure_percentage) == 100);
    static_assert(grpc.failure_percentage_request_volume == 50);
    CHECK(straggle::failures::ejection_rule_count == 7);
}
