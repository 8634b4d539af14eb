// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "spark.hpp"

#include "fields.hpp"
#include "json_walk.hpp"

#include <cmath>
#include <limits>

namespace readers {

namespace {

// What a line may say of a task.
struct task_event {
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

    std::string_view kind, why, executor, host, version, application;
    std::int64_t stage = none, of_stage = none, id = none, index = none, number = none, launched = none,
                 finished = none;
    bool has_info = false, is_copy = false, has_failed = false, was_killed = false;
    double read = unknown, remote = unknown, local = unknown;

    [[nodiscard]] bool starts() const { return kind == "SparkListenerTaskStart"; }
    [[nodiscard]] bool ends() const { return kind == "SparkListenerTaskEnd"; }

    bool walk_through(walked_object& line) {
        clear();
        return walk(line, of_event, [this](std::size_t which, walked_value& value) {
            switch (which) {
            case event:
                kind = text_of(value);
                return true;
            case stage_id:
                stage = whole_or(none, value);
                return true;
            case stage_attempt:
                of_stage = whole_or(none, value);
                return true;
            case spark_version:
                version = text_of(value);
                return true;
            case app_id:
                application = text_of(value);
                return true;
            default:
                return (!kind.empty() && !starts() && !ends()) || walk_into(which, value);
            }
        });
    }

    [[nodiscard]] ending how_ended() const {
        if (why == "Success") return ending::success;
        // A copy that may not commit has lost its race.
        if (why == "TaskKilled" || why == "TaskCommitDenied") return ending::killed;
        if (why.empty() && !has_failed) return was_killed ? ending::killed : ending::success;
        return ending::failed;
    }

    // What the task read: from storage, and of what other stages wrote.
    [[nodiscard]] std::optional<double> input() const {
        if (std::isnan(read) && std::isnan(remote) && std::isnan(local)) return std::nullopt;
        double sum = 0;
        for (double const bytes : {read, remote, local})
            if (!std::isnan(bytes)) sum += bytes;
        return sum >= 0 ? std::optional(sum) : std::nullopt;
    }

  private:
    enum event_member : std::size_t {
        event,
        stage_id,
        stage_attempt,
        end_reason,
        task_info,
        task_metrics,
        spark_version,
        app_id,
        event_members
    };
    static inline member_names<event_members> const of_event =
        member_names<event_members>({"Event", "Stage ID", "Stage Attempt ID", "Task End Reason", "Task Info",
                                     "Task Metrics", "Spark Version", "App ID"});
    enum info_member : std::size_t {
        task_id,
        task_index,
        attempt_number,
        launch_time,
        finish_time,
        executor_id,
        host_name,
        speculative,
        failed,
        killed,
        info_members
    };
    static inline member_names<info_members> const of_info =
        member_names<info_members>({"Task ID", "Index", "Attempt", "Launch Time", "Finish Time",
                                    "Executor ID", "Host", "Speculative", "Failed", "Killed"});
    static inline member_names<1> const of_reason = member_names<1>({"Reason"});
    static inline member_names<2> const of_metrics =
        member_names<2>({"Input Metrics", "Shuffle Read Metrics"});
    static inline member_names<1> const of_input = member_names<1>({"Bytes Read"});
    static inline member_names<2> const of_shuffle =
        member_names<2>({"Remote Bytes Read", "Local Bytes Read"});

    // Piece by piece: all at once takes longer.
    void clear() {
        kind = why = executor = host = version = application = {};
        stage = of_stage = id = index = number = launched = finished = none;
        has_info = is_copy = has_failed = was_killed = false;
        read = remote = local = unknown;
    }

    bool walk_into(std::size_t which, walked_value& value) {
        has_info = has_info || which == task_info;
        return walk_object(value, [this, which](walked_object& object) {
            if (which == task_info)
                return walk(object, of_info,
                            [this](std::size_t i, walked_value& v) { return take_info(i, v); });
            if (which == task_metrics)
                return walk(object, of_metrics,
                            [this](std::size_t i, walked_value& v) { return take_metric(i, v); });
            return walk(object, of_reason, [this](std::size_t, walked_value& reason) {
                why = text_of(reason);
                return true;
            });
        });
    }

