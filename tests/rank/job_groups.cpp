// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The rows of a job by their nodes, against a std::map.

#include <straggle/rank/detail/job_groups.hpp>
#include <straggle/stats/tick_moments.hpp>

#include "../support/seed.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

using straggle::detail::node_joiner;
using straggle::stats::tick_moments;

namespace {

struct row {
    std::uint32_t node;
    std::int64_t value;
};
constexpr auto itself = [](row const& r) -> row const& { return r; };

} // namespace

TEST_CASE("rows that have their node to themselves are told from the others, job after job") {
    std::uint64_t const seed = straggle_test::seed_or(93);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    node_joiner<tick_moments> joiner;
    joiner.prepare(64);
    for (int job = 0; job < 2000; ++job) {
        std::size_t const size = draw() % 40;
        std::uint32_t const nodes = 1 + static_cast<std::uint32_t>(draw() % 64);
        std::vector<row> rows;
        std::map<std::uint32_t, std::vector<std::uint32_t>> places;
        for (std::uint32_t i = 0; i < size; ++i) {
            rows.push_back(
                {static_cast<std::uint32_t>(draw() % nodes), static_cast<std::int64_t>(draw() % 1000)});
            places[rows.back().node].push_back(i);
        }
        for (std::size_t i = 0; i < size; ++i) joiner.note(rows[i].node, i);

        std::vector<bool> is_alone(size), is_shared(size);
        std::uint32_t last = 0;
        for (std::uint32_t const i : joiner.alone(rows, itself)) {
            CHECK(i >= last); // in order
            last = i;
            is_alone[i] = true;
        }
        for (std::uint32_t const i : joiner.shared()) is_shared[i] = true;
        for (std::size_t i = 0; i < size; ++i) {
            CHECK(is_alone[i] == (places[rows[i].node].size() == 1));
            CHECK(is_shared[i] == !is_alone[i]);
        }
        std::size_t groups = 0;
        joiner.join(
            rows, itself, [](tick_moments& together, row const& r) { together.add(r.value); },
            [&](std::size_t node, tick_moments const& together) {
                ++groups;
                tick_moments expected;
                for (std::uint32_t const i : places[static_cast<std::uint32_t>(node)])
                    expected.add(rows[i].value);
                CHECK(expected.count() > 1);
                CHECK(together == expected);
            });
        std::size_t with_more = 0;
        for (auto const& [node, of_node] : places) with_more += of_node.size() > 1 ? 1u : 0u;
        CHECK(groups == with_more);
    }
}
