// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "obeyed.hpp"

#include <utility>

namespace together {

namespace {

lab::setup setup_of(cluster::plan const& where, std::uint64_t seed) {
    lab::setup s{.heartbeat = where.heartbeat, .launch = where.launch, .seed = seed};
    s.nodes = static_cast<std::uint32_t>(where.nodes.size());
    for (cluster::node_spec const& n : where.nodes) s.slots += n.slots;
    return s;
}

} // namespace

obeyed::obeyed(std::string_view name, cluster::plan const& where, std::uint64_t seed)
    : decides_(lab::find_policy(name).make(setup_of(where, seed))) {
    wants_.nodes.assign(where.nodes.size(), lab::service::normal);
    before_ = wants_.nodes;
}

void obeyed::ended(cluster::attempt_record const& a, double now) {
    now_ = now;
    bool const finished = a.how == cluster::ending::finished;
    decides_->on_task_end({.job = a.phase,
                           .task = a.task,
                           .node = a.node,
                           .kind = a.kind,
                           .number = a.number,
                           .start = a.start,
                           .end = a.end,
                           .input = a.input,
                           .how = finished ? lab::ending::finished : lab::ending::killed,
                           .copy = a.copy,
                           .outrun = a.outrun},
                          now);
}

bool obeyed::avoids(std::uint32_t node) const {
    return wants_.nodes[node] == lab::service::copies_only || wants_.nodes[node] == lab::service::none;
}

bool obeyed::is_last_resort(std::uint32_t node) const {
    return wants_.nodes[node] == lab::service::last_resort;
}

std::size_t obeyed::place_task(cluster::waiting_task const& t, std::span<std::uint32_t const> free,
                               double now) {
    std::uint32_t const at = decides_->place({t.phase, t.task, t.kind, t.input}, free, now);
    return at == lab::policy::wait ? wait : at == lab::policy::any ? 0 : at;
}

void obeyed::step(cluster::cluster_view const& view, cluster::requests& out) {
    if (!decides_->is_due(view.now)) return;
    look(view);
    wants_.copies.clear();
    wants_.kills.clear();
    decides_->decide({view.now, running_, jobs_, nodes_, view.waiting, copies_first()}, wants_);
    note_changes();
    for (lab::copy_request const& c : wants_.copies) out.copies.push_back({c.job, c.task, c.node});
    for (lab::kill_request const& k : wants_.kills) out.kills.push_back({k.job, k.task, k.node});
}

void obeyed::look(cluster::cluster_view const& view) {
    running_.clear();
    jobs_.clear();
    nodes_.clear();
    for (cluster::phase_view const& phase : view.phases) {
        auto const first = static_cast<std::uint32_t>(running_.size());
        auto task = phase.running.begin(); // in the order of the attempts
        for (cluster::attempt_view const& a : phase.attempts) {
            if (task->task != a.who.task) ++task;
            running_.push_back({.job = phase.phase,
                                .task = a.who.task,
                                .node = a.who.node,
                                .kind = a.who.kind,
                                .number = a.who.number,
                                .attempts = task->attempts,
                                .job_tasks = phase.tasks,
                                .start = a.who.start,
                                .input = a.who.input,
                                .progress = a.progress,
                                .reported = a.reported,
                                .copy = a.who.copy});
        }
        jobs_.push_back({.job = phase.phase,
                         .kind = phase.kind,
                         .tasks = phase.tasks,
                         .finished = phase.finished,
                         .waiting = phase.waiting,
                         .arrival = phase.began,
                         .first = first,
                         .count = static_cast<std::uint32_t>(running_.size()) - first});
    }
    for (cluster::node_view const& n : view.nodes)
        nodes_.push_back({.slots = n.slots, .busy = n.used, .copies = n.copies});
}

void obeyed::note_changes() {
    for (std::uint32_t n = 0; n < before_.size(); ++n)
        if (wants_.nodes[n] != before_[n]) changes_.push_back({now_, n, wants_.nodes[n]});
    before_ = wants_.nodes;
}

} // namespace together
