// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "spark.hpp"

#include "fields.hpp"
#include "json_walk.hpp"

#include <cmath>
#include <limits>

namespace readers {

// What a line may report about a task. Its texts are valid until the next one is read.
class spark_event {
  public:
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();

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

    [[nodiscard]] std::string_view kind() const { return kind_; }
    [[nodiscard]] bool starts() const { return kind_ == "SparkListenerTaskStart"; }
    [[nodiscard]] bool ends() const { return kind_ == "SparkListenerTaskEnd"; }
    [[nodiscard]] bool has_info() const { return event_[task_info].exists(); }

    [[nodiscard]] std::int64_t whole(event_member which) const { return whole_or(none, event_[which]); }
    [[nodiscard]] std::int64_t whole(info_member which) const { return whole_or(none, info_[which]); }
    [[nodiscard]] std::string_view text(event_member which) const { return text_of(event_[which]); }
    [[nodiscard]] std::string_view text(info_member which) const { return text_of(info_[which]); }
    [[nodiscard]] bool is(info_member which) const { return flag(info_[which]).value_or(false); }
    [[nodiscard]] std::string_view why() const { return text_of(reason_[0]); }

    bool read(walked_object& line) {
        event_ = {};
        info_ = {};
        reason_ = {};
        input_ = {};
        shuffle_ = {};
        kind_ = {};
        bool const whole = walk(line, of_event, event_, [this](std::size_t which, walked_value& value) {
            if (kind_.empty()) kind_ = text(event);
            return (!kind_.empty() && !starts() && !ends()) || read_part(which, value);
        });
        kind_ = text(event);
        return whole;
    }

    [[nodiscard]] ending how_ended() const {
        std::string_view const because = why();
        if (because == "Success") return ending::success;
        // A copy that is not allowed to commit has lost its race.
        if (because == "TaskKilled" || because == "TaskCommitDenied") return ending::killed;
        if (because.empty() && !is(failed)) return is(killed) ? ending::killed : ending::success;
        return ending::failed;
    }

    // What the task read: from storage, and from the output of other stages.
    [[nodiscard]] std::optional<double> input() const {
        double sum = 0;
        bool known = false;
        for (walked_value const& part : {input_[0], shuffle_[0], shuffle_[1]}) {
            double const bytes = number_of(part);
            if (std::isnan(bytes)) continue;
            sum += bytes;
            known = true;
        }
        return known && sum >= 0 ? std::optional(sum) : std::nullopt;
    }

  private:
    static inline member_names<event_members> const of_event =
        member_names<event_members>({"Event", "Stage ID", "Stage Attempt ID", "Task End Reason", "Task Info",
                                     "Task Metrics", "Spark Version", "App ID"});
    static inline member_names<info_members> const of_info =
        member_names<info_members>({"Task ID", "Index", "Attempt", "Launch Time", "Finish Time",
                                    "Executor ID", "Host", "Speculative", "Failed", "Killed"});
    static inline member_names<1> const of_reason = member_names<1>({"Reason"});
    static inline member_names<2> const of_metrics =
        member_names<2>({"Input Metrics", "Shuffle Read Metrics"});
    static inline member_names<1> const of_input = member_names<1>({"Bytes Read"});
    static inline member_names<2> const of_shuffle =
        member_names<2>({"Remote Bytes Read", "Local Bytes Read"});

    bool read_part(std::size_t which, walked_value& value) {
        return walk_object(value, [this, which](walked_object& object) {
            if (which == task_info) return walk(object, of_info, info_);
            if (which == task_metrics) return read_metrics(object);
            return which != end_reason || walk(object, of_reason, reason_);
        });
    }
    bool read_metrics(walked_object& metrics) {
        found_members<2> found;
        return walk(metrics, of_metrics, found, [this](std::size_t which, walked_value& value) {
            return walk_object(value, [this, which](walked_object& object) {
                return which == 0 ? walk(object, of_input, input_) : walk(object, of_shuffle, shuffle_);
            });
        });
    }

