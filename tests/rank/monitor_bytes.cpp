// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Monitors as bytes: there and back in every state, and bytes that are anything but a monitor.

#include <straggle/rank/detail/monitor_bytes.hpp>
#include <straggle/rank/monitor.hpp>

#include "../fuzz/monitor.cpp"
#include "../support/allocations.hpp"
#include "../support/corpus.hpp"
#include "../support/damage.hpp"
#include "../support/monitor_cases.hpp"
#include "../support/seed.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

using namespace straggle;
using straggle_test::attempt;
using straggle_test::difference;
using straggle_test::real_monitor;
using straggle_test::tick_monitor;

namespace {

using bytes = std::vector<std::byte>;

// The same answers: to the bit for ticks, up to the order of summation for reals.
template <class Monitor>
void check_same(Monitor& a, Monitor& b) {
    double const tolerance = std::is_same_v<Monitor, real_monitor> ? 1e-12 : 0.0;
    REQUIRE(a.counts() == b.counts());
    REQUIRE(a.pairs() == b.pairs());
    REQUIRE(a.jobs() == b.jobs());
    REQUIRE(a.nodes() == b.nodes());
    REQUIRE(difference(a.rank(), b.rank(), straggle_test::order_of_nodes::same, tolerance) == "");
    REQUIRE(a.serialize() == b.serialize());
}

template <class Monitor>
void check_there_and_back(Monitor const& empty, std::vector<attempt> const& all, std::mt19937_64& draw) {
    Monitor m = empty;
    for (std::size_t i = 0; i < all.size(); ++i) {
        m.observe(all[i]);
        if (draw() % 16 == 0) m.finish(all[draw() % (i + 1)].job);
        if (draw() % 32 == 0) m.observe({1, 1, -1, all[i].end});
        if (draw() % 32 == 0) m.observe({1, 1, 1, all[i].end, attempt_status::killed});
        if (draw() % 16 != 0) continue;
        Monitor back = empty;
        back.observe({99, 99, 99, all[0].end}); // to be forgotten
        REQUIRE(back.restore(m.serialize()) == status::ok);
        check_same(back, m);
        if (draw() % 4 == 0) m = back; // what follows is the same as if nothing had happened
    }
    Monitor through = empty;
    REQUIRE(through.restore(m.serialize()) == status::ok);
    for (attempt const& a : all) REQUIRE(through.observe(a) == m.observe(a));
    if constexpr (std::is_same_v<Monitor, tick_monitor>) check_same(through, m);
    REQUIRE(through.counts() == m.counts());
}

template <class Record, class Fields, class Time>
status read_as(bytes const& from, typename monitor<Record, Fields, rank_options<>, Time>::options how,
               Fields const& fields) {
    monitor<Record, Fields, rank_options<>, Time> m(fields, how);
    return m.restore(from);
}

// The beginning of a frame of a tick_monitor without a window, up to its counts.
byte_writer begun(std::uint64_t ring = 1, std::uint64_t used = 0) {
    byte_writer out;
    out.u8(1);
    out.u8(1);
    out.u64(0);
    out.tag(base::identifier_form<int>);
    out.tag(base::identifier_form<int>);
    for (std::uint64_t const n : {used, used, std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}})
        out.varint(n);
    for (std::size_t i = 0; i < record::rejection_count + 6; ++i) out.varint(0);
    out.count(ring);
    return out;
}
// One without a window and with nodes, up to its first bucket.
byte_writer with_nodes(std::vector<int> const& nodes, std::int64_t head = 0) {
    byte_writer out = begun();
    out.flag(true);
    out.i64(head);
    out.count(nodes.size());
    for (int const node : nodes) out.identifier(node);
    return out;
}
void bucket(byte_writer& out, std::uint64_t finished, std::uint64_t used) {
    for (std::uint64_t const n : {used, used, std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}})
        out.varint(n);
    for (std::size_t i = 0; i < record::rejection_count + 2; ++i) out.varint(0);
    out.count(finished);
}
void sums(byte_writer& out, std::vector<std::uint64_t> const& six) {
    for (std::uint64_t const n : six) out.varint(n);
}
std::vector<std::uint64_t> no_sums() {
    return std::vector<std::uint64_t>(6);
}
// A job without a past, up to its pairs.
void job(byte_writer& out, int id, std::uint64_t pairs) {
    out.identifier(id);
    out.flag(false);    // not finished
    out.i64(INT64_MIN); // no step that is gone
    out.real(15);
    sums(out, no_sums());
    out.count(pairs);
}
status read(byte_writer out) {
    bytes const sealed = std::move(out).seal(frame_kind("moni"), 1);
    tick_monitor m(straggle_test::ticks);
    m.observe({1, 1, 5});
    bytes const before = m.serialize();
    status const s = m.restore(sealed);
    if (s == status::ok) {
        (void)m.rank();
        (void)m.serialize();
        tick_monitor again(straggle_test::ticks);
        CHECK(again.restore(m.serialize()) == status::ok);
    } else {
        CHECK(m.serialize() == before);
    }
    return s;
}

