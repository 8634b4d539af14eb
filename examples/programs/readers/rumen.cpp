// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "fields.hpp"
#include "hadoop.hpp"
#include "json_items.hpp"
#include "json_walk.hpp"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace readers {

std::string_view hadoop_host(std::string_view name) {
    if (name.find('/') == std::string_view::npos) return name; // nearly all; searching backwards takes longer
    return name.substr(name.rfind('/') + 1);
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

constexpr std::array<std::string_view, 3> kinds{"/map", "/reduce", "/other"};

member_names<4> const of_job({"mapTasks", "reduceTasks", "otherTasks", "jobID"});
member_names<2> const of_task({"attempts", "taskID"});

// A job is read to its end before it returns anything: a damaged one might be found again within itself.
class rumen_job {
  public:
    bool read(walked_object& job) {
        rows_.clear();
        found_members<4> found;
        bool const whole = walk(job, of_job, found, [this](std::size_t which, walked_value& value) {
            return which == kinds.size() || read_tasks(value, which);
        });
        name_ = text_of(found[kinds.size()]);
        return whole;
    }

    void hand_out(std::size_t line, collector& out) {
        if (name_.empty())
            return out.leave_out(reason::no_job, line, {"jobID", {}, "an id, as job_200904211745_0001"});
        for (std::size_t i = 0; i < kinds.size(); ++i) (groups_[i] = name_) += kinds[i];
        for (row const& r : rows_) hand_out(r, line, out);
    }

  private:
    enum attempt_member : std::size_t {
        host_name,
        start_time,
        result_name,
        finish_time,
        attempt_id,
        bytes_read,
        attempt_members
    };
    static inline member_names<attempt_members> const of_attempt = member_names<attempt_members>(
        {"hostName", "startTime", "result", "finishTime", "attemptID", "hdfsBytesRead"});

    struct row {
        std::size_t kind;
        std::string_view task{}, id{}, host{}, result{};
        std::int64_t start = 0, end = 0; // up to 0: unknown
        double bytes_read = 0;
        std::optional<bool> speculative{};
        bool is_record = true;
    };

    bool read_tasks(walked_value& list, std::size_t kind) {
        return walk_objects(list, [this, kind](walked_object& task) { return read_task(task, kind); });
    }

    bool read_task(walked_object& task, std::size_t kind) {
        std::size_t const first = rows_.size();
        found_members<2> found;
        bool const whole = walk(task, of_task, found, [this, kind](std::size_t which, walked_value& value) {
            if (which == 1) return true;
            return walk_objects(value, [this, kind](walked_object& a) { return read_attempt(a, kind); });
        });
        bool const listed = found[0].front() == '[';
        std::string_view const id = text_of(found[1]);
        std::span<row> const attempts = std::span(rows_).subspan(first);
        if (!listed || attempts.size() > most_attempts) {
            rows_.resize(first);
            rows_.push_back({.kind = kind, .is_record = false});
        } else {
            for (row& r : attempts) {
                r.task = id;
                r.speculative = speculative_among(attempts, r);
            }
        }
        return whole;
    }

    bool read_attempt(walked_object& of, std::size_t kind) {
        found_members<attempt_members> found;
        bool const whole = walk(of, of_attempt, found);
        rows_.push_back({.kind = kind,
                         .id = text_of(found[attempt_id]),
                         .host = text_of(found[host_name]),
                         .result = text_of(found[result_name]),
                         .start = whole_or(0, found[start_time]),
                         .end = whole_or(0, found[finish_time]),
                         .bytes_read = number_of(found[bytes_read])});
        return whole;
    }

    // An attempt that began while an older one ran is a copy: the trace itself does not say so.
    static std::optional<bool> speculative_among(std::span<row const> attempts, row const& self) {
        if (attempts.size() < 2 || self.start <= 0) return std::nullopt;
        for (row const& other : attempts)
            if (other.start > 0 && other.start < self.start && other.end > self.start) return true;
        return false;
    }

    void hand_out(row const& r, std::size_t line, collector& out) const {
        if (!r.is_record) return out.leave_out(reason::not_a_record, line);
        attempt a;
        a.job = groups_[r.kind];
        a.task = r.task;
        a.node = hadoop_host(r.host);
        a.number = hadoop_attempt_number(r.id);
        a.speculative = r.speculative;
        a.line = line;
        if (r.start > 0) a.start = ms_time(r.start);
        if (r.end > 0) a.end = ms_time(r.end);
        if (a.node.empty())
            return out.leave_out(reason::no_node, line, {"hostName", r.host, "a host, as /rack/host"});
        if (!a.start)
            return out.leave_out(reason::bad_time, line, {"startTime", std::to_string(r.start), time_form});
        if (!a.end && !r.result.empty())
            return out.leave_out(reason::bad_time, line, {"finishTime", std::to_string(r.end), time_form});
        if (r.result.empty() && !a.end)
            a.end_state = ending::running;
        else if (r.result == "SUCCESS" || r.result == "SUCCEEDED")
            a.end_state = ending::success;
        else
            a.end_state = r.result == "KILLED" ? ending::killed : ending::failed;
        if (r.bytes_read > 0) a.input = r.bytes_read;
        out.take(a);
    }

    static constexpr std::string_view time_form = "milliseconds since 1970, above 0";

    static constexpr std::size_t most_attempts = 10'000; // each is compared with the others

    std::string_view name_;
    std::array<std::string, kinds.size()> groups_;
    std::vector<row> rows_;
};

} // namespace

void read_rumen(text_window& text, collector& out) {
    json_walker walker;
    rumen_job job;
    json_items items(text);
    auto const name_garbage = [&] {
        if (items.garbage_line() > 0) out.leave_out(reason::not_a_record, items.garbage_line());
    };
    while (items.next()) {
        out.count_line();
        name_garbage();
        if (walker.read(items.item(), [&](walked_object& object) { return job.read(object); }) ==
            json_kind::object) {
            job.hand_out(items.line(), out);
        } else {
            out.leave_out(items.torn() ? reason::torn : reason::not_json, items.line());
            items.give_up();
        }
    }
    name_garbage();
}

} // namespace readers
