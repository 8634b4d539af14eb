// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Failed allocations in the core and in stats: names, bytes, published values, samples.

#include "support/faults.hpp"

#include <straggle/base/bytes.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/published.hpp>
#include <straggle/stats/empirical.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using straggle_test::check_failures;
using straggle_test::promise;

// Longer than what a string holds in itself.
std::string long_name(int i) {
    return "a name that needs memory of its own, number " + std::to_string(i);
}

using names = straggle::interner<std::string>;

names some_names(int n) {
    names all;
    for (int i = 0; i < n; ++i) all.insert(long_name(i));
    return all;
}
struct seen_names {
    std::size_t size;
    std::vector<std::uint32_t> index;
    std::vector<std::string> name;
    friend bool operator==(seen_names const&, seen_names const&) = default;
};
seen_names seen(names const& all) {
    seen_names s{all.size(), {}, {}};
    for (int i = 0; i < 40; ++i) {
        s.index.push_back(all.find(long_name(i)));
        if (s.index.back() != names::none) s.name.push_back(all[s.index.back()]);
    }
    return s;
}

std::vector<double> samples_of(straggle::stats::empirical const& e) {
    std::vector<double> all;
    for (std::size_t i = 0; i < e.view().size(); ++i) all.push_back(e.view()[i]);
    all.push_back(e.view().mean().value_or(-1));
    return all;
}

} // namespace

TEST_CASE("interner: a failed allocation changes nothing") {
    for (int const n : {0, 7, 8, 16, 31}) {
        CAPTURE(n);
        check_failures(
            "insert", [n] { return some_names(n); }, [](names& all) { all.insert(long_name(35)); }, seen);
    }
    check_failures(
        "insert in the place of an erased one",
        [] {
            names all = some_names(10);
            all.erase(all.find(long_name(3)));
            all.erase(all.find(long_name(6)));
            return all;
        },
        [](names& all) { all.insert(long_name(36) + " and one that is longer than those before"); }, seen);
    for (int const n : {0, 3, 20})
        check_failures(
            "copy assignment", [n] { return some_names(n); },
            [other = some_names(25)](names& all) { all = other; }, seen);
    check_failures("copy", [] { return seen(names(some_names(20))); });
}

TEST_CASE("byte_writer: a failed allocation changes nothing") {
    auto const payload = [](straggle::byte_writer const& w) {
        return std::vector<std::byte>(w.payload().begin(), w.payload().end());
    };
    auto const none = [] { return straggle::byte_writer(); };
    std::string const text(300, 'x');
    std::uint64_t const most = ~std::uint64_t{0};
    using writer = straggle::byte_writer;
    check_failures("text", none, [&](writer& w) { w.text(text); }, payload);
    check_failures("identifier", none, [&](writer& w) { w.identifier(most); }, payload);
    check_failures("text for an identifier", none, [&](writer& w) { w.identifier(text); }, payload);
    check_failures("varint", none, [&](writer& w) { w.varint(most); }, payload);
    check_failures("u8", none, [](writer& w) { w.u8(1); }, payload);
    check_failures("real", none, [](writer& w) { w.real(1); }, payload);
    auto const sealed = [] {
        writer w;
        w.u32(7);
        return std::move(w).seal(straggle::frame_kind("test"), 1);
    };
    check_failures("seal", sealed);
    struct sealing {
        writer w;
        std::vector<std::byte> sealed;
    };
    check_failures(
        "seal of one that is full",
        [] {
            sealing s;
            while (s.w.payload().size() < 20) s.w.u8(1);
            return s;
        },
        [](sealing& s) { s.sealed = std::move(s.w).seal(straggle::frame_kind("test"), 1); },
        [&](sealing const& s) { return std::pair(payload(s.w), s.sealed); });
}

TEST_CASE("published: a failed allocation leaves the old value") {
    struct holder {
        straggle::published<std::string> value;
        straggle::published<std::string>::snapshot held;
        holder() {
            value.publish(std::string(50, 'a'));
            held = value.read(); // so that another place is needed
        }
        holder(holder&&) = delete;
    };
    check_failures(
        "publish", [] { return std::make_unique<holder>(); },
        [](auto& h) { h->value.publish(std::string(60, 'b')); },
        [](auto const& h) {
            auto const now = h->value.read();
            return std::pair(*now, h->value.version());
        });
}

TEST_CASE("empirical: a failed allocation takes the samples, and it can be used again") {
    std::vector<double> const more{9, 3, 4, 5, 1, 1, 2, 8, 0, 7};
    auto const three = [] {
        straggle::stats::empirical e;
        e.assign(std::vector<double>{1, 2, 3});
        return e;
    };
    check_failures("assign", three, [&](auto& e) { e.assign(more); }, samples_of, promise::usable);
    check_failures(
        "copy assignment", three,
        [&, other =
                [&] {
                    straggle::stats::empirical e;
                    e.assign(more);
                    return e;
                }()](auto& e) { e = other; },
        samples_of);
}

TEST_CASE("interner: what is taken back leaves no trace") {
    names all = some_names(30), few = some_names(13);
    all.truncate(13);
    CHECK(seen(all) == seen(few));
    for (int i = 35; i > 20; --i) {
        all.insert(long_name(i));
        few.insert(long_name(i));
    }
    CHECK(seen(all) == seen(few));
    CHECK(all.bound() == few.bound());
    all.truncate(0);
    CHECK(all.size() == 0);
    CHECK(all.insert(long_name(1)) == 0);
}
