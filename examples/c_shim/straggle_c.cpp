// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The library for C: a mitigator behind five functions, for schedulers that run each task once.

#include "straggle_c.h"

#include <straggle/mitigate/mitigator.hpp>
#include <straggle/mitigate/reason.hpp>

#include <span>
#include <string>
#include <string_view>

namespace {

struct running_task { // none is ever passed: without copies, ended tasks suffice
    std::string_view job, node;
    double start;
};

} // namespace

template <>
struct straggle::task_traits<straggle_task> {
    static constexpr auto fields = attempt_fields{
        .job = [](straggle_task const& t) { return std::string_view(t.job); },
        .task = &straggle_task::task,
        .node = [](straggle_task const& t) { return std::string_view(t.node); },
        .start = &straggle_task::start,
        .end = &straggle_task::end,
        .status =
            [](straggle_task const& t) {
                using enum attempt_status;
                return t.status == STRAGGLE_SUCCESS ? success : t.status == STRAGGLE_FAILED ? failed : killed;
            }};
};
template <>
struct straggle::task_traits<running_task> {
    static constexpr auto fields =
        running_fields{.job = &running_task::job, .node = &running_task::node, .start = &running_task::start};
};
template <>
struct straggle::task_traits<straggle_node> {
    static constexpr auto fields =
        node_fields{.node = [](straggle_node const& n) { return std::string_view(n.name); },
                    .slots = &straggle_node::slots,
                    .busy = &straggle_node::busy};
};

// States are passed as numbers.
static_assert(static_cast<int>(straggle::node_state::last_resort) == STRAGGLE_LAST_RESORT &&
              static_cast<int>(straggle::node_state::on_probation) == STRAGGLE_ON_PROBATION &&
              static_cast<int>(straggle::node_state::excluded) == STRAGGLE_EXCLUDED &&
              static_cast<int>(straggle::node_state::away) == STRAGGLE_AWAY);

struct straggle_watcher {
    straggle::mitigator<straggle_task, running_task, straggle_node> mitigator;
    std::string reason{};
};

// Only allocation throws, which ends a program in C: nothing there catches.
extern "C" {

straggle_watcher* straggle_new(straggle_options const* options) {
    straggle::mitigator_options own{.nodes = {.probes_with_tasks = true}};
    if (options != nullptr) {
        auto const set = [](double& option, double value) { option = value > 0 ? value : option; };
        set(own.nodes.share_of_slots, options->share_of_slots);
        set(own.nodes.windows_per_error, options->windows_per_error);
        set(own.nodes.longest_exclusion, options->longest_exclusion);
    }
    return new straggle_watcher{straggle::mitigator<straggle_task, running_task, straggle_node>(own)};
}

void straggle_free(straggle_watcher* s) {
    delete s;
}

int straggle_ended(straggle_watcher* s, straggle_task const* task, double now) {
    return s->mitigator.observe(*task, now) ? 1 : 0;
}

void straggle_finish(straggle_watcher* s, char const* job) {
    s->mitigator.finish(std::string_view(job));
}

void straggle_decide(straggle_watcher* s, double now, straggle_node* nodes, size_t count, uint64_t waiting) {
    std::span const fleet(nodes, count);
    auto const& plan = s->mitigator.decide(now, std::span<running_task const>{}, fleet, {.waiting = waiting});
    for (auto const& planned : plan.nodes()) {
        straggle_node& n = fleet[planned.row];
        n.state = static_cast<straggle_state>(planned.state);
        n.probe_slots = planned.probe_slots;
        n.left = planned.left;
        n.slowdown = planned.slow.value;
        s->reason.clear();
        straggle::mitigate::append_reason(s->reason, planned);
        n.reason[s->reason.copy(n.reason, sizeof n.reason - 1)] = '\0';
    }
}

} // extern "C"
