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

/// The day of each job: that of its first start or end. Days are numbered from 1970, or from the origin of
/// the times in the file.
class job_days {
  public:
    /// A `failure` if the file has no times, or in an unknown unit, or for no attempt.
    job_days(history const& h, options const& o);

    [[nodiscard]] std::optional<std::int64_t> of(std::uint32_t job) const { return days_[job]; }
    [[nodiscard]] std::int64_t first() const { return first_; }
    [[nodiscard]] std::int64_t last() const { return last_; }
    /// Their number, including idle ones.
    [[nodiscard]] std::uint64_t count() const { return static_cast<std::uint64_t>(last_ - first_) + 1; }

  private:
    std::vector<std::optional<std::int64_t>> days_; // by job
    std::int64_t first_ = 0, last_ = 0;
};

} // namespace straggle_rank