    std::string_view kind_;
    found_members<event_members> event_;
    found_members<info_members> info_;
    found_members<1> reason_, input_;
    found_members<2> shuffle_;
};

namespace {

constexpr std::string_view time_form = "milliseconds since 1970, as 1767225600123";

std::uint32_t small(std::int64_t n) {
    return n >= 0 && n <= 0x7fffffff ? static_cast<std::uint32_t>(n) : 0;
}

} // namespace

namespace {

// `"Event": "SparkListener...`, possibly with blanks.
bool is_event(std::string_view line) {
    constexpr std::string_view key = "\"Event\"";
    std::size_t at = line.find(key);
    if (at == std::string_view::npos) return false;
    at += key.size();
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t' || line[at] == ':')) ++at;
    std::string_view const value = line.substr(at);
    return value.starts_with("\"SparkListener") || value.starts_with("\"org.apache.spark.");
}

} // namespace

bool looks_like_spark(std::string_view head) {
    constexpr int most_lines = 32;
    for (int i = 0; i < most_lines && !head.empty(); ++i)
        if (is_event(take_word(head, '\n'))) return true;
    return false;
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
    json_line_walker walker(lines);
    spark_event event;
    while (lines.next()) {
        out.count_line();
        std::size_t const number = lines.number();
        if (lines.too_long()) {
            out.leave_out(reason::too_long, number);
            continue;
        }
        if (lines.line().empty()) continue;
        switch (walker.read([&event](walked_object& object) { return event.read(object); })) {
        case json_kind::object:
            if (event.starts() || event.ends())
                read_task(event, number, out);
            else
                read_other(event, number, out);
            break;
        case json_kind::other:
            out.leave_out(reason::not_a_record, number);
            break;
        case json_kind::none:
            out.leave_out(lines.torn() ? reason::torn : reason::not_json, number);
            break;
        }
    }
}

void spark_reader::read_other(spark_event const& e, std::size_t line, collector& out) {
    if (e.kind().empty()) return out.leave_out(reason::not_a_record, line);
    if (e.kind() == "SparkListenerLogStart") {
        if (told_) begin_application(out);
        std::string_view const version = e.text(spark_event::spark_version);
        out.note_version(version);
        if (version.size() < 2 || version[0] < '1' || version[0] > '4' || version[1] != '.')
            return out.leave_out(reason::unknown_version, line);
    } else if (e.kind() == "SparkListenerApplicationStart") {
        if (told_) begin_application(out);
        if (auto const id = e.text(spark_event::app_id); !id.empty()) application_ = id;
        told_ = true;
        job_.clear();
    } else if (e.kind() == "SparkListenerApplicationEnd") {
        ended_ = true;
    }
    out.leave_out(reason::other_event, line);
}

void spark_reader::read_task(spark_event const& e, std::size_t line, collector& out) {
    using enum spark_event::event_member;
    using enum spark_event::info_member;
    constexpr std::int64_t none = spark_event::none;
    std::int64_t const stage = e.whole(stage_id), of_stage = e.whole(stage_attempt);
    if (!e.has_info() || stage == none) return out.leave_out(reason::not_a_record, line);
    name_job(stage, of_stage == none ? 0 : of_stage);
    std::int64_t const id = e.whole(task_id), index = e.whole(task_index), launched = e.whole(launch_time);
    if (index == none) return out.leave_out(reason::bad_number, line, {"Index", {}, "a whole number"});
    if (launched == none) return out.leave_out(reason::bad_time, line, {"Launch Time", {}, time_form});
    std::string_view const host = e.text(host_name);
    auto const start = ms_time(launched);
    if (e.starts()) {
        if (id != none && start)
            running_[id] = {job_,
                            std::string(host),
                            std::string(e.text(executor_id)),
                            index,
                            launched,
                            small(e.whole(attempt_number)),
                            e.is(speculative),
                            line};
        return out.leave_out(reason::other_event, line);
    }
    if (id != none) running_.erase(id);
    if (e.why() == "Resubmitted") return out.leave_out(reason::reported_again, line);
    if (host.empty()) return out.leave_out(reason::no_node, line, {"Host", {}, "the name of a host"});
    std::int64_t const finished = e.whole(finish_time); // 0: it has not
    attempt a;
    a.start = start;
    a.end = ms_time(finished); // below 0: none
    if (!a.start)
        return out.leave_out(reason::bad_time, line, {"Launch Time", std::to_string(launched), time_form});
    if (finished == spark_event::none)
        return out.leave_out(reason::bad_time, line, {"Finish Time", {}, time_form});
    if (!a.end || finished == 0)
        return out.leave_out(reason::bad_time, line, {"Finish Time", std::to_string(finished), time_form});
    task_ = std::to_string(index);
    a.job = job_;
    a.task = task_;
    a.node = host;
    a.executor = e.text(executor_id);
    a.number = small(e.whole(attempt_number));
    a.end_state = e.how_ended();
    a.speculative = e.is(speculative);
    a.input = e.input();
    a.line = line;
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
