// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What a scheduler expects of each machine in a month, from the months it has seen: it uses nothing that has
/// not happened yet.
#pragma once

#include "../cluster/policy.hpp"
#include "calendar.hpp"
#include "months.hpp"

#include <straggle/base/outcome.hpp>
#include <straggle/learn/boosted_trees_trainer.hpp>
#include <straggle/learn/forecast_model.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace ml_na {

/// Learns from each month as it ends, from the same records whatever is expected.
class outlook {
  public:
    enum class by : std::uint8_t {
        forecast,  ///< as ML-NA's model says, once there are two months to learn from
        last_month ///< machines that were weak in the last month are weak in this one
    };
    outlook(by what, std::uint64_t seed) : what_(what), engine_(seed) {}

    void ended(cluster::attempt_record const& a) { seen_.push_back(a); }
    /// Looks back as soon as a month is over.
    void round(double now);
    /// How likely a machine is to be weak in this month; unknown without a task in the month before.
    straggle::outcome<double> operator()(std::uint32_t node) const;

  private:
    by what_;
    std::mt19937_64 engine_;
    std::uint32_t month_ = 0;                   // the one going on
    std::vector<cluster::attempt_record> seen_; // in it
    std::vector<period> past_;
    straggle::learn::forecaster<std::uint32_t, straggle::learn::boosted_trees_trainer> learner_;
    straggle::learn::forecast_model model_{.days = days_per_month, .features = lately};
    std::vector<double> rows_;
    std::vector<straggle::learn::node_forecast<std::uint32_t>> expected_;
};

} // namespace ml_na
