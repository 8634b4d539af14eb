// Without fields the records themselves have to name them.
// expect: task_traits of the record is missing, and no fields are passed
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
straggle::mitigator<attempt, task, host> const m;
#endif
