// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "evidence.hpp"

#include "attempt_list.hpp"
#include "past_by_end.hpp"

#include <straggle/base/interner.hpp>
#include <straggle/gang/end_watch.hpp>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace straggle_rank {

namespace {

straggle::dynamic_blacklist_options options_of(options const& o, std::size_t attempts,
                                               double windows_per_error) {
    straggle::dynamic_blacklist_options d;
    straggle::node_stage_options& n = d.decisions;
    if (auto const* const rule = std::get_if<by_slowdown>(&o.selection))
        n.evidence.least_slowdown = rule->least;
    // Of jobs that ended before this many later attempts, only the result for nodes is kept.
    n.evidence.max_attempts = std::size_t{1} << 16;
    n.evidence.max_jobs = std::size_t{1} << 20;
    n.evidence.max_cells = std::size_t{1} << 24;
    n.evidence.expected_cells = attempts; // at most; unused memory is never touched
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

evidence::evidence(fleet const& f, options const& o, std::size_t attempts, double windows_per_error,
                   bool is_one_class)
    : is_one_class_(is_one_class),
      is_seen_(f.names.size()),
      list_(attempt_fields, running_fields, node_fields, options_of(o, attempts, windows_per_error)) {
    straggle::interner<std::string> domains;
    for (std::size_t i = 0; i < f.names.size(); ++i) {
        double const slots = i < f.slots.size() ? f.slots[i] : 0;
        slots_.push_back(slots >= 1 ? static_cast<std::uint32_t>((std::min)(slots, 1e9)) : 1);
        // Without domains each node is its own.
        domains_.push_back(f.domains.empty() ? static_cast<std::uint32_t>(i) : domains.insert(f.domains[i]));
    }
}

void evidence::see(std::uint32_t node) {
    if (is_seen_[node]) return;
    is_seen_[node] = true;
    seen_.push_back({node, slots_[node], domains_[node], {}});
    if (is_one_class_) seen_.back().machine_class = 0;
}

void evidence::observe(past_attempt const& a) {
    see(a.node);
    list_.observe(a);
}

straggle::blacklist_decision<std::uint32_t> const&
evidence::decide(double now, std::span<running_attempt const> running) {
    for (running_attempt const& a : running) see(a.node);
    return list_.decide(now, running, seen_);
}

namespace {

// Requests of a service, or one call of a program like GNU parallel, are a single job: it is cut into
// stretches of time, each of which is compared within itself. Elsewhere there are dozens of jobs, which are
// left alone.
class job_cutter {
  public:
    explicit job_cutter(std::size_t jobs) : tasks_(jobs <= 2 ? jobs : 0), seen_(tasks_.size()) {}

    [[nodiscard]] bool cuts() const { return !tasks_.empty(); }
    /// Calls visit(part, job) for every part of every job.
    template <class Visit>
    void for_each_part(std::size_t jobs, Visit&& visit) const {
        std::size_t const parts = cuts() ? stretches : 1;
        for (std::size_t part = 0; part < jobs * parts; ++part)
            visit(static_cast<std::uint32_t>(part), static_cast<std::uint32_t>(part / parts));
    }
    /// All attempts must be counted before the first is cut.
    void count(past_attempt const& a) { ++tasks_[a.job]; }
    void cut(past_attempt& a) {
        if (!cuts()) return;
        std::size_t const job = a.job;
        std::size_t const part = tasks_[job] < 8 * stretches ? 0 : seen_[job]++ * stretches / tasks_[job];
        a.job = static_cast<std::uint32_t>(job * stretches + part);
    }
    /// For an attempt that runs at the end: it belongs to the last part.
    [[nodiscard]] std::uint32_t last_part_of(std::uint32_t job) const {
        if (!cuts()) return job;
        std::size_t const part = tasks_[job] < 8 * stretches ? 0 : stretches - 1;
        return static_cast<std::uint32_t>(job * stretches + part);
    }

  private:
    static constexpr std::size_t stretches = 4;

    std::vector<std::size_t> tasks_, seen_; // by job
};

// By their numbers in the history, those with most failed tasks first. If nodes are named for failures, jobs
// whose tasks end well elsewhere, or that ran on one node only, are not the cause.
std::vector<straggle::blacklist::failing_job> numbered_failing_jobs(evidence const& e, history const& h,
                                                                    job_cutter const& cutter) {
    using straggle::blacklist::failing_job;
    std::size_t const count = h.jobs.size();
    if (count < 2) return {}; // it cannot be distinguished from its node
    auto const fails = [](auto const& v) {
        return straggle::blacklist::has(v.causes, straggle::blacklist::cause::failing);
    };
    bool const is_node_named = std::ranges::any_of(e.decision().blacklisted(), fails) ||
                               std::ranges::any_of(e.decision().spared(), fails);
    std::unordered_map<std::uint64_t, std::uint32_t> numbers;
    cutter.for_each_part(
        count, [&](std::uint32_t part, std::uint32_t job) { numbers.emplace(e.key_of_job(part), job); });
    std::vector<failing_job> jobs(count);
    for (failing_job const& part : e.failing_jobs()) {
        failing_job& job = jobs[numbers.at(part.job)];
        job.failed += part.failed;
        job.ended_well += part.ended_well;
        job.nodes = (std::max)(job.nodes, part.nodes);
    }
    for (std::size_t job = 0; job < count; ++job) jobs[job].job = job;
    std::erase_if(jobs, [&](failing_job const& j) {
        if (j.failed == 0) return true;
        return j.nodes < 2 ? is_node_named || j.ended_well > 0 : is_node_named && j.ended_well > 0;
    });
    std::sort(jobs.begin(), jobs.end(), [](failing_job const& a, failing_job const& b) {
        return a.failed != b.failed ? a.failed > b.failed : a.job < b.job;
    });
    return jobs;
}

} // namespace

whole_evidence weigh(history& h, fleet const& f, options const& o, bool last_use) {
    // One decision: one in twenty may name a healthy node.
    evidence e(f, o, attempts_of(h), 20, true);
    double now = 0;
    std::vector<running_attempt> running; // at the end of the history
    job_cutter jobs(h.jobs.size());
    straggle::gang::end_watch ends;
    bool const may_be_gangs = !h.has_waits && !h.end_column.empty();
    with_attempts(h, [&](auto const& attempts, auto const& fields) {
        past_by_end past(attempts, fields.input);
        if (jobs.cuts()) {
            past.rest([&](past_attempt const& a) { jobs.count(a); });
            past.rewind();
        }
        past.rest([&](past_attempt a) {
            if (may_be_gangs)
                ends.observe({.node = a.node, .job = a.job, .start = a.start, .end = a.end, .as = a.status});
            jobs.cut(a);
            e.observe(a);
            now = a.end;
        });
        for (unended_attempt const& a : h.running) now = (std::max)(now, past.by_own_clock(a));
        for (running_attempt a : past.unended_at(now, h.running)) {
            a.job = jobs.last_part_of(a.job);
            running.push_back(a);
        }
    });
    if (last_use) h.attempts = {};
    whole_evidence result;
    result.decision = e.decide(now, running);
    for (std::uint32_t node = 0; node < f.names.size(); ++node) {
        result.slowdowns.push_back(e.slowdown_of(node));
        result.estimates.push_back(e.estimate_of(node));
        result.failures.push_back(e.failures_of(node));
    }
    result.failing_jobs = numbered_failing_jobs(e, h, jobs);
    result.ends_coincide = ends.looks_like_gangs();
    result.usual_duration = e.usual_duration();
    // Attempts without a sibling are known only once jobs have ended.
    jobs.for_each_part(h.jobs.size(), [&](std::uint32_t part, std::uint32_t) { e.finish(part); });
    static_cast<void>(e.decide(now));
    result.not_compared = e.not_compared();
    return result;
}

} // namespace straggle_rank
