// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The library as the author of a scheduler uses it: a `mitigator` whose whole plan is obeyed; also with one
/// kind of action only, with less data than it can use, or with stages of others.
#pragma once

#include "make_policy.hpp"

#include <straggle/mitigate/mitigator.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace lab {

namespace { // one for each set of headers that it is compiled with: see ../ablation

struct host {
    std::uint32_t id = 0, slots = 0, busy = 0;
    std::optional<std::uint32_t> machine_class{};
    std::uint32_t domain = 0;
    bool is_there = true;
};

std::optional<double> known(double input) {
    return input > 0 ? std::optional(input) : std::nullopt;
}
straggle::attempt_status status_of(attempt_record const& a) {
    return a.how == ending::finished ? straggle::attempt_status::success
           : a.how == ending::failed ? straggle::attempt_status::failed
                                     : straggle::attempt_status::killed;
}

struct parts {
    bool excludes = true, copies = true, places = true;
    // Which data it is passed; without kinds, all jobs are of the same kind.
    bool kinds = true, progress = true, classes = true, deadlines = false;
};

template <class... Own>
auto make_mitigator(straggle::mitigator_options const& options, Own... own) {
    return straggle::mitigator_of<attempt_record, running_attempt, host>(
        straggle::attempt_fields{.job = &attempt_record::job,
                                 .task = &attempt_record::task,
                                 .node = &attempt_record::node,
                                 .start = &attempt_record::start,
                                 .end = &attempt_record::end,
                                 .status = &status_of,
                                 .input = [](attempt_record const& a) { return known(a.input); },
                                 .kind = &attempt_record::kind,
                                 .is_copy = &attempt_record::copy,
                                 .outrun = &attempt_record::outrun},
        straggle::running_fields{.job = &running_attempt::job,
                                 .task = &running_attempt::task,
                                 .node = &running_attempt::node,
                                 .start = &running_attempt::start,
                                 .progress = &running_attempt::progress,
                                 .reported = &running_attempt::reported,
                                 .input = [](running_attempt const& a) { return known(a.input); },
                                 .kind = &running_attempt::kind,
                                 .is_copy = &running_attempt::copy,
                                 .copies = &running_attempt::attempts,
                                 .job_tasks = &running_attempt::job_tasks,
                                 .deadline = &running_attempt::deadline},
        straggle::node_fields{.node = &host::id,
                              .slots = &host::slots,
                              .busy = &host::busy,
                              .machine_class = &host::machine_class,
                              .domain = &host::domain,
                              .condition = &host::is_there},
        options, std::move(own)...);
}

template <class... Own>
class library final : public policy {
  public:
    library(parts use, straggle::mitigator_options const& options, Own... own)
        : use_(use), mitigator_(make_mitigator(options, std::move(own)...)) {}

    void on_task_end(attempt_record const& ended, double now) override {
        attempt_record a = ended;
        if (!use_.kinds) a.kind = 0;
        if (a.how != ending::lost) mitigator_.observe(a, now);
        if (a.node < hosts_.size() && hosts_[a.node].busy > 0) --hosts_[a.node].busy;
    }
    void on_job_end(std::uint32_t job, double) override { mitigator_.finish(job); }

    void decide(cluster_view const& view, decisions& out) override {
        hosts_.resize(view.nodes.size());
        for (std::uint32_t n = 0; n < hosts_.size(); ++n) {
            node_view const& v = view.nodes[n];
            hosts_[n] = {n, v.slots, v.busy, {}, v.domain, !v.away};
            if (use_.classes) hosts_[n].machine_class = v.machine_class;
        }
        auto const& plan =
            mitigator_.decide(view.now, passed(view.running), hosts_, {.waiting = view.waiting});
        for (auto const& s : plan.suspects()) {
            running_attempt const& a = view.running[s.row];
            claims_.push_back({a.job, a.task, a.number, view.now, s.cause.probability, s.cause.times});
        }
        out.nodes.assign(hosts_.size(), service::normal);
        for (auto const& n : plan.nodes())
            if (use_.excludes) out.nodes[n.row] = service_of(n.state);
        for (auto const& c : plan.copies()) {
            // Probes are part of exclusions: without them no recovery is noticed.
            if (!use_.copies && !(use_.excludes && c.is_probe)) continue;
            running_attempt const& a = view.running[c.row];
            out.copies.push_back({a.job, a.task, hosts_[c.node_row].id});
            ++hosts_[c.node_row].busy;
        }
        if (!use_.copies) return;
        for (auto const& k : plan.kills()) {
            running_attempt const& a = view.running[k.row];
            out.kills.push_back({a.job, a.task, a.node});
        }
    }

    std::uint32_t place(waiting_task const& t, std::span<std::uint32_t const> free, double) override {
        if (!use_.places) return any;
        choice_.clear();
        for (std::uint32_t const n : free) {
            choice_.push_back(n < hosts_.size() ? hosts_[n] : host{.id = n, .slots = 1});
            host& h = choice_.back();
            h.is_there = true; // the engine says so, and that it has a free slot
            if (h.busy >= h.slots) h.busy = h.slots - 1;
        }
        running_attempt const task{
            .job = t.job, .task = t.task, .kind = use_.kinds ? t.kind : 0, .input = t.input};
        auto const places = mitigator_.rank_places(task, choice_);
        if (places.empty()) return wait;
        auto const chosen = static_cast<std::uint32_t>(places.front().row);
        if (free[chosen] < hosts_.size()) ++hosts_[free[chosen]].busy;
        return chosen;
    }

    // Whether the last decision was withheld: the clock jumped, or nothing was heard for long.
    bool is_held_back() const {
        using enum straggle::mitigate::plan_note;
        return mitigator_.plan().has(clock_jumped) || mitigator_.plan().has(stale_feed);
    }
    std::span<cause_claim const> claims() const override { return claims_; }

  private:
    std::span<running_attempt const> passed(std::span<running_attempt const> running) {
        bool const has_deadlines =
            std::any_of(running.begin(), running.end(), [](running_attempt const& a) { return a.deadline; });
        if (use_.kinds && use_.progress && (use_.deadlines || !has_deadlines)) return running;
        passed_.assign(running.begin(), running.end());
        for (running_attempt& a : passed_) {
            if (!use_.kinds) a.kind = 0;
            if (!use_.progress) a.progress.reset();
            if (!use_.deadlines) a.deadline.reset();
        }
        return passed_;
    }
    static service service_of(straggle::node_state state) {
        switch (state) {
        case straggle::node_state::last_resort:
            return service::last_resort;
        case straggle::node_state::on_probation:
            return service::copies_only;
        case straggle::node_state::excluded:
            return service::none;
        default:
            return service::normal;
        }
    }

    parts use_;
    decltype(make_mitigator({}, std::declval<Own>()...)) mitigator_;
    std::vector<host> hosts_, choice_;
    std::vector<running_attempt> passed_;
    std::vector<cause_claim> claims_;
};

} // namespace

} // namespace lab
