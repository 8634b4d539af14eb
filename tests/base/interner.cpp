// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/base/interner.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/seed.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
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

// The slots of a table, to see how far identifiers are from home: an explicit instantiation may name what is
// private.
struct slots_of_numbers {
    friend constexpr auto slots_member(slots_of_numbers);
};
struct slots_of_hostile {
    friend constexpr auto slots_member(slots_of_hostile);
};
struct slots_of_text {
    friend constexpr auto slots_member(slots_of_text);
};
template <class Tag, auto Member>
struct show_slots {
    friend constexpr auto slots_member(Tag) { return Member; }
};
template struct show_slots<slots_of_numbers, &interner<std::uint64_t>::slots_>;
template struct show_slots<slots_of_hostile, &interner<hostile>::slots_>;
template struct show_slots<slots_of_text, &interner<std::string>::slots_>;
// And the key, for those who choose identifiers that collide under it, and those that did not get a slot.
struct key_of_numbers {
    friend constexpr auto slots_member(key_of_numbers);
};
struct key_of_text {
    friend constexpr auto slots_member(key_of_text);
};
struct displaced_text {
    friend constexpr auto slots_member(displaced_text);
};
struct displaced_numbers {
    friend constexpr auto slots_member(displaced_numbers);
};
template struct show_slots<key_of_numbers, &interner<std::uint64_t>::key_>;
template struct show_slots<key_of_text, &interner<std::string>::key_>;
template struct show_slots<displaced_text, &interner<std::string>::displaced_>;
template struct show_slots<displaced_numbers, &interner<std::uint64_t>::displaced_>;
template <class Id>
using slots_of =
    std::conditional_t<std::is_same_v<Id, hostile>, slots_of_hostile,
                       std::conditional_t<std::is_same_v<Id, std::string>, slots_of_text, slots_of_numbers>>;

// How far an identifier in slot `i` is from home: where the highest bits of its hash say.
template <class Slots>
std::size_t way(Slots const& slots, std::size_t i) {
    auto const shift = 33 - std::bit_width(slots.size());
    return (i - (slots[i].hash >> shift)) & (slots.size() - 1);
}

// How many steps a look-up takes beyond the first, summed over all identifiers; and which slots are taken.
template <class Id>
std::pair<std::size_t, std::vector<bool>> layout(interner<Id> const& table) {
    auto const& slots = table.*slots_member(slots_of<Id>{});
    std::size_t pushed = 0;
    std::vector<bool> taken(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i)
        if (slots[i].index != interner<Id>::none) {
            pushed += way(slots, i);
            taken[i] = true;
        }
    return {pushed, taken};
}

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

TEST_CASE("interner: texts of every length that differ in one byte, in the order of bytes or in length") {
    std::uint64_t const seed = straggle_test::seed_or(7);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (std::size_t size = 0; size <= 70; ++size) {
        std::string text(size, '\0');
        for (char& c : text) c = static_cast<char>(draw());
        std::vector<std::string> keys{text, text + '\0', std::string(size, '\0'), std::string(size, 'a')};
        for (std::size_t i = 0; i < size; ++i) {
            for (unsigned const flip : {1u, 0x80u}) {
                keys.push_back(text);
                keys.back()[i] = static_cast<char>(static_cast<unsigned char>(text[i]) ^ flip);
            }
            keys.push_back(text);
            std::swap(keys.back()[i], keys.back()[size - 1 - i]);
        }
        agrees_with_unordered_map<std::string>(keys);
    }
}