    bool take_info(std::size_t which, walked_value& value) {
        switch (which) {
        case task_id:
            id = whole_or(none, value);
            break;
        case task_index:
            index = whole_or(none, value);
            break;
        case attempt_number:
            number = whole_or(none, value);
            break;
        case launch_time:
            launched = whole_or(none, value);
            break;
        case finish_time:
            finished = whole_or(none, value);
            break;
        case executor_id:
            executor = text_of(value);
            break;
        case host_name:
            host = text_of(value);
            break;
        case speculative:
            is_copy = flag(value).value_or(false);
            break;
        case failed:
            has_failed = flag(value).value_or(false);
            break;
        default:
            was_killed = flag(value).value_or(false);
        }
        return true;
    }

    bool take_metric(std::size_t which, walked_value& value) {
        return walk_object(value, [this, which](walked_object& object) {
            if (which == 0)
                return walk(object, of_input, [this](std::size_t, walked_value& bytes) {
                    read = number_of(bytes);
                    return true;
                });
            return walk(object, of_shuffle, [this](std::size_t i, walked_value& bytes) {
                (i == 0 ? remote : local) = number_of(bytes);
                return true;
            });
        });
    }
};

std::uint32_t small(std::int64_t n) {
    return n >= 0 && n <= 0x7fffffff ? static_cast<std::uint32_t>(n) : 0;
}

} // namespace

struct spark_reader::parser {
    json_walker walker;
    task_event event;
    attempt ended; // what no event says stays unknown
};

spark_reader::spark_reader() : parser_(std::make_unique<parser>()) {}
spark_reader::~spark_reader() = default;

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
    task_event& e = parser_->event;
    json_kind const is =
        parser_->walker.read(line, [&e](walked_object& object) { return e.walk_through(object); });
    if (is != json_kind::object)
        return out.leave_out(is == json_kind::none ? reason::not_json : reason::not_a_record, number);
    if (!e.starts() && !e.ends()) {
        if (e.kind.empty()) return out.leave_out(reason::not_a_record, number);
        if (e.kind == "SparkListenerLogStart") {
            if (told_) begin_application(out);
            out.note_version(e.version);
            if (e.version.size() < 2 || e.version[0] < '1' || e.version[0] > '4' || e.version[1] != '.')
                return out.leave_out(reason::unknown_version, number);
        } else if (e.kind == "SparkListenerApplicationStart") {
            if (told_) begin_application(out);
            if (!e.application.empty()) application_ = e.application;
            told_ = true;
            job_.clear();
        } else if (e.kind == "SparkListenerApplicationEnd") {
            ended_ = true;
        }
        return out.leave_out(reason::other_event, number);
    }
    if (!e.has_info || e.stage == e.none) return out.leave_out(reason::not_a_record, number);
    name_job(e.stage, e.of_stage == e.none ? 0 : e.of_stage);
    if (e.index == e.none || e.launched == e.none) return out.leave_out(reason::bad_number, number);
    if (e.starts()) {
        if (e.id != e.none && ms_time(e.launched))
            running_[e.id] = {job_,
                              std::string(e.host),
                              std::string(e.executor),
                              e.index,
                              e.launched,
                              small(e.number),
                              e.is_copy,
                              number};
        return out.leave_out(reason::other_event, number);
    }
    if (e.id != e.none) running_.erase(e.id);
    if (e.why == "Resubmitted") return out.leave_out(reason::reported_again, number);
    if (e.host.empty()) return out.leave_out(reason::no_node, number);
    attempt& a = parser_->ended;
    a.start = ms_time(e.launched);
    a.end = ms_time(e.finished); // below 0 is none
    if (!a.start || !a.end || e.finished == 0) return out.leave_out(reason::bad_time, number);
    task_ = std::to_string(e.index);
    a.job = job_;
    a.task = task_;
    a.node = e.host;
    a.executor = e.executor;
    a.number = small(e.number);
    a.end_state = e.how_ended();
    a.speculative = e.is_copy;
    a.input = e.input();
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
