// What an exit code means is the user's to say, not the library's to guess.
// expect: \.status has to be an attempt_status, or a bool that is true for success
#include <straggle/rank/rank_nodes.hpp>

#include <vector>

struct attempt {
    int job;
    int node;
    double took;
    int exit_code;
};

void rank(std::vector<attempt> const& attempts) {
#ifdef STRAGGLE_CONTROL
    auto const status = [](attempt const& a) { return a.exit_code == 0; };
#else
    auto const status = &attempt::exit_code;
#endif
    straggle::attempt_fields fields{
        .job = &attempt::job, .node = &attempt::node, .duration = &attempt::took, .status = status};
    (void)straggle::rank_nodes(attempts, fields);
}
