// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/core/interner.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/seed.hpp"

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace {

// Any two of them have the same hash.
struct hostile {
    int value = 0;
    friend bool operator==(hostile const&, hostile const&) = default;
};

// Only some bits of the hash differ.
struct high_bits_only {
    std::uint64_t value = 0;
    friend bool operator==(high_bits_only const&, high_bits_only const&) = default;
};

// Refuses to be copied when told so.
struct fragile {
    int value = 0;
    static inline bool refuse = false;
    fragile() = default;
    explicit fragile(int v) : value(v) {}
    fragile(fragile const& other) : value(other.value) {
        if (refuse) throw value;
    }
    fragile& operator=(fragile const& other) {
        if (refuse) throw other.value;
        value = other.value;
        return *this;
    }
    friend bool operator==(fragile const&, fragile const&) = default;
};

enum class rack : std::int8_t { a = -1, b = 7 };

} // namespace

template <>
struct std::hash<hostile> {
    std::size_t operator()(hostile const&) const noexcept { return 42; }
};
template <>
struct std::hash<high_bits_only> {
    std::size_t operator()(high_bits_only const& h) const noexcept {
        return static_cast<std::size_t>(h.value << (std::numeric_limits<std::size_t>::digits / 2));
    }
};
template <>
struct std::hash<fragile> {
    std::size_t operator()(fragile const& f) const noexcept { return std::hash<int>{}(f.value); }
};

