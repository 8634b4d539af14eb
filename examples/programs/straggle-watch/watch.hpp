// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The protocol: lines in, answers out. It reads no clock and no file, so the same lines at the same times
/// give the same answers, in a test and when a journal is read again.
#pragma once

#include "cluster.hpp"
#include "fault.hpp"
#include "gangs.hpp"
#include "history_log.hpp"
#include "members.hpp"
#include "records.hpp"

#include <straggle/mitigate/mitigator_options.hpp>

#include <simdjson.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace straggle_watch {

struct watch_options {
    straggle::mitigator_options mitigator{};
    bool shadow = false;
    bool keeps_log = false; ///< job and copy lines are needed
    std::size_t most_running = std::size_t{1} << 20;
    std::size_t longest_line = std::size_t{4} << 20;
};

/// When and how lines arrived.
struct arrival {
    std::optional<double> wall; ///< seconds since 1970, if the program's own clock is used
    bool is_decider = true;     ///< whether this process holds the lease
};

/// The answers to lines, appended.
struct answers {
    std::string reply;       ///< for the sender, with the plans in their order if it wants them
    std::string plans;       ///< for all others
    std::string log;         ///< for the plan log, plans too
    bool wants_plans = true; ///< whether the sender wants plans
    void clear() {
        reply.clear();
        plans.clear();
        log.clear();
    }
};

/// Counts since the beginning.
struct tally {
    std::uint64_t lines = 0, plans = 0, copies = 0, kills = 0, places = 0;
    std::array<std::uint64_t, fault_count> faults{}; ///< by `fault`
    [[nodiscard]] std::uint64_t bad_lines() const {
        std::uint64_t sum = 0;
        for (std::uint64_t const n : faults) sum += n;
        return sum;
    }
};

/// How long attempts that succeeded since the last plan took.
struct ended_times {
    std::uint64_t count = 0;
    double sum = 0, longest = 0;
};

/// Bytes that must be readable after every block of lines.
inline constexpr std::size_t padding = simdjson::SIMDJSON_PADDING;

class watch {
  public:
    explicit watch(watch_options const& options);
    watch(watch const&) = delete;
    watch& operator=(watch const&) = delete;

    /// Processes complete lines. @param block with `padding` readable bytes after it
    /// @param first_line number of its first line, for faults
    /// @return the number of lines
    std::uint64_t lines(std::string_view block, std::uint64_t first_line, arrival const& when, answers& out);
    /// A line was longer than allowed, and skipped.
    void too_long(std::uint64_t line, answers& out);
    /// The timer has expired.
    void decide(arrival const& when, answers& out);

    [[nodiscard]] std::string hello(bool is_decider) const;
    [[nodiscard]] tally const& counts() const { return tally_; }
    [[nodiscard]] straggle::mitigate::mitigator_counts mitigator_counts() const;
    [[nodiscard]] mitigator_type const& mitigator() const { return mitigator_; }
    [[nodiscard]] cluster const& told() const { return cluster_; }
    [[nodiscard]] gangs const& gangs_told() const { return gangs_; }
    [[nodiscard]] std::optional<double> now() const { return now_; }
    [[nodiscard]] bool is_on() const { return is_on_; }

    /// Notes that this continues the state of an earlier process.
    void restored() { was_restored_ = true; }
    [[nodiscard]] std::vector<std::byte> serialize() const;
    /// @return `ok`; otherwise why the bytes are rejected, and the watch must not be used anymore
    [[nodiscard]] straggle::status restore(std::span<std::byte const> bytes);

  private:
    void line(std::string_view text, arrival const& when);
    void event(std::string_view name, arrival const& when);
    void say_fault(line_fault const& what);

    void on_hello(arrival const& when);
    void on_node(members& m);
    void on_node_gone();
    void on_nodes();
    void on_start(members& m);
    void on_progress();
    void on_end();
    void on_running();
    void on_decide(arrival const& when);
    void on_rank_places();
    void on_resume();
    void read_load(members& m);
    bool read_end_times(ended_attempt& attempt, running_attempt const* row);
    void decide_now(double now, bool is_decider, bool lists_all);

    watch_options options_;
    simdjson::dom::parser parser_;
    members members_, item_;
    mitigator_type mitigator_;
    cluster cluster_;
    gangs gangs_;
    history_log history_;
    straggle::cluster_load load_{};
    straggle::mitigate::mitigator_counts base_{}; // of earlier processes
    tally tally_;
    ended_times ended_{};
    text_map<char> listed_; // nodes that were not healthy in the last plan
    std::optional<double> now_;
    std::size_t faults_told_ = 0; // since the last plan
    bool is_on_ = true, was_restored_ = false;

    // Of the current line.
    std::uint64_t line_ = 0;
    double time_ = 0;                           // when it arrived
    bool has_time_ = false, has_clock_ = false; // known at all; said by the line or by this machine
    answers* out_ = nullptr;
};

} // namespace straggle_watch
