// A level from outside goes through `from`, which can say no.
// expect: confidence_level_not_constant\.cpp:\d+:\d+: error
// expect-gcc: not a constant expression
// expect-clang: not a constant expression
#include <straggle/stats/interval.hpp>

straggle::outcome<straggle::interval> interval_at(double level) {
#ifdef STRAGGLE_CONTROL
    auto const checked = straggle::confidence_level::from(level);
    if (!checked) return checked.reason();
    return straggle::t_interval(*checked)(10, 0.0, 1.0);
#else
    return straggle::t_interval(level)(10, 0.0, 1.0);
#endif
}
