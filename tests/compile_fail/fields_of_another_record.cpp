// The fields name members of another type than the records have.
// expect: fields_of_another_record\.cpp:\d+:\d+
// expect: \.job has to be a member of the record
#include <straggle/rank/rank_nodes.hpp>

#include <vector>

struct attempt {
    int job;
    int node;
    double took;
};
struct snapshot {
    int job;
    int node;
    double took;
};

void rank(std::vector<attempt> const& attempts) {
#ifdef STRAGGLE_CONTROL
    straggle::attempt_fields fields{.job = &attempt::job, .node = &attempt::node, .duration = &attempt::took};
#else
    straggle::attempt_fields fields{
        .job = &snapshot::job, .node = &snapshot::node, .duration = &snapshot::took};
#endif
    (void)straggle::rank_nodes(attempts, fields);
}
