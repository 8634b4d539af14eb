// What a text means is the user's to say.
// expect: \.status has to be an attempt_status
#include <straggle/mitigate/mitigator.hpp>

struct attempt {
    int job, task, node;
    double start, end;
    char const* state;
};
struct task {
    int job, task, node;
    double start;
};
struct host {
    int name;
};

#ifdef STRAGGLE_CONTROL
constexpr bool (*status)(attempt const&) = [](attempt const& a) { return a.state[0] == 'c'; };
#else
constexpr char const* attempt::* status = &attempt::state;
#endif

straggle::mitigator const m{
    straggle::attempt_fields{.job = &attempt::job,
                             .task = &attempt::task,
                             .node = &attempt::node,
                             .start = &attempt::start,
                             .end = &attempt::end,
                             .status = status},
    straggle::running_fields{
        .job = &task::job, .task = &task::task, .node = &task::node, .start = &task::start},
    straggle::node_fields{.node = &host::name}};
