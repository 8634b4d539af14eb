// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// What a pair of a job and a node brings to the relative times of the node, against the sums written down one
// by one; and the short way for a task that is alone, which has to come to the same bits.

#include <straggle/base/archive.hpp>
#include <straggle/base/bytes.hpp>
#include <straggle/rank/detail/relative_times.hpp>

#include "../support/seed.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <type_traits>
#include <vector>

using straggle::detail::job_yardstick;
using straggle::detail::lone_yardstick;
using straggle::detail::relative_times;
using straggle::detail::time_sums;

namespace {

// As the comment on time_sums says, one pair at a time. Exact sums are of whole steps of 2^-24.
template <bool Exact>
struct literal_times {
    using sum_type = std::conditional_t<Exact, std::uint64_t, double>;
    time_sums<sum_type> sums;

    void add(job_yardstick const& job, std::uint64_t n, double mean) {
        if (n >= job.tasks || job.per_mean == 0) return;
        double const all = static_cast<double>(job.tasks), count = static_cast<double>(n);
        double const here = std::floor((std::min)(mean * job.per_mean, 256.0) * 0x1p24) / 0x1p24;
        double const left = (std::max)(all - count * here, 0.0);
        double const elsewhere = (std::min)(left / (all - count), 256.0);
        double const m = (std::min)(count * (all - count) / all, 4096.0);
        sums.weight += kept(m);
        sums.here += kept(m * here);
        sums.elsewhere += kept(m * elsewhere);
        sums.here_squared += kept((m * here) * (m * here));
        sums.both += kept((m * here) * (m * elsewhere));
        sums.elsewhere_squared += kept((m * elsewhere) * (m * elsewhere));
        sums.tasks += n;
        ++sums.jobs;
    }
    static sum_type kept(double x) {
        if constexpr (Exact)
            return static_cast<std::uint64_t>(std::floor((std::min)(x, 0x1p38) * 0x1p24));
        else
            return x;
    }
    static double told(sum_type x) {
        if constexpr (Exact)
            return static_cast<double>(x) / 0x1p24;
        else
            return x;
    }
};

struct job {
    job_yardstick by;
    double mean;
};

std::vector<job> jobs(std::mt19937_64& random) {
    std::vector<job> made;
    for (std::uint64_t const tasks : {0u, 1u, 2u, 3u, 7u, 100u, 4096u, 70'000u, 5'000'000u})
        for (double const mean : {0.0, 1e-300, 0.3, 1.0, 1234.5, 9e15, 1e300})
            made.push_back({job_yardstick::of(tasks, mean), mean});
    std::shuffle(made.begin(), made.end(), random);
    return made;
}

// Durations beside their job's mean: short ones, usual ones, and some that are out of all bounds.
double duration(std::mt19937_64& random, double mean) {
    constexpr double parts[] = {0, 1e-12, 0.01, 0.5, 0.999999, 1, 1.000001, 1.7, 40, 255.99, 256, 257, 1e9};
    double const wobble = static_cast<double>(random() % 1000) * 1e-6;
    return (mean == 0 ? 1.0 : mean) * (parts[random() % std::size(parts)] + wobble);
}

} // namespace

TEST_CASE_TEMPLATE("relative times are the sums that their comment says", T, std::true_type,
                   std::false_type) {
    std::uint64_t const seed = straggle_test::seed_or(91);
    INFO("seed ", seed);
    std::mt19937_64 random(seed);
    relative_times<T::value> times;
    literal_times<T::value> literal;
    for (int i = 0; i < 200; ++i)
        for (job const& j : jobs(random)) {
            std::uint64_t const n = 1 + random() % 5;
            double const mean = duration(random, j.mean);
            times.add(j.by, n, mean, 0);
            literal.add(j.by, n, mean);
        }
    auto const told = times.in_tasks();
    for (std::size_t k = 0; k < told.members.size(); ++k)
        CHECK(told.*told.members[k] == literal.told(literal.sums.*literal.sums.members[k]));
    CHECK(told.tasks == literal.sums.tasks);
    CHECK(told.jobs == literal.sums.jobs);
}

TEST_CASE_TEMPLATE("a task that is alone enters the short way with the same bits", T, std::true_type,
                   std::false_type) {
    std::uint64_t const seed = straggle_test::seed_or(92);
    INFO("seed ", seed);
    std::mt19937_64 random(seed);
    relative_times<T::value> short_way, long_way;
    for (int i = 0; i < 500; ++i)
        for (job const& j : jobs(random)) {
            double const took = duration(random, j.mean);
            CHECK(j.by.compares() == (j.by.tasks > 1 && j.by.per_mean > 0));
            if (j.by.compares()) short_way.add(lone_yardstick::of(j.by), took);
            long_way.add(j.by, 1, took, 0);
        }
    CHECK(short_way.in_tasks().jobs > 0);
    CHECK(short_way == long_way);
    CHECK(short_way.in_tasks() == long_way.in_tasks());
}

TEST_CASE("exact relative times that wrap are told modulo 2^63, and stored so") {
    relative_times<true> times, whole;
    auto const by = job_yardstick::of(100'000, 1.0);
    // Each adds (4096 x 256)^2 steps of 2^-24 at most: the square of what was here is at its bound.
    for (int i = 0; i < 5; ++i) times.add(by, 50'000, 1e9, 0);
    whole.merge(times);
    CHECK(times == whole);
    auto const told = times.in_tasks();
    // Five times 2^62 is 2^62 modulo 2^63.
    CHECK(told.here_squared == 0x1p62 / 0x1p24);
    for (auto const member : told.members) CHECK(told.*member >= 0);
    straggle::byte_writer out;
    straggle::base::writing_archive to(out);
    times.fields(times, to);
    straggle::byte_reader in(out.payload());
    straggle::base::reading_archive from(in);
    relative_times<true> again;
    again.fields(again, from);
    CHECK(in.finish() == straggle::status::ok);
    CHECK(again == times);
}
