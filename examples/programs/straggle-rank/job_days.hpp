// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// On which day the jobs of a history ran.
#pragma once

#include "history.hpp"
#include "options.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace straggle_rank {

/// The day of each job: that of its first sign of life, a start or an end. Days are numbered from 1970 on, or
/// from whatever the file counts its time.
class job_days {
  public:
    /// A `failure` if the file gives no times, or in no unit that is known, or none of an attempt.
    job_days(history const& h, options const& o);

    [[nodiscard]] std::optional<std::int64_t> of(std::uint32_t job) const { return days_[job]; }
    [[nodiscard]] std::int64_t first() const { return first_; }
    [[nodiscard]] std::int64_t last() const { return last_; }
    /// How many, idle ones too.
    [[nodiscard]] std::uint64_t count() const { return static_cast<std::uint64_t>(last_ - first_) + 1; }

  private:
    std::vector<std::optional<std::int64_t>> days_; // by job
    std::int64_t first_ = 0, last_ = 0;
};

} // namespace straggle_rank
