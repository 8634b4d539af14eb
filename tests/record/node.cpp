// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/record/node.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>

using namespace straggle;

namespace {
struct machine {
    std::string name;
    int slots = 2;
    std::optional<long> busy{};
    bool is_up = true;
    record::condition told = record::condition::pinned;
    double load = 0.5;
};
constexpr node_fields by_flag{
    .node = &machine::name, .slots = &machine::slots, .busy = &machine::busy, .condition = &machine::is_up};
constexpr node_fields by_word{.node = &machine::name, .condition = &machine::told};
constexpr node_fields wrong_slots{.node = &machine::name, .slots = &machine::load};
constexpr node_fields no_name{.slots = &machine::slots};
} // namespace

TEST_CASE("node: fields fit or do not") {
    static_assert(record::node_fields_for<decltype(by_flag), machine>);
    static_assert(record::node_fields_for<decltype(by_word), machine>);
    static_assert(!record::node_fields_for<decltype(wrong_slots), machine>);
    static_assert(!record::node_fields_for<decltype(no_name), machine>);
    static_assert(!record::node_fields_for<decltype(by_flag), int>);
}

TEST_CASE("node: what is unknown is not there, what is negative is none") {
    machine m{"a"};
    CHECK(detail::read_count(m.busy, 7) == 7);
    m.busy = -3;
    CHECK(detail::read_count(m.busy, 7) == 0);
    m.busy = 3;
    CHECK(detail::read_count(m.busy, 7) == 3);
    CHECK(detail::read_count(std::uint64_t{1} << 40, 7) == 0xFFFFFFFFu);
    CHECK(detail::read_condition(by_flag, m) == record::condition::present);
    m.is_up = false;
    CHECK(detail::read_condition(by_flag, m) == record::condition::away);
    CHECK(detail::read_condition(by_word, m) == record::condition::pinned);
    CHECK(detail::read_condition(node_fields{.node = &machine::name}, m) == record::condition::present);
}
