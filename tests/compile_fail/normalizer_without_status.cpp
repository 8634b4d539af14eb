// A normalizer that cannot say that a job has no scores is none.
// expect: normalizer_without_status\.cpp:\d+:\d+:
// expect: minus_first
// expect: rank_options::normalizer is no rank::normalizer: it needs `status normalize
#include <straggle/rank/rank_nodes.hpp>

#include <vector>

struct minus_first {
#ifdef STRAGGLE_CONTROL
    straggle::status normalize(std::span<double> durations, std::span<double>) const {
        if (durations.empty()) return straggle::status::insufficient_evidence;
        double const first = durations.front();
        for (double& d : durations) d -= first;
        return straggle::status::ok;
    }
#else
    void normalize(std::span<double> durations, std::span<double>) const {
        double const first = durations.front();
        for (double& d : durations) d -= first;
    }
#endif
};

struct attempt {
    int job;
    int node;
    double took;
};

void rank(std::vector<attempt> const& attempts) {
    straggle::attempt_fields fields{.job = &attempt::job, .node = &attempt::node, .duration = &attempt::took};
    (void)straggle::rank_nodes(attempts, fields, straggle::rank_options{.normalizer = minus_first{}});
}
