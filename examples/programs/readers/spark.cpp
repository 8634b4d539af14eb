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

constexpr wanted_members event_members(std::array<std::string_view, 6>{
    "Event", "Stage ID", "Stage Attempt ID", "Task Info", "Task End Reason", "Task Metrics"});
constexpr wanted_members info_members(std::array<std::string_view, 8>{
    "Task ID", "Index", "Attempt", "Launch Time", "Executor ID", "Host", "Speculative", "Finish Time"});

ending ending_of(std::string_view reason_name, json_value info) {
    if (reason_name == "Success") return ending::success;
    // A copy that may not commit has lost its race.
    if (reason_name == "TaskKilled" || reason_name == "TaskCommitDenied") return ending::killed;
    if (reason_name.empty() && !flag_in(info, "Failed").value_or(false))
        return flag_in(info, "Killed").value_or(false) ? ending::killed : ending::success;
    return ending::failed;
}

// What the task read: from storage, and of what other stages wrote.
std::optional<double> input_of(std::optional<json_value> metrics) {
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
    auto const [event_name, stage_id, stage_attempt, info, end_reason, metrics] = event_members.in(event);
    std::string_view const kind = text_of(event_name);
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
    auto const stage = whole(stage_id);
    if (!info || !stage) return out.leave_out(reason::not_a_record, number);
    name_job(*stage, whole(stage_attempt).value_or(0));
    auto const [task_id, task_index, attempt_number, launch, on_executor, on_host, is_copy, finish_time] =
        info_members.in(info);
    auto const id = whole(task_id), index = whole(task_index), launched = whole(launch);
    if (!index || !launched) return out.leave_out(reason::bad_number, number);
    std::string_view const host = text_of(on_host), executor = text_of(on_executor);
    bool const speculative = flag(is_copy).value_or(false);
    if (starts) {
        if (id && ms_time(*launched))
            running_[*id] = {job_,
                             std::string(host),
                             std::string(executor),
                             *index,
                             *launched,
                             small(whole(attempt_number)),
                             speculative,
                             number};
        return out.leave_out(reason::other_event, number);
    }
    if (id) running_.erase(*id);
    std::string_view const why = text_in(end_reason, "Reason");
    if (why == "Resubmitted") return out.leave_out(reason::reported_again, number);
    if (host.empty()) return out.leave_out(reason::no_node, number);
    auto const finished = whole(finish_time);
    attempt a;
    a.start = ms_time(*launched);
    a.end = finished ? ms_time(*finished) : std::nullopt;
    if (!a.start || !a.end || *finished == 0) return out.leave_out(reason::bad_time, number);
    task_ = std::to_string(*index);
    a.job = job_;
    a.task = task_;
    a.node = host;
    a.executor = executor;
    a.number = small(whole(attempt_number));
    a.end_state = ending_of(why, *info);
    a.speculative = speculative;
    a.input = input_of(metrics);
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
