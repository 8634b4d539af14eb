// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/failures/envoy_outlier_detection.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

using straggle::attempt_status;
using straggle::failures::ejection_rule;
using straggle::failures::envoy_dialect;
using straggle::failures::envoy_outlier_detection;
using straggle::failures::envoy_outlier_detection_options;
using straggle::failures::failure_kind;

namespace {

// Answers of a host. Milliseconds, as upstream's tests have them.
void answer(envoy_outlier_detection& d, std::uint32_t host, int good, int bad, double now = 0,
            failure_kind kind = failure_kind::task) {
    for (int i = 0; i < good; ++i) d.observe({.node = host, .end = now});
    for (int i = 0; i < bad; ++i)
        d.observe({.node = host, .end = now, .as = attempt_status::failed, .kind = kind});
}
envoy_outlier_detection_options milliseconds() {
    return {.interval = 10000, .base_ejection_time = 30000, .max_ejection_time = 300000};
}
std::size_t enforced(envoy_outlier_detection const& d, ejection_rule rule) {
    return static_cast<std::size_t>(d.counts().enforced[static_cast<std::size_t>(rule)]);
}
std::size_t detected(envoy_outlier_detection const& d, ejection_rule rule) {
    return static_cast<std::size_t>(d.counts().detected[static_cast<std::size_t>(rule)]);
}

} // namespace

// Envoy's outlier_detection_impl_test.cc.
TEST_CASE("envoy: mean and threshold of rates of success") {
    // Rates of 50, 100, 100, 100, 100.
    for (double const factor : {1900.0, 3000.0}) {
        envoy_outlier_detection_options o = milliseconds();
        o.success_rate_stdev_factor = factor;
        o.consecutive_5xx = 0;
        envoy_outlier_detection d(o);
        answer(d, 0, 100, 100);
        for (std::uint32_t host = 1; host < 5; ++host) answer(d, host, 200, 0);
        d.end_interval(10000);
        REQUIRE(d.rates().is_known);
        CHECK(d.rates().average == doctest::Approx(90));
        CHECK(d.rates().threshold == doctest::Approx(90 - 20 * factor / 1000)); // 52; a factor in thousandths
    }
}

TEST_CASE("envoy: a low rate of success ejects until the time is over") {
    envoy_outlier_detection_options o = milliseconds();
    o.max_ejection_percent = 100;
    o.consecutive_5xx = 0;
    envoy_outlier_detection d(o);
    for (std::uint32_t host = 0; host < 5; ++host) answer(d, host, 200, 0);
    answer(d, 4, 0, 200, 0, failure_kind::gateway);
    d.end_interval(10000);
    CHECK(*d.success_rate(4) == doctest::Approx(50));
    CHECK(d.success_rate(5).reason() == straggle::status::insufficient_evidence); // there is no such host
    CHECK(d.rates().average == doctest::Approx(90));
    CHECK(d.rates().threshold == doctest::Approx(52));
    CHECK(d.is_out(4));
    CHECK(d.ejections_active() == 1);
    CHECK(enforced(d, ejection_rule::success_rate) == 1);
    d.end_interval(19999);
    CHECK(d.success_rate(4).reason() == straggle::status::insufficient_evidence); // nothing was asked
    CHECK(d.is_out(4));
    d.end_interval(50001);
    CHECK(!d.is_out(4));
    CHECK(d.ejections_active() == 0);

    // Too little to be judged by: only one host has answered often enough.
    for (std::uint32_t host = 0; host < 5; ++host) answer(d, host, 25, 0);
    answer(d, 4, 0, 25, 0, failure_kind::gateway);
    d.end_interval(60001);
    CHECK(!d.rates().is_known); // -1 upstream
    CHECK(!d.is_out(4));
}

