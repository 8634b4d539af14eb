// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/base/rare_ids.hpp>

#include <support/allocations.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <type_traits>

using namespace straggle;

namespace {

template <class Id>
Id name_of(std::uint64_t number) {
    if constexpr (std::is_same_v<Id, std::string>)
        return "node-" + std::to_string(number) + ".rack.example";
    else
        return static_cast<Id>(number);
}

template <class Id>
void agrees_with_a_map(std::uint64_t step) {
    std::mt19937_64 engine(3);
    std::uniform_int_distribution<std::uint64_t> some(0, 3000);
    detail::rare_ids<Id> places;
    std::map<Id, std::size_t> expected;
    for (int round = 0; round < 20; ++round) {
        places.clear();
        expected.clear();
        CHECK(places.find(name_of<Id>(5 * step)) == detail::rare_ids<Id>::none);
        std::uint64_t const names = some(engine);
        for (std::uint64_t n = 0; n < names; ++n) {
            Id const id = name_of<Id>(some(engine) * step);
            if (!expected.emplace(id, expected.size()).second) continue;
            places.insert(id);
            REQUIRE(places.find(id) == expected.at(id));
        }
        auto const copy = places;
        for (std::uint64_t n = 0; n <= 3000; ++n) {
            Id const id = name_of<Id>(n * step);
            auto const at = expected.find(id);
            std::size_t const place = at == expected.end() ? detail::rare_ids<Id>::none : at->second;
            REQUIRE(places.find(id) == place);
            REQUIRE(copy.find(id) == place);
        }
    }
}

} // namespace

TEST_CASE("rare_ids: the place of each, and none of strangers") {
    agrees_with_a_map<std::uint32_t>(1);
    agrees_with_a_map<std::uint64_t>(0x100000000u); // alike in their lower halves
    agrees_with_a_map<std::int16_t>(7);
    agrees_with_a_map<std::string>(1);
    detail::rare_ids<int> const none;
    CHECK(none.find(0) == detail::rare_ids<int>::none);
}

TEST_CASE("rare_ids: allocates nothing for as many as there were") {
    detail::rare_ids<int> places;
    auto const fill = [&] {
        places.clear();
        for (int n = 0; n < 500; ++n) places.insert(n);
    };
    fill();
    CHECK(straggle_test::allocations_during(fill) == 0);
}
