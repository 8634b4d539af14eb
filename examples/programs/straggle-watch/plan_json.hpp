// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The output of the program, as lines of JSON.
#pragma once

#include "cluster.hpp"
#include "fault.hpp"
#include "gangs.hpp"
#include "records.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace straggle_watch {

struct tally;
struct ended_times;

struct plan_line {
    straggle::mitigation_plan const& plan;
    cluster const& told;
    mitigator_type const& mitigator;
    straggle::mitigate::mitigator_counts const& counts;
    tally const& totals;
    straggle::cluster_load const& load;
    ended_times const& ended;
    gangs& gangs_told;
    double now;
    bool shadow, is_on, lists_all;
};

/// @param listed the nodes that the previous plan listed as not healthy; updated to those of this plan
[[nodiscard]] std::string plan_json(plan_line const& line, text_map<char>& listed);

struct places_answer {
    std::string_view job;
    std::optional<std::string_view> request;
    bool left_alone;
    std::vector<std::pair<std::string_view, double>> places;
};
void append_places(std::string& out, places_answer const& answer);
void append_fault(std::string& out, std::uint64_t line, line_fault const& what);
[[nodiscard]] std::string hello_json(bool shadow, bool is_decider, std::uint64_t plans, bool restored);

} // namespace straggle_watch