TEST_CASE("envoy: five failures in a row eject, longer each time") {
    envoy_outlier_detection d(milliseconds());
    for (std::uint32_t host = 0; host < 10; ++host) d.add(host);
    answer(d, 0, 0, 1);
    answer(d, 0, 1, 0);
    answer(d, 0, 0, 4);
    CHECK(!d.is_out(0));
    answer(d, 0, 0, 1);
    CHECK(d.is_out(0));
    d.end_interval(9999);
    CHECK(d.is_out(0));
    d.end_interval(30001);
    CHECK(!d.is_out(0));
    answer(d, 0, 0, 5, 40000);
    CHECK(d.is_out(0));
    CHECK(d.counts().ejections == 2);
    CHECK(d.ejection_time(0) == 60000);
}

TEST_CASE("envoy: what is not enforced is detected") {
    envoy_outlier_detection_options o = milliseconds();
    o.enforcing_consecutive_5xx = 0;
    o.enforcing_success_rate = 0;
    envoy_outlier_detection d(o);
    for (std::uint32_t host = 0; host < 10; ++host) d.add(host);
    answer(d, 0, 0, 5);
    CHECK(!d.is_out(0));
    CHECK(detected(d, ejection_rule::consecutive_5xx) == 1);
    CHECK(enforced(d, ejection_rule::consecutive_5xx) == 0);
    for (std::uint32_t host = 0; host < 10; ++host) answer(d, host, host == 3 ? 0 : 200, host == 3 ? 200 : 0);
    d.end_interval(10000);
    CHECK(!d.is_out(3));
    CHECK(detected(d, ejection_rule::success_rate) == 1);
    CHECK(enforced(d, ejection_rule::success_rate) == 0);
    // Of four, a quarter.
    o.enforcing_consecutive_5xx = 25;
    o.max_ejection_percent = 100;
    envoy_outlier_detection quarter(o);
    for (std::uint32_t host = 0; host < 8; ++host) answer(quarter, host, 0, 5);
    CHECK(quarter.counts().ejections == 2);
}

TEST_CASE("envoy: failure percentages") {
    // Of five hosts with 50 good answers each one has 250 or 300 bad ones: 83.3 % and 85.7 %, with a limit
    // of 85.
    for (int const bad : {250, 300}) {
        envoy_outlier_detection_options o = milliseconds();
        o.consecutive_5xx = 0;
        o.enforcing_success_rate = 0;
        o.enforcing_failure_percentage = 100;
        o.max_ejection_percent = 100;
        envoy_outlier_detection d(o);
        for (std::uint32_t host = 0; host < 5; ++host) answer(d, host, 50, 0);
        answer(d, 4, 0, bad);
        d.end_interval(10000);
        CHECK(d.is_out(4) == (bad == 300));
        CHECK(enforced(d, ejection_rule::failure_percentage) == (bad == 300 ? 1 : 0));
        d.end_interval(19999);
        CHECK(d.is_out(4) == (bad == 300));
        d.end_interval(50001);
        CHECK(!d.is_out(4));
    }
    // At the limit itself: out for Envoy, not for gRPC.
    for (envoy_dialect const dialect : {envoy_dialect::envoy, envoy_dialect::grpc}) {
        envoy_outlier_detection_options o = milliseconds();
        o.consecutive_5xx = 0;
        o.enforcing_success_rate = 0;
        o.enforcing_failure_percentage = 100;
        o.max_ejection_percent = 100;
        o.dialect = dialect;
        envoy_outlier_detection d(o);
        for (std::uint32_t host = 0; host < 5; ++host)
            answer(d, host, host == 4 ? 15 : 100, host == 4 ? 85 : 0);
        d.end_interval(10000);
        CHECK(d.is_out(4) == (dialect == envoy_dialect::envoy));
    }
}

