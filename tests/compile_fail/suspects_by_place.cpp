// A suspect that knows its place only leads an assigner to no record.
// expect: suspects_by_place\.cpp:\d+:\d+
// expect: give the scan your tasks, scan\(job\.view\(\), tasks\)
#include <straggle/assign/assigner.hpp>
#include <straggle/detect/job_progress.hpp>
#include <straggle/detect/late.hpp>
#include <straggle/detect/straggler_scan.hpp>

#include <vector>

struct task {
    int host;
    double done, began;
};
struct machine {
    int id, free;
};

auto const& plan(straggle::assign::assigner<>& assigner,
                 straggle::detect::straggler_scan<straggle::detect::late>& scan,
                 straggle::detect::job_progress<int, double>& job, std::vector<task> const& tasks,
                 std::vector<machine> const& machines) {
    straggle::running_fields const of_task{
        .node = &task::host, .start = &task::began, .progress = &task::done};
    straggle::assign::backup_node_fields const of_machine{.node = &machine::id, .free = &machine::free};
#ifdef STRAGGLE_CONTROL
    auto const suspects = scan(job.view(), tasks);
#else
    auto const suspects = scan(job.view());
#endif
    return assigner.choose(suspects, of_task, machines, of_machine,
                           [](auto const&, machine const&) { return 1.0; });
}
