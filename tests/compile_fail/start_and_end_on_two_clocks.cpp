// Two times that cannot be subtracted make no duration.
// expect: start_and_end_on_two_clocks\.cpp:\d+:\d+
// expect: \.start and \.end have to be points in time of one type
#include <straggle/rank/rank_nodes.hpp>

#include <chrono>
#include <vector>

struct attempt {
    int job;
    int node;
    std::chrono::system_clock::time_point started;
#ifdef STRAGGLE_CONTROL
    std::chrono::system_clock::time_point ended;
#else
    std::chrono::steady_clock::time_point ended;
#endif
};

void rank(std::vector<attempt> const& attempts) {
    straggle::attempt_fields fields{
        .job = &attempt::job, .node = &attempt::node, .start = &attempt::started, .end = &attempt::ended};
    (void)straggle::rank_nodes(attempts, fields);
}
