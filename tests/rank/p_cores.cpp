// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/rank/p_cores.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/literal_p_cores.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using straggle::rank::edge_rule;
using straggle_test::literal_rule;
using straggle_test::machine;

constexpr std::array both_rules{edge_rule::closed, edge_rule::open};

literal_rule literal(edge_rule rule) {
    return rule == edge_rule::open ? literal_rule::text : literal_rule::not_same_point;
}

struct fleet {
    std::vector<double> low;
    std::vector<double> high;

    void add(double a, double b) {
        low.push_back((std::min)(a, b));
        high.push_back((std::max)(a, b));
    }
    [[nodiscard]] std::size_t size() const { return low.size(); }
    [[nodiscard]] std::vector<machine> machines() const {
        std::vector<machine> all(size());
        for (std::size_t i = 0; i < size(); ++i) {
            all[i].low = low[i];
            all[i].high = high[i];
        }
        return all;
    }
};

std::vector<std::uint32_t> ranked(straggle::rank::p_cores& cores, fleet const& f,
                                  std::size_t* count = nullptr) {
    std::vector<std::uint32_t> level(f.size(), 0xdeadu);
    auto const levels = cores.levels(f.low, f.high, level);
    REQUIRE(levels.has_value());
    if (count) *count = *levels;
    return level;
}

std::vector<std::uint32_t> peeled(fleet const& f, edge_rule rule) {
    std::vector<machine> machines = f.machines();
    auto const level = straggle_test::literal_levels(machines, literal(rule));
    REQUIRE(level.has_value());
    return *level;
}

// A second oracle that copes with millions: nodes from the largest High down; the level of each is one more
// than the largest level among those it points at, which are the ones that begin after its end. Independent
// of peeling, and of the bounds and the sort of the library.
std::vector<std::uint32_t> swept(fleet const& f, edge_rule rule) {
    std::size_t const n = f.size();
    bool const closed = rule == edge_rule::closed;
    // Positions on a line where "i points at j" reads end(i) < begin(j).
    auto const begin = [&](std::size_t i) {
        return std::pair(f.low[i], closed && f.low[i] < f.high[i] ? 1 : 0);
    };
    auto const end = [&](std::size_t i) {
        return std::pair(f.high[i], closed && f.low[i] < f.high[i] ? -1 : 0);
    };
    std::vector<std::uint32_t> by_begin(n);
    std::iota(by_begin.begin(), by_begin.end(), 0U);
    std::vector<std::uint32_t> by_end = by_begin;
    std::sort(by_begin.begin(), by_begin.end(), [&](auto a, auto b) { return begin(a) > begin(b); });
    std::sort(by_end.begin(), by_end.end(), [&](auto a, auto b) { return end(a) > end(b); });
    std::vector<std::uint32_t> level(n);
    std::uint32_t next = 0; // one more than the largest level among those begun
    std::size_t j = 0;
    for (std::uint32_t const i : by_end) {
        // Whoever begins after the end of i ends after it too, so its level is known.
        while (j < n && begin(by_begin[j]) > end(i)) {
            next = (std::max)(next, level[by_begin[j]] + 1);
            ++j;
        }
        level[i] = next;
    }
    return level;
}

using engine = std::mt19937_64;

double uniform(engine& g, double from, double to) {
    return from + (to - from) * static_cast<double>(g() >> 11) * 0x1p-53;
}
double normal(engine& g) {
    double s = -6;
    for (int i = 0; i < 12; ++i) s += uniform(g, 0, 1);
    return s;
}

struct family {
    char const* name;
    fleet (*make)(std::size_t n, engine& g);
};