constexpr std::uint64_t huge = std::uint64_t{1} << 60;

} // namespace

TEST_CASE("monitor bytes: there and back in every state") {
    std::uint64_t const seed = straggle_test::seed_or(71);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (int round = 0; round < 20; ++round) {
        CAPTURE(round);
        auto const all = straggle_test::random_history(draw, 300);
        check_there_and_back(tick_monitor(straggle_test::ticks), all, draw);
        check_there_and_back(tick_monitor(straggle_test::ticks, {.window = 200, .slide = 50}), all, draw);
        check_there_and_back(real_monitor(straggle_test::reals), all, draw);
        check_there_and_back(real_monitor(straggle_test::reals, {.window = 200, .slide = 50}), all, draw);
    }
    tick_monitor dropping(straggle_test::ticks, {.window = 20, .max_pairs = 1}), kept = dropping;
    for (std::int64_t const end : {50, 0, 0, 70, 70, 70}) dropping.observe({1, 1, 1, end}, 50);
    for (int i = 0; i < 4; ++i) dropping.observe({2, 2, 2, 50}, 50);
    CHECK(dropping.counts().too_old == 2);
    CHECK(dropping.counts().early == 3);
    CHECK(dropping.counts().over_capacity == 4);
    REQUIRE(kept.restore(dropping.serialize()) == status::ok);
    check_same(kept, dropping);
    tick_monitor untouched(straggle_test::ticks), back(straggle_test::ticks);
    back.observe({1, 1, 1});
    REQUIRE(back.restore(untouched.serialize()) == status::ok);
    check_same(back, untouched);
    untouched.observe({1, 1, -1}); // counted, and nothing known
    REQUIRE(back.restore(untouched.serialize()) == status::ok);
    check_same(back, untouched);
}

TEST_CASE("monitor bytes: names, negative numbers, real clocks") {
    struct named {
        std::string job, node;
        double took, end;
    };
    constexpr attempt_fields f{
        .job = &named::job, .node = &named::node, .end = &named::end, .duration = &named::took};
    using type = monitor<named, std::remove_const_t<decltype(f)>>;
    type m(f, {.window = 2.5, .slide = 0.5}), back = m;
    for (int i = 0; i < 40; ++i)
        m.observe({std::string(static_cast<std::size_t>(i % 3), '\0'), "node\n" + std::to_string(i % 5),
                   1.0 / (i + 1), -7.0 + 0.1 * i});
    REQUIRE(back.restore(m.serialize()) == status::ok);
    CHECK(difference(back.rank(), m.rank()) == "");
    tick_monitor negative(straggle_test::ticks), again(straggle_test::ticks);
    negative.observe({-5, INT32_MIN, 3, -9});
    REQUIRE(again.restore(negative.serialize()) == status::ok);
    CHECK(again.rank().unranked()[0].id == INT32_MIN);
}

