// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What a history says, whatever engine wrote it: one attempt after the other, and what could not be read.
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

/// Since 1970, or whatever the history counts from.
using moment = std::chrono::nanoseconds;

/// How an attempt ended.
enum class ending : std::uint8_t { success, failed, killed, running };

/// One attempt to run a task. Empty is unknown. The texts are valid only while the attempt is handed over.
struct attempt {
    std::string_view job;      ///< group of tasks that should take equally long
    std::string_view task;     ///< unique in its job; empty: a task of its own
    std::string_view node;     ///< where it ran
    std::string_view executor; ///< what ran it on the node, where the engine tells
    std::uint32_t number = 0;  ///< of the attempt, counted from 0
    ending end_state = ending::success;
    std::optional<bool> speculative; ///< a copy of an attempt that ran already
    std::optional<moment> start, end;
    std::optional<double> input; ///< bytes
    std::size_t line = 0;        ///< of the file, counted from 1
};

/// Takes one attempt.
using attempt_sink = std::function<void(attempt const&)>;

/// Why something in a file is no attempt. Those from `not_json` on are damage; those before are not.
enum class reason : std::uint8_t {
    other_event,       ///< an event that is not about an attempt, a comment, a line of state
    step,              ///< a Slurm step of a task that is read as a whole
    never_started,     ///< pending, or cancelled before it began
    several_nodes,     ///< a task on more than one node says nothing about any of them
    not_run,           ///< taken from a cache
    reported_again,    ///< Spark says again how an attempt ended, since its output was lost
    no_end_written,    ///< the log ends before the attempt does, and its application has ended
    not_http,          ///< a TCP session lasts as long as its client likes
    no_server,         ///< a request that the proxy answered by itself
    end_without_start, ///< the log begins in the middle
    not_json,
    torn, ///< the last line, and it has no end
    too_long,
    not_a_record, ///< a line that is none of the format
    wrong_field_count,
    no_job,
    no_node,
    bad_number,
    bad_time,
    mixed_clocks, ///< times are told in another way than in the first record
    ends_before_start,
    damaged_packing, ///< gzip or zstd
    unknown_version,
    unknown_format, ///< a file of a folder that is no history
};
inline constexpr std::size_t reason_count = static_cast<std::size_t>(reason::unknown_format) + 1;
[[nodiscard]] std::string_view to_string(reason r);
[[nodiscard]] constexpr bool is_damage(reason r) {
    return r >= reason::not_json;
}

/// How often something happened, and where first.
struct occurrences {
    struct place {
        std::uint32_t file = 0;
        std::size_t line = 0; ///< 0: the file as a whole
    };
    std::uint64_t count = 0;
    std::vector<place> first{}; ///< at most `most_places`
    std::string example{};      ///< the first field that was wrong: its name, its value, what was expected
    static constexpr std::size_t most_places = 5;
};

/// What came of one file.
struct file_report {
    std::string name;          ///< as messages call it
    std::optional<format> how; ///< nothing: unknown
    std::uint64_t attempts = 0;
    std::string remark; ///< one sentence where there is something to say
};

/// What came of reading a history.
struct reading_report {
    std::vector<file_report> files;
    std::array<occurrences, reason_count> reasons{};
    std::uint64_t lines = 0; ///< or objects, where an object takes several lines
    std::uint64_t attempts = 0, successes = 0, failed = 0, killed = 0, running = 0, speculative = 0;
    std::string engine_version; ///< as the first file that tells says

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

/// A field that cannot be read. The texts are valid only while it is handed over.
struct wrong_field {
    std::string_view name, value, expected;
};

/// Where a reader puts what it reads.
class collector {
  public:
    collector(reading_report& report, attempt_sink const& sink) : report_(report), sink_(sink) {}

    /// Takes an attempt, unless its times are none.
    void take(attempt const& a);
    /// Something is no attempt. @param line 0: the file as a whole
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
