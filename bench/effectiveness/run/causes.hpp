// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Claimed causes of late attempts, beside the true ones.
#pragma once

#include "../cluster/engine.hpp"

#include <iosfwd>
#include <span>
#include <string>

namespace lab {

/// The columns of `write_causes`: probabilities, and the logarithms of the factors, claimed and true.
inline constexpr char const* causes_header = "scenario,policy,seed,job,task,number,now,age,"
                                             "p_node,p_input,p_crowd,p_kind,p_itself,"
                                             "t_node,t_input,t_crowd,t_kind,t_itself,"
                                             "node,input,crowd,kind,itself";

/// Appends a row for the first claim about each attempt, and for the first with odds of 9 to 1 if that is a
/// different one.
/// @param run `scenario,policy,seed`
void write_causes(std::ostream& out, std::string const& run, plan const& what, result const& of,
                  std::span<cause_claim const> claims);

} // namespace lab
