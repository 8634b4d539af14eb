// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "page.hpp"

#include "failure.hpp"
#include "output_file.hpp"

#include <ostream>

namespace program {

namespace {

// Escapes the data, whatever foreign names it contains.
std::string for_script_element(std::string_view json) {
    std::string out;
    for (char const c : json) {
        if (c == '<')
            out += "\\u003c";
        else
            out += c;
    }
    return out;
}

} // namespace

void write_page(std::string const& file, std::string_view json) {
    if (!page_is_built_in)
        throw failure(exit_status::usage,
                      "--report: this program was built without D3 (Debian: libjs-d3), which draws the page");
    std::string const data = for_script_element(json);
    output_file whole(file);
    std::ostream& out = whole.stream();
    for (std::string_view page = page_part("page"); !page.empty();) {
        std::size_t const open = page.find("{{");
        out << page.substr(0, open);
        if (open == std::string_view::npos) break;
        std::size_t const close = page.find("}}", open);
        std::string_view const name = page.substr(open + 2, close - open - 2);
        out << (name == "data" ? std::string_view(data) : page_part(name));
        page.remove_prefix(close + 2);
    }
    whole.finish();
}

} // namespace program
