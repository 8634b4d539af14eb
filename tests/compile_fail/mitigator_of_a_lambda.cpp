// Fields are aggregates that name members, not functions.
// expect: a mitigator takes an attempt_fields, a running_fields and a node_fields
#include <straggle/mitigate/mitigator.hpp>

struct attempt {
    int job, task, node;
    double start, end;
};
struct task {
    int job, task, node;
    double start;
};
struct host {
    int name;
};

#ifdef STRAGGLE_CONTROL
straggle::mitigator const m{
    straggle::attempt_fields{.job = &attempt::job,
                             .task = &attempt::task,
                             .node = &attempt::node,
                             .start = &attempt::start,
                             .end = &attempt::end},
    straggle::running_fields{
        .job = &task::job, .task = &task::task, .node = &task::node, .start = &task::start},
    straggle::node_fields{.node = &host::name}};
#else
straggle::mitigator const m{[](attempt const& a) { return a.job; }};
#endif
