// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What the tests of failed allocations have in common: histories with names that need memory of their own,
/// and all that rankings say, to be compared.
#pragma once

#include <straggle/rank/ranking.hpp>
#include <straggle/record/attempt.hpp>
#include <straggle/record/field.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace straggle_test {

/// Longer than what a string holds in itself.
inline std::string long_name(char const* of, int i) {
    return std::string(of) + " with a name that needs memory of its own, number " + std::to_string(i);
}

/// An attempt whose names are text.
struct named_attempt {
    std::string job, node;
    std::int64_t took = 0, end = 0;
    int task = 0;
    double input = 1;
    [[nodiscard]] double seconds() const { return static_cast<double>(took) / 7; }
};
inline constexpr straggle::attempt_fields named_ticks{
    .job = &named_attempt::job, .node = &named_attempt::node, .duration = &named_attempt::took};
inline constexpr straggle::attempt_fields named_reals{
    .job = &named_attempt::job, .node = &named_attempt::node, .duration = &named_attempt::seconds};
inline constexpr straggle::attempt_fields named_in_time{.job = &named_attempt::job,
                                                        .node = &named_attempt::node,
                                                        .end = &named_attempt::end,
                                                        .duration = &named_attempt::took};

/// A few jobs on a few nodes, one slow; some jobs too small to say anything.
inline std::vector<named_attempt> named_history(int jobs, int nodes, int tasks_per_node = 2) {
    std::vector<named_attempt> all;
    std::uint64_t noise = 7;
    for (int j = 0; j < jobs; ++j)
        for (int n = 0; n < (j % 4 == 3 ? 1 : nodes); ++n)
            for (int t = 0; t < tasks_per_node; ++t) {
                noise = noise * 6364136223846793005u + 1442695040888963407u;
                std::int64_t const took =
                    1000 + static_cast<std::int64_t>((noise >> 40) % 200) + (n == 1 ? 900 : 0);
                all.push_back({long_name("job", j), long_name("node", n), took, 100 * j + t,
                               n * tasks_per_node + t, 1.0 + n});
            }
    return all;
}

/// All that can be seen of something, in names and numbers.
struct seen_of {
    std::vector<std::string> names;
    std::vector<double> numbers;

    void see(std::string name) { names.push_back(std::move(name)); }
    void see(std::string_view name) { names.emplace_back(name); }
    template <class Number>
        requires std::is_arithmetic_v<Number>
    void see(Number n) {
        numbers.push_back(static_cast<double>(n));
    }
    template <class Id>
        requires std::is_arithmetic_v<Id>
    void see_id(Id id) {
        see(id);
    }
    void see_id(std::string const& id) { see(id); }
    void see(straggle::attempt_counts const& c) {
        for (std::uint64_t const n : {c.seen, c.used, c.failed, c.killed, c.superseded}) see(n);
        for (std::uint64_t const n : c.rejected) see(n);
    }
    template <class NodeId, class JobId>
    void see(straggle::node_ranking<NodeId, JobId> const& r) {
        see(r.levels());
        for (auto const& n : r.nodes()) {
            see_id(n.id);
            for (double const x : {n.mean, n.sd, n.ci.low, n.ci.high}) see(x);
            see(n.n);
            see(n.level);
            see(n.seen);
        }
        for (auto const& n : r.unranked()) {
            see_id(n.id);
            see(n.n);
            see(n.mean);
            see(n.seen);
        }
        for (auto const& j : r.degenerate_jobs()) {
            see_id(j.id);
            see(j.attempts);
            see(static_cast<int>(j.reason));
        }
        see(r.attempts());
        see(r.scored_attempts());
        see(r.usable_jobs());
    }
    friend bool operator==(seen_of const&, seen_of const&) = default;
};

template <class T>
seen_of seen(T const& thing) {
    seen_of s;
    s.see(thing);
    return s;
}

} // namespace straggle_test
