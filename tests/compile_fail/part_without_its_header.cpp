// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Where the core is compiled, a part of one's own needs the header with the loop.
// expect: a mitigator with a part of your own: include <straggle/mitigate/stages.hpp>

#define STRAGGLE_COMPILED
#include <straggle/mitigate/mitigator.hpp>
#ifdef STRAGGLE_CONTROL
#include <straggle/mitigate/stages.hpp>
#endif

#include <straggle/blacklist/node_stage.hpp>
#include <straggle/mitigate/speculator.hpp>

struct attempt {
    int job, node;
    double start, end;
};
template <>
struct straggle::task_traits<attempt> {
    static constexpr auto fields = attempt_fields{
        .job = &attempt::job, .node = &attempt::node, .start = &attempt::start, .end = &attempt::end};
};
struct task {
    int job, node;
    double start;
};
template <>
struct straggle::task_traits<task> {
    static constexpr auto fields =
        running_fields{.job = &task::job, .node = &task::node, .start = &task::start};
};
struct host {
    int name;
};
template <>
struct straggle::task_traits<host> {
    static constexpr auto fields = node_fields{.node = &host::name};
};

struct own_nodes : straggle::node_stage {
    using node_stage::node_stage;
};
template <class Record>
using fields_of = std::remove_const_t<decltype(straggle::task_traits<Record>::fields)>;

bool is_on(straggle::mitigator<attempt, task, host, fields_of<attempt>, fields_of<task>, fields_of<host>,
                               own_nodes> const& m) {
    return m.actions() == 0;
}
