// A level from outside goes through `from`, which can say no.
// expect: confidence_level_not_constant\.cpp:\d+:\d+: error
// expect-gcc: not a constant expression
// expect-clang: not a constant expression
#include <straggle/stats/interval.hpp>

straggle::outcome<straggle::stats::interval> interval_at(double level) {
#ifdef STRAGGLE_CONTROL
    auto const checked = straggle::stats::confidence_level::from(level);
    if (!checked) return checked.reason();
    return straggle::stats::t_interval(*checked)(10, 0.0, 1.0);
#else
    return straggle::stats::t_interval(level)(10, 0.0, 1.0);
#endif
}
