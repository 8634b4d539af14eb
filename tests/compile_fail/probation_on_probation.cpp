// A node has one count of probes: two trials at once would each count them.
// expect: the probes of a node are counted once
#include <straggle/blacklist/exclusion.hpp>

#ifdef STRAGGLE_CONTROL
constexpr straggle::blacklist::probation<straggle::blacklist::hysteresis<straggle::blacklist::escalating>>
    policy;
#else
constexpr straggle::blacklist::probation<straggle::blacklist::hysteresis<straggle::blacklist::probation<>>>
    policy;
#endif

std::uint64_t probes() {
    return policy.probes;
}
