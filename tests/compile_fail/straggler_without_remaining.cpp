// Without the time that is left nothing can be gained.
// expect: straggler_without_remaining\.cpp:\d+:\d+
// expect: straggler_fields without \.remaining: add \.remaining = &task::time_left
#include <straggle/assign/assigner.hpp>

#include <vector>

struct task {
    int host;
    double left;
};
struct machine {
    int id, free;
};

auto const& plan(straggle::assign::assigner<>& assigner, std::vector<task> const& tasks,
                 std::vector<machine> const& machines) {
    using namespace straggle::assign;

#ifdef STRAGGLE_CONTROL
    straggler_fields const of_task{.runs_on = &task::host, .remaining = &task::left};
#else
    straggler_fields const of_task{.runs_on = &task::host};
#endif
    backup_node_fields const of_machine{.node = &machine::id, .free = &machine::free};
    return assigner.choose(tasks, of_task, machines, of_machine,
                           [](task const&, machine const&) { return 1.0; });
}
