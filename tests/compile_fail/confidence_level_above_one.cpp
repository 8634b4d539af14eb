// A level is below one.
// expect: confidence_level_above_one\.cpp:\d+:\d+:
// expect-gcc: call to non-'constexpr' function
// expect-clang: not a constant expression
// expect: valid\(level\)|level > 0.0 && level < 1.0
// expect: contract_broken
#include <straggle/stats/interval.hpp>

#ifdef STRAGGLE_CONTROL
straggle::stats::t_interval const rule{0.99};
#else
straggle::stats::t_interval const rule{1.5};
#endif
