// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "fields.hpp"
#include "hadoop.hpp"
#include "json.hpp"
#include "json_items.hpp"

#include <array>
#include <string>
#include <utility>

namespace readers {

std::string_view hadoop_host(std::string_view name) {
    return name.substr(name.rfind('/') + 1); // npos + 1 is 0
}

std::uint32_t hadoop_attempt_number(std::string_view attempt_id) {
    auto const n = whole_number(attempt_id.substr(attempt_id.rfind('_') + 1));
    return n && *n >= 0 && *n <= 0x7fffffff ? static_cast<std::uint32_t>(*n) : 0;
}

bool looks_like_rumen(std::string_view head) {
    std::size_t const start = head.find_first_not_of(" \t\r\n[");
    if (start == std::string_view::npos || head[start] != '{') return false;
    return head.find("\"jobID\"") != std::string_view::npos &&
           (head.find("\"mapTasks\"") != std::string_view::npos ||
            head.find("\"attemptID\"") != std::string_view::npos ||
            head.find("\"clusterMapMB\"") != std::string_view::npos ||
            head.find("\"jobtype\"") != std::string_view::npos);
}

namespace {

// One attempt of a task, as far as it says whether another is its copy.
struct times_of_attempt {
    std::optional<std::int64_t> start, end;
};

constexpr wanted_members task_members(std::array<std::string_view, 2>{"attempts", "taskID"});
constexpr wanted_members attempt_members(std::array<std::string_view, 6>{
    "result", "attemptID", "hostName", "startTime", "finishTime", "hdfsBytesRead"});

// A time that is known.
std::optional<std::int64_t> told(std::optional<json_value> value) {
    auto const t = whole(value);
    return t && *t > 0 ? t : std::nullopt;
}

times_of_attempt times_of(json_value of) {
    return {told(member(of, "startTime")), told(member(of, "finishTime"))};
}

// An attempt that began while an older one ran is a copy: the trace itself does not tell.
std::optional<bool> speculative_among(simdjson::dom::array attempts, json_value self) {
    if (attempts.size() < 2) return std::nullopt;
    times_of_attempt const mine = times_of(self);
    if (!mine.start) return std::nullopt;
    for (json_value const other : attempts) {
        times_of_attempt const theirs = times_of(other);
        if (theirs.start && *theirs.start < *mine.start && theirs.end && *theirs.end > *mine.start)
            return true;
    }
    return false;
}

class rumen_job {
  public:
    rumen_job(json_value job, std::size_t line, collector& out)
        : name_(text_in(job, "jobID")), line_(line), out_(out) {}

    void read(json_value job) {
        constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kinds{
            {{"mapTasks", "/map"}, {"reduceTasks", "/reduce"}, {"otherTasks", "/other"}}};
        if (name_.empty()) return out_.leave_out(reason::no_job, line_);
        for (auto const& [key, suffix] : kinds) {
            simdjson::dom::array tasks;
            auto const list = member(job, key);
            if (!list || list->get(tasks) != simdjson::SUCCESS) continue;
            group_ = name_ + std::string(suffix);
            for (json_value const task : tasks) read_task(task);
        }
    }

  private:
    void read_task(json_value task) {
        simdjson::dom::array attempts;
        auto const [list, id] = task_members.in(task);
        if (!list || list->get(attempts) != simdjson::SUCCESS)
            return out_.leave_out(reason::not_a_record, line_);
        if (attempts.size() > most_attempts) return out_.leave_out(reason::not_a_record, line_);
        for (json_value const a : attempts) read_attempt(text_of(id), a, speculative_among(attempts, a));
    }

    void read_attempt(std::string_view task, json_value of, std::optional<bool> speculative) {
        auto const [ended, id, host, start, end, bytes_read] = attempt_members.in(of);
        std::string_view const result = text_of(ended);
        attempt a;
        a.job = group_;
        a.task = task;
        a.node = hadoop_host(text_of(host));
        a.number = hadoop_attempt_number(text_of(id));
        a.speculative = speculative;
        a.line = line_;
        if (auto const ms = told(start)) a.start = ms_time(*ms);
        if (auto const ms = told(end)) a.end = ms_time(*ms);
        if (a.node.empty()) return out_.leave_out(reason::no_node, line_);
        if (!a.start || (!a.end && !result.empty())) return out_.leave_out(reason::bad_time, line_);
        if (result.empty() && !a.end)
            a.end_state = ending::running;
        else if (result == "SUCCESS" || result == "SUCCEEDED")
            a.end_state = ending::success;
        else
            a.end_state = result == "KILLED" ? ending::killed : ending::failed;
        auto const bytes = real(bytes_read);
        if (bytes && *bytes > 0) a.input = bytes;
        out_.take(a);
    }

    static constexpr std::size_t most_attempts = 10'000; // each is compared with the others

    std::string name_, group_;
    std::size_t line_;
    collector& out_;
};

} // namespace

void read_rumen(text_window& text, collector& out) {
    simdjson::dom::parser parser;
    json_items items(text);
    while (items.next()) {
        out.count_line();
        if (items.after_garbage()) out.leave_out(reason::not_a_record, items.line());
        auto const job = parse_json(parser, items.item());
        if (!job) {
            out.leave_out(items.torn() ? reason::torn : reason::not_json, items.line());
            items.give_up();
            continue;
        }
        rumen_job(*job, items.line(), out).read(*job);
    }
}

} // namespace readers