TEST_CASE("interner: names that people give are as far from home as names at random") {
    // At 1/4 of the slots linear probing with a perfect hash takes (1 / (1 - 1/4) - 1) / 2 = 0.17 steps
    // beyond the first, fewer at less; twice that would be bad luck with any of these.
    auto const pushed_per_name = [](auto const& name) {
        interner<std::string> table;
        constexpr std::uint32_t names = 16384;
        for (std::uint32_t i = 0; i < names; ++i) table.insert(name(i));
        REQUIRE(table.size() == names);
        return static_cast<double>(layout(table).first) / names;
    };
    auto const number = [](std::uint32_t i) { return std::to_string(i); };
    auto const padded = [](std::uint32_t i) {
        std::string const digits = std::to_string(i);
        return std::string(6 - digits.size(), '0') + digits;
    };
    auto const hex = [](std::uint32_t i) { // as in a universally unique identifier
        std::string s = "f47ac10b-58cc-4372-a567-0e02b2c30000";
        for (std::size_t k = 0; k < 4; ++k) s[s.size() - 1 - k] = "0123456789abcdef"[(i >> (4 * k)) & 15];
        return s;
    };
    CHECK(pushed_per_name(number) < 0.34);
    CHECK(pushed_per_name(padded) < 0.34);
    CHECK(pushed_per_name(hex) < 0.34);
    CHECK(pushed_per_name([&](std::uint32_t i) { return "node" + number(i) + ".example"; }) < 0.34);
    CHECK(pushed_per_name([&](std::uint32_t i) { return padded(i) + ".rack7.row2.datacentre.example"; }) <
          0.34);
    CHECK(pushed_per_name([&](std::uint32_t i) { return "job_201102040848_" + padded(i); }) < 0.34);
    CHECK(pushed_per_name([&](std::uint32_t i) { return "a-long-name-for-a-job-of-the-day/" + number(i); }) <
          0.34);
    CHECK(pushed_per_name([&](std::uint32_t i) {
              return "10." + number(i >> 8) + ".3." + number(i & 255); // addresses
          }) < 0.34);
    CHECK(pushed_per_name([](std::uint32_t i) { // the last byte of each word, and no other
              std::string s(32, 'x');
              for (std::size_t k = 0; k < 4; ++k)
                  s[8 * k + 7] = static_cast<char>('a' + ((i >> (4 * k)) & 15));
              return s;
          }) < 0.34);
    CHECK(pushed_per_name([](std::uint32_t i) { // the first
              std::string s(32, 'x');
              for (std::size_t k = 0; k < 4; ++k) s[8 * k] = static_cast<char>('a' + ((i >> (4 * k)) & 15));
              return s;
          }) < 0.34);
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

// Inserts, erases and finds at random; a map and a stack of free indices say what has to come out.
template <class Id, class KeyOf>
void agrees_with_unordered_map_when_erasing(std::uint64_t seed, std::size_t keys, int steps, KeyOf key_of) {
    INFO("seed ", seed, ", keys ", keys);
    std::mt19937_64 draw(seed);
    interner<Id> table;
    std::unordered_map<Id, std::uint32_t> expected;
    std::vector<std::uint32_t> free;
    std::uint32_t bound = 0;
    for (int step = 0; step < steps; ++step) {
        Id const key = key_of(draw() % keys);
        auto const known = expected.find(key);
        REQUIRE(table.find(key) == (known == expected.end() ? interner<Id>::none : known->second));
        bool const erasing = draw() % 1000 < (step / 500 % 2 ? 600u : 400u); // grows and shrinks by turns
        if (erasing && known != expected.end()) {
            std::uint32_t const index = known->second;
            table.erase(index);
            free.push_back(index);
            expected.erase(known);
            REQUIRE_FALSE(table.contains(index));
            REQUIRE(table.find(key) == interner<Id>::none);
        } else if (!erasing) {
            std::uint32_t index = known == expected.end() ? bound : known->second;
            if (known == expected.end()) {
                if (free.empty()) {
                    ++bound;
                } else {
                    index = free.back();
                    free.pop_back();
                }
                expected.emplace(key, index);
            }
            REQUIRE(table.insert(key) == index);
            REQUIRE(table.contains(index));
            REQUIRE(bool(table[index] == key));
        }
        REQUIRE(table.size() == expected.size());
        REQUIRE(table.bound() == bound);
        if (draw() % 5000 == 0) {
            table.clear();
            expected.clear();
            free.clear();
            bound = 0;
        }
        if (draw() % 300 == 0) {
            interner<Id> const copy = table;
            std::vector<bool> seen(bound);
            for (auto const& [id, index] : expected) {
                REQUIRE(copy.find(id) == index);
                seen[index] = true;
            }
            for (std::uint32_t i = 0; i < bound; ++i) REQUIRE(copy.contains(i) == seen[i]);
            REQUIRE_FALSE(copy.contains(bound));
        }
    }
}

TEST_CASE("interner: agrees with std::unordered_map when identifiers are erased") {
    std::uint64_t const seed = straggle_test::seed_or(4);
    for (std::size_t const keys : {1u, 2u, 9u, 40u, 700u}) {
        agrees_with_unordered_map_when_erasing<std::uint64_t>(seed, keys, 20000,
                                                              [](std::uint64_t i) { return i << 20; });
        agrees_with_unordered_map_when_erasing<std::int64_t>(
            seed + 1, keys, 20000, [](std::uint64_t i) { return -static_cast<std::int64_t>(i); });
        agrees_with_unordered_map_when_erasing<std::string>(seed + 2, keys, 20000, [](std::uint64_t i) {
            return std::string(i % 30, 'n') + std::to_string(i);
        });
        agrees_with_unordered_map_when_erasing<hostile>(
            seed + 3, (std::min)(keys, std::size_t{100}), 10000,
            [](std::uint64_t i) { return hostile{static_cast<int>(i)}; });
        agrees_with_unordered_map_when_erasing<high_bits_only>(
            seed + 4, keys, 10000, [](std::uint64_t i) { return high_bits_only{i}; });
    }
}

TEST_CASE("interner: after a million erasures it is as if the erased had never been there") {
    std::uint64_t const seed = straggle_test::seed_or(5);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    constexpr std::uint32_t live = 1000;
    auto const key = [](std::uint64_t i) { return i * 0x9E3779B97F4A7C15u; };
    interner<std::uint64_t> table;
    for (std::uint32_t i = 0; i < live; ++i) table.insert(key(i));
    std::uint64_t next = live;
    std::size_t strange = 0;
    std::size_t const allocations = straggle_test::allocations_during([&] {
        for (int i = 0; i < 1000000; ++i) {
            auto const victim = static_cast<std::uint32_t>(draw() % live);
            table.erase(victim);
            strange += table.insert(key(next++)) != victim;
        }
    });
    CHECK(allocations == 0);
    CHECK(strange == 0);
    CHECK(table.size() == live);
    CHECK(table.bound() == live);

    // Linear probing takes the same slots, and the same number of steps in all, in whatever order the same
    // identifiers come.
    interner<std::uint64_t> fresh;
    for (std::uint64_t const id : table.ids()) fresh.insert(id);
    auto const [pushed, taken] = layout(table);
    auto const [pushed_in_fresh, taken_in_fresh] = layout(fresh);
    CHECK(pushed == pushed_in_fresh);
    CHECK(taken == taken_in_fresh);
    CHECK(pushed < live); // 0.24 steps on average are to be expected at 1000 of 2048
}

TEST_CASE("interner: erasing moves back what was pushed across the end of the slots") {
    // All have the same home, the one place in 16 where a hash of 42 leads: with five of them, and one erased
    // after the other in every order of the first two, no other may be lost.
    for (std::uint32_t first = 0; first < 5; ++first)
        for (std::uint32_t second = 0; second < 5; ++second) {
            if (first == second) continue;
            interner<hostile> table;
            for (int i = 0; i < 5; ++i) table.insert(hostile{i});
            table.erase(first);
            table.erase(second);
            for (std::uint32_t i = 0; i < 5; ++i)
                REQUIRE(table.find(hostile{static_cast<int>(i)}) ==
                        (i == first || i == second ? interner<hostile>::none : i));
            REQUIRE(layout(table).first == 0 + 1 + 2);
        }
    // Few slots and many rounds, so that clusters lie across the end, too.
    std::mt19937_64 draw(straggle_test::seed_or(6));
    for (int round = 0; round < 2000; ++round) {
        interner<std::uint64_t> table, fresh;
        std::vector<std::uint64_t> kept;
        for (std::uint32_t i = 0; i < 8; ++i) {
            kept.push_back(draw());
            table.insert(kept.back());
        }
        for (std::uint32_t i = 0; i < 4; ++i) table.erase(2 * i + static_cast<std::uint32_t>(draw() % 2));
        for (std::uint32_t i = 0; i < 8; ++i)
            if (table.contains(i)) fresh.insert(kept[i]);
        REQUIRE(layout(table) == layout(fresh));
    }
}

TEST_CASE("interner: indices of erased identifiers, last erased first") {
    interner<std::string> table;
    for (char const* name : {"a", "b", "c", "d"}) table.insert(name);
    table.erase(1);
    table.erase(3);
    CHECK(table.size() == 2);
    CHECK(table.bound() == 4);
    CHECK(table.contains(0));
    CHECK_FALSE(table.contains(1));
    CHECK_FALSE(table.contains(4));
    CHECK_FALSE(table.contains(interner<std::string>::none));
    CHECK(table.insert("c") == 2);
    CHECK(table.insert("e") == 3);
    CHECK(table.insert("d") == 1);
    CHECK(table.insert("f") == 4);
    CHECK(table.bound() == 5);
    REQUIRE(table.ids().size() == 5);
    CHECK(table.ids()[1] == "d");
    CHECK(table.ids()[3] == "e");

    for (std::uint32_t i = 0; i < 5; ++i) table.erase(i);
    CHECK(table.size() == 0);
    CHECK(table.bound() == 5);
    CHECK(table.find("a") == interner<std::string>::none);
    table.clear();
    CHECK(table.bound() == 0);
    CHECK(table.ids().empty());
    CHECK(table.insert("z") == 0);
    CHECK(table.contains(0));
}

TEST_CASE("interner: erasing text and inserting other of the same length allocates nothing") {
    interner<std::string> table;
    auto const name = [](int i) {
        std::string s = std::to_string(i);
        s.resize(60, '.');
        return s;
    };
    for (int i = 0; i < 8; ++i) table.insert(name(i)); // as many as 32 slots take
    std::vector<std::string> others;
    for (int i = 100; i < 200; ++i) others.push_back(name(i));
    CHECK(straggle_test::allocations_during([&] {
              for (std::size_t i = 0; i < others.size(); ++i) {
                  table.erase(static_cast<std::uint32_t>(i * 5 % 8));
                  table.insert(others[i]);
              }
          }) == 0);
    CHECK(table.size() == 8);
}

TEST_CASE("interner: what has been erased cannot be used") {
    straggle_test::contract_trap const trap;
    interner<int> table;
    CHECK_THROWS_AS(table.erase(0), straggle_test::broken_contract);
    table.insert(10);
    table.insert(11);
    CHECK_THROWS_AS(table.erase(2), straggle_test::broken_contract);
    CHECK_THROWS_AS(table.erase(interner<int>::none), straggle_test::broken_contract);
    table.erase(0);
    CHECK_THROWS_AS(table.erase(0), straggle_test::broken_contract);
    CHECK_THROWS_AS((void)table[0], straggle_test::broken_contract);
    CHECK_THROWS_AS((void)table.ids(), straggle_test::broken_contract);
    CHECK(table[1] == 11);
    table.insert(12);
    CHECK(table.ids().size() == 2);
    CHECK(table[0] == 12);
}

TEST_CASE("interner: an insertion that throws in the place of an erased identifier changes nothing") {
    interner<fragile> table;
    for (int i = 0; i < 5; ++i) table.insert(fragile(i));
    table.erase(2);
    fragile const fresh(99);
    fragile::refuse = true;
    CHECK_THROWS_AS(table.insert(fresh), int);
    fragile::refuse = false;
    CHECK(table.size() == 4);
    CHECK_FALSE(table.contains(2));
    CHECK(table.find(fresh) == interner<fragile>::none);
    CHECK(table.find(fragile(2)) == interner<fragile>::none);
    CHECK(table.find(fragile(4)) == 4);
    CHECK(table.insert(fresh) == 2);
}

namespace crafted {

// A text of 16 bytes, in the order of this machine's bytes, whose hash under a key has a factor 0: all of
// them have the same 64 bits.
std::string text(std::uint64_t key, std::uint64_t number) {
    std::uint64_t const first = 0xA0761D6478BD642Fu ^ key ^ 16;
    std::string s(16, ' ');
    std::memcpy(s.data(), &first, 8);
    std::memcpy(s.data() + 8, &number, 8);
    return s;
}

// The number whose hash without a key is h.
std::uint64_t number(std::uint64_t h) {
    std::uint64_t x = h ^ (h >> 29);
    x = h ^ (x >> 29);
    x = h ^ (x >> 29); // three times 29 bits are all
    std::uint64_t inverse = 1, factor = 0x9E3779B97F4A7C15u;
    for (int i = 0; i < 6; ++i) inverse *= 2 - factor * inverse;
    for (int i = 0; i < 6; ++i) inverse *= 2 - factor * inverse;
    x *= inverse;
    return x ^ (x >> 32);
}

// How far the farthest identifier is from home.
template <class Id>
std::size_t longest_way(interner<Id> const& table) {
    auto const& slots = table.*slots_member(slots_of<Id>{});
    std::size_t longest = 0;
    for (std::size_t i = 0; i < slots.size(); ++i)
        if (slots[i].index != interner<Id>::none) longest = (std::max)(longest, way(slots, i));
    return longest;
}

// How many identifiers a look-up in the ordered index meets, at most.
template <class Id, class Displaced>
std::size_t deepest(interner<Id> const& table, Displaced const& displaced, std::vector<Id> const& ids) {
    std::size_t deepest = 0;
    for (Id const& id : ids) {
        std::size_t met = 0;
        (void)displaced.find([&](std::uint32_t index) {
            ++met;
            return id < table[index] ? -1 : static_cast<int>(table[index] < id);
        });
        deepest = (std::max)(deepest, met);
    }
    return deepest;
}

} // namespace crafted

TEST_CASE("interner: texts made to collide under the first key are near home under the next") {
    REQUIRE(straggle::detail::hash_text(crafted::text(0, 1), 0) ==
            straggle::detail::hash_text(crafted::text(0, 77), 0));
    interner<std::string> table;
    for (std::uint32_t i = 0; i < 40000; ++i) REQUIRE(table.insert(crafted::text(0, i)) == i);
    for (std::uint32_t i = 0; i < 40000; ++i) REQUIRE(table.find(crafted::text(0, i)) == i);
    CHECK(crafted::longest_way(table) <= 31);
    CHECK(layout(table).first < 40000 / 2);
    CHECK(crafted::deepest(table, table.*slots_member(displaced_text{}), {crafted::text(0, 1)}) <= 1);
}

TEST_CASE("interner: numbers made to collide under the first key are near home under the next") {
    REQUIRE(straggle::detail::spread(crafted::number(0x12345678u)) == 0x12345678u);
    interner<std::uint64_t> table;
    for (std::uint64_t i = 0; i < 80000; ++i) REQUIRE(table.insert(crafted::number(i)) == i);
    for (std::uint64_t i = 0; i < 80000; ++i) REQUIRE(table.find(crafted::number(i)) == i);
    CHECK(crafted::longest_way(table) <= 127);
    CHECK(layout(table).first < 2 * 80000);
}

TEST_CASE("interner: who knows every key makes a look-up cost a logarithm") {
    interner<std::string> table;
    std::vector<std::string> ids;
    auto const& displaced = table.*slots_member(displaced_text{});
    for (std::uint32_t i = 0; i < 20000; ++i) {
        ids.push_back(crafted::text(table.*slots_member(key_of_text{}), i * 0x9E3779B97F4A7C15u));
        REQUIRE(table.insert(ids.back()) == i);
    }
    REQUIRE(displaced.size() > 1000); // most of them came before the last key
    CHECK(crafted::longest_way(table) <= 31);
    std::size_t bits = 0;
    while ((std::size_t{1} << bits) <= displaced.size()) ++bits;
    CHECK(crafted::deepest(table, displaced, ids) <= 2 * bits);

    interner<std::string> const copy = table;
    for (std::uint32_t i = 0; i < 20000; ++i) REQUIRE(copy.find(ids[i]) == i);
    CHECK(copy.find(crafted::text(table.*slots_member(key_of_text{}), 5)) == interner<std::string>::none);

    // Two thirds go, in an order of their own, and others come in their places.
    std::vector<bool> alive(20000, true);
    for (std::uint32_t k = 0; k < 20000; ++k) {
        std::uint32_t const i = (k * 7919u) % 20000;
        if (i % 3 == 0) continue;
        table.erase(i);
        alive[i] = false;
        if (k % 1000 == 0)
            for (std::uint32_t j = 0; j < 20000; j += 13)
                REQUIRE(table.find(ids[j]) == (alive[j] ? j : interner<std::string>::none));
    }
    CHECK(crafted::deepest(table, displaced, ids) <= 2 * bits);
    std::size_t const before = straggle_test::allocation_count();
    for (std::uint32_t i = 0; i < 20000; ++i)
        if (alive[i]) REQUIRE(table.find(ids[i]) == i);
    CHECK(straggle_test::allocation_count() == before);
    for (std::uint32_t i = 0; i < 13333; ++i) {
        std::uint32_t const at = table.insert(crafted::text(table.*slots_member(key_of_text{}), ~0ull - i));
        REQUIRE(at < 20000);
        REQUIRE(!alive[at]);
        alive[at] = true;
    }
    for (std::uint32_t i = 0; i < 20000; i += 3) REQUIRE(table.find(ids[i]) == i);
    table.clear();
    CHECK(displaced.empty());
    CHECK(table.find(ids[0]) == interner<std::string>::none);
    CHECK(table.insert(ids[7]) == 0);
}

TEST_CASE("interner: numbers that crowd a part of the slots under every key") {
    std::uint64_t const seed = straggle_test::seed_or(11);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    interner<std::uint64_t> table;
    std::unordered_map<std::uint64_t, std::uint32_t> expected;
    for (std::uint32_t i = 0; i < 20000; ++i) {
        std::uint64_t id = 0; // in the first sixteenth, whatever the number of slots
        do id = draw();
        while (straggle::detail::hash_number(id, table.*slots_member(key_of_numbers{})) >> 60 != 0);
        REQUIRE(table.insert(id) == i);
        expected.emplace(id, i);
    }
    CHECK((table.*slots_member(displaced_numbers{})).size() > 100);
    CHECK(crafted::longest_way(table) <= 127);
    for (auto const& [id, index] : expected) REQUIRE(table.find(id) == index);
    for (auto const& [id, index] : expected)
        if (index % 2 == 0) table.erase(index);
    for (auto const& [id, index] : expected)
        REQUIRE(table.find(id) == (index % 2 == 0 ? interner<std::uint64_t>::none : index));
}

TEST_CASE("interner: a key changes no index") {
    std::mt19937_64 draw(straggle_test::seed_or(12));
    interner<std::string> plain, keyed(0x0123456789abcdefu);
    interner<std::uint64_t> numbers, keyed_numbers(42);
    for (int i = 0; i < 5000; ++i) {
        std::string const name(draw() % 40, static_cast<char>('a' + draw() % 4));
        CHECK(plain.insert(name) == keyed.insert(name));
        std::uint64_t const number = draw() % 3000;
        CHECK(numbers.insert(number) == keyed_numbers.insert(number));
        if (i % 50 == 0 && plain.contains(0)) {
            plain.erase(0);
            keyed.erase(0);
        }
    }
}

TEST_CASE("interner: no text hashes alike under two keys because of what is in it") {
    // Where a factor of the hash is 0 under one key, whatever it is multiplied by has no say. Under another
    // key the same texts must differ.
    std::uint64_t const constants[] = {0xA0761D6478BD642Fu, 0xE7037ED1A0B428DBu, 0x8EBC6AF09C88C6E3u,
                                       0x589965CC75374CC3u};
    for (std::size_t const size : {8u, 16u, 20u, 32u, 40u, 64u})
        for (std::uint64_t const constant : constants)
            for (std::size_t at = 0; at + 8 <= size; at += 4) {
                std::vector<std::uint64_t> hashes;
                for (std::uint64_t i = 0; i < 64; ++i) {
                    std::string s(size, 'x');
                    for (std::size_t k = 0; k + 8 <= size; k += 8) {
                        std::uint64_t const other = i * 0x9E3779B97F4A7C15u + k;
                        std::memcpy(s.data() + k, &other, 8);
                    }
                    std::memcpy(s.data() + at, &constant, 8);
                    if (size == 8 && at == 0) s[7] = static_cast<char>(i);
                    hashes.push_back(straggle::detail::hash_text(s, 0x5bd1e995c3a5c85cu));
                }
                std::sort(hashes.begin(), hashes.end());
                CHECK(std::adjacent_find(hashes.begin(), hashes.end()) == hashes.end());
            }
}

} // namespace

TEST_CASE("interner: erased indices are visited in the order in which they are reused") {
    straggle::interner<std::uint64_t> table;
    for (std::uint64_t id = 0; id < 40; ++id) table.insert(id);
    for (std::uint32_t const index : {7u, 30u, 0u, 12u}) table.erase(index);
    std::vector<std::uint32_t> order;
    table.for_each_erased([&](std::uint32_t index) { order.push_back(index); });
    CHECK(order == std::vector<std::uint32_t>{12, 0, 30, 7});
    for (std::uint32_t const index : order) CHECK(table.insert(1000 + index) == index);
    table.for_each_erased([](std::uint32_t) { FAIL("there is none left"); });
}
