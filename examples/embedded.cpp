// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The library inside a program with its own failure and memory handling.

#include <straggle/straggle.hpp>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

std::size_t allocations = 0;

} // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
    std::abort(); // this program has no exceptions
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace {

//! [handler]
// Called once, before the program aborts; all texts are literals, nothing is allocated.
void log_broken_contract(straggle::base::contract_violation const& broken) {
    std::fprintf(stderr, "%s:%d: broken contract: %s\n", broken.file, broken.line, broken.condition);
}
//! [handler]

} // namespace

struct sample {
    unsigned job, node;
    double seconds;
};
constexpr straggle::attempt_fields fields{
    .job = &sample::job, .node = &sample::node, .duration = &sample::seconds};

int main() {
    straggle::base::set_contract_handler(log_broken_contract);

    std::vector<sample> samples;
    for (unsigned i = 0; i < 10'000; ++i)
        samples.push_back({i / 100, i % 20, 1.0 + i * 7919 % 1009 / 1000.0 + (i % 20 == 13 ? 1.0 : 0.0)});

    //! [reuse]
    straggle::node_ranker<sample, decltype(fields)> ranker(fields); // keeps its tables between calls
    straggle::blacklister list;
    straggle::blacklist_decision<unsigned> decision;
    for (int round = 1; round <= 3; ++round) {
        std::size_t const before = allocations;
        list.decide(ranker.rank(samples), decision); // into the memory of the last decision
        std::printf("round %d: %zu node avoided, %s memory asked for\n", round, decision.blacklisted().size(),
                    allocations == before ? "no" : "some");
    }
    //! [reuse]
}
