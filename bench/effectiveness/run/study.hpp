// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Runs policies on scenarios, several at a time, and keeps the measurements.
#pragma once

#include "../policies/make_policy.hpp"
#include "../scenarios/scenario.hpp"
#include "measurement.hpp"
#include "options.hpp"

#include <map>
#include <tuple>
#include <vector>

namespace lab {

class study {
  public:
    /// @param scenarios those to run @param policies those to run, "nothing" among them
    study(options const& how, std::vector<scenario> scenarios, std::vector<std::string> policies,
          histories const& seen);

    /// Makes all runs that have not been made.
    void run();
    /// Prints how much longer jobs take than under "nothing", by scenario and policy.
    void print() const;
    /// Prints the share of missed deadlines, and the time of the other jobs.
    void print_deadlines() const;
    /// The measurements with the given seeds only.
    std::vector<measurement> results() const;

  private:
    struct unit { // all policies for one seed of a scenario
        std::size_t scenario;
        std::uint64_t seed;
        std::vector<std::string> policies;
    };
    using key = std::tuple<std::string, std::string, std::uint64_t>;

    void read_old();
    void run(std::vector<unit> const& units);
    void run(unit const& u);
    std::vector<unit> next_units(std::size_t seeds_made) const;
    /// Compares a scenario and policy with "nothing", by a member of `measurement`.
    comparison compare(std::string const& scenario, std::string const& policy,
                       double measurement::* what) const;
    bool is_sure(std::string const& scenario, std::string const& policy) const;
    void print_row(std::string const& name, std::vector<comparison> const& mean,
                   std::vector<comparison> const& p99) const;

    options const& how_;
    std::vector<scenario> scenarios_;
    std::vector<std::string> policies_;
    histories const& seen_;
    std::map<key, measurement> found_;
};

} // namespace lab
