// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "fields.hpp"
#include "hadoop.hpp"
#include "json.hpp"

#include <map>
#include <string>

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

// A text, or Avro's {"string": text} for one that may be missing.
std::string_view avro_text(std::optional<json_value> value) {
    std::string_view const plain = text_of(value);
    return plain.empty() ? text_in(value, "string") : plain;
}

constexpr wanted_members line_members(std::array<std::string_view, 2>{"type", "event"});
constexpr wanted_members start_members(std::array<std::string_view, 6>{
    "attemptId", "taskType", "taskid", "trackerName", "startTime", "avataar"});
constexpr wanted_members end_members(std::array<std::string_view, 4>{"attemptId", "hostname", "finishTime",
                                                                     "counters"});

// Bytes read from the distributed file system, if a counter tells.
std::optional<double> bytes_read_by(std::optional<json_value> counters) {
    simdjson::dom::array groups, counts;
    auto const all = member(counters, "groups");
    if (!all || all->get(groups) != simdjson::SUCCESS) return std::nullopt;
    for (json_value const group : groups) {
        if (!text_in(group, "name").ends_with("FileSystemCounter")) continue;
        auto const list = member(group, "counts");
        if (!list || list->get(counts) != simdjson::SUCCESS) continue;
        for (json_value const counter : counts)
            if (text_in(counter, "name") == "HDFS_BYTES_READ")
                if (auto const bytes = real_in(counter, "value"); bytes && *bytes > 0) return bytes;
    }
    return std::nullopt;
}

class jhist_reader {
  public:
    explicit jhist_reader(collector& out) : out_(out) {}

    void read_event(std::string_view line, std::size_t number) {
        auto const all = parse_json(parser_, line);
        if (!all) return out_.leave_out(reason::not_json, number);
        auto const [type_name, event] = line_members.in(all);
        std::string_view const type = text_of(type_name);
        simdjson::dom::object wrapped;
        if (type.empty() || !event || event->get(wrapped) != simdjson::SUCCESS || wrapped.size() != 1)
            return out_.leave_out(type.empty() ? reason::not_a_record : reason::other_event, number);
        json_value const body = (*wrapped.begin()).value;
        if (type.ends_with("_ATTEMPT_STARTED"))
            begin(body, number);
        else if (type.ends_with("_ATTEMPT_FINISHED"))
            end(body, ending::success, number);
        else if (type.ends_with("_ATTEMPT_FAILED"))
            end(body, ending::failed, number);
        else if (type.ends_with("_ATTEMPT_KILLED"))
            end(body, ending::killed, number);
        else if (type == "JOB_FINISHED" || type == "JOB_FAILED" || type == "JOB_KILLED" ||
                 type == "JOB_ERROR")
            job_over_ = true;
        if (type.find("_ATTEMPT_") == std::string_view::npos) out_.leave_out(reason::other_event, number);
    }

    // What had not ended.
    void finish() {
        for (auto const& [id, begun] : running_) {
            if (job_over_ || begun.node.empty()) {
                out_.leave_out(reason::no_end_written, begun.line);
                continue;
            }
            attempt a = known(id, begun);
            a.end_state = ending::running;
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

    static attempt known(std::string_view id, running_attempt const& begun) {
        attempt a;
        a.job = begun.job;
        a.task = begun.task;
        a.node = begun.node;
        a.start = begun.start;
        a.speculative = begun.speculative;
        a.line = begun.line;
        a.number = hadoop_attempt_number(id);
        return a;
    }

    void begin(json_value body, std::size_t line) {
        auto const [attempt_id, task_type, task, tracker, start, avatar] = start_members.in(body);
        std::string_view const id = text_of(attempt_id);
        hadoop_job(id, text_of(task_type), job_);
        if (job_.empty()) return out_.leave_out(reason::no_job, line);
        std::optional<moment> since;
        if (auto const ms = whole(start); ms && *ms > 0) since = ms_time(*ms);
        if (!since) return out_.leave_out(reason::bad_time, line);
        running_attempt& begun = opened(id);
        begun.job = job_;
        begun.task = text_of(task);
        begun.node = hadoop_host(avro_text(tracker));
        begun.start = since;
        begun.speculative.reset();
        if (std::string_view const kind = avro_text(avatar); !kind.empty())
            begun.speculative = kind == "SPECULATIVE";
        begun.line = line;
    }

    // What ended leaves its place, and the memory of its texts, to what begins next.
    running_attempt& opened(std::string_view id) {
        if (auto const known = running_.find(id); known != running_.end()) return known->second;
        if (ended_.empty()) return running_[std::string(id)];
        ended_.key() = id;
        return running_.insert(std::move(ended_)).position->second;
    }

    void end(json_value body, ending how, std::size_t line) {
        auto const [attempt_id, host_name, finish_time, counters] = end_members.in(body);
        std::string_view const id = text_of(attempt_id);
        auto const begun = running_.find(id);
        if (begun == running_.end()) {
            hadoop_job(id, "", job_);
            return out_.leave_out(job_.empty() ? reason::no_job : reason::end_without_start, line);
        }
        ended_ = running_.extract(begun);
        attempt a = known(ended_.key(), ended_.mapped());
        a.line = line;
        a.end_state = how;
        if (std::string_view const host = hadoop_host(avro_text(host_name)); !host.empty()) a.node = host;
        if (auto const ms = whole(finish_time); ms && *ms > 0) a.end = ms_time(*ms);
        if (!a.end) return out_.leave_out(reason::bad_time, line);
        if (a.node.empty()) return out_.leave_out(reason::no_node, line);
        a.input = bytes_read_by(counters);
        out_.take(a);
    }

    simdjson::dom::parser parser_;
    using running_attempts = std::map<std::string, running_attempt, std::less<>>;
    running_attempts running_; // by attempt
    running_attempts::node_type ended_;
    std::string job_;
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
