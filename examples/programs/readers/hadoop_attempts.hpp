// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Attempts of Hadoop from their start and end events, in any form of the history.
#pragma once

#include "fields.hpp"
#include "hadoop.hpp"
#include "history.hpp"

#include <straggle/base/interner.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace readers {

/// What an event is about.
enum class hadoop_event_type : std::uint8_t { none, started, finished, failed, killed, job_over, other };

/// What a format calls the fields of an attempt, for messages.
struct hadoop_field_names {
    std::string_view id, start, end, host;
};

/// An event of an attempt. The texts are valid only during the call.
struct hadoop_event {
    hadoop_event_type type{};
    std::string_view task_id, task_type, attempt_id, host, avatar;
    std::optional<moment> time;
    std::optional<double> bytes_read;
    std::size_t line = 0;
};

/// `job_1_2/map` of `attempt_1_2_m_000003_0` and `MAP`; empty if it is not an attempt.
class hadoop_job_names {
  public:
    /// Valid until the next call.
    std::string const& name_of(std::string_view attempt_id, std::string_view task_type) {
        // Most attempts are of the same job as the last one.
        bool const again = !prefix_.empty() && attempt_id.size() > prefix_.size() &&
                           attempt_id.starts_with(prefix_) && task_type == task_type_;
        if (!again) find_name(attempt_id, task_type);
        return name_;
    }

  private:
    void find_name(std::string_view attempt_id, std::string_view task_type) {
        constexpr std::string_view front = "attempt_";
        name_.clear();
        prefix_.clear();
        if (!attempt_id.starts_with(front)) return;
        std::string_view rest = attempt_id.substr(front.size());
        std::string_view const cluster = take_word(rest, '_'), number = take_word(rest, '_');
        if (cluster.empty() || number.empty() || rest.empty()) return;
        name_.append("job_").append(cluster).append(1, '_').append(number);
        name_ += task_type == "MAP" ? "/map" : task_type == "REDUCE" ? "/reduce" : "/other";
        prefix_ = attempt_id.substr(0, attempt_id.size() - rest.size());
        task_type_ = task_type;
    }

    std::string name_, prefix_, task_type_; // attempt_1_2_ and MAP
};

/// Matches starts and ends of attempts.
class hadoop_attempts {
  public:
    hadoop_attempts(hadoop_field_names names, collector& out) : names_(names), out_(out) {}

    /// @pre the event begins or ends an attempt
    void take(hadoop_event const& e) {
        if (e.type == hadoop_event_type::started)
            begin(e);
        else
            end(e);
    }
    /// What has not ended by now never will.
    void end_job() { job_over_ = true; }

    /// Returns the attempts without an end, in order of their starts.
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

    // An attempt that has started. Valid until the next one.
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

    void begin(hadoop_event const& e) {
        std::string const& job = jobs_.name_of(e.attempt_id, e.task_type);
        if (job.empty()) return out_.leave_out(reason::no_job, e.line, id_of(e));
        if (!e.time) return out_.leave_out(reason::bad_time, e.line, {names_.start, {}, time_form});
        running_attempt& begun = opened(e.attempt_id);
        begun.job = job;
        begun.task = e.task_id;
        begun.node = hadoop_host(e.host);
        begun.start = e.time;
        begun.speculative.reset();
        if (!e.avatar.empty()) begun.speculative = e.avatar == "SPECULATIVE";
        begun.line = e.line;
    }

    // What has ended leaves its place, and the memory of its texts, to the next attempt.
    running_attempt& opened(std::string_view id) {
        std::uint32_t const n = ids_.insert(id);
        if (n >= running_.size()) running_.resize(n + std::size_t{1});
        return running_[n];
    }

    void end(hadoop_event const& e) {
        std::uint32_t const begun = ids_.find(e.attempt_id);
        if (begun == ids_.none) {
            bool const is_named = !jobs_.name_of(e.attempt_id, "").empty();
            return is_named ? out_.leave_out(reason::end_without_start, e.line)
                            : out_.leave_out(reason::no_job, e.line, id_of(e));
        }
        ids_.erase(begun);
        attempt& a = read_so_far(e.attempt_id, running_[begun]);
        a.line = e.line;
        a.end_state = e.type == hadoop_event_type::finished ? ending::success
                      : e.type == hadoop_event_type::failed ? ending::failed
                                                            : ending::killed;
        if (auto const host = hadoop_host(e.host); !host.empty()) a.node = host;
        a.end = e.time;
        if (!a.end) return out_.leave_out(reason::bad_time, e.line, {names_.end, {}, time_form});
        if (a.node.empty())
            return out_.leave_out(reason::no_node, e.line, {names_.host, e.host, "the name of a host"});
        a.input = e.bytes_read;
        out_.take(a);
    }

    static constexpr std::string_view time_form = "milliseconds since 1970, above 0";
    [[nodiscard]] wrong_field id_of(hadoop_event const& e) const {
        return {names_.id, e.attempt_id, "an id, as attempt_1_2_m_000003_0"};
    }

    hadoop_field_names names_;
    straggle::interner<std::string> ids_; // of running attempts
    std::vector<running_attempt> running_;
    hadoop_job_names jobs_;
    attempt attempt_; // what no event reports stays unknown
    bool job_over_ = false;
    collector& out_;
};

} // namespace readers