TEST_CASE("envoy: no more than the largest part, by the old rule and the new") {
    // Two hosts and 1 %, before 2021.
    envoy_outlier_detection_options o = milliseconds();
    o.max_ejection_percent = 1;
    o.dialect = envoy_dialect::envoy_2020;
    envoy_outlier_detection d(o);
    d.add(0);
    d.add(1);
    answer(d, 0, 0, 5);
    answer(d, 1, 0, 5);
    CHECK(d.is_ejected(0));
    CHECK(!d.is_ejected(1));
    CHECK(d.counts().overflow == 1);

    struct row {
        envoy_dialect dialect;
        std::uint32_t hosts;
        double percent;
        bool always_one;
        std::size_t ejected;
    };
    for (row const r :
         {row{envoy_dialect::envoy_2020, 5, 30, false, 2}, row{envoy_dialect::grpc, 5, 30, false, 2},
          row{envoy_dialect::envoy, 5, 30, false, 1}, row{envoy_dialect::envoy, 9, 10, false, 0},
          row{envoy_dialect::envoy, 9, 10, true, 1}, row{envoy_dialect::envoy, 10, 10, false, 1}}) {
        envoy_outlier_detection_options options = milliseconds();
        options.max_ejection_percent = r.percent;
        options.always_eject_one_host = r.always_one;
        options.dialect = r.dialect;
        envoy_outlier_detection capped(options);
        for (std::uint32_t host = 0; host < r.hosts; ++host) capped.add(host);
        for (std::uint32_t host = 0; host < r.hosts; ++host) answer(capped, host, 0, 5);
        CHECK(capped.ejections_active() == r.ejected);
        CHECK(capped.counts().overflow == r.hosts - r.ejected);
    }
}

TEST_CASE("envoy: a host that leaves while it is ejected is no longer counted") {
    envoy_outlier_detection d(milliseconds());
    for (std::uint32_t host = 0; host < 10; ++host) d.add(host);
    answer(d, 7, 0, 5);
    CHECK(d.ejections_active() == 1);
    d.remove(7);
    CHECK(d.ejections_active() == 0);
    d.add(7);
    CHECK(!d.is_out(7));
    CHECK(d.multiplier(7) == 0);
}

TEST_CASE(
    "envoy: what is stored of the growth of ejections exceeds what the longest one needs (issue 37602)") {
    envoy_outlier_detection d({.interval = 1, .base_ejection_time = 2, .max_ejection_time = 7});
    for (std::uint32_t host = 0; host < 10; ++host) d.add(host);
    double now = 0;
    std::vector<double> lengths;
    for (int i = 0; i < 6; ++i) {
        answer(d, 0, 0, 5, now);
        REQUIRE(d.is_out(0));
        lengths.push_back(d.ejection_time(0));
        now += 10;
        d.end_interval(now);
        REQUIRE(!d.is_out(0));
    }
    CHECK(lengths == std::vector<double>{2, 4, 6, 7, 7, 7});
    CHECK(d.multiplier(0) == 5);
}

TEST_CASE("envoy: growth is lost by time alone, without traffic (issue 21142)") {
    envoy_outlier_detection d({.interval = 1, .base_ejection_time = 1});
    for (std::uint32_t host = 0; host < 10; ++host) d.add(host);
    answer(d, 0, 0, 5, 0);
    CHECK(d.ejection_time(0) == 1);
    d.end_interval(1); // it is back
    CHECK(!d.is_out(0));
    d.end_interval(2); // nothing was sent to it
    answer(d, 0, 0, 5, 2.5);
    REQUIRE(d.is_out(0));
    CHECK(d.ejection_time(0) == 1); // not 2
}

