// Without fields the record itself has to name them.
// expect: rank_nodes\(attempts\) needs task_traits of the record, or attempt_fields
#include <straggle/rank/rank_nodes.hpp>

#include <vector>

struct attempt {
    int job;
    int node;
    double took;
};

#ifdef STRAGGLE_CONTROL
template <>
struct straggle::task_traits<attempt> {
    static constexpr attempt_fields fields{
        .job = &attempt::job, .node = &attempt::node, .duration = &attempt::took};
};
#endif

void rank(std::vector<attempt> const& attempts) {
    (void)straggle::rank_nodes(attempts);
}
