// A node has one count of probes: two trials at once would each count them.
// expect: the probes of a node are counted once
#include <straggle/blacklist/sentences.hpp>

#ifdef STRAGGLE_CONTROL
constexpr straggle::probation<straggle::hysteresis<straggle::escalating>> policy;
#else
constexpr straggle::probation<straggle::hysteresis<straggle::probation<>>> policy;
#endif

std::uint64_t probes() {
    return policy.probes;
}