TEST_CASE("monitor bytes: every truncation and every flipped bit is noticed, and changes nothing") {
    std::mt19937_64 draw(72);
    tick_monitor m(straggle_test::ticks, {.window = 200, .slide = 50});
    for (attempt const& a : straggle_test::random_history(draw, 60)) m.observe(a);
    m.finish(1);
    bytes const good = m.serialize();
    tick_monitor victim(straggle_test::ticks, {.window = 200, .slide = 50});
    victim.observe({4, 4, 44, 4});
    straggle_test::check_damage(victim, good);
}

TEST_CASE("monitor bytes: of another monitor, or from another time") {
    struct names {
        std::string job, node;
        std::int64_t took, end;
        double real, real_end;
        std::uint8_t small_job;
    };
    attempt_fields const f{
        .job = &names::job, .node = &names::node, .end = &names::end, .duration = &names::took};
    attempt_fields const other_job{
        .job = &names::took, .node = &names::node, .end = &names::end, .duration = &names::took};
    attempt_fields const other_node{
        .job = &names::job, .node = &names::took, .end = &names::end, .duration = &names::took};
    attempt_fields const other_duration{
        .job = &names::job, .node = &names::node, .end = &names::end, .duration = &names::real};
    attempt_fields const other_clock{
        .job = &names::job, .node = &names::node, .end = &names::real_end, .duration = &names::took};
    monitor<names, std::remove_const_t<decltype(f)>> m(f, {.window = 40, .slide = 10});
    m.observe({"j", "n", 5, 5, 5.0, 5.0, 1});
    bytes const good = m.serialize();
    using clock = std::int64_t;
    CHECK(read_as<names, std::remove_const_t<decltype(f)>, clock>(good, {.window = 40, .slide = 10}, f) ==
          status::ok);
    for (auto const& [window, slide] :
         std::vector<std::pair<clock, clock>>{{40, 20}, {30, 10}, {10, 0}, {0, 0}})
        CHECK(read_as<names, std::remove_const_t<decltype(f)>, clock>(
                  good, {.window = window, .slide = slide}, f) == status::wrong_kind);
    CHECK(read_as<names, std::remove_const_t<decltype(other_job)>, clock>(good, {.window = 40, .slide = 10},
                                                                          other_job) == status::wrong_kind);
    CHECK(read_as<names, std::remove_const_t<decltype(other_node)>, clock>(good, {.window = 40, .slide = 10},
                                                                           other_node) == status::wrong_kind);
    CHECK(read_as<names, std::remove_const_t<decltype(other_duration)>, clock>(
              good, {.window = 40, .slide = 10}, other_duration) == status::wrong_kind);
    CHECK(read_as<names, std::remove_const_t<decltype(other_clock)>, double>(
              good, {.window = 40, .slide = 10}, other_clock) == status::wrong_kind);
    CHECK(read_as<names, std::remove_const_t<decltype(f)>, clock>(
              good, {.window = 40, .slide = 10, .max_pairs = 0}, f) == status::out_of_range);

    auto const sealed_as = [&](std::uint32_t kind, std::uint32_t version) {
        byte_writer out;
        out.u8(1);
        bytes const frame = std::move(out).seal(kind, version);
        return read_as<names, std::remove_const_t<decltype(f)>, clock>(frame, {.window = 40, .slide = 10}, f);
    };
    CHECK(sealed_as(frame_kind("moni"), 1) == status::truncated);
    CHECK(sealed_as(frame_kind("moni"), 2) == status::unknown_version);
    CHECK(sealed_as(frame_kind("moni"), 0xffffffff) == status::unknown_version);
    CHECK(sealed_as(frame_kind("keep"), 1) == status::wrong_kind);

    // An identifier too wide for its type.
    attempt wide{300, 1, 5};
    tick_monitor wider(straggle_test::ticks);
    wider.observe(wide);
    attempt_fields const narrow{
        .job = &names::small_job, .node = &names::small_job, .end = &names::end, .duration = &names::took};
    CHECK(read_as<names, std::remove_const_t<decltype(narrow)>, clock>(wider.serialize(), {}, narrow) ==
          status::corrupt);
}

