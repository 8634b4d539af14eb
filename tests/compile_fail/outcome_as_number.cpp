// An outcome is not a number: whoever wants the value has to ask for it.
// expect: outcome_as_number\.cpp:\d+:\d+: error
// expect: outcome<double>
#include <straggle/stats/order.hpp>

double usual(std::span<double> durations) {
#ifdef STRAGGLE_CONTROL
    return straggle::stats::median_in_place(durations).value_or(0);
#else
    return straggle::stats::median_in_place(durations);
#endif
}