constexpr family families[] = {
    {"uniform",
     [](std::size_t n, engine& g) {
         fleet f;
         for (std::size_t i = 0; i < n; ++i) f.add(uniform(g, -1, 1), uniform(g, -1, 1));
         return f;
     }},
    {"realistic",
     [](std::size_t n, engine& g) {
         fleet f;
         for (std::size_t i = 0; i < n; ++i) {
             double const m = 0.3 * normal(g);
             double const half = 0.373 * (1 + 0.13 * normal(g));
             f.add(m - half, m + half);
         }
         return f;
     }},
    {"narrow",
     [](std::size_t n, engine& g) {
         fleet f;
         double const width = 4.0 / static_cast<double>(n);
         for (std::size_t i = 0; i < n; ++i) {
             double const m = uniform(g, 0, 1);
             f.add(m, m + width * uniform(g, 0, 1));
         }
         return f;
     }},
    {"clustered",
     [](std::size_t n, engine& g) {
         fleet f;
         for (std::size_t i = 0; i < n; ++i) {
             double const centre = std::ldexp(1.0, static_cast<int>(g() % 40));
             double const m = centre * (1 + 1e-9 * normal(g));
             f.add(m, m + centre * 1e-10 * uniform(g, 0, 1));
         }
         return f;
     }},
    {"points",
     [](std::size_t n, engine& g) {
         fleet f;
         for (std::size_t i = 0; i < n; ++i) {
             double const m = normal(g);
             f.add(m, g() % 4 == 0 ? m + uniform(g, 0, 0.1) : m);
         }
         return f;
     }},
    {"ties",
     [](std::size_t n, engine& g) {
         fleet f;
         for (std::size_t i = 0; i < n; ++i) {
             auto const a = static_cast<double>(g() % 50);
             f.add(a, a + static_cast<double>(g() % 4));
         }
         return f;
     }},
    {"many ties",
     [](std::size_t n, engine& g) {
         fleet f;
         for (std::size_t i = 0; i < n; ++i) {
             auto const a = static_cast<double>(g() % (n / 3 + 1));
             f.add(a, a + static_cast<double>(g() % 3));
         }
         return f;
     }},
    {"nested",
     [](std::size_t n, engine& g) {
         fleet f;
         for (std::size_t i = 0; i < n; ++i) {
             double const half = uniform(g, 0, 1);
             f.add(-half, half);
         }
         return f;
     }},
    {"chain",
     [](std::size_t n, engine& g) {
         fleet f;
         for (std::size_t i = 0; i < n; ++i) f.add(static_cast<double>(i), static_cast<double>(i) + 0.5);
         std::vector<std::size_t> place(n);
         std::iota(place.begin(), place.end(), std::size_t{0});
         std::shuffle(place.begin(), place.end(), g);
         fleet shuffled;
         for (std::size_t const p : place) shuffled.add(f.low[p], f.high[p]);
         return shuffled;
     }},
    {"touching chain",
     [](std::size_t n, engine&) {
         fleet f;
         for (std::size_t i = 0; i < n; ++i) f.add(-static_cast<double>(i), -static_cast<double>(i) - 1);
         return f;
     }},
    {"touching chain with points",
     [](std::size_t n, engine& g) {
         fleet f;
         for (std::size_t i = 0; i < n; ++i) {
             auto const a = static_cast<double>(g() % (n / 2 + 1));
             f.add(a, a + static_cast<double>(g() % 2));
         }
         return f;
     }},
    {"identical",
     [](std::size_t n, engine&) {
         fleet f;
         for (std::size_t i = 0; i < n; ++i) f.add(0.25, 0.75);
         return f;
     }},
    {"identical points",
     [](std::size_t n, engine&) {
         fleet f;
         for (std::size_t i = 0; i < n; ++i) f.add(0.25, 0.25);
         return f;
     }},
    {"zeros of both signs",
     [](std::size_t n, engine& g) {
         constexpr std::array ends{-1.0, -0.0, 0.0, 1.0, -0.0, 0.0, -5e-324, 5e-324};
         fleet f;
         for (std::size_t i = 0; i < n; ++i) f.add(ends[g() % ends.size()], ends[g() % ends.size()]);
         return f;
     }},
    {"denormal",
     [](std::size_t n, engine& g) {
         fleet f;
         for (std::size_t i = 0; i < n; ++i) {
             double const a = 5e-324 * static_cast<double>(g() % 5000);
             f.add(a, a + 5e-324 * static_cast<double>(g() % 3));
         }
         return f;
     }},
    {"huge",
     [](std::size_t n, engine& g) {
         constexpr double most = (std::numeric_limits<double>::max)();
         fleet f;
         for (std::size_t i = 0; i < n; ++i) {
             double const a = std::ldexp(uniform(g, -0.99, 0.99), 1024);
             double const b = a + std::ldexp(uniform(g, 0, 0.002), 1024);
             f.add(g() % 16 == 0 ? -most : a, g() % 16 == 0 ? most : b);
             if (g() % 16 == 0) f.high.back() = f.low.back();
         }
         return f;
     }},
    {"all magnitudes",
     [](std::size_t n, engine& g) {
         fleet f;
         for (std::size_t i = 0; i < n; ++i) {
             double const a = std::ldexp(uniform(g, -1, 1), static_cast<int>(g() % 2000) - 1000);
             f.add(a, a + std::fabs(a) * 1e-3);
         }
         return f;
     }},
    {"one outlier",
     [](std::size_t n, engine& g) {
         fleet f;
         f.add(1e300, 2e300);
         for (std::size_t i = 1; i < n; ++i) {
             double const a = uniform(g, 0, 1);
             f.add(a, a + 1e-4);
         }
         return f;
     }},
    {"neighbours",
     [](std::size_t n, engine& g) {
         fleet f;
         for (std::size_t i = 0; i < n; ++i) {
             double const a = 1e6 + 0x1p-33 * static_cast<double>(g() % 64);
             f.add(a, a + 0x1p-33 * static_cast<double>(g() % 3));
         }
         return f;
     }},
};

} // namespace

