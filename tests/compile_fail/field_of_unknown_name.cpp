// A field is called as it is elsewhere.
// expect: \.host
// expect: \.job \.task \.node \.start \.end
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
    straggle::attempt_fields fields{.job = &attempt::job, .host = &attempt::host, .duration = &attempt::took};
    (void)straggle::rank_nodes(attempts, fields);
}
#endif