TEST_CASE("envoy: gateway failures and those of the way to the host") {
    envoy_outlier_detection_options o = milliseconds();
    o.enforcing_consecutive_gateway_failure = 100;
    o.enforcing_consecutive_5xx = 0;
    envoy_outlier_detection d(o);
    for (std::uint32_t host = 0; host < 10; ++host) d.add(host);
    answer(d, 0, 0, 4, 0, failure_kind::gateway);
    answer(d, 0, 0, 1); // a failure of another kind
    answer(d, 0, 0, 4, 0, failure_kind::gateway);
    CHECK(!d.is_out(0));
    answer(d, 0, 0, 1, 0, failure_kind::local_origin); // counts as one unless told apart
    CHECK(d.is_out(0));
    CHECK(enforced(d, ejection_rule::consecutive_gateway_failure) == 1);
    CHECK(detected(d, ejection_rule::consecutive_5xx) == 1);

    o.split_external_local_origin_errors = true;
    envoy_outlier_detection split(o);
    for (std::uint32_t host = 0; host < 10; ++host) split.add(host);
    answer(split, 0, 0, 4, 0, failure_kind::local_origin);
    answer(split, 0, 0, 4, 0, failure_kind::gateway); // which was reached
    answer(split, 0, 0, 4, 0, failure_kind::local_origin);
    CHECK(!split.is_out(0));
    answer(split, 0, 0, 1, 0, failure_kind::local_origin);
    CHECK(split.is_out(0));
    CHECK(enforced(split, ejection_rule::consecutive_local_origin_failure) == 1);
    // Rates apart, too.
    envoy_outlier_detection rates([] {
        envoy_outlier_detection_options apart = milliseconds();
        apart.split_external_local_origin_errors = true;
        apart.consecutive_local_origin_failure = 0;
        return apart;
    }());
    for (std::uint32_t host = 0; host < 10; ++host) answer(rates, host, 200, 0);
    answer(rates, 2, 0, 100, 0, failure_kind::local_origin);
    rates.end_interval(10000);
    CHECK(rates.rates().average == 100);
    CHECK(rates.local_origin_rates().average < 100);
    CHECK(rates.is_out(2));
    CHECK(enforced(rates, ejection_rule::local_origin_success_rate) == 1);
}

TEST_CASE("envoy: with half of the hosts ejected all are used") {
    envoy_outlier_detection_options o = milliseconds();
    o.max_ejection_percent = 100;
    envoy_outlier_detection d(o);
    for (std::uint32_t host = 0; host < 10; ++host) d.add(host);
    for (std::uint32_t host = 0; host < 5; ++host) answer(d, host, 0, 5);
    CHECK(d.is_out(0));
    answer(d, 5, 0, 5);
    CHECK(d.is_in_panic());
    CHECK(d.is_ejected(0));
    CHECK(!d.is_out(0));
}

TEST_CASE("envoy: intervals end on time, however seldom one asks") {
    envoy_outlier_detection often({.max_ejection_percent = 20}), seldom({.max_ejection_percent = 20});
    for (envoy_outlier_detection* const d : {&often, &seldom}) {
        d->advance(0);
        for (std::uint32_t host = 0; host < 5; ++host) d->add(host);
        answer(*d, 1, 0, 5, 1);
    }
    for (double now = 1; now <= 41; now += 0.5) often.advance(now);
    seldom.advance(41);
    CHECK(!often.is_out(1));
    CHECK(!seldom.is_out(1));
    CHECK(often.multiplier(1) == seldom.multiplier(1));
    seldom.advance(1e12); // at once
    often.advance(41 + 1e6);
    CHECK(seldom.multiplier(1) == 0);
    CHECK(often.multiplier(1) == 0);
}

// gRPC's OutlierDetectionLoadBalancerTest.
namespace {

envoy_outlier_detection_options grpc() {
    envoy_outlier_detection_options o = straggle::failures::grpc_outlier_detection_options();
    o.success_rate_minimum_hosts = 3;
    o.success_rate_request_volume = 10;
    o.enforcing_failure_percentage = 0;
    o.max_ejection_percent = 50;
    return o;
}
std::size_t ejected(envoy_outlier_detection const& d) {
    return d.ejections_active();
}

} // namespace

TEST_CASE("grpc: the deviation is that of a whole population") {
    // 600, 470, 170, 430 and 300 of 1000.
    envoy_outlier_detection_options o = grpc();
    o.success_rate_stdev_factor = 1000;
    envoy_outlier_detection d(o);
    int const good[] = {600, 470, 170, 430, 300};
    for (std::uint32_t host = 0; host < 5; ++host) answer(d, host, good[host], 1000 - good[host]);
    d.end_interval(10);
    CHECK(d.rates().average == doctest::Approx(39.4));
    CHECK(d.rates().average - d.rates().threshold == doctest::Approx(14.732277488562318).epsilon(1e-12));
}

