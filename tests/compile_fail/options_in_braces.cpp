// Braces cannot say of which type the options are.
// expect: options_in_braces\.cpp:\d+:\d+: error
// expect: write rank_options\{\.\.\.\}, not \{\.\.\.\}
#include <straggle/rank/rank_nodes.hpp>
#include <straggle/rank/sibling_normalizers.hpp>

#include <string>
#include <vector>

struct attempt {
    int job;
    std::string host;
    double took;
};
constexpr straggle::attempt_fields fields{
    .job = &attempt::job, .node = &attempt::host, .duration = &attempt::took};

#ifdef STRAGGLE_CONTROL
auto rank(std::vector<attempt> const& attempts) {
    return straggle::rank_nodes(attempts, fields,
                                straggle::rank_options{.normalizer = straggle::rank::robust_z{}});
}
#else
auto rank(std::vector<attempt> const& attempts) {
    return straggle::rank_nodes(attempts, fields, {.normalizer = straggle::rank::robust_z{}});
}
#endif
