// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Real task times, if they are on this computer: they are read in place and are not part of the project.
#pragma once

#include <filesystem>
#include <vector>

namespace lab {

/// Times of sibling tasks over their mean, by job.
using histories = std::vector<std::vector<double>>;

/// Reads the CSV files of a folder (`job,task,attempt,node,start_ms,end_ms,status,...`): jobs of at least 20
/// successful attempts whose median is at least a second.
/// @return empty if there is no such folder
histories read_histories(std::filesystem::path const& folder);

} // namespace lab
