// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "fields.hpp"
#include "hadoop.hpp"
#include "hadoop_attempts.hpp"
#include "json_walk.hpp"

#include <string>

namespace readers {

bool looks_like_jhist(std::string_view head) {
    return head.starts_with("Avro-Json") || head.starts_with("Avro-Binary");
}

namespace {

member_names<1> const of_avro({"string"});
member_names<1> const of_counters({"groups"});
member_names<2> const of_group({"name", "counts"});
member_names<2> const of_count({"name", "value"});
member_names<2> const of_line({"type", "event"});

// A text, or Avro's {"string": text} for one that may be missing.
bool read_avro_text(walked_value& value, std::string_view& to) {
    return walk_object(value, [&to](walked_object& object) {
        found_members<1> found;
        bool const whole = walk(object, of_avro, found);
        to = text_of(found[0]);
        return whole;
    });
}

// Bytes read from the distributed file system, if a counter has them.
class bytes_read_counter {
  public:
    bool read(walked_value& all) {
        bytes_.reset();
        return walk_object(all, [this](walked_object& object) {
            found_members<1> found;
            return walk(object, of_counters, found, [this](std::size_t, walked_value& groups) {
                return walk_objects(groups, [this](walked_object& group) { return read_group(group); });
            });
        });
    }
    [[nodiscard]] std::optional<double> bytes() const { return bytes_; }

  private:
    enum name_and_value : std::size_t { name, value };

    // The name may come before what it names, or after it.
    bool read_group(walked_object& group) {
        found_members<2> found;
        std::optional<double> bytes;
        bool const whole = walk(group, of_group, found, [&](std::size_t, walked_value& counts) {
            if (found[name].exists() && !is_of_files(found)) return true;
            return walk_objects(counts,
                                [&bytes](walked_object& counter) { return read_count(counter, bytes); });
        });
        if (bytes && !bytes_ && is_of_files(found)) bytes_ = bytes;
        return whole;
    }
    static bool is_of_files(found_members<2> const& group) {
        return text_of(group[name]).ends_with("FileSystemCounter");
    }
    static bool read_count(walked_object& counter, std::optional<double>& bytes) {
        found_members<2> found;
        bool const whole = walk(counter, of_count, found);
        if (bytes || text_of(found[name]) != "HDFS_BYTES_READ") return whole;
        if (double const n = number_of(found[value]); n > 0) bytes = n;
        return whole;
    }

    std::optional<double> bytes_;
};

hadoop_event_type type_of(std::string_view name) {
    if (name.empty()) return hadoop_event_type::none;
    std::string_view const about = take_word(name, '_'); // MAP, REDUCE, SETUP, CLEANUP; JOB, TASK, AM
    if (name == "ATTEMPT_STARTED") return hadoop_event_type::started;
    if (name == "ATTEMPT_FINISHED") return hadoop_event_type::finished;
    if (name == "ATTEMPT_FAILED") return hadoop_event_type::failed;
    if (name == "ATTEMPT_KILLED") return hadoop_event_type::killed;
    bool const ends = name == "FINISHED" || name == "FAILED" || name == "KILLED" || name == "ERROR";
    return about == "JOB" && ends ? hadoop_event_type::job_over : hadoop_event_type::other;
}

// What a line reports about an attempt. Valid until the next one is read.
class attempt_event {
  public:
    enum member : std::size_t {
        task_id,
        task_type,
        attempt_id,
        start_time,
        tracker_name,
        avataar,
        finish_time,
        host_name,
        counters,
        members
    };

    [[nodiscard]] hadoop_event_type type() const { return type_; }
    [[nodiscard]] bool is_of_attempt() const {
        return type_ >= hadoop_event_type::started && type_ <= hadoop_event_type::killed && bodies_ == 1;
    }
    [[nodiscard]] std::string_view text(member which) const {
        walked_value const value = body_[which];
        return value.front() == '{' ? avro_texts_[which] : text_of(value);
    }
    // Nothing unless it is above 0.
    [[nodiscard]] std::optional<moment> time(member which) const {
        std::int64_t const ms = whole_or(0, body_[which]);
        return ms > 0 ? ms_time(ms) : std::nullopt;
    }
    [[nodiscard]] std::optional<double> bytes_read() const {
        return body_[counters].exists() ? bytes_read_.bytes() : std::nullopt;
    }