TEST_CASE("monitor bytes: a right checksum around nonsense") {
    auto const one_job = [](byte_writer out, std::vector<std::uint64_t> const& six, int node = 0,
                            int back = 0, std::uint64_t more = 0) {
        bucket(out, 0, six[0] - more);
        out.count(1);
        job(out, 5, 1);
        out.varint(static_cast<std::uint64_t>(node));
        out.varint(static_cast<std::uint64_t>(back));
        sums(out, six);
        return out;
    };
    std::vector<std::uint64_t> const fine{2, 30, 0, 500, 0, 0};
    CHECK(read(one_job(with_nodes({7}), fine)) == status::ok);
    CHECK(read(one_job(with_nodes({7}, 1), fine)) == status::corrupt); // without a window there is one step
    CHECK(read(one_job(with_nodes({7}, INT64_MAX), fine)) == status::corrupt);
    CHECK(read(one_job(with_nodes({7}, INT64_MIN), fine)) == status::corrupt);
    CHECK(read(one_job(with_nodes({7}), fine, 1)) == status::corrupt);
    CHECK(read(one_job(with_nodes({7}), fine, 0, 1)) == status::corrupt);
    CHECK(read(one_job(with_nodes({7}), fine, 0, 0, 1)) == status::corrupt); // more than were used
    CHECK(read(one_job(with_nodes({7, 8}), fine)) == status::corrupt);       // 8 has nothing to say
    CHECK(read(one_job(with_nodes({7, 7}), fine)) == status::corrupt);
    CHECK(read(one_job(with_nodes({}), fine)) == status::corrupt);
    // Sums that no durations have.
    CHECK(read(one_job(with_nodes({7}), {0, 0, 0, 0, 0, 0})) == status::corrupt);
    CHECK(read(one_job(with_nodes({7}), {0, 1, 0, 1, 0, 0})) == status::corrupt);
    CHECK(read(one_job(with_nodes({7}), {2, 30, 0, 449, 0, 0})) == status::corrupt);
    CHECK(read(one_job(with_nodes({7}), {2, 30, 0, 450, 0, 0})) == status::ok);
    CHECK(read(one_job(with_nodes({7}), {huge + 1, 30, 0, 450, 0, 0})) == status::corrupt);
    CHECK(read(one_job(with_nodes({7}), {UINT64_MAX, 30, 0, 450, 0, 0})) == status::corrupt);
    CHECK(read(one_job(with_nodes({7}), {2, UINT64_MAX, UINT64_MAX, 1, 0, 0})) == status::corrupt); // -1
    CHECK(read(one_job(with_nodes({7}), {1, std::uint64_t{1} << 63, 0, 0, std::uint64_t{1} << 62, 0})) ==
          status::corrupt);
    // No durations have these either; whatever is said of them, nothing may break.
    for (std::vector<std::uint64_t> const& six :
         std::vector<std::vector<std::uint64_t>>{{1, 5, 0, 26, 0, 0},
                                                 {2, UINT64_MAX, UINT64_MAX, 1, 0, 0},
                                                 {1, 0, 1, 0, 0, 1},
                                                 {6, 0, std::uint64_t{1} << 30, 0, 0, std::uint64_t{1} << 62},
                                                 {huge, 0, std::uint64_t{1} << 60, 0, 0, UINT64_MAX},
                                                 {5, 5, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX},
                                                 {huge, 0, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX}})
        (void)read(one_job(with_nodes({7}), six));

    auto const jobs = [&](std::uint64_t claimed, std::vector<int> const& ids, std::uint64_t pairs) {
        byte_writer out = with_nodes({7});
        bucket(out, 0, 100);
        out.count(claimed);
        for (int const id : ids) {
            job(out, id, pairs);
            for (std::uint64_t p = 0; p < pairs; ++p) {
                out.varint(0);
                out.varint(0);
                sums(out, fine);
            }
        }
        return out;
    };
    CHECK(read(jobs(1, {5}, 1)) == status::ok);
    CHECK(read(jobs(1, {5}, 0)) != status::ok);
    CHECK(read(jobs(1, {5}, 2)) == status::corrupt);    // the same pair twice
    CHECK(read(jobs(2, {5, 5}, 1)) == status::corrupt); // the same job twice
    CHECK(read(jobs(1, {5, 6}, 1)) == status::corrupt); // bytes are left
    byte_writer halves = with_nodes({7, 8});            // a job twice, on two nodes
    bucket(halves, 0, 100);
    halves.count(2);
    for (std::uint64_t node : {0u, 1u}) {
        job(halves, 5, 1);
        halves.varint(node);
        halves.varint(0);
        sums(halves, fine);
    }
    CHECK(read(std::move(halves)) == status::corrupt);
    CHECK(read(jobs(2, {5}, 1)) == status::truncated);
    // Of steps that are gone: they cannot be yet to come, nor nothing at all.
    auto const past = [&](std::int64_t last, double longest, std::vector<std::uint64_t> const& six) {
        byte_writer out = with_nodes({});
        bucket(out, 0, 0);
        out.count(1);
        out.identifier(5);
        out.flag(false);
        out.i64(last);
        out.real(longest);
        sums(out, six);
        out.count(0);
        return out;
    };
    CHECK(read(past(0, 15, fine)) == status::ok); // and without a window forgotten at once
    CHECK(read(past(1, 15, fine)) == status::corrupt);
    CHECK(read(past(INT64_MIN, 15, fine)) == status::corrupt);
    CHECK(read(past(INT64_MIN + 1, 15, fine)) == status::corrupt);
    CHECK(read(past(0, -1, fine)) == status::corrupt);
    CHECK(read(past(0, std::nan(""), fine)) == status::corrupt);
    CHECK(read(past(0, 15, {0, 0, 0, 0, 0, 0})) == status::corrupt);
    CHECK(read(past(0, 15, {2, 30, 0, 449, 0, 0})) == status::corrupt);
    CHECK(read(past(0, 15, {UINT64_MAX, 30, 0, 450, 0, 0})) == status::corrupt);
    CHECK(read(begun(2)) == status::wrong_kind); // another number of steps
    byte_writer flag = begun();
    flag.u8(2);
    CHECK(read(std::move(flag)) == status::corrupt);

    auto const finished = [&](std::vector<int> const& nodes, std::vector<std::uint64_t> const& six,
                              std::uint64_t with = 3, std::int64_t time = 0) {
        byte_writer out = with_nodes({7, 8});
        bucket(out, nodes.size(), huge);
        for (int const node : nodes) {
            out.varint(static_cast<std::uint64_t>(node));
            out.varint(with == 3 ? static_cast<std::uint64_t>(node) : with); // what it is compared with
            sums(out, six);
            for (int i = 0; i < 7; ++i) out.i64(time); // sums of relative times
            out.varint(0);                             // tasks and jobs of those
            out.varint(0);
        }
        out.count(0);
        return out;
    };
    CHECK(read(finished({0, 1}, fine)) == status::ok);
    CHECK(read(finished({1, 0}, fine)) == status::ok);
    CHECK(read(finished({0}, fine)) == status::corrupt);
    CHECK(read(finished({0, 0}, fine)) == status::corrupt);
    CHECK(read(finished({0, 2}, fine)) == status::corrupt);
    CHECK(read(finished({0, 1}, {0, 0, 0, 0, 0, 0})) == status::corrupt);
    CHECK(read(finished({0, 1}, {3, UINT64_MAX, UINT64_MAX, 1, 0, 0})) ==
          status::ok); // scores may be negative
    CHECK(read(finished({0, 1}, fine, 0)) == status::ok);
    CHECK(read(finished({0, 1}, fine, 1)) == status::corrupt); // the second is not there yet
    CHECK(read(finished({0, 1}, fine, 2)) == status::ok);      // with nodes nobody knows
    CHECK(read(finished({0, 1}, fine, 4)) == status::corrupt);
    CHECK(read(finished({0, 1}, fine, 0, -1)) == status::corrupt);
    (void)read(finished({0, 1}, {huge, 0, std::uint64_t{1} << 60, 0, 0, UINT64_MAX}));
}