TEST_CASE("p_cores: levels equal literal peeling for all small integer intervals") {
    // All multisets of up to five of the 15 intervals with ends in 0..4.
    std::vector<std::pair<double, double>> intervals;
    for (int a = 0; a <= 4; ++a)
        for (int b = a; b <= 4; ++b) intervals.emplace_back(a, b);
    for (edge_rule const rule : both_rules) {
        straggle::rank::p_cores cores(rule);
        std::size_t wrong = 0;
        std::size_t tried = 0;
        auto const extend = [&](auto const& self, fleet const& f, std::size_t from) -> void {
            std::size_t count = 99;
            std::vector<std::uint32_t> const expected = peeled(f, rule);
            std::vector<std::uint32_t> const got = ranked(cores, f, &count);
            std::size_t const levels =
                expected.empty() ? 0 : *std::max_element(expected.begin(), expected.end()) + std::size_t{1};
            wrong += got != expected || count != levels;
            ++tried;
            if (f.size() == 5) return;
            for (std::size_t i = from; i < intervals.size(); ++i) {
                fleet longer = f;
                longer.add(intervals[i].first, intervals[i].second);
                self(self, longer, i);
            }
        };
        extend(extend, fleet{}, 0);
        CHECK(tried == 15504); // C(20, 5)
        CHECK(wrong == 0);
    }
}

