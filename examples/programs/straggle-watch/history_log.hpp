// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What the plan log contains besides plans: how long jobs took, and the results of the races of copies.
#pragma once

#include "cluster.hpp"

#include <straggle/base/bytes.hpp>
#include <straggle/mitigate/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace straggle_watch {

/// @par Guarantees bounded: beyond that, the jobs that ended longest ago are forgotten
class history_log {
  public:
    static constexpr std::size_t most = std::size_t{1} << 16;

    void attempt_ended(ended_attempt const& a, std::string& log);
    void attempt_started(running_attempt const& row);
    void job_finished(std::string_view name, bool left_alone, std::string& log);
    void copy_planned(running_attempt const& original, std::string_view to, double now,
                      straggle::mitigate::planned_copy const& planned);

    void write(straggle::byte_writer& out) const;
    void read(straggle::byte_reader& in);

  private:
    struct job_times {
        double start = 0, end = 0;
        std::uint64_t attempts = 0, failed = 0;
    };
    struct race {
        std::string node, to;
        double planned = 0, low = 0, middle = 0, high = 0;
        double start = 0; // of the copy
        bool has_begun = false;
        bool original_ended = false, copy_ended = false, is_probe = false;
    };
    [[nodiscard]] std::string_view key(std::string_view job, std::string_view task);
    void forget_old_jobs();

    text_map<job_times> jobs_;
    text_map<race> races_; // by job and task
    std::string key_;
};

} // namespace straggle_watch
