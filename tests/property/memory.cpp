// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The memory that docs/reference/numbers.md states, per record, job and node. Tables grow by doubling, so a
/// fleet of any size asks for at most four times the net figure on the way there: that is the bound.

#include "support/allocations.hpp"

#include <doctest/doctest.h>
#include <straggle/straggle.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace {

struct numbered {
    std::uint32_t job, node;
    std::int64_t duration;
};
struct numbered_real {
    std::uint32_t job, node;
    double duration;
};
struct sparse_real {
    std::uint64_t job, node;
    double duration;
};

template <class Record>
constexpr straggle::attempt_fields fields_of{
    .job = &Record::job, .node = &Record::node, .duration = &Record::duration};

template <class Record>
std::vector<Record> history(std::size_t records, std::size_t jobs, std::size_t nodes, std::uint64_t spread) {
    std::vector<Record> all;
    std::uint64_t noise = 7;
    for (std::size_t i = 0; i < records; ++i) {
        noise = noise * 6364136223846793005u + 1442695040888963407u;
        all.push_back({static_cast<decltype(Record::job)>((i % jobs) * spread),
                       static_cast<decltype(Record::node)>((i / 7 % nodes) * spread),
                       static_cast<decltype(Record::duration)>(1000 + (noise >> 40) % 1000)});
    }
    return all;
}

// Bytes a ranker asks for, from nothing to its first answer.
template <class Record, class Options = straggle::rank_options<>>
double bytes_for(std::size_t records, std::size_t jobs, std::size_t nodes, std::uint64_t spread,
                 Options options = {}) {
    auto const all = history<Record>(records, jobs, nodes, spread);
    std::size_t const before = straggle_test::allocated_bytes();
    straggle::node_ranker<Record, std::remove_const_t<decltype(fields_of<Record>)>, Options> ranker(
        fields_of<Record>, options);
    ranker.rank(all);
    return static_cast<double>(straggle_test::allocated_bytes() - before);
}

// The same per record, between 2^14 and 2^18 of them.
straggle::rank_options<> scores_alone() {
    straggle::rank_options<> options;
    options.slowdowns = false;
    return options;
}

template <class Record, class Options = straggle::rank_options<>>
double bytes_per_record(std::uint64_t spread, Options options = {}) {
    double const few = bytes_for<Record>(1 << 14, 100, 50, spread, options);
    double const many = bytes_for<Record>(1 << 18, 100, 50, spread, options);
    double const per_record = (many - few) / ((1 << 18) - (1 << 14));
    MESSAGE("bytes asked for per record: ", per_record);
    return per_record;
}

} // namespace

TEST_CASE("32 bytes per record, whatever its identifiers, its durations and the normalizer") {
    for (double const per_record :
         {bytes_per_record<numbered_real>(1), bytes_per_record<numbered_real>(1, scores_alone()),
          bytes_per_record<numbered>(1), bytes_per_record<sparse_real>(1'000'003),
          bytes_per_record<numbered>(1, straggle::rank_options<straggle::rank::robust_z>{})}) {
        CHECK(per_record > 31.9);
        CHECK(per_record <= 2 * 32); // a table that doubles asks for all its former sizes, too
    }
}

TEST_CASE("25 bytes per job, about 400 per node, if both are small integers") {
    double const per_job = (bytes_for<numbered_real>(1 << 18, 1 << 14, 50, 1, scores_alone()) -
                            bytes_for<numbered_real>(1 << 18, 1 << 10, 50, 1, scores_alone())) /
                           ((1 << 14) - (1 << 10));
    double const per_node = (bytes_for<numbered_real>(1 << 18, 100, 1 << 14, 1, scores_alone()) -
                             bytes_for<numbered_real>(1 << 18, 100, 1 << 10, 1, scores_alone())) /
                            ((1 << 14) - (1 << 10));
    MESSAGE("bytes asked for per job: ", per_job, ", per node: ", per_node);
    CHECK(per_job >= 20);
    CHECK(per_job <= 4 * 25);
    CHECK(per_node >= 370);
    CHECK(per_node <= 4 * 400);
}

TEST_CASE("slowdowns need 12 bytes for each node of a job that has one of its tasks") {
    // Each attempt is the only one of its job on its node.
    auto const bytes = [](std::size_t records) {
        return bytes_for<numbered_real>(records, records / 16, 50, 1) -
               bytes_for<numbered_real>(records, records / 16, 50, 1, scores_alone());
    };
    double const per_pair = (bytes(1 << 18) - bytes(1 << 14)) / ((1 << 18) - (1 << 14));
    MESSAGE("bytes asked for per job and node: ", per_pair);
    CHECK(per_pair >= 12);
    // A table that doubles asks for all its former sizes, too; and the share of its group.
    CHECK(per_pair <= 2 * 12 + 2 * 128 / 16.0);
}
