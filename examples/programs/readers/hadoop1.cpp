// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Hadoop 1's job history: `MapAttempt TASK_TYPE="MAP" TASKID="task_1_2_m_000003" START_TIME="17" .`, an event
// per line. In values, a backslash escapes quotes, dots and itself.

#include "fields.hpp"
#include "hadoop.hpp"
#include "hadoop_attempts.hpp"

#include <array>
#include <string>

namespace readers {

bool looks_like_hadoop1(std::string_view head) {
    return head.starts_with("Meta VERSION=\"") || head.starts_with("Job JOBID=\"");
}

namespace {

// KEY="value" pairs after the first word.
class pairs_of_line {
  public:
    explicit pairs_of_line(std::string_view line) : kind_(take_word(line)), rest_(line) {}

    [[nodiscard]] std::string_view kind() const { return kind_; }
    /// Goes to the next pair; false at the end, or if there is no pair.
    bool next() {
        std::size_t const sign = rest_.find("=\"");
        if (sign == std::string_view::npos) return false;
        key_ = trimmed(rest_.substr(0, sign));
        std::size_t at = sign + 2;
        while (at < rest_.size() && rest_[at] != '"') at += rest_[at] == '\\' ? 2U : 1U;
        if (at >= rest_.size()) return false;
        value_ = rest_.substr(sign + 2, at - sign - 2);
        rest_.remove_prefix(at + 1);
        return true;
    }
    [[nodiscard]] std::string_view key() const { return key_; }
    [[nodiscard]] std::string_view value() const { return value_; }

  private:
    std::string_view kind_, rest_, key_, value_;
};

// `host.example.org` of `tracker_host\.example\.org:localhost/127\.0\.0\.1:50060` or
// `/rack/host\.example\.org`.
void assign_host(std::string_view name, std::string& to) {
    constexpr std::string_view tracker = "tracker_";
    if (name.starts_with(tracker)) name = name.substr(tracker.size(), name.find(':') - tracker.size());
    name = hadoop_host(name);
    to.clear();
    for (char const c : name)
        if (c != '\\') to += c;
}

class hadoop1_reader {
  public:
    explicit hadoop1_reader(collector& out)
        : attempts_({"TASK_ATTEMPT_ID", "START_TIME", "FINISH_TIME", "HOSTNAME"}, out), out_(out) {}

    void read(std::string_view line, std::size_t number) {
        pairs_of_line pairs(line);
        std::string_view const kind = pairs.kind();
        bool const of_attempt = kind == "MapAttempt" || kind == "ReduceAttempt";
        hadoop_event e;
        e.line = number;
        std::string_view status;
        std::optional<moment> finish;
        host_.clear();
        bool any = false;
        while (pairs.next()) {
            any = true;
            std::string_view const key = pairs.key(), value = pairs.value();
            if (key == "JOB_STATUS" && (value == "SUCCESS" || value == "FAILED" || value == "KILLED"))
                attempts_.end_job();
            else if (key == "TASK_TYPE")
                e.task_type = value;
            else if (key == "TASKID")
                e.task_id = value;
            else if (key == "TASK_ATTEMPT_ID")
                e.attempt_id = value;
            else if (key == "TRACKER_NAME" || key == "HOSTNAME")
                assign_host(value, host_);
            else if (key == "START_TIME")
                e.time = ms_in(value);
            else if (key == "FINISH_TIME")
                finish = ms_in(value);
            else if (key == "TASK_STATUS")
                status = value;
        }
        if (!any) return out_.leave_out(reason::not_a_record, number);
        if (!of_attempt) return out_.leave_out(reason::other_event, number);
        e.host = host_;
        e.type = hadoop_event_type::started;
        if (!status.empty()) {
            e.time = finish;
            e.type = status == "SUCCESS"  ? hadoop_event_type::finished
                     : status == "FAILED" ? hadoop_event_type::failed
                                          : hadoop_event_type::killed;
        }
        attempts_.take(e);
    }
    void finish() { attempts_.finish(); }

  private:
    static std::optional<moment> ms_in(std::string_view text) {
        auto const ms = whole_number(text);
        return ms && *ms > 0 ? ms_time(*ms) : std::nullopt;
    }

    hadoop_attempts attempts_;
    collector& out_;
    std::string host_;
};

} // namespace

void read_hadoop1(text_window& text, collector& out) {
    line_reader lines(text);
    hadoop1_reader reader(out);
    while (lines.next()) {
        if (lines.line().empty() && !lines.too_long()) continue;
        out.count_line();
        if (lines.too_long())
            out.leave_out(reason::too_long, lines.number());
        else if (lines.torn() && !lines.line().ends_with(" ."))
            out.leave_out(reason::torn, lines.number());
        else
            reader.read(lines.line(), lines.number());
    }
    reader.finish();
}

} // namespace readers
