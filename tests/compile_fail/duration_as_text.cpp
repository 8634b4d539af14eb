// A duration has to be a number or a std::chrono::duration.
// expect: duration_as_text\.cpp:\d+:\d+
// expect: \.duration has to be a member of the record
// expect: a number or a
// expect: not text
#include <straggle/rank/rank_nodes.hpp>

#include <string>
#include <vector>

struct attempt {
    int job;
    int node;
#ifdef STRAGGLE_CONTROL
    double took;
#else
    std::string took;
#endif
};

void rank(std::vector<attempt> const& attempts) {
    straggle::attempt_fields fields{.job = &attempt::job, .node = &attempt::node, .duration = &attempt::took};
    (void)straggle::rank_nodes(attempts, fields);
}
