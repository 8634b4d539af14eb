// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The output formats of the advice.
#pragma once

#include "advise.hpp"

#include <iosfwd>
#include <string>

namespace straggle_backup {

/// Everything to print.
struct result {
    straggle_backup::options const& options;
    straggle_backup::history const& history;
    snapshot const& now;
    straggle_backup::cluster const& cluster;
    name_table const& names;
    time_model const& model;
    straggle_backup::advised const& advised;
};

/// Why there is no copy, or its expected gain, in words.
[[nodiscard]] std::string reason(advice const& a, result const& r);
/// `85 s`, `3.2 min`
[[nodiscard]] std::string time_text(double seconds);

void print_table(std::ostream& out, result const& r, bool colors);
void print_json(std::ostream& out, result const& r);
void print_csv(std::ostream& out, result const& r);

} // namespace straggle_backup
