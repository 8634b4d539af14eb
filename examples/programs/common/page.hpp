// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A page that draws itself: HTML, style and scripts that CMake put into the program, and the data of a run.
#pragma once

#include <string>
#include <string_view>

namespace program {

/// Whether the drawing library was available when the program was built.
extern bool const page_is_built_in;

/// A part of the page, as CMake made it from the files of the program: `page` is HTML with {{name}} in place
/// of the part `name`. Empty for an unknown name.
[[nodiscard]] std::string_view page_part(std::string_view name);

/// Writes the page; a `failure` if that is impossible.
/// @param json replaces {{data}}, escaped so that it cannot end its script element
void write_page(std::string const& file, std::string_view json);

} // namespace program