TEST_CASE("grpc: one outlier, and two that hide one another") {
    envoy_outlier_detection one(grpc());
    for (std::uint32_t host = 0; host < 5; ++host) answer(one, host, host == 0 ? 0 : 20, host == 0 ? 20 : 0);
    one.end_interval(10);
    CHECK(one.is_out(0));
    CHECK(ejected(one) == 1);
    for (double const factor : {1.0, 1900.0}) {
        envoy_outlier_detection_options o = grpc();
        o.success_rate_stdev_factor = factor;
        envoy_outlier_detection two(o);
        for (std::uint32_t host = 0; host < 5; ++host)
            answer(two, host, host < 2 ? 0 : 20, host < 2 ? 20 : 0);
        two.end_interval(10);
        CHECK(ejected(two) == (factor == 1.0 ? 2 : 0));
    }
}

TEST_CASE("grpc: three outliers and 30 % are two") {
    envoy_outlier_detection_options o = grpc();
    o.success_rate_stdev_factor = 1;
    o.max_ejection_percent = 30;
    envoy_outlier_detection d(o);
    for (std::uint32_t host = 0; host < 5; ++host) answer(d, host, host < 3 ? 0 : 20, host < 3 ? 20 : 0);
    d.end_interval(10);
    CHECK(ejected(d) == 2);
}

TEST_CASE("grpc: too few calls, too few hosts, not enforced") {
    envoy_outlier_detection_options o = grpc();
    o.success_rate_request_volume = 20;
    envoy_outlier_detection volume(o);
    for (std::uint32_t host = 0; host < 5; ++host)
        answer(volume, host, host == 0 ? 0 : 20, host == 0 ? 19 : 0);
    volume.end_interval(10);
    CHECK(ejected(volume) == 0);
    o.success_rate_minimum_hosts = 5;
    envoy_outlier_detection hosts(o);
    for (std::uint32_t host = 0; host < 5; ++host)
        answer(hosts, host, host == 0 ? 0 : host == 1 ? 19 : 20, host == 0 ? 20 : 0);
    hosts.end_interval(10);
    CHECK(ejected(hosts) == 0);
    o = grpc();
    o.enforcing_success_rate = 0;
    envoy_outlier_detection off(o);
    for (std::uint32_t host = 0; host < 5; ++host) answer(off, host, host == 0 ? 0 : 20, host == 0 ? 20 : 0);
    off.end_interval(10);
    CHECK(ejected(off) == 0);
}

TEST_CASE("grpc: both rules together eject three") {
    envoy_outlier_detection_options o = grpc();
    o.success_rate_stdev_factor = 1;
    o.enforcing_failure_percentage = 100;
    o.failure_percentage_threshold = 0;
    o.failure_percentage_minimum_hosts = 3;
    o.failure_percentage_request_volume = 1;
    o.max_ejection_percent = 100;
    envoy_outlier_detection d(o);
    answer(d, 0, 0, 20);
    answer(d, 1, 0, 20);
    answer(d, 2, 0, 1); // too little for its rate
    answer(d, 3, 20, 0);
    answer(d, 4, 20, 0);
    d.end_interval(10);
    CHECK(ejected(d) == 3);
    CHECK(d.is_ejected(2));
    CHECK(enforced(d, ejection_rule::failure_percentage) == 1);
}

TEST_CASE("grpc: back after the longest time, and a new setting changes nothing that is") {
    envoy_outlier_detection d(grpc());
    for (std::uint32_t host = 0; host < 5; ++host) answer(d, host, host == 0 ? 0 : 20, host == 0 ? 20 : 0);
    d.end_interval(10);
    REQUIRE(d.is_ejected(0));
    envoy_outlier_detection_options off = grpc();
    off.enforcing_success_rate = 0;
    d.set_options(off);
    for (std::uint32_t host = 1; host < 5; ++host) answer(d, host, host == 1 ? 0 : 20, host == 1 ? 20 : 0);
    d.end_interval(20);
    CHECK(d.is_ejected(0));
    CHECK(!d.is_ejected(1));
    d.end_interval(40); // not after its time yet
    CHECK(d.is_ejected(0));
    d.end_interval(std::nextafter(10.0 + 300, 400.0));
    CHECK(ejected(d) == 0);
}
