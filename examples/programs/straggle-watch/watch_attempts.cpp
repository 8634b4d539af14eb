// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "watch.hpp"

#include <algorithm>
#include <limits>

namespace straggle_watch {

namespace {

constexpr std::array<std::string_view, 3> status_words{"success", "failed", "killed"};

std::string_view node_in(members& m, bool is_needed) {
    auto const node = m.sent_name(member::node);
    if (!node && is_needed) m.fail(fault::missing_member, member::node);
    return node.value_or("");
}

std::optional<double> waited_in(members& m) {
    auto const waited = m.number(member::waited);
    if (waited && !(*waited >= 0)) m.fail(fault::bad_value, member::waited);
    return waited;
}

attempt_names names_in(members& m, bool needs_node) {
    return {.job = m.needed_name(member::job),
            .task = m.sent_name(member::task),
            .attempt = m.sent_name(member::attempt),
            .node = node_in(m, needs_node || !m.has(member::attempt)),
            .start = m.time(member::start)};
}

} // namespace

void watch::on_start(members& m) {
    attempt_names const names = names_in(m, true);
    if (!names.start) m.fail(fault::missing_member, member::start);
    auto const kind = m.name(member::kind);
    auto const input = m.number(member::input), reported = m.time(member::reported);
    auto const progress = m.number(member::progress), waited = waited_in(m);
    auto const deadline = m.time(member::deadline), weight = m.number(member::weight);
    auto const attempts = m.count(member::attempts);
    auto const copy = m.flag(member::copy), may_copy = m.flag(member::may_copy);
    if (progress && !(*progress >= 0 && *progress <= 1)) m.fail(fault::bad_value, member::progress);
    if (weight && !(*weight >= 0)) m.fail(fault::bad_value, member::weight);
    if (!m.ok()) return;
    running_attempt* const row = cluster_.add(names);
    if (row == nullptr) return m.fail(fault::no_room, "");
    row->start = *names.start;
    if (names.task) assign(row->task, names.task);
    assign(row->kind, kind);
    row->input = input;
    row->waited = waited;
    row->progress = progress;
    row->reported = reported;
    if (progress && !reported && has_time_) row->reported = time_;
    row->deadline = deadline;
    row->weight = weight;
    row->attempts = attempts;
    row->copy = copy;
    row->may_copy = may_copy;
    if (options_.keeps_log) history_.attempt_started(*row);
}

void watch::on_progress() {
    attempt_names const names = names_in(members_, false);
    auto const progress = members_.number(member::progress), reported = members_.time(member::reported);
    auto const waited = waited_in(members_);
    if (!progress && !waited) members_.fail(fault::missing_member, member::progress);
    if (progress && !(*progress >= 0 && *progress <= 1)) members_.fail(fault::bad_value, member::progress);
    if (!members_.ok()) return;
    running_attempt* const row = cluster_.find(names);
    if (row == nullptr) return members_.fail(fault::unknown_attempt, "");
    if (waited) row->waited = waited;
    if (!progress) return;
    row->progress = progress;
    row->reported = reported;
    if (!reported && has_time_) row->reported = time_;
}

// Start and end, as far as they were reported; false with a fault.
bool watch::read_end_times(ended_attempt& attempt, running_attempt const* row) {
    members& m = members_;
    auto start = m.time(member::start);
    auto const end = m.time(member::end), duration = m.number(member::duration);
    if (duration && !(*duration >= 0)) m.fail(fault::bad_value, member::duration);
    if (!end && !duration) m.fail(fault::missing_member, member::end);
    if (!m.ok()) return false;
    if (!start && end && !duration && row != nullptr) start = row->start;
    if (end) {
        attempt.end = *end;
        if (start && !duration)
            attempt.start = *start;
        else if (duration)
            attempt.start = *end - *duration;
        else
            m.fail(fault::unknown_attempt, "");
    } else if (start) {
        attempt.start = *start;
        attempt.end = *start + *duration;
    } else if (has_time_) {
        attempt.end = time_;
        attempt.start = time_ - *duration;
    } else {
        m.fail(fault::no_clock, "");
    }
    return m.ok();
}

void watch::on_end() {
    members& m = members_;
    attempt_names const names = names_in(m, true);
    ended_attempt attempt{.job = names.job,
                          .node = names.node,
                          .task = names.task,
                          .attempt = names.attempt,
                          .kind = m.name(member::kind),
                          .input = m.number(member::input),
                          .waited = waited_in(m),
                          .copy = m.flag(member::copy),
                          .outrun = m.flag(member::outrun),
                          .status = m.word(member::status, status_words, straggle::attempt_status::success)};
    if (!m.ok()) return;
    running_attempt const* const row = cluster_.find(names);
    if (!read_end_times(attempt, row)) return;
    if (row != nullptr) { // what the start reported and the end does not
        if (!attempt.task && row->task) attempt.task = *row->task;
        if (!attempt.kind && row->kind) attempt.kind = *row->kind;
        if (!attempt.input) attempt.input = row->input;
        if (!attempt.waited) attempt.waited = row->waited;
        if (!attempt.copy) attempt.copy = row->copy;
    }
    // Without a separate clock, ends advance the time between decisions. The library rejects those that are
    // too far ahead.
    double const now = has_clock_ || (has_time_ && !(attempt.end > time_)) ? time_ : attempt.end;
    bool const is_used = mitigator_.observe(attempt, now);
    if (is_used && (!now_ || now > *now_)) now_ = now;
    if (options_.keeps_log) history_.attempt_ended(attempt, out_->log);
    if (is_used && attempt.status == straggle::attempt_status::success) {
        double const took = attempt.end - attempt.start;
        ++ended_.count;
        ended_.sum = (std::min)(ended_.sum + took, (std::numeric_limits<double>::max)());
        ended_.longest = (std::max)(ended_.longest, took);
    }
    if (row != nullptr) cluster_.remove(*row);
}

void watch::on_running() {
    auto const items = members_.array(member::running);
    bool const more = members_.flag(member::more).value_or(false);
    if (!members_.ok()) return;
    cluster_.begin_running_list();
    for (simdjson::dom::element const item : *items) {
        simdjson::dom::object object;
        if (item.get(object) != simdjson::SUCCESS) {
            members_.fail(fault::bad_value, member::running);
            continue;
        }
        item_.read(object);
        on_start(item_);
        if (!item_.ok()) members_.fail(item_.what().what, item_.what().detail);
    }
    if (!more) cluster_.end_running_list();
}

} // namespace straggle_watch
