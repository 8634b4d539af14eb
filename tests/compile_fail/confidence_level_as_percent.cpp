// A level is a probability, not a percentage.
// expect-gcc: call to non-'constexpr' function
// expect-gcc: level > 0.0 && level < 1.0|valid\(level\)
// expect-clang: must be initialized by a constant expression|not a constant expression
// expect: contract_broken
#include <straggle/stats/confidence.hpp>

#ifdef STRAGGLE_CONTROL
constexpr straggle::stats::confidence_level level{0.95};
#else
constexpr straggle::stats::confidence_level level{95};
#endif
