// The job is forgotten.
// expect: attempt_fields without \.job: add \.job = &attempt::job
// expect: attempt_without_job\.cpp:\d+:\d+
#include <straggle/rank/rank_nodes.hpp>

#include <string>
#include <vector>

struct attempt {
    int job;
    std::string host;
    double took;
    std::string text;
};

#ifdef STRAGGLE_CONTROL
void rank(std::vector<attempt> const& attempts) {
    straggle::attempt_fields fields{.job = &attempt::job, .node = &attempt::host, .duration = &attempt::took};
    (void)straggle::rank_nodes(attempts, fields);
}
#else
void rank(std::vector<attempt> const& attempts) {
    straggle::attempt_fields fields{.node = &attempt::host, .duration = &attempt::took};
    (void)straggle::rank_nodes(attempts, fields);
}
#endif
