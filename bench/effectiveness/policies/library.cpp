// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The library as a scheduler's author meets it: a `mitigator` with `{}`, all of its plan obeyed; and the
/// same with one kind of action only, or told nothing but what every scheduler knows.
#include "make_policy.hpp"

#include <straggle/mitigate/mitigator.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace lab {

namespace {

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
    bool tells_kinds = true; // else all jobs are of one
};

auto make_mitigator(straggle::mitigator_options const& options) {
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
                                 .copies = &running_attempt::attempts},
        straggle::node_fields{.node = &host::id,
                              .slots = &host::slots,
                              .busy = &host::busy,
                              .machine_class = &host::machine_class,
                              .domain = &host::domain,
                              .condition = &host::is_there},
        options);
}
using mitigator_type = decltype(make_mitigator({}));

class library final : public policy {
  public:
    library(parts use, straggle::mitigator_options const& options)
        : use_(use), mitigator_(make_mitigator(options)) {}

    void on_task_end(attempt_record const& ended, double now) override {
        attempt_record a = ended;
        if (!use_.tells_kinds) a.kind = 0;
        if (a.how != ending::lost) mitigator_.observe(a, now);
        if (a.node < hosts_.size() && hosts_[a.node].busy > 0) --hosts_[a.node].busy;
    }
    void on_job_end(std::uint32_t job, double) override { mitigator_.finish(job); }

    void decide(cluster_view const& view, decisions& out) override {
        hosts_.resize(view.nodes.size());
        for (std::uint32_t n = 0; n < hosts_.size(); ++n) {
            node_view const& v = view.nodes[n];
            hosts_[n] = {n, v.slots, v.busy, v.machine_class, v.domain, !v.away};
        }
        auto const& plan =
            mitigator_.decide(view.now, told_of(view.running), hosts_, {.waiting = view.waiting});
        out.nodes.assign(hosts_.size(), service::normal);
        for (auto const& n : plan.nodes())
            if (use_.excludes) out.nodes[n.row] = service_of(n.state);
        for (auto const& c : plan.copies()) {
            // Probes are part of exclusions: without them nobody knows whether a node has recovered.
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
            .job = t.job, .task = t.task, .kind = use_.tells_kinds ? t.kind : 0, .input = t.input};
        auto const places = mitigator_.rank_places(task, choice_);
        if (places.empty()) return wait;
        auto const chosen = static_cast<std::uint32_t>(places.front().row);
        if (free[chosen] < hosts_.size()) ++hosts_[free[chosen]].busy;
        return chosen;
    }

  private:
    std::span<running_attempt const> told_of(std::span<running_attempt const> running) {
        if (use_.tells_kinds) return running;
        of_one_kind_.assign(running.begin(), running.end());
        for (running_attempt& a : of_one_kind_) a.kind = 0;
        return of_one_kind_;
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
    mitigator_type mitigator_;
    std::vector<host> hosts_, choice_;
    std::vector<running_attempt> of_one_kind_;
};

template <bool Excludes, bool Copies, bool Places>
std::unique_ptr<policy> make(setup const&) {
    return std::make_unique<library>(parts{Excludes, Copies, Places}, straggle::mitigator_options{});
}

// Without the memory of similar tasks: what is known of other jobs is known of all alike.
std::unique_ptr<policy> make_without_kinds(setup const&) {
    return std::make_unique<library>(parts{.tells_kinds = false}, straggle::mitigator_options{});
}
// What the page gives as the reason of what is missed, tried: copies of which seven in ten should win, and
// copies as free as those of others.
std::unique_ptr<policy> make_sure(setup const&) {
    straggle::mitigator_options o;
    o.copies.least_win = 0.7;
    return std::make_unique<library>(parts{}, o);
}
std::unique_ptr<policy> make_free(setup const&) {
    straggle::mitigator_options o;
    o.copies.straggler_threshold = 1.2;
    o.copies.deviations = 0.5;
    o.copies.least_win = 0;
    o.copies.most_copies = 0.5;
    o.copies.storm = 1;
    o.copies.price = {.least = 0, .memory = 1e-3};
    return std::make_unique<library>(parts{}, o);
}

add_policy const all({"library", "the mitigator with its defaults, obeyed in all", false,
                      &make<true, true, true>});
add_policy const copies({"library_copies_only", "its copies alone", false, &make<false, true, false>});
add_policy const exclusions({"library_nodes_only", "its exclusions alone, and the probes that end them",
                             false, &make<true, false, false>});
add_policy const placements({"library_places_only", "its placement alone", false, &make<false, false, true>});
add_policy const without_kinds({"library_without_kinds",
                                "the mitigator, told nothing of which jobs are alike", false,
                                &make_without_kinds, true});
add_policy const sure({"library_sure", "the mitigator, copies only where they win in 7 of 10 cases", false,
                       &make_sure, true});
add_policy const unpriced({"library_free", "the mitigator, copies at no price of all that is a little late",
                           false, &make_free, true});

} // namespace

} // namespace lab
