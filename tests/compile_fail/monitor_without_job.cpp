// The job is forgotten, over time.
// expect: attempt_fields without \.job: add \.job = &attempt::job
// expect: monitor_without_job\.cpp:\d+:\d+
#include <straggle/straggle.hpp>

#include <string>

struct attempt {
    int job;
    std::string host;
    double took;
    std::string text;
};

#ifdef STRAGGLE_CONTROL
auto watch = straggle::monitor_of<attempt>(
    straggle::attempt_fields{.job = &attempt::job, .node = &attempt::host, .duration = &attempt::took});
#else
auto watch = straggle::monitor_of<attempt>(
    straggle::attempt_fields{.node = &attempt::host, .duration = &attempt::took});
#endif
