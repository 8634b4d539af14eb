// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Failed allocations while it is learned and predicted how long tasks take.

#include "support/fault_cases.hpp"
#include "support/faults.hpp"

#include <straggle/predict/factors.hpp>
#include <straggle/predict/node_weights.hpp>
#include <straggle/predict/profile_store.hpp>
#include <straggle/predict/similar_tasks.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using straggle_test::check_failures;
using straggle_test::long_name;
using straggle_test::promise;

constexpr auto number = straggle::predict::factor_kind::numeric,
               code = straggle::predict::factor_kind::categorical;
std::vector<straggle::predict::factor_kind> const kinds{number, code, number};

straggle::predict::profile_store store_of(std::size_t records, std::size_t capacity = 100'000) {
    straggle::predict::profile_store store(kinds, {.capacity = capacity});
    for (std::size_t i = 0; i < records; ++i) {
        double const x = static_cast<double>(i * 7919 % 101);
        store.add(std::vector<double>{x, static_cast<double>(i % 5), x * x}, x);
    }
    return store;
}
auto found(straggle::predict::profile_store const& store) {
    straggle::predict::nearest_scratch scratch;
    std::vector<straggle::predict::neighbor> all;
    (void)store.nearest(std::vector<double>{5, 1, 30}, std::vector<double>{1, 2, 0.1}, 7, 1e9, scratch, all);
    std::vector<double> numbers;
    for (auto const& n : all) numbers.insert(numbers.end(), {n.distance, n.time});
    return std::pair(numbers, store.serialize());
}

using weights = straggle::predict::node_weights<std::string>;
weights weights_of(int nodes, int pairs) {
    weights w(3);
    std::mt19937_64 engine(7);
    for (int i = 0; i < pairs; ++i) {
        auto const share = [&] { return static_cast<double>(engine() >> 11) * 0x1p-53; };
        std::vector<double> const s{share(), share(), share()};
        if (i % 3 == 0)
            w.observe(s, s[0]);
        else
            w.observe(long_name("node", i % nodes), s, 0.5 * s[0] + 0.5 * s[1]);
    }
    return w;
}
auto weighed(weights const& w) {
    straggle::byte_writer out;
    w.write(out);
    std::vector<std::byte> bytes(out.payload().begin(), out.payload().end());
    std::vector<double> all(w.fleet_weights().begin(), w.fleet_weights().end());
    for (int i = 0; i < 20; ++i)
        for (double const x : w.weights_of(long_name("node", i))) all.push_back(x);
    return std::pair(bytes, all);
}

struct task {
    std::string host, program, user;
    double size = 0, took = 0;
};
task some_task(int i) {
    return {long_name("host", i % 5), long_name("program", i % 7), long_name("user", i % 3),
            static_cast<double>(i * 7919 % 101), static_cast<double>(10 + i % 5 + i * 31 % 17)};
}
constexpr auto list_of_factors() {
    return straggle::predict::factors(straggle::predict::numeric(&task::size, "size"),
                                      straggle::predict::categorical(&task::program, "program"),
                                      straggle::predict::categorical(&task::user, "user"));
}
auto history_of(int tasks, std::size_t capacity = 50) {
    auto history = straggle::predict::similar_tasks_of<task>(
        straggle::predict::task_profile{
            .node = &task::host, .time = &task::took, .factors = list_of_factors()},
        {.neighbors = 5, .capacity = capacity});
    for (int i = 0; i < tasks; ++i) history.observe(some_task(i));
    return history;
}
using history_type = decltype(history_of(0));
task const stranger{long_name("host", 77), long_name("program", 77), long_name("user", 77), 5, 12};

} // namespace

TEST_CASE("profile_store: a failed allocation changes nothing") {
    for (std::size_t const n : {0u, 1u, 8u, 64u, 200u})
        check_failures(
            "add to a copy, which has no room", [other = store_of(n)] { return other; },
            [](auto& s) { s.add(std::vector<double>{1, 2, 3}, 4); }, found);
    check_failures(
        "add at random when it is full", [other = store_of(60, 50)] { return other; },
        [](auto& s) {
            std::mt19937_64 engine(1);
            s.add(std::vector<double>{1, 2, 3}, 4, engine);
        },
        found);
    check_failures("make_room", [] { return store_of(0); }, [](auto& s) { s.make_room(); }, found);
    std::vector<std::byte> const bytes = store_of(90).serialize();
    check_failures("serialize", [other = store_of(70)] { return other.serialize(); });
    check_failures("restore", [] { return store_of(20); }, [&](auto& s) { (void)s.restore(bytes); }, found);
    check_failures(
        "copy assignment", [] { return store_of(20); }, [other = store_of(300)](auto& s) { s = other; },
        found);
    check_failures("nearest", [other = store_of(70)] { return found(other).first; });
}

