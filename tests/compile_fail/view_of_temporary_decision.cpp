// The nodes of a decision that is gone at the end of the line.
// expect: view_of_temporary_decision\.cpp:\d+:\d+: error
// expect: deleted
// expect: keep the decision in a variable first
#include <straggle/blacklist/blacklister.hpp>

#include <cstddef>

std::size_t avoided(straggle::node_ranking<int, int> const& ranking) {
    straggle::blacklister policy;
    std::size_t n = 0;
#ifdef STRAGGLE_CONTROL
    auto const decision = policy.decide(ranking);
    for (auto const& verdict : decision.blacklisted()) n += verdict.n;
#else
    for (auto const& verdict : policy.decide(ranking).blacklisted()) n += verdict.n;
#endif
    return n;
}