TEST_CASE("monitor bytes: idle jobs count towards the limit, and need not have run in vain") {
    tick_monitor::options const how{.window = 10};
    tick_monitor m(straggle_test::ticks, how);
    for (int job = 0; job < 6; ++job) m.observe({job, 1, 100, 1});
    m.observe({9, 1, 1, 35}); // the others are idle now
    tick_monitor small(straggle_test::ticks, {.window = 10, .max_jobs = 6});
    CHECK(small.restore(m.serialize()) == status::out_of_range);
    CHECK(small.jobs() == 0);
    // A job of which nothing has room is left out, although it runs.
    tick_monitor full(straggle_test::ticks, {.window = 10, .max_pairs = 1}), other(straggle_test::ticks, how);
    full.observe({1, 1, 5, 1});
    other.observe({2, 2, 5, 1});
    CHECK(other.observe_running(2, 4, 1));
    full.merge(other);
    CHECK(full.jobs() == 1);
    CHECK(small.restore(full.serialize()) == status::ok);
    // No age is too large to be stored.
    struct timed_run {
        int job, node;
        double took, end;
    };
    auto real = monitor_of<timed_run>(attempt_fields{.job = &timed_run::job,
                                                     .node = &timed_run::node,
                                                     .end = &timed_run::end,
                                                     .duration = &timed_run::took},
                                      {.window = 10.0});
    real.observe({1, 1, 5, 1});
    CHECK(real.observe_running(1, HUGE_VAL, 1));
    CHECK(real.restore(real.serialize()) == status::ok);
}

