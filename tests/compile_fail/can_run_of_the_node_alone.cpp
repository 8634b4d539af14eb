// Whether a task can run somewhere is asked of both.
// expect: can_run_of_the_node_alone\.cpp:\d+:\d+
// expect: \.can_run has to be a callable on a straggler and a node, can_run\(straggler, node\)
#include <straggle/assign/assigner.hpp>

#include <vector>

struct task {
    int host;
    double left;
};
struct machine {
    int id, free;
    bool labelled;
};

auto const& plan(straggle::assign::assigner<>& assigner, std::vector<task> const& tasks,
                 std::vector<machine> const& machines) {
    using namespace straggle::assign;

#ifdef STRAGGLE_CONTROL
    auto const can_run = [](task const&, machine const& m) { return m.labelled; };
#else
    auto const can_run = [](machine const& m) { return m.labelled; };
#endif
    straggler_fields const of_task{.runs_on = &task::host, .remaining = &task::left, .can_run = can_run};
    backup_node_fields const of_machine{.node = &machine::id, .free = &machine::free};
    return assigner.choose(tasks, of_task, machines, of_machine,
                           [](task const&, machine const&) { return 1.0; });
}
