// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The page of `--report` without its data; CMake makes it from the files in `report/`.
#pragma once

#include <string_view>

namespace straggle_rank {

/// Whether the drawing library was there when the program was built.
extern bool const report_is_built_in;

extern std::string_view const report_page;    ///< HTML with {{name}} where a part goes
extern std::string_view const report_style;   ///< CSS
extern std::string_view const report_d3;      ///< the drawing library with its licence
extern std::string_view const report_figures; ///< JavaScript
extern std::string_view const report_script;  ///< JavaScript

} // namespace straggle_rank
