// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "evidence.hpp"

#include "attempt_list.hpp"

#include <straggle/base/interner.hpp>

#include <algorithm>
#include <cmath>

namespace straggle_rank {

namespace {

straggle::dynamic_blacklist_options options_of(options const& o, double windows_per_error) {
    straggle::dynamic_blacklist_options d;
    straggle::node_decisions_options& n = d.decisions;
    if (auto const* const rule = std::get_if<by_slowdown>(&o.selection))
        n.evidence.least_slowdown = rule->least;
    // A program has the memory for all of a history.
    n.evidence.max_attempts = std::size_t{1} << 22;
    n.evidence.max_jobs = std::size_t{1} << 20;
    n.evidence.max_cells = std::size_t{1} << 24;
    n.evidence.max_nodes = std::uint32_t{1} << 22;
    d.most_nodes = n.evidence.max_nodes;
    n.windows_per_error = windows_per_error;
    n.share_of_slots = o.limits.max_fraction.value_or(1);
    if (o.limits.max_nodes) n.most_out = *o.limits.max_nodes;
    n.least_slots = o.limits.min_healthy.value_or(0);
    n.fail_open = o.limits.fail_open.value_or(o.limits.max_fraction ? 0.5 : 1);
    return d;
}

} // namespace

past past_of(history const& h) {
    past result;
    with_attempts(h, [&]<class Time>(std::vector<attempt<Time>> const& attempts, auto const&) {
        bool any_end = false;
        Time origin{};
        auto const begins = [](attempt<Time> const& a) -> std::optional<Time> {
            if (a.start()) return a.start();
            if (a.end() && a.duration()) return *a.end() - *a.duration();
            return a.end();
        };
        for (attempt<Time> const& a : attempts) {
            if (!a.end() || !a.job() || !a.node()) continue;
            auto const first = begins(a);
            if (!any_end || *first < origin) origin = *first;
            any_end = true;
        }
        for (attempt<Time> const& a : attempts) {
            if (!a.job() || !a.node()) continue;
            bool const is_success = a.status() == straggle::attempt_status::success;
            past_attempt p{*a.job(), *a.node(), a.task(), 0, 0, a.status()};
            if (any_end && !a.end()) {
                if (is_success) ++result.untimed;
                continue;
            }
            double took = 0;
            if (a.duration())
                took = static_cast<double>(*a.duration());
            else if (a.start() && a.end())
                took = static_cast<double>(*a.end() - *a.start());
            else if (is_success)
                continue;
            if (!(took >= 0)) continue;
            p.end = any_end ? static_cast<double>(*a.end() - origin) : took;
            p.start = p.end - took;
            result.attempts.push_back(p);
        }
        if constexpr (std::integral<Time>)
            result.origin_ticks = origin;
        else
            result.origin_units = origin;
    });
    std::ranges::stable_sort(result.attempts, {}, &past_attempt::end);
    return result;
}

evidence::evidence(fleet const& f, options const& o, double windows_per_error, bool is_one_class)
    : is_one_class_(is_one_class),
      is_seen_(f.names.size()),
      list_(attempts, straggle::base::no_field{},
            node_fields{.node = &known_node::id,
                        .slots = &known_node::slots,
                        .machine_class = &known_node::machine_class,
                        .domain = &known_node::domain},
            options_of(o, windows_per_error)) {
    straggle::interner<std::string> domains;
    for (std::size_t i = 0; i < f.names.size(); ++i) {
        double const slots = i < f.slots.size() ? f.slots[i] : 0;
        slots_.push_back(slots >= 1 ? static_cast<std::uint32_t>((std::min)(slots, 1e9)) : 1);
        // Without domains each node is one of its own.
        domains_.push_back(f.domains.empty() ? static_cast<std::uint32_t>(i) : domains.insert(f.domains[i]));
    }
}

void evidence::observe(past_attempt const& a) {
    if (!is_seen_[a.node]) {
        is_seen_[a.node] = true;
        seen_.push_back({a.node, slots_[a.node], domains_[a.node], {}});
        if (is_one_class_) seen_.back().machine_class = 0;
    }
    list_.observe(a);
}

straggle::blacklist_decision<std::uint32_t> const& evidence::decide(double now) {
    return list_.decide(now, std::span<past_attempt const>{}, seen_);
}

namespace {

// Requests of a service, or one call of a program like GNU parallel, are a job without parts: cut in
// stretches of time, each of which is compared with itself. Jobs come by the dozen elsewhere, and are left
// alone.
void cut_jobs(past& all, std::size_t jobs) {
    if (jobs > 2) return;
    constexpr std::uint32_t stretches = 4;
    std::vector<std::size_t> tasks(jobs), seen(jobs);
    for (past_attempt const& a : all.attempts) ++tasks[a.job];
    for (past_attempt& a : all.attempts) {
        std::size_t const job = a.job;
        std::size_t const part = tasks[job] < 8 * stretches ? 0 : seen[job]++ * stretches / tasks[job];
        a.job = static_cast<std::uint32_t>(job * stretches + part);
    }
}

} // namespace

whole_evidence weigh(history const& h, fleet const& f, options const& o) {
    past all = past_of(h);
    cut_jobs(all, h.jobs.ids().size());
    // One decision: one in twenty may name a healthy node.
    evidence e(f, o, 20, true);
    for (past_attempt const& a : all.attempts) e.observe(a);
    whole_evidence result;
    result.decision = e.decide(all.attempts.empty() ? 0 : all.attempts.back().end);
    for (std::uint32_t node = 0; node < f.names.size(); ++node) {
        result.slowdowns.push_back(e.slowdown_of(node));
        result.failures.push_back(e.failures_of(node));
    }
    result.usual_duration = e.usual_duration();
    return result;
}

} // namespace straggle_rank
