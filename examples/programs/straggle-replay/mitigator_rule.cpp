// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "mitigator_rule.hpp"

#include "../common/moment.hpp"
#include "looks.hpp"

#include <straggle/mitigate/mitigator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace straggle_replay {

namespace {

using program::seconds;

struct ended {
    std::uint32_t job, task, node;
    double start, end;
    straggle::attempt_status status;
    std::optional<double> input;
    bool is_copy;
};
struct running {
    std::uint32_t job, task, node;
    double start;
    std::optional<double> progress, reported, input;
    bool is_copy;
    std::uint32_t attempt; // on the tape
};
struct host {
    std::uint32_t id, slots = 1, busy = 0;
};

constexpr straggle::attempt_fields ended_fields{.job = &ended::job,
                                                .task = &ended::task,
                                                .node = &ended::node,
                                                .start = &ended::start,
                                                .end = &ended::end,
                                                .status = &ended::status,
                                                .input = &ended::input,
                                                .is_copy = &ended::is_copy};
constexpr straggle::running_fields running_fields{.job = &running::job,
                                                  .task = &running::task,
                                                  .node = &running::node,
                                                  .start = &running::start,
                                                  .progress = &running::progress,
                                                  .reported = &running::reported,
                                                  .input = &running::input,
                                                  .is_copy = &running::is_copy};
constexpr straggle::node_fields host_fields{.node = &host::id, .slots = &host::slots, .busy = &host::busy};

using tape_type = replaying::tape<moment>;

std::optional<double> known(double input) {
    return input > 0 ? std::optional(input) : std::nullopt;
}

// Whether another attempt of the task ran when it began.
bool is_copy(tape_type const& t, std::uint32_t attempt) {
    auto const& a = t.attempts[attempt];
    auto const& task = t.tasks[a.task];
    auto const first = t.of_tasks.begin() + task.first;
    auto const place = std::lower_bound(first, first + task.count, attempt);
    return place != first && a.start < t.reach[static_cast<std::size_t>(place - t.of_tasks.begin()) - 1];
}

} // namespace

mitigator_rule::mitigator_rule(history const& h, moment interval) : rows_(h.attempts.size()) {
    tape_type const& t = replaying::replay_access::tape(*h.tape);
    if (t.attempts.empty()) return;
    moment const origin = t.attempts.front().start;
    auto const since = [&](moment when) { return seconds(when - origin); };
    for (auto const& a : t.attempts) {
        auto const& original = t.attempts[t.tasks[a.task].original];
        rows_[a.row].original = original.row;
        rows_[a.row].later = seconds(a.start - original.start);
    }
    straggle::mitigator mitigator{ended_fields, running_fields, host_fields};
    std::vector<host> hosts;
    std::vector<running> runs;
    replaying::tape_position played;
    replaying::stepped_looks<moment> looks(t, interval);
    std::vector<std::uint32_t> where(t.attempts.size(), replaying::no_attempt); // in `runs`
    bool const in_steps = interval > moment{};
    do {
        moment const now = in_steps ? looks.now() : played.next_time(t);
        if (in_steps) looks.begin(played.next_time(t));
        for (; played.starts < t.attempts.size() && !(now < t.attempts[played.starts].start);
             ++played.starts) {
            auto const attempt = static_cast<std::uint32_t>(played.starts);
            auto const& a = t.attempts[attempt];
            while (hosts.size() <= a.node) hosts.push_back({static_cast<std::uint32_t>(hosts.size())});
            where[attempt] = static_cast<std::uint32_t>(runs.size());
            runs.push_back({t.tasks[a.task].job,
                            a.task,
                            a.node,
                            since(a.start),
                            {},
                            {},
                            known(a.input),
                            is_copy(t, attempt),
                            attempt});
            ++hosts[a.node].busy;
        }
        for (; played.ends < t.by_end.size() && !(now < t.attempts[t.by_end[played.ends]].end);
             ++played.ends) {
            auto const& a = t.attempts[t.by_end[played.ends]];
            std::uint32_t const at = where[t.by_end[played.ends]];
            running const r = runs[at];
            mitigator.observe({r.job, r.task, r.node, r.start, since(a.end), a.status, r.input, r.is_copy},
                              since(now));
            --hosts[a.node].busy;
            runs[at] = runs.back();
            where[runs[at].attempt] = at;
            runs.pop_back();
        }
        for (; played.reports < t.readings.size() && !(now < t.readings[played.reports].time);
             ++played.reports) {
            auto const& r = t.readings[played.reports];
            std::uint32_t const at = where[r.attempt];
            if (at >= runs.size() || runs[at].attempt != r.attempt) continue; // it has ended
            runs[at].progress = r.progress;
            runs[at].reported = since(r.time);
        }
        for (host& one : hosts) one.slots = std::max(one.slots, one.busy);
        for (auto const& s : mitigator.decide(since(now), runs, hosts).suspects()) {
            running const& r = runs[s.row];
            named& n = rows_[t.attempts[r.attempt].row];
            if (n.age < 0) n.age = since(now) - r.start;
        }
        if (played.is_over(t)) return;
    } while (!in_steps || looks.advance(played.next_time(t), played.end_of_pause(t)));
}

straggle::detect::suspect_list<> mitigator_rule::operator()(straggle::detect::job_view const& job) {
    found_.clear();
    constexpr double rounding = 1e-6;
    auto const is_named = [](named const& n, double age) { return n.age >= 0 && age + rounding >= n.age; };
    for (std::uint32_t i = 0; i < job.running.size(); ++i) {
        auto const& task = job.running[i];
        named const& n = rows_[task.row];
        named const& original = rows_[n.original];
        if (is_named(n, task.elapsed) || is_named(original, task.elapsed + n.later))
            found_.push_back({.task = i, .value = task.elapsed, .threshold = n.age});
    }
    return {found_, job, mitigator_rule_name};
}

} // namespace straggle_replay
