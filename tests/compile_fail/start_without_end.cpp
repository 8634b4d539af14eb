// Without a duration, both ends are needed.
// expect: start_without_end\.cpp:\d+:\d+
// expect: attempt_fields without a time: add \.duration, or \.start and \.end
#include <straggle/rank/rank_nodes.hpp>

#include <vector>

struct attempt {
    int job;
    int node;
    double started;
    double ended;
};

void rank(std::vector<attempt> const& attempts) {
    straggle::attempt_fields fields{.job = &attempt::job,
                                    .node = &attempt::node,
                                    .start = &attempt::started,
#ifdef STRAGGLE_CONTROL
                                    .end = &attempt::ended
#endif
    };
    (void)straggle::rank_nodes(attempts, fields);
}
