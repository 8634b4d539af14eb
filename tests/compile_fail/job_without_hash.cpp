// A job has to be something that can be hashed and compared; the diagnostic names the field that is not.
// expect: job_without_hash\.cpp:\d+:\d+
// expect: \.job has to be
// expect: std::hash
#include <straggle/rank/rank_nodes.hpp>

#include <vector>

struct job_key {
    int cluster, number;
    friend bool operator==(job_key const&, job_key const&) = default;
};
#ifdef STRAGGLE_CONTROL
template <>
struct std::hash<job_key> {
    std::size_t operator()(job_key const& k) const { return static_cast<std::size_t>(k.cluster ^ k.number); }
};
#endif

struct attempt {
    job_key job;
    int node;
    double took;
};

void rank(std::vector<attempt> const& attempts) {
    straggle::attempt_fields fields{.job = &attempt::job, .node = &attempt::node, .duration = &attempt::took};
    (void)straggle::rank_nodes(attempts, fields);
}