TEST_CASE("p_cores: every kernel path agrees with peeling when small cases are repeated") {
    // Copies of each node change no level but reach the wide loops, whatever their width.
    engine g(7);
    for (edge_rule const rule : both_rules) {
        straggle::rank::p_cores cores(rule);
        std::size_t wrong = 0;
        for (int round = 0; round < 3000; ++round) {
            fleet f;
            std::size_t const n = 1 + g() % 7;
            for (std::size_t i = 0; i < n; ++i)
                f.add(static_cast<double>(g() % 6), static_cast<double>(g() % 6));
            std::vector<std::uint32_t> const expected = peeled(f, rule);
            fleet many;
            std::size_t const copies = 1 + g() % 40;
            for (std::size_t k = 0; k < copies; ++k)
                for (std::size_t i = 0; i < n; ++i) many.add(f.low[i], f.high[i]);
            std::vector<std::uint32_t> const got = ranked(cores, many);
            for (std::size_t i = 0; i < got.size(); ++i) wrong += got[i] != expected[i % n];
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("p_cores: levels equal literal peeling for random fleets") {
    engine g(20190201);
    for (edge_rule const rule : both_rules) {
        straggle::rank::p_cores cores(rule);
        for (family const& kind : families) {
            for (std::size_t const n : {1U, 2U, 3U, 7U, 8U, 9U, 15U, 16U, 17U, 31U, 33U, 64U, 100U, 129U,
                                        255U, 256U, 300U, 777U, 2000U}) {
                for (int repeat = 0; repeat < (n <= 300 ? 4 : 1); ++repeat) {
                    fleet const f = kind.make(n, g);
                    INFO(std::string(kind.name), " n = ", n, " rule = ", std::string(to_string(rule)));
                    std::size_t count = 0;
                    std::vector<std::uint32_t> const expected = peeled(f, rule);
                    CHECK(ranked(cores, f, &count) == expected);
                    CHECK(count == *std::max_element(expected.begin(), expected.end()) + std::size_t{1});
                    CHECK(swept(f, rule) == expected);
                }
            }
        }
    }
}

TEST_CASE("p_cores: levels of large fleets equal those of a sweep over two sorted orders") {
    engine g(5);
    for (edge_rule const rule : both_rules) {
        straggle::rank::p_cores cores(rule);
        for (family const& kind : families) {
            for (std::size_t const n : {20000U, 100000U, 300000U}) {
                fleet const f = kind.make(n, g);
                INFO(std::string(kind.name), " n = ", n, " rule = ", std::string(to_string(rule)));
                CHECK((ranked(cores, f) == swept(f, rule)));
            }
        }
    }
}

TEST_CASE("p_cores: a million nodes") {
    engine g(6);
    straggle::rank::p_cores cores;
    for (family const& kind : families) {
        std::string const name = kind.name;
        if (name != "realistic" && name != "chain" && name != "identical points" && name != "one outlier" &&
            name != "identical")
            continue;
        fleet const f = kind.make(1000000, g);
        INFO(std::string(kind.name));
        std::size_t count = 0;
        std::vector<std::uint32_t> const got = ranked(cores, f, &count);
        CHECK((got == swept(f, edge_rule::closed)));
        if (name == "chain") CHECK(count == 1000000);
        if (name == "identical points" || name == "identical") CHECK(count == 1);
    }
}

TEST_CASE("p_cores: the order of the nodes does not matter") {
    engine g(8);
    for (edge_rule const rule : both_rules) {
        straggle::rank::p_cores cores(rule);
        for (family const& kind : families) {
            for (std::size_t const n : {50U, 1000U, 50000U}) {
                fleet const f = kind.make(n, g);
                std::vector<std::uint32_t> const level = ranked(cores, f);
                std::vector<std::size_t> place(n);
                std::iota(place.begin(), place.end(), std::size_t{0});
                std::shuffle(place.begin(), place.end(), g);
                fleet moved;
                for (std::size_t const p : place) moved.add(f.low[p], f.high[p]);
                std::vector<std::uint32_t> const level_moved = ranked(cores, moved);
                std::size_t wrong = 0;
                for (std::size_t i = 0; i < n; ++i) wrong += level_moved[i] != level[place[i]];
                INFO(std::string(kind.name), " n = ", n);
                CHECK(wrong == 0);
            }
        }
    }
}

TEST_CASE("p_cores: weakest is level 0, in ascending order") {
    engine g(9);
    for (edge_rule const rule : both_rules) {
        straggle::rank::p_cores cores(rule);
        for (family const& kind : families) {
            for (std::size_t const n : {1U, 5U, 40U, 700U, 20000U}) {
                fleet const f = kind.make(n, g);
                std::vector<std::uint32_t> const level = ranked(cores, f);
                std::vector<std::uint32_t> expected;
                for (std::uint32_t i = 0; i < n; ++i)
                    if (level[i] == 0) expected.push_back(i);
                std::vector<std::uint32_t> nodes(n);
                auto const count = std::as_const(cores).weakest(f.low, f.high, nodes);
                REQUIRE(count.has_value());
                nodes.resize(*count);
                INFO(std::string(kind.name), " n = ", n);
                CHECK((nodes == expected));
            }
        }
    }
}

TEST_CASE("p_cores: spans of different sizes break the contract") {
    struct broken {};
    auto const before = straggle::base::set_contract_handler(
        [](straggle::base::contract_violation const&) { throw broken{}; });
    straggle::rank::p_cores cores;
    std::vector<double> const two(2);
    std::vector<double> const three(3);
    std::vector<std::uint32_t> level(2);
    CHECK_THROWS_AS((void)cores.levels(two, three, level), broken);
    CHECK_THROWS_AS((void)cores.levels(three, three, level), broken);
    straggle::base::set_contract_handler(before);
}

TEST_CASE("p_cores: no nodes, no levels") {
    straggle::rank::p_cores cores;
    CHECK(cores.levels({}, {}, {}).value() == 0);
    CHECK(cores.weakest({}, {}, {}).value() == 0);
}

TEST_CASE("p_cores: NaN, infinity and reversed intervals are out of domain and nothing is written") {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double inf = std::numeric_limits<double>::infinity();
    constexpr std::array<std::pair<double, double>, 9> bad{{{nan, 1.0},
                                                            {0.0, nan},
                                                            {-nan, -nan},
                                                            {-inf, 0.0},
                                                            {0.0, inf},
                                                            {inf, inf},
                                                            {-inf, -inf},
                                                            {1.0, 0.0},
#ifdef __FAST_MATH__ // flushes denormals to zero
                                                            {2e-308 * 2, 0.0}}};
#else
                                                            {5e-324, 0.0}}};
#endif
    for (edge_rule const rule : both_rules) {
        straggle::rank::p_cores cores(rule);
        for (std::size_t const n : {1U, 3U, 7U, 8U, 33U, 100U, 1000U}) {
            for (auto const& [low, high] : bad) {
                for (std::size_t const at : {std::size_t{0}, n / 2, n - 1}) {
                    fleet f;
                    for (std::size_t i = 0; i < n; ++i)
                        f.add(static_cast<double>(i % 5), static_cast<double>(i % 5 + i % 3));
                    f.low[at] = low;
                    f.high[at] = high;
                    std::vector<std::uint32_t> out(n, 12345U);
                    CHECK(cores.levels(f.low, f.high, out).reason() == straggle::status::out_of_domain);
                    CHECK(cores.weakest(f.low, f.high, out).reason() == straggle::status::out_of_domain);
                    CHECK(std::count(out.begin(), out.end(), 12345U) == static_cast<std::ptrdiff_t>(n));
                }
            }
        }
    }
}

TEST_CASE("p_cores: both rules are strict partial orders, and the bare <= is not") {
    std::vector<std::pair<double, double>> all;
    for (int a = 0; a <= 4; ++a)
        for (int b = a; b <= 4; ++b) all.emplace_back(a, b);
    for (edge_rule const rule : both_rules) {
        auto const edge = [&](auto const& a, auto const& b) {
            return straggle::rank::points_at(rule, a.first, a.second, b.first, b.second);
        };
        std::size_t reflexive = 0;
        std::size_t intransitive = 0;
        std::size_t unlike_literal = 0;
        for (auto const& a : all) {
            reflexive += edge(a, a);
            for (auto const& b : all) {
                machine ma;
                ma.low = a.first;
                ma.high = a.second;
                machine mb;
                mb.low = b.first;
                mb.high = b.second;
                unlike_literal += edge(a, b) != straggle_test::literal_edge(literal(rule), ma, mb);
                for (auto const& c : all) intransitive += edge(a, b) && edge(b, c) && !edge(a, c);
            }
        }
        CHECK(reflexive == 0);
        CHECK(intransitive == 0);
        CHECK(unlike_literal == 0);
    }
    // Two nodes whose tasks all took equally long: each is "provably slower" than the other by algorithm 3 as
    // printed, no node is without an edge out, and peeling cannot start.
    fleet twins;
    twins.add(1, 1);
    twins.add(1, 1);
    std::vector<machine> machines = twins.machines();
    CHECK_FALSE(straggle_test::literal_levels(machines, literal_rule::printed).has_value());
    CHECK(machines[0].out_edge.size() == 1);
    CHECK(machines[1].out_edge.size() == 1);
    CHECK(peeled(twins, edge_rule::closed) == std::vector<std::uint32_t>{0, 0});
    // Without twin points the printed algorithm and the closed rule are the same.
    engine g(3);
    for (int i = 0; i < 200; ++i) {
        fleet f;
        for (int k = 0; k < 12; ++k) {
            auto const a = static_cast<double>(g() % 20);
            f.add(a, a + 1 + static_cast<double>(g() % 3));
        }
        f.add(7, 7);
        std::vector<machine> m = f.machines();
        CHECK(straggle_test::literal_levels(m, literal_rule::printed).value() ==
              peeled(f, edge_rule::closed));
    }
}

TEST_CASE("p_cores: a tie between a point and a proper interval") {
    fleet f;
    f.add(0, 5); // ends where the others begin
    f.add(5, 5);
    f.add(5, 7); // begins at the point
    f.add(5, 5);
    straggle::rank::p_cores closed;
    CHECK(ranked(closed, f) == std::vector<std::uint32_t>{2, 1, 0, 1});
    straggle::rank::p_cores open(edge_rule::open);
    CHECK(ranked(open, f) == std::vector<std::uint32_t>{0, 0, 0, 0});
}

TEST_CASE("p_cores: the largest and smallest doubles") {
    constexpr double most = (std::numeric_limits<double>::max)();
    fleet f;
    f.add(most, most);
    f.add(-most, -most);
    f.add(-most, 0);
    f.add(0, most);
    f.add(-most, most);
    for (edge_rule const rule : both_rules) {
        straggle::rank::p_cores cores(rule);
        CHECK(ranked(cores, f) == peeled(f, rule));
        fleet many;
        for (int k = 0; k < 20; ++k)
            for (std::size_t i = 0; i < f.size(); ++i) many.add(f.low[i], f.high[i]);
        CHECK(ranked(cores, many) == peeled(many, rule));
    }
}

TEST_CASE("p_cores: allocates only for more nodes than ever before") {
    engine g(10);
    std::vector<std::uint32_t> level(5000);
    for (edge_rule const rule : both_rules) {
        straggle::rank::p_cores cores(rule);
        CHECK(straggle_test::allocations_during([&] { cores.reserve(5000); }) > 0);
        for (family const& kind : families) {
            for (std::size_t const n : {5U, 200U, 5000U}) {
                fleet const f = kind.make(n, g);
                INFO(std::string(kind.name), " n = ", n);
                auto const out = std::span(level).first(n);
                CHECK(straggle_test::allocations_during([&] { (void)cores.levels(f.low, f.high, out); }) ==
                      0);
                CHECK(straggle_test::allocations_during([&] { (void)cores.weakest(f.low, f.high, out); }) ==
                      0);
            }
        }
    }
    // The first call reserves by the number of nodes alone, not by how many levels they happen to have.
    straggle::rank::p_cores cores;
    fleet const few = families[11].make(5000, g);
    fleet const many = families[8].make(5000, g);
    (void)cores.levels(few.low, few.high, level);
    CHECK(straggle_test::allocations_during([&] { (void)cores.levels(many.low, many.high, level); }) == 0);
}

TEST_CASE("p_cores: copies and moves stay usable") {
    engine g(11);
    fleet const f = families[8].make(3000, g);
    straggle::rank::p_cores a(edge_rule::open);
    std::vector<std::uint32_t> const level = ranked(a, f);
    straggle::rank::p_cores b = a;
    CHECK(b.rule() == edge_rule::open);
    CHECK(ranked(b, f) == level);
    straggle::rank::p_cores c = std::move(b);
    CHECK(ranked(c, f) == level);
    CHECK(ranked(b, f) == level); // NOLINT: moved from, still a p_cores
    straggle::rank::p_cores d;
    d = c;
    CHECK(d.rule() == edge_rule::open);
    CHECK(ranked(d, f) == level);
    c = std::move(d);
    CHECK(ranked(c, f) == level);
    CHECK(ranked(d, f) == level); // NOLINT: moved from, still a p_cores
}

TEST_CASE("p_cores: names of the rules") {
    CHECK(to_string(edge_rule::closed) == "closed");
    CHECK(to_string(edge_rule::open) == "open");
}
