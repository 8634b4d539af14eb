// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The content of a history, whatever engine wrote it: its attempts, and what could not be read.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace readers {

/// The formats that can be read.
enum class format : std::uint8_t {
    csv,
    slurm,
    spark,
    hadoop,
    nextflow,
    haproxy,
    parallel,
    dask,
    pbs,
    sge,
    lsf,
    htcondor
};
inline constexpr std::array<std::string_view, 12> format_names{"csv",      "slurm",   "spark",    "hadoop",
                                                               "nextflow", "haproxy", "parallel", "dask",
                                                               "pbs",      "sge",     "lsf",      "htcondor"};
[[nodiscard]] constexpr std::string_view to_string(format f) {
    return format_names[static_cast<std::size_t>(f)];
}
[[nodiscard]] std::optional<format> format_named(std::string_view name);

/// Since 1970, or the origin of the history.
using moment = std::chrono::nanoseconds;

/// How an attempt ended.
enum class ending : std::uint8_t { success, failed, killed, running };

/// One attempt to run a task. Empty is unknown. The texts are valid only during the call.
struct attempt {
    std::string_view job;      ///< group of tasks that should take equally long
    std::string_view task;     ///< unique in its job; empty: a separate task
    std::string_view node;     ///< where it ran
    std::string_view executor; ///< what ran it on the node, if the engine reports it
    std::uint32_t number = 0;  ///< of the attempt, counted from 0
    ending end_state = ending::success;
    std::optional<bool> speculative; ///< a copy of a running attempt
    std::optional<moment> start, end;
    std::optional<double> input; ///< bytes
    std::size_t line = 0;        ///< of the file, counted from 1
};

/// Takes one attempt.
using attempt_sink = std::function<void(attempt const&)>;

/// Why something in a file is not an attempt. Reasons from `not_json` on are damage; those before are not.
enum class reason : std::uint8_t {
    other_event,       ///< an event that is not about an attempt, a comment, a line of state
    step,              ///< a Slurm step of a task that is read as a whole
    never_started,     ///< pending, or canceled before it began
    several_nodes,     ///< a task on more than one node says nothing about any of them
    not_run,           ///< taken from a cache
    reported_again,    ///< Spark reports again how an attempt ended, since its output was lost
    no_end_written,    ///< the log ends before the attempt does, and its application has ended
    not_http,          ///< a TCP session lasts as long as its client wants
    no_server,         ///< a request that the proxy answered itself
    end_without_start, ///< the log begins after the start
    not_json,
    torn, ///< the last line, without an end
    too_long,
    not_a_record, ///< a line that is not of this format
    wrong_field_count,
    no_job,
    no_node,
    bad_number,
    bad_time,
    mixed_clocks, ///< times are in a different form than in the first record
    ends_before_start,
    damaged_packing, ///< gzip or zstd
    unknown_version,
    unknown_format, ///< a file in a folder that is not a history
};
inline constexpr std::size_t reason_count = static_cast<std::size_t>(reason::unknown_format) + 1;
[[nodiscard]] std::string_view to_string(reason r);
[[nodiscard]] constexpr bool is_damage(reason r) {
    return r >= reason::not_json;
}

/// How often something happened, and where it did first.
struct occurrences {
    struct place {
        std::uint32_t file = 0;
        std::size_t line = 0; ///< 0: the whole file
    };
    std::uint64_t count = 0;
    std::vector<place> first{}; ///< at most `most_places`
    std::string example{};      ///< the first field that was wrong: its name, its value, what was expected
    static constexpr std::size_t most_places = 5;
};

/// The result of one file.
struct file_report {
    std::string name;          ///< its name in messages
    std::optional<format> how; ///< nothing: unknown
    std::uint64_t attempts = 0;
    std::string remark; ///< one sentence, if necessary
};

/// The result of reading a history.
struct reading_report {
    std::vector<file_report> files;
    std::array<occurrences, reason_count> reasons{};
    std::uint64_t lines = 0; ///< or objects, if an object takes several lines
    std::uint64_t attempts = 0, successes = 0, failed = 0, killed = 0, running = 0, speculative = 0;
    std::string engine_version; ///< from the first file that contains it

    [[nodiscard]] occurrences const& operator[](reason r) const {
        return reasons[static_cast<std::size_t>(r)];
    }
    [[nodiscard]] std::uint64_t damaged() const {
        std::uint64_t sum = 0;
        for (std::size_t i = static_cast<std::size_t>(reason::not_json); i < reason_count; ++i)
            sum += reasons[i].count;
        return sum;
    }
};

/// A field that cannot be read. The texts are valid only during the call.
struct wrong_field {
    std::string_view name, value, expected;
};

/// Receives what a reader reads.
class collector {
  public:
    collector(reading_report& report, attempt_sink const& sink) : report_(report), sink_(sink) {}

    /// Takes an attempt, unless its times are invalid.
    void take(attempt const& a);
    /// Something is not an attempt. @param line 0: the whole file
    void leave_out(reason why, std::size_t line);
    /// The same, and the first such field is named.
    void leave_out(reason why, std::size_t line, wrong_field const& field);
    void count_line() { ++report_.lines; }
    void note_version(std::string_view version) {
        if (report_.engine_version.empty()) report_.engine_version = version.substr(0, 40);
    }
    /// One sentence about the file.
    void remark(std::string text) { report_.files.back().remark = std::move(text); }
    [[nodiscard]] std::string const& file_name() const { return report_.files.back().name; }

  private:
    reading_report& report_;
    attempt_sink const& sink_;
};

} // namespace readers
