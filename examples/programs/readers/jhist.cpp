// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "fields.hpp"
#include "hadoop.hpp"
#include "json_walk.hpp"

#include <straggle/base/interner.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace readers {

bool looks_like_jhist(std::string_view head) {
    return head.starts_with("Avro-Json") || head.starts_with("Avro-Binary");
}

void hadoop_job(std::string_view attempt_id, std::string_view task_type, std::string& to) {
    to.clear();
    constexpr std::string_view prefix = "attempt_";
    if (!attempt_id.starts_with(prefix)) return;
    std::string_view rest = attempt_id.substr(prefix.size());
    std::string_view const cluster = take_word(rest, '_'), number = take_word(rest, '_');
    if (cluster.empty() || number.empty() || rest.empty()) return;
    to.append("job_").append(cluster).append(1, '_').append(number);
    to += task_type == "MAP" ? "/map" : task_type == "REDUCE" ? "/reduce" : "/other";
}

namespace {

member_names<1> const of_avro({"string"});
member_names<1> const of_counters({"groups"});
member_names<2> const of_group({"name", "counts"});
member_names<2> const of_count({"name", "value"});
member_names<2> const of_line({"type", "event"});

// A text, or Avro's {"string": text} for one that may be missing.
bool read_avro_text(walked_value& value, std::string_view& to) {
    to = text_of(value);
    return walk_object(value, [&to](walked_object& object) {
        return walk(object, of_avro, [&to](std::size_t, walked_value& text) {
            to = text_of(text);
            return true;
        });
    });
}

// Bytes read from the distributed file system, if a counter tells.
class bytes_read_counter {
  public:
    bool read(walked_value& all) {
        return walk_object(all, [this](walked_object& object) {
            return walk(object, of_counters, [this](std::size_t, walked_value& groups) {
                return walk_objects(groups, [this](walked_object& group) { return read_group(group); });
            });
        });
    }
    [[nodiscard]] std::optional<double> bytes() const { return bytes_; }

  private:
    // The names may stand before what they name, or behind it.
    bool read_group(walked_object& group) {
        std::optional<double> bytes;
        std::optional<bool> of_files;
        bool const whole = walk(group, of_group, [&](std::size_t which, walked_value& value) {
            if (which == 0) {
                of_files = text_of(value).ends_with("FileSystemCounter");
                return true;
            }
            if (!of_files.value_or(true)) return true;
            return walk_objects(value,
                                [&bytes](walked_object& counter) { return read_count(counter, bytes); });
        });
        if (of_files.value_or(false) && !bytes_) bytes_ = bytes;
        return whole;
    }
    static bool read_count(walked_object& counter, std::optional<double>& bytes) {
        bool named = false;
        double n = 0;
        bool const whole = walk(counter, of_count, [&](std::size_t which, walked_value& value) {
            if (which == 0)
                named = text_of(value) == "HDFS_BYTES_READ";
            else
                n = number_of(value);
            return true;
        });
        if (named && n > 0 && !bytes) bytes = n;
        return whole;
    }

    std::optional<double> bytes_;
};

// What a line may say of an attempt.
struct attempt_event {
    std::string_view type;
    bool of_attempt = true; // or it is not known yet
    std::size_t bodies = 0;
    std::string_view id, kind, task, tracker, avatar, host;
    std::int64_t start = 0, finish = 0; // 0: unknown
    std::optional<double> bytes_read;

    // Piece by piece: all at once takes longer than reading half of them.
    void clear() {
        type = id = kind = task = tracker = avatar = host = {};
        of_attempt = true;
        bodies = 0;
        start = finish = 0;
        bytes_read.reset();
    }

    bool read(walked_object& line) {
        clear();
        return walk(line, of_line, [this](std::size_t which, walked_value& value) {
            if (which == 1) return !of_attempt || read_event(value);
            type = text_of(value);
            of_attempt = type.find("_ATTEMPT_") != std::string_view::npos;
            return true;
        });
    }

  private:
    enum body_member : std::size_t {
        task_id,
        task_type,
        attempt_id,
        start_time,
        tracker_name,
        avataar,
        finish_time,
        host_name,
        counters,
        body_members
    };
    static inline member_names<body_members> const of_body =
        member_names<body_members>({"taskid", "taskType", "attemptId", "startTime", "trackerName", "avataar",
                                    "finishTime", "hostname", "counters"});

    // The body has the name of its class.
    bool read_event(walked_value& event) {
        return walk_object(event, [this](walked_object& object) {
            for (auto member : object) {
                if (member.error() != simdjson::SUCCESS) return false;
                auto&& body = std::move(member).value_unsafe();
                if (++bodies > 1) continue;
                if (!walk_object(body.value(), [this](walked_object& fields) { return read_body(fields); }))
                    return false;
            }
            return true;
        });
    }

    bool read_body(walked_object& body) {
        return walk(body, of_body, [this](std::size_t which, walked_value& value) {
            switch (which) {
            case task_id:
                task = text_of(value);
                return true;
            case task_type:
                kind = text_of(value);
                return true;
            case attempt_id:
                id = text_of(value);
                return true;
            case start_time:
                start = whole_or(0, value);
                return true;
            case tracker_name:
                return read_avro_text(value, tracker);
            case avataar:
                return read_avro_text(value, avatar);
            case finish_time:
                finish = whole_or(0, value);
                return true;
            case host_name:
                return read_avro_text(value, host);
            default:
                bytes_read_counter counter;
                bool const whole = counter.read(value);
                bytes_read = counter.bytes();
                return whole;
            }
        });
    }
};

class jhist_reader {
  public:
    explicit jhist_reader(collector& out) : out_(out) {}

