// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "spark.hpp"

#include "fields.hpp"
#include "json.hpp"

#include <array>

namespace readers {

struct spark_reader::parser {
    simdjson::dom::parser json;
};

spark_reader::spark_reader() : parser_(std::make_unique<parser>()) {}
spark_reader::~spark_reader() = default;

namespace {

ending ending_of(std::string_view reason_name, json_value info) {
    if (reason_name == "Success") return ending::success;
    // A copy that may not commit has lost its race.
    if (reason_name == "TaskKilled" || reason_name == "TaskCommitDenied") return ending::killed;
    if (reason_name.empty() && !flag_in(info, "Failed").value_or(false))
        return flag_in(info, "Killed").value_or(false) ? ending::killed : ending::success;
    return ending::failed;
}

// What the task read: from storage, and of what other stages wrote.
std::optional<double> input_of(json_value event) {
    auto const metrics = member(event, "Task Metrics");
    if (!metrics) return std::nullopt;
    std::optional<double> bytes = real_in(member(metrics, "Input Metrics"), "Bytes Read");
    auto const shuffle = member(metrics, "Shuffle Read Metrics");
    for (std::string_view const key : {"Remote Bytes Read", "Local Bytes Read"})
        if (auto const more = real_in(shuffle, key)) bytes = bytes.value_or(0) + *more;
    return bytes && *bytes >= 0 ? bytes : std::nullopt;
}

std::uint32_t small(std::optional<std::int64_t> n) {
    return n && *n >= 0 && *n <= 0x7fffffff ? static_cast<std::uint32_t>(*n) : 0;
}

} // namespace

bool looks_like_spark(std::string_view head) {
    std::string_view const line = head.substr(0, head.find('\n'));
    return line.find("\"Event\":\"SparkListener") != std::string_view::npos ||
           line.find("\"Event\":\"org.apache.spark.") != std::string_view::npos ||
           head.find("\n{\"Event\":\"SparkListener") != std::string_view::npos;
}

void spark_reader::name_job(std::int64_t stage, std::int64_t stage_attempt) {
    if (stage == stage_ && stage_attempt == stage_attempt_ && !job_.empty()) return;
    stage_ = stage;
    stage_attempt_ = stage_attempt;
    job_ = application_ + "/stage-" + std::to_string(stage) + '.' + std::to_string(stage_attempt);
}

void spark_reader::begin_application(collector& out) {
    finish(out);
    ended_ = told_ = false;
}

void spark_reader::read(text_window& text, collector& out, std::string const& application) {
    if (!told_) {
        application_ = application;
        job_.clear();
    }
    line_reader lines(text);
    while (lines.next()) {
        out.count_line();
        if (lines.too_long()) {
            out.leave_out(reason::too_long, lines.number());
        } else if (!lines.line().empty()) {
            if (lines.torn() && !lines.line().ends_with('}'))
                out.leave_out(reason::torn, lines.number());
            else
                read_event(lines.line(), lines.number(), out);
        }
    }
}

void spark_reader::read_event(std::string_view line, std::size_t number, collector& out) {
    auto const event = parse_json(parser_->json, line);
    if (!event) return out.leave_out(reason::not_json, number);
    std::string_view const kind = text_in(*event, "Event");
    bool const starts = kind == "SparkListenerTaskStart";
    if (!starts && kind != "SparkListenerTaskEnd") {
        if (kind.empty()) return out.leave_out(reason::not_a_record, number);
        if (kind == "SparkListenerLogStart") {
            std::string_view const version = text_in(*event, "Spark Version");
            if (told_) begin_application(out);
            out.note_version(version);
            if (version.size() < 2 || version[0] < '1' || version[0] > '4' || version[1] != '.')
                return out.leave_out(reason::unknown_version, number);
        } else if (kind == "SparkListenerApplicationStart") {
            if (told_) begin_application(out);
            std::string_view const id = text_in(*event, "App ID");
            if (!id.empty()) application_ = id;
            told_ = true;
            job_.clear();
        } else if (kind == "SparkListenerApplicationEnd") {
            ended_ = true;
        }
        return out.leave_out(reason::other_event, number);
    }
    auto const info = member(*event, "Task Info");
    auto const stage = whole_in(*event, "Stage ID");
    if (!info || !stage) return out.leave_out(reason::not_a_record, number);
    name_job(*stage, whole_in(*event, "Stage Attempt ID").value_or(0));
    auto const id = whole_in(*info, "Task ID");
    auto const index = whole_in(*info, "Index");
    auto const launched = whole_in(*info, "Launch Time");
    if (!index || !launched) return out.leave_out(reason::bad_number, number);
    std::string_view const host = text_in(*info, "Host"), executor = text_in(*info, "Executor ID");
    bool const speculative = flag_in(*info, "Speculative").value_or(false);
    if (starts) {
        if (id && ms_time(*launched))
            running_[*id] = {job_,
                             std::string(host),
                             std::string(executor),
                             *index,
                             *launched,
                             small(whole_in(*info, "Attempt")),
                             speculative,
                             number};
        return out.leave_out(reason::other_event, number);
    }
    if (id) running_.erase(*id);
    std::string_view const why = text_in(member(*event, "Task End Reason"), "Reason");
    if (why == "Resubmitted") return out.leave_out(reason::reported_again, number);
    if (host.empty()) return out.leave_out(reason::no_node, number);
    auto const finished = whole_in(*info, "Finish Time");
    attempt a;
    a.start = ms_time(*launched);
    a.end = finished ? ms_time(*finished) : std::nullopt;
    if (!a.start || !a.end || *finished == 0) return out.leave_out(reason::bad_time, number);
    task_ = std::to_string(*index);
    a.job = job_;
    a.task = task_;
    a.node = host;
    a.executor = executor;
    a.number = small(whole_in(*info, "Attempt"));
    a.end_state = ending_of(why, *info);
    a.speculative = speculative;
    a.input = input_of(*event);
    a.line = number;
    out.take(a);
}

void spark_reader::finish(collector& out) {
    for (auto const& [id, task] : running_) {
        if (ended_ || task.node.empty()) {
            out.leave_out(reason::no_end_written, task.line);
            continue;
        }
        task_ = std::to_string(task.index);
        attempt a;
        a.job = task.job;
        a.task = task_;
        a.node = task.node;
        a.executor = task.executor;
        a.number = task.number;
        a.end_state = ending::running;
        a.speculative = task.speculative;
        a.start = ms_time(task.launched_ms);
        a.line = task.line;
        out.take(a);
    }
    running_.clear();
    ended_ = told_ = false;
}

} // namespace readers