TEST_CASE("node_weights: a failed allocation changes nothing") {
    std::vector<double> const s{0.5, 0.25, 1};
    for (int const pairs : {0, 30, 31, 32, 33, 200}) {
        check_failures(
            "observe a new node", [other = weights_of(6, pairs)] { return other; },
            [&](weights& w) { w.observe(long_name("node", 15), s, 0.3); }, weighed);
        check_failures(
            "observe in a copy, without scratch",
            [other = weights_of(6, pairs)] {
                weights w(3);
                w.merge(other);
                return weights(w);
            },
            [&](weights& w) {
                weights again(w);
                again.observe(s, 0.3);
                w = std::move(again);
            },
            weighed);
    }
    weights const other = weights_of(11, 300);
    check_failures("merge", [] { return weights_of(6, 200); }, [&](weights& w) { w.merge(other); }, weighed);
    check_failures(
        "fit", [w = weights_of(6, 200)] { return weights(w); },
        [](weights& w) {
            weights again(w);
            again.fit();
            w = std::move(again);
        },
        weighed);
    straggle::byte_writer out;
    other.write(out);
    check_failures(
        "restore", [] { return weights_of(6, 200); },
        [&](weights& w) {
            straggle::byte_reader in(out.payload());
            (void)w.restore(in);
        },
        weighed);
    check_failures(
        "copy assignment", [] { return weights_of(6, 200); }, [&](weights& w) { w = other; }, weighed);
}

TEST_CASE("factor_reader: a failed allocation adds all categories of a record or none") {
    auto const reader_of = [](int tasks) {
        auto reader = straggle::predict::factor_reader_of<task>(list_of_factors(), 40);
        std::vector<double> row(3);
        for (int i = 0; i < tasks; ++i) {
            task t = some_task(i);
            if (i % 2 == 0) t.program = long_name("seldom", i); // so that some are forgotten
            reader.read(t, row);
        }
        return reader;
    };
    auto const seen = [](auto const& reader) {
        straggle::byte_writer out;
        reader.write(out);
        std::vector<double> row(3);
        reader.look_up(stranger, row);
        return std::pair(std::vector<std::byte>(out.payload().begin(), out.payload().end()), row);
    };
    for (int const tasks : {0, 1, 7, 30, 125, 126, 127, 128, 129, 130, 131, 132})
        check_failures(
            "read", [&] { return reader_of(tasks); },
            [](auto& reader) {
                std::vector<double> row(3);
                reader.read(stranger, row);
            },
            seen);
    check_failures(
        "copy assignment", [&] { return reader_of(3); },
        [other = reader_of(30)](auto& reader) { reader = other; }, seen, promise::usable);
}

TEST_CASE("similar_tasks: after a failed allocation nothing has changed, or the task is remembered") {
    auto const counts = [](history_type const& h) { return std::pair(h.counts().seen, h.counts().used); };
    for (int const n : {0, 1, 2, 20, 49, 50, 60, 100}) {
        CAPTURE(n);
        history_type const before = history_of(n);
        std::size_t failures = 0;
        for (bool through = false; !through;) {
            history_type h = before;
            try {
                straggle_test::failing_allocations const failing(failures + 1);
                h.observe(stranger);
                through = true;
            } catch (std::bad_alloc const&) {
                ++failures;
            }
            bool const remembered = h.counts().used == before.counts().used + 1;
            if (through) CHECK(remembered);
            if (!remembered) CHECK(h.serialize() == before.serialize());
            CHECK(counts(h).first == counts(before).first + (remembered ? 1u : 0u));
            CHECK(h.size() == (std::min)(before.size() + (remembered ? 1u : 0u), h.capacity()));
            for (int i = 0; i < 30; ++i) h.observe(some_task(i)); // and goes on
            CHECK(h.counts().used == before.counts().used + 30 + (remembered ? 1u : 0u));
            CHECK(h.predict(some_task(3), long_name("host", 1)).has_value());
        }
        CHECK(failures > 0);
    }
    auto const seen = [](history_type const& h) { return h.serialize(); };
    check_failures("serialize", [h = history_of(60)] { return h.serialize(); });
    std::vector<std::byte> const bytes = history_of(60).serialize();
    check_failures("restore", [] { return history_of(10); }, [&](auto& h) { (void)h.restore(bytes); }, seen);
    check_failures(
        "copy assignment", [] { return history_of(10); }, [other = history_of(60)](auto& h) { h = other; },
        seen);
    check_failures(
        "predict", [h = history_of(60)] { return h; },
        [](auto& h) { (void)h.predict(stranger, stranger.host); }, seen);
    check_failures("predict with a scratch", [h = history_of(60)] {
        straggle::predict::prediction_scratch scratch;
        auto const times = h.predict(some_task(1), long_name("host", 2), scratch);
        return std::pair(times->mean().value_or(-1), h.usual_time(some_task(2), scratch).value_or(-1));
    });
}