    void read_event(std::string_view line, std::size_t number) {
        attempt_event& event = event_;
        json_kind const kind = walker_.read(line, [&](walked_object& object) { return event.read(object); });
        if (kind == json_kind::none) return out_.leave_out(reason::not_json, number);
        if (event.type.empty()) return out_.leave_out(reason::not_a_record, number);
        std::string_view const type = event.type;
        if (event.of_attempt && event.bodies != 1) return out_.leave_out(reason::other_event, number);
        if (type.ends_with("_ATTEMPT_STARTED")) return begin(event, number);
        if (type.ends_with("_ATTEMPT_FINISHED")) return end(event, ending::success, number);
        if (type.ends_with("_ATTEMPT_FAILED")) return end(event, ending::failed, number);
        if (type.ends_with("_ATTEMPT_KILLED")) return end(event, ending::killed, number);
        if (type == "JOB_FINISHED" || type == "JOB_FAILED" || type == "JOB_KILLED" || type == "JOB_ERROR")
            job_over_ = true;
        out_.leave_out(reason::other_event, number);
    }

    // What had not ended, in the order in which it began.
    void finish() {
        std::vector<std::uint32_t> rest;
        for (std::uint32_t n = 0; n < running_.size(); ++n)
            if (ids_.contains(n)) rest.push_back(n);
        std::sort(rest.begin(), rest.end(),
                  [this](std::uint32_t a, std::uint32_t b) { return running_[a].line < running_[b].line; });
        for (std::uint32_t const n : rest) {
            running_attempt const& begun = running_[n];
            if (job_over_ || begun.node.empty()) {
                out_.leave_out(reason::no_end_written, begun.line);
                continue;
            }
            attempt& a = read_so_far(ids_[n], begun);
            a.end_state = ending::running;
            a.input.reset();
            out_.take(a);
        }
    }

  private:
    struct running_attempt {
        std::string job, task, node;
        std::optional<moment> start;
        std::optional<bool> speculative;
        std::size_t line = 0;
    };

    // Of an attempt that began. It is there until the next one.
    attempt& read_so_far(std::string_view id, running_attempt const& begun) {
        attempt& a = attempt_;
        a.job = begun.job;
        a.task = begun.task;
        a.node = begun.node;
        a.start = begun.start;
        a.end.reset();
        a.speculative = begun.speculative;
        a.line = begun.line;
        a.number = hadoop_attempt_number(id);
        return a;
    }

    void begin(attempt_event const& event, std::size_t line) {
        hadoop_job(event.id, event.kind, job_);
        if (job_.empty()) return out_.leave_out(reason::no_job, line);
        std::optional<moment> since;
        if (event.start > 0) since = ms_time(event.start);
        if (!since) return out_.leave_out(reason::bad_time, line);
        running_attempt& begun = opened(event.id);
        begun.job.swap(job_);
        begun.task = event.task;
        begun.node = hadoop_host(event.tracker);
        begun.start = since;
        begun.speculative.reset();
        if (!event.avatar.empty()) begun.speculative = event.avatar == "SPECULATIVE";
        begun.line = line;
    }

    // What ended leaves its place, and the memory of its texts, to what begins next.
    running_attempt& opened(std::string_view id) {
        std::uint32_t const n = ids_.insert(id);
        if (n >= running_.size()) running_.resize(n + std::size_t{1});
        return running_[n];
    }

    void end(attempt_event const& event, ending how, std::size_t line) {
        std::uint32_t const begun = ids_.find(event.id);
        if (begun == ids_.none) {
            hadoop_job(event.id, "", job_);
            return out_.leave_out(job_.empty() ? reason::no_job : reason::end_without_start, line);
        }
        ids_.erase(begun);
        attempt& a = read_so_far(event.id, running_[begun]);
        a.line = line;
        a.end_state = how;
        if (std::string_view const host = hadoop_host(event.host); !host.empty()) a.node = host;
        if (event.finish > 0) a.end = ms_time(event.finish);
        if (!a.end) return out_.leave_out(reason::bad_time, line);
        if (a.node.empty()) return out_.leave_out(reason::no_node, line);
        a.input = event.bytes_read;
        out_.take(a);
    }

    json_walker walker_;
    attempt_event event_;
    straggle::interner<std::string> ids_; // of attempts that run
    std::vector<running_attempt> running_;
    std::string job_;
    attempt attempt_; // what no event says stays unknown
    bool job_over_ = false;
    collector& out_;
};

} // namespace

void read_jhist(text_window& text, collector& out) {
    line_reader lines(text);
    jhist_reader reader(out);
    bool schema_seen = false;
    while (lines.next()) {
        std::string_view const line = trimmed(lines.line());
        if (lines.number() == 1) {
            if (line != "Avro-Json") {
                out.leave_out(reason::unknown_version, 1);
                out.remark(
                    "a binary history: let Hadoop write JSON (mapreduce.jobhistory.jhist.format=json)");
                return;
            }
            continue;
        }
        if (lines.too_long()) {
            out.leave_out(reason::too_long, lines.number());
        } else if (!schema_seen && line.find("\"schema\"") == std::string_view::npos &&
                   line.find("\"namespace\"") != std::string_view::npos) {
            schema_seen = true;
        } else if (lines.torn() && !line.ends_with('}')) {
            out.leave_out(reason::torn, lines.number());
        } else if (!line.empty()) {
            out.count_line();
            reader.read_event(line, lines.number());
        }
    }
    reader.finish();
}

} // namespace readers