namespace {

using straggle::interner;

static_assert(std::is_same_v<straggle::owned_identifier_t<std::string_view>, std::string>);
static_assert(std::is_same_v<straggle::owned_identifier_t<char const*>, std::string>);
static_assert(std::is_same_v<straggle::owned_identifier_t<std::string>, std::string>);
static_assert(std::is_same_v<straggle::owned_identifier_t<int>, int>);
static_assert(std::is_same_v<straggle::owned_identifier_t<rack>, rack>);

// Inserts keys into an interner and into an unordered map, which have to agree at every step.
template <class Id, class Keys>
void agrees_with_unordered_map(Keys const& keys) {
    interner<Id> table;
    std::unordered_map<Id, std::uint32_t> expected;
    std::vector<Id> order;
    for (auto const& key : keys) {
        bool const known = expected.count(Id(key)) != 0;
        REQUIRE((table.find(key) == interner<Id>::none) == !known);
        auto const [at, added] = expected.try_emplace(Id(key), static_cast<std::uint32_t>(expected.size()));
        if (added) order.push_back(Id(key));
        REQUIRE(table.insert(key) == at->second);
        REQUIRE(table.find(key) == at->second);
        REQUIRE(table.size() == expected.size());
    }
    REQUIRE(table.ids().size() == order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        REQUIRE(bool(table.ids()[i] == order[i]));
        REQUIRE(bool(table[static_cast<std::uint32_t>(i)] == order[i]));
    }
}

TEST_CASE("interner: agrees with std::unordered_map on random integers") {
    std::uint64_t const seed = straggle_test::seed_or(1);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (std::uint64_t const range : {1u, 2u, 10u, 1000u, 1000000u})
        for (unsigned const shift : {0u, 7u, 32u, 44u}) { // multiples of powers of two, too
            std::vector<std::uint64_t> keys(3000);
            for (std::uint64_t& k : keys) k = (draw() % range) << shift;
            agrees_with_unordered_map<std::uint64_t>(keys);
        }
    std::vector<std::int64_t> keys(3000);
    for (std::int64_t& k : keys) k = static_cast<std::int64_t>(draw());
    keys.push_back((std::numeric_limits<std::int64_t>::min)());
    keys.push_back((std::numeric_limits<std::int64_t>::max)());
    agrees_with_unordered_map<std::int64_t>(keys);
}

TEST_CASE("interner: agrees with std::unordered_map on random text") {
    std::uint64_t const seed = straggle_test::seed_or(2);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    std::vector<std::string> keys{"", std::string(1, '\0'), std::string(2, '\0'), "a", "A"};
    for (int i = 0; i < 3000; ++i) {
        std::string s(draw() % 40, 'x');
        for (char& c : s) c = static_cast<char>('a' + draw() % 3);
        keys.push_back(s);
        keys.push_back("node-" + std::to_string(draw() % 300));
    }
    agrees_with_unordered_map<std::string>(keys);
    std::vector<std::string_view> const views(keys.begin(), keys.end());
    agrees_with_unordered_map<std::string>(views);
}

TEST_CASE("interner: agrees with std::unordered_map when all hashes are equal, or equal in the low half") {
    std::uint64_t const seed = straggle_test::seed_or(3);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    std::vector<hostile> same;
    std::vector<high_bits_only> high;
    for (int i = 0; i < 1500; ++i) {
        same.push_back({static_cast<int>(draw() % 400)});
        high.push_back({draw() % 1000});
    }
    agrees_with_unordered_map<hostile>(same);
    agrees_with_unordered_map<high_bits_only>(high);
}

TEST_CASE("interner: small integers and enumerations") {
    interner<std::int8_t> bytes;
    for (int i = -128; i < 128; ++i)
        REQUIRE(bytes.insert(static_cast<std::int8_t>(i)) == static_cast<std::uint32_t>(i + 128));
    interner<rack> racks;
    CHECK(racks.insert(rack::b) == 0);
    CHECK(racks.insert(rack::a) == 1);
    CHECK(racks.insert(rack::b) == 0);
}

TEST_CASE("interner: text outlives the view it came from") {
    interner<std::string> table;
    {
        std::string const passing(100, 'p');
        table.insert(std::string_view(passing));
        char buffer[] = "buffer";
        table.insert(buffer);
        buffer[0] = 'B';
    }
    CHECK(table[0] == std::string(100, 'p'));
    CHECK(table[1] == "buffer");
    CHECK(table.find("buffer") == 1);
    CHECK(table.find("Buffer") == interner<std::string>::none);
}

TEST_CASE("interner: an empty one finds nothing") {
    interner<int> table;
    CHECK(table.size() == 0);
    CHECK(table.ids().empty());
    CHECK(table.find(0) == interner<int>::none);
    table.clear();
    CHECK(table.find(0) == interner<int>::none);
    straggle_test::contract_trap const trap;
    CHECK_THROWS_AS((void)table[0], straggle_test::broken_contract);
    table.insert(5);
    CHECK(table[0] == 5);
    CHECK_THROWS_AS((void)table[1], straggle_test::broken_contract);
    CHECK_THROWS_AS((void)table[interner<int>::none], straggle_test::broken_contract);
    table.clear();
    CHECK_THROWS_AS((void)table[0], straggle_test::broken_contract);
}

TEST_CASE("interner: clear forgets, and refilling allocates nothing") {
    auto const name = [](int round, int i) {
        std::string s = "a-name-too-long-for-the-small-string-buffer-" + std::to_string(100000 * round + i);
        s.resize(60, '.');
        return s;
    };
    std::vector<std::vector<std::string>> rounds(4);
    for (int round = 0; round < 4; ++round)
        for (int i = 0; i < 1000; ++i) rounds[static_cast<std::size_t>(round)].push_back(name(round + 1, i));

    interner<std::string> table;
    for (std::string const& s : rounds[0]) table.insert(s);
    for (std::size_t round = 1; round < rounds.size(); ++round) {
        std::size_t const allocations = straggle_test::allocations_during([&] {
            table.clear();
            for (std::string const& s : rounds[round]) table.insert(s);
            for (std::string const& s : rounds[round]) table.insert(s);
        });
        CHECK(allocations == 0);
        REQUIRE(table.size() == 1000);
        for (std::size_t i = 0; i < 1000; ++i) {
            REQUIRE(table.ids()[i] == rounds[round][i]);
            REQUIRE(table.find(rounds[round][i]) == i);
            REQUIRE(table.find(rounds[round - 1][i]) == interner<std::string>::none);
        }
    }
    table.clear();
    table.insert("fewer");
    CHECK(table.size() == 1);
    CHECK(table.ids().size() == 1);
    CHECK(table.find(rounds[3][0]) == interner<std::string>::none);
}

TEST_CASE("interner: finding allocates nothing") {
    interner<std::string> table;
    std::string const key(100, 'k');
    table.insert(key);
    std::uint32_t found = 0;
    CHECK(straggle_test::allocations_during([&] { found = table.find(std::string_view(key)); }) == 0);
    CHECK(found == 0);
}

TEST_CASE("interner: a million identifiers") {
    interner<std::uint64_t> table;
    constexpr std::uint32_t million = 1000000;
    auto const key = [](std::uint64_t i) { return i * 0x9E3779B97F4A7C15u; };
    for (std::uint32_t i = 0; i < million; ++i) REQUIRE(table.insert(key(i)) == i);
    REQUIRE(table.size() == million);
    for (std::uint32_t i = 0; i < million; ++i) REQUIRE(table.find(key(i)) == i);
    for (std::uint32_t i = million; i < million + 1000; ++i)
        REQUIRE(table.find(key(i)) == interner<std::uint64_t>::none);
}

TEST_CASE("interner: a copy is independent") {
    interner<std::string> a;
    a.insert("one");
    interner<std::string> b = a;
    b.insert("two");
    CHECK(a.size() == 1);
    CHECK(a.find("two") == interner<std::string>::none);
    CHECK(b.find("one") == 0);
    CHECK(b.find("two") == 1);
}

TEST_CASE("interner: an insertion that throws changes nothing") {
    interner<fragile> table;
    for (int i = 0; i < 5; ++i) table.insert(fragile(i));
    auto const unchanged = [&] {
        REQUIRE(table.size() == 5);
        for (int i = 0; i < 5; ++i) REQUIRE(table.find(fragile(i)) == static_cast<std::uint32_t>(i));
        REQUIRE(table.find(fragile(99)) == interner<fragile>::none);
    };
    fragile const fresh(99);
    fragile::refuse = true;
    CHECK_THROWS_AS(table.insert(fresh), int);
    fragile::refuse = false;
    unchanged();
    CHECK(table.insert(fresh) == 5);

    table.clear(); // from here on by assignment to what is left of the old ones
    for (int i = 0; i < 5; ++i) table.insert(fragile(i));
    fragile::refuse = true;
    CHECK_THROWS_AS(table.insert(fresh), int);
    fragile::refuse = false;
    unchanged();
    CHECK(table.insert(fresh) == 5);
}

} // namespace
