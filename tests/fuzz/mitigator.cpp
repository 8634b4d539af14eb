// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whatever the bytes: a mitigator either says why it cannot become what they describe and stays as it was, or
// it works: it observes, decides within its limits, merges, and what it stores reads back as the same bytes.
// tests/mitigate/mitigator.cpp has its cases as unit tests.

#include <straggle/mitigate/mitigator.hpp>

#include "fuzzing.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace {

struct fuzz_attempt {
    std::string job;
    int node = 0;
    std::int64_t start = 0, end = 0;
    int task = 0;
};
struct fuzz_running {
    std::string job;
    int node = 0;
    std::int64_t start = 0;
    int task = 0;
    std::int64_t deadline = 0;
};
struct fuzz_node {
    int id = 0, slots = 2;
};
auto make() {
    return straggle::mitigator_of<fuzz_attempt, fuzz_running, fuzz_node>(
        straggle::attempt_fields{.job = &fuzz_attempt::job,
                                 .task = &fuzz_attempt::task,
                                 .node = &fuzz_attempt::node,
                                 .start = &fuzz_attempt::start,
                                 .end = &fuzz_attempt::end},
        straggle::running_fields{.job = &fuzz_running::job,
                                 .task = &fuzz_running::task,
                                 .node = &fuzz_running::node,
                                 .start = &fuzz_running::start,
                                 .deadline = &fuzz_running::deadline},
        straggle::node_fields{.node = &fuzz_node::id, .slots = &fuzz_node::slots});
}

using fuzzing::demand;

template <class Mitigator>
void work(Mitigator& m) {
    std::vector<fuzz_node> nodes;
    for (int n = 0; n < 8; ++n) nodes.push_back({n});
    for (std::int64_t t = 0; t < 20; ++t) {
        std::vector<fuzz_running> running{
            {"j", 1, t - 3, 1, t + 2}, {"j", 2, t - 2, 1, t + 4}, {"k", 3, t - 9, 2, 10}};
        m.observe({"j", static_cast<int>(t % 8), t - 5, t, static_cast<int>(t)}, t);
        auto const& plan = m.decide(t, running, nodes, {.waiting = 1});
        demand(plan.nodes().size() == nodes.size());
        int out = 0;
        for (auto const& n : plan.nodes()) out += n.state == straggle::node_state::excluded ? 1 : 0;
        demand(out <= 2);
        for (auto const& c : plan.copies()) demand(c.row < running.size() && c.node_row < nodes.size());
        demand(plan.jobs().size() <= 2);
        for (auto const& j : plan.jobs()) {
            demand(j.row < running.size() && j.end.low <= j.end.high);
            demand(j.least_probability >= 0 && j.least_probability <= j.miss_probability + 1e-9);
            demand(j.miss_probability <= 1);
        }
        for (auto const& k : plan.kills()) demand(k.row < running.size());
        for (auto const& p : m.rank_places("j", nodes)) demand(p.row < nodes.size());
        for (auto const& p : m.place_tasks("j", 20, nodes)) demand(p.row < nodes.size());
    }
    m.finish("j");
}

void become(std::span<std::byte const> bytes) {
    fuzzing::become(
        bytes, make, [](auto& m) { m.observe({"before", 1, 5, 9, 1}, 9); }, [](auto& m) { work(m); });
}

// What a mitigator that has worked would store, but for a few bytes.
std::vector<std::byte> edited(std::uint8_t const* data, std::size_t size) {
    static std::vector<std::byte> const stored = [] {
        auto m = make();
        work(m);
        return m.serialize();
    }();
    return fuzzing::edited(stored, data, size);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzzing::as_is_and_mended(fuzzing::bytes_of(data, size), become);
    become(edited(data, size));
    return 0;
}
