// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "history_log.hpp"

#include "sent_name.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace straggle_watch {

namespace {

using json = nlohmann::ordered_json;

void append_line(std::string& out, json const& line) {
    out += line.dump(-1, ' ', false, json::error_handler_t::replace);
    out += '\n';
}

// When an attempt that was planned to take `left` and had not ended at `time` would have ended: the median of
// the rest of the distribution, linear between its three quantiles, and never beyond the last one.
double still_expected(double planned, straggle::mitigate::time_range const& left, double time) {
    std::array<double, 4> const at{planned, planned + left.low, planned + left.middle, planned + left.high};
    constexpr std::array<double, 4> share{0, 0.1, 0.5, 0.9};
    if (!(time < at.back())) return time;
    std::size_t i = 1;
    while (i + 1 < at.size() && !(time < at[i])) ++i;
    double const length = at[i] - at[i - 1];
    double const into = length > 0 ? (std::max)(time - at[i - 1], 0.0) / length : 0;
    double const wanted = (1 + share[i - 1] + into * (share[i] - share[i - 1])) / 2;
    for (i = 1; i + 1 < at.size() && share[i] < wanted;) ++i;
    if (wanted > share[i]) return at[i];
    return at[i - 1] + (wanted - share[i - 1]) / (share[i] - share[i - 1]) * (at[i] - at[i - 1]);
}

} // namespace

std::string_view history_log::key(std::string_view job, std::string_view task) {
    key_ = std::to_string(job.size());
    key_ += ':';
    key_ += job;
    key_ += task;
    return key_;
}

void history_log::forget_old_jobs() {
    std::vector<double> ends;
    for (auto const& [name, j] : jobs_) ends.push_back(j.end);
    auto const middle = ends.begin() + static_cast<std::ptrdiff_t>(ends.size() / 2);
    std::nth_element(ends.begin(), middle, ends.end());
    std::erase_if(jobs_, [latest = *middle](auto const& entry) { return entry.second.end <= latest; });
}

void history_log::attempt_ended(ended_attempt const& a, std::string& log) {
    auto found = jobs_.find(a.plain_job());
    if (found == jobs_.end()) {
        if (jobs_.size() >= most) forget_old_jobs();
        found =
            jobs_.try_emplace(std::string(a.plain_job()), job_times{.start = a.start, .end = a.end}).first;
    }
    job_times& j = found->second;
    j.start = (std::min)(j.start, a.start);
    j.end = (std::max)(j.end, a.end);
    ++j.attempts;
    if (a.status == straggle::attempt_status::failed) ++j.failed;

    if (races_.empty() || !a.task) return;
    auto const at = races_.find(key(a.plain_job(), *a.plain_task()));
    if (at == races_.end()) return;
    race& r = at->second;
    bool const is_copy = a.plain_node() == plain(r.to),
               is_success = a.status == straggle::attempt_status::success;
    (is_copy ? r.copy_ended : r.original_ended) = true;
    if (!r.has_begun) {
        if (is_copy || is_success) races_.erase(at);
        return;
    }
    if (!is_success && !(r.copy_ended && r.original_ended)) return;
    straggle::mitigate::time_range const left{r.low, r.middle, r.high};
    double const expected = r.planned + r.middle;
    bool const won = is_success && is_copy;
    append_line(
        log, {{"event", "copy"},
              {"job", name_json(a.job)},
              {"task", name_json(*a.task)},
              {"node", name_json(r.node)},
              {"to", name_json(r.to)},
              {"planned", r.planned},
              {"start", r.start},
              {"end", a.end},
              {"probe", r.is_probe},
              {"winner", !is_success ? "none"
                         : is_copy   ? "copy"
                                     : "original"},
              {"expected", {{"low", r.planned + r.low}, {"middle", expected}, {"high", r.planned + r.high}}},
              {"won", won ? (std::max)(still_expected(r.planned, left, a.end) - a.end, 0.0) : 0.0}});
    races_.erase(at);
}

void history_log::attempt_started(running_attempt const& row) {
    if (races_.empty() || !row.task) return;
    auto const at = races_.find(key(row.plain_job(), *row.plain_task()));
    if (at == races_.end() || plain(at->second.to) != row.plain_node() || at->second.has_begun) return;
    at->second.has_begun = true;
    at->second.start = row.start;
}

void history_log::job_finished(std::string_view name, bool left_alone, std::string& log) {
    auto const found = jobs_.find(plain(name));
    if (found == jobs_.end()) return;
    job_times const& j = found->second;
    append_line(log, {{"event", "job"},
                      {"job", name_json(name)},
                      {"start", j.start},
                      {"end", j.end},
                      {"attempts", j.attempts},
                      {"failed", j.failed},
                      {"left_alone", left_alone}});
    jobs_.erase(found);
}

void history_log::copy_planned(running_attempt const& original, std::string_view to, double now,
                               straggle::mitigate::planned_copy const& planned) {
    if (!original.task) return;
    if (races_.size() >= most) {
        std::erase_if(races_, [](auto const& entry) { return !entry.second.has_begun; });
        if (races_.size() >= most) races_.clear();
    }
    race& r = races_[std::string(key(original.plain_job(), *original.plain_task()))];
    if (r.has_begun) return;
    auto const& left = planned.left;
    r = {original.node, std::string(to), now, left.low, left.middle, left.high};
    r.is_probe = planned.is_probe;
}

void history_log::write(straggle::byte_writer& out) const {
    out.count(jobs_.size());
    for (auto const& [name, j] : jobs_) {
        out.text(name);
        out.real(j.start);
        out.real(j.end);
        out.varint(j.attempts);
        out.varint(j.failed);
    }
    out.count(races_.size());
    for (auto const& [name, r] : races_) {
        out.text(name);
        out.text(r.node);
        out.text(r.to);
        for (double const x : {r.planned, r.low, r.middle, r.high, r.start}) out.real(x);
        for (bool const b : {r.has_begun, r.original_ended, r.copy_ended, r.is_probe}) out.flag(b);
    }
}

void history_log::read(straggle::byte_reader& in) {
    for (std::size_t n = in.count(1); n-- > 0 && in.ok();) {
        job_times& j = jobs_[std::string(in.text())];
        j.start = in.real();
        j.end = in.real();
        j.attempts = in.varint();
        j.failed = in.varint();
    }
    for (std::size_t n = in.count(1); n-- > 0 && in.ok();) {
        race& r = races_[std::string(in.text())];
        r.node = in.text();
        r.to = in.text();
        for (double* const x : {&r.planned, &r.low, &r.middle, &r.high, &r.start}) *x = in.real();
        for (bool* const b : {&r.has_begun, &r.original_ended, &r.copy_ended, &r.is_probe}) *b = in.flag();
    }
}

} // namespace straggle_watch