TEST_CASE("monitor bytes: hostile counts take no memory") {
    for (std::uint64_t const many : {std::uint64_t{100'000}, std::uint64_t{1} << 32, UINT64_MAX}) {
        byte_writer nodes = begun();
        nodes.flag(true);
        nodes.i64(0);
        nodes.count(many);
        byte_writer scores = with_nodes({7});
        bucket(scores, many, 0);
        byte_writer jobs = with_nodes({7});
        bucket(jobs, 0, 0);
        jobs.count(many);
        for (byte_writer* out : {&nodes, &scores, &jobs}) {
            bytes const sealed = std::move(*out).seal(frame_kind("moni"), 1);
            tick_monitor m(straggle_test::ticks);
            std::size_t const before = straggle_test::allocated_bytes();
            CHECK(m.restore(sealed) == status::truncated);
            CHECK(straggle_test::allocated_bytes() - before < 10'000);
        }
    }
}

TEST_CASE("monitor bytes: the corpus of the fuzzer") {
    straggle_test::replay_corpus(__FILE__, "monitor", LLVMFuzzerTestOneInput);
}

TEST_CASE("monitor bytes: what the fuzzer does, on damaged monitors with the checksum put right") {
    std::mt19937_64 draw(straggle_test::seed_or(73));
    for (int round = 0; round < 3000; ++round) {
        std::vector<std::byte> input = sample_monitor(draw() % 4, 1 + draw() % 40);
        for (std::uint64_t flips = 1 + draw() % 4; flips > 0; --flips)
            input[24 + draw() % (input.size() - 24)] =
                static_cast<std::byte>(draw() % 3 == 0 ? draw() : draw() % 4);
        LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(input.data()), input.size());
    }
}
