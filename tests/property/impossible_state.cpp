// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A state with a right checksum and impossible values in any of its fields is refused and changes nothing,
/// or what is restored works with numbers that exist.

#include "mitigate/small_cluster.hpp"
#include "support/seed.hpp"

#include <straggle/mitigate/mitigator.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

using namespace straggle;
using straggle_test::health;
using straggle_test::small_cluster;
using straggle_test::small_mitigator;

namespace {

std::vector<std::byte> with(std::vector<std::byte> bytes, std::size_t at, std::uint64_t bits) {
    detail::store_little(bytes.data() + at, bits);
    std::size_t const end = bytes.size() - detail::frame_tail_size;
    detail::store_little(bytes.data() + end, detail::crc64(std::span<std::byte const>(bytes).first(end)));
    return bytes;
}

void check_numbers(mitigation_plan const& plan) {
    for (auto const& n : plan.nodes()) {
        CHECK((n.slow.value > 0 && std::isfinite(n.slow.value)));
        CHECK((n.slow.low >= 0 && n.slow.low <= n.slow.value && n.slow.value <= n.slow.high));
        for (double const x : {n.why.value, n.why.threshold, n.why.usual, n.lasted, n.left})
            CHECK(std::isfinite(x));
    }
    for (auto const& c : plan.copies())
        for (double const x : {c.left.low, c.left.middle, c.left.high, c.there.low, c.there.middle,
                               c.there.high, c.win_probability, c.gain, c.cost, c.why.value})
            CHECK(std::isfinite(x));
}

} // namespace

TEST_CASE("mitigator: a state with impossible values is refused, or works with numbers that exist") {
    mitigator_options o;
    o.effects.left_alone = 0.2;
    small_cluster c({.nodes = 12, .slots = 3, .between = 12, .is_checked = false, .seed = 3}, o);
    c.healths[3] = health::slow;
    c.healths[5] = health::fails;
    c.run(400);
    c.healths[7] = health::hangs;
    c.run(300);
    std::vector<std::byte> const good = c.m.serialize();
    auto const rows = c.running();
    auto const hosts = c.hosts();
    constexpr double inf = std::numeric_limits<double>::infinity();
    std::uint64_t const values[] = {std::bit_cast<std::uint64_t>(std::nan("")),
                                    std::bit_cast<std::uint64_t>(inf),
                                    std::bit_cast<std::uint64_t>(-inf),
                                    std::bit_cast<std::uint64_t>(1e300),
                                    std::bit_cast<std::uint64_t>(-1e300),
                                    std::bit_cast<std::uint64_t>(-7.5),
                                    ~std::uint64_t{0},
                                    std::uint64_t{1} << 62};
    std::uint64_t const seed = straggle_test::seed_or(31);
    std::mt19937_64 random(seed);
    std::size_t const first = detail::frame_head_size,
                      places = good.size() - first - detail::frame_tail_size - sizeof(std::uint64_t);
    int refused = 0, restored = 0;
    for (int i = 0; i < 1200; ++i) {
        std::size_t const at = first + random() % places;
        std::uint64_t const bits = values[random() % std::size(values)];
        CAPTURE(seed);
        CAPTURE(at);
        CAPTURE(bits);
        small_mitigator m(straggle_test::ended_fields, straggle_test::running_task_fields,
                          straggle_test::told_host_fields, o);
        std::vector<std::byte> const before = m.serialize();
        if (m.restore(with(good, at, bits)) != status::ok) {
            CHECK(m.serialize() == before);
            ++refused;
            continue;
        }
        ++restored;
        std::vector<std::byte> const stored = m.serialize();
        REQUIRE(m.restore(stored) == status::ok);
        REQUIRE(m.serialize() == stored);
        for (int step = 1; step < 4; ++step) {
            double const now = c.now() + step;
            m.observe({"job-1", "node-103", 1000 + step, now - 70, now, attempt_status::success}, now);
            check_numbers(m.decide(now, rows, hosts, {.waiting = 3}));
            for (auto const& p : m.rank_places("job-2", hosts)) CHECK(std::isfinite(p.time));
        }
    }
    CHECK(refused > 300);
    CHECK(restored > 100); // keys and names may be anything
}
