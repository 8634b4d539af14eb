// A view of a distribution that is gone at the end of the line.
// expect: empirical_view_of_temporary\.cpp:\d+:\d+: error
// expect: deleted
// expect: view\(\) const ?&&
#include <straggle/stats/empirical.hpp>

#include <vector>

straggle::stats::empirical read();

double mean() {
#ifdef STRAGGLE_CONTROL
    straggle::stats::empirical const times = read();
    return times.view().mean().value_or(0);
#else
    return read().view().mean().value_or(0);
#endif
}