    bool read(walked_object& line) {
        enum : std::size_t { of_type, of_event };
        bodies_ = 0;
        body_ = {};
        type_ = hadoop_event_type::none;
        found_members<2> found;
        bool const whole = walk(line, of_line, found, [&](std::size_t which, walked_value& value) {
            if (which == of_type) return true;
            // If the type follows the event, the kind of the event is not known yet.
            type_ = type_of(text_of(found[of_type]));
            bool const unwanted = type_ == hadoop_event_type::job_over || type_ == hadoop_event_type::other;
            return unwanted || read_event(value);
        });
        if (type_ == hadoop_event_type::none) type_ = type_of(text_of(found[of_type]));
        return whole;
    }

  private:
    static inline member_names<members> const of_body =
        member_names<members>({"taskid", "taskType", "attemptId", "startTime", "trackerName", "avataar",
                               "finishTime", "hostname", "counters"});

    // The body has the name of its class.
    bool read_event(walked_value& event) {
        return walk_object(event, [this](walked_object& object) {
            return object.each_member([this, &object](std::string_view, std::uint32_t const* at) {
                return walk_by(object.tokens(), at, [this](walked_value& body) {
                    if (++bodies_ > 1) return true;
                    return walk_object(body, [this](walked_object& fields) { return read_body(fields); });
                });
            });
        });
    }
    bool read_body(walked_object& body) {
        return walk(body, of_body, body_, [this](std::size_t which, walked_value& value) {
            if (which == counters) return bytes_read_.read(value);
            return read_avro_text(value, avro_texts_[which]);
        });
    }

    hadoop_event_type type_ = hadoop_event_type::none;
    std::size_t bodies_ = 0;
    found_members<members> body_;
    std::array<std::string_view, members> avro_texts_{}; // of members that are objects
    bytes_read_counter bytes_read_;
};

class jhist_reader {
  public:
    jhist_reader(line_reader const& lines, collector& out)
        : lines_(lines),
          walker_(lines),
          attempts_({"attemptId", "startTime", "finishTime", "hostname"}, out),
          out_(out) {}

    // The current line.
    void read_event() {
        using enum attempt_event::member;
        std::size_t const number = lines_.number();
        json_kind const kind = walker_.read([this](walked_object& object) { return event_.read(object); });
        if (kind == json_kind::none)
            return out_.leave_out(lines_.torn() ? reason::torn : reason::not_json, number);
        if (kind == json_kind::other || event_.type() == hadoop_event_type::none)
            return out_.leave_out(reason::not_a_record, number);
        if (event_.type() == hadoop_event_type::job_over) attempts_.end_job();
        if (!event_.is_of_attempt()) return out_.leave_out(reason::other_event, number);
        bool const starts = event_.type() == hadoop_event_type::started;
        attempts_.take({.type = event_.type(),
                        .task_id = event_.text(task_id),
                        .task_type = event_.text(task_type),
                        .attempt_id = event_.text(attempt_id),
                        .host = event_.text(starts ? tracker_name : host_name),
                        .avatar = event_.text(avataar),
                        .time = event_.time(starts ? start_time : finish_time),
                        .bytes_read = event_.bytes_read(),
                        .line = number});
    }
    void finish() { attempts_.finish(); }

  private:
    line_reader const& lines_;
    json_line_walker walker_;
    attempt_event event_;
    hadoop_attempts attempts_;
    collector& out_;
};

} // namespace

void read_jhist(text_window& text, collector& out) {
    line_reader lines(text);
    jhist_reader reader(lines, out);
    bool begun = false, schema_seen = false;
    while (lines.next()) {
        std::string_view const line = trimmed(lines.line());
        if (!begun) {
            begun = true;
            if (line != "Avro-Json") {
                out.leave_out(reason::unknown_version, lines.number());
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
        } else if (!line.empty()) {
            out.count_line();
            reader.read_event();
        }
    }
    reader.finish();
}

} // namespace readers
