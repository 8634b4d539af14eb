// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// straggle-report: draws a page from a plan log of straggle-watch.

#include "../common/command_line.hpp"
#include "../common/page.hpp"
#include "../common/run.hpp"
#include "../common/text.hpp"
#include "summary.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <fstream>
#include <iostream>

namespace straggle_report {

using namespace program;

namespace {

constexpr std::size_t longest_line = std::size_t{256} << 20;

std::uint64_t read(std::istream& in, std::string const& name, summary& to) {
    simdjson::dom::parser parser;
    std::uint64_t bad = 0;
    for (std::string line; std::getline(in, line);) {
        if (line.find_first_not_of(" \r\t") == std::string::npos) continue;
        if (line.size() > longest_line) throw failure(exit_status::bad_input, name + ": a line is too long");
        simdjson::dom::element whole;
        if (parser.parse(line).get(whole) != simdjson::SUCCESS || !to.add(whole)) ++bad;
    }
    if (in.bad()) throw failure(exit_status::bad_input, name + ": cannot be read");
    if (to.plans() == 0)
        throw failure(exit_status::bad_input, name + ": holds no plan; straggle-watch --log writes them");
    return bad;
}

int main_of(int argc, char const* const* argv) {
    return program::run("straggle-report", [&] {
        CLI::App app("Draws what straggle-watch did: node states over time, how long tasks and jobs took, "
                     "and what copies won.",
                     "straggle-report");
        std::string log, output = "straggle-report.html", title = "What straggle did";
        app.add_option("LOG", log, "plan log of straggle-watch --log; - for standard input")->required();
        app.add_option("--output", output, "(default straggle-report.html)")->type_name("FILE");
        app.add_option("--title", title, "of the page");
        add_version(app);
        if (!parse(app, argc, argv)) return static_cast<int>(exit_status::done);
        summary all;
        std::uint64_t bad = 0;
        if (log == "-") {
            bad = read(std::cin, "standard input", all);
        } else {
            std::ifstream in(log, std::ios::binary);
            if (!in) throw failure(exit_status::bad_input, log + ": cannot be read");
            bad = read(in, log, all);
        }
        if (bad != 0)
            std::fprintf(stderr, "straggle-report: %s of other things left out\n",
                         counted(bad, "line").c_str());
        auto const data = all.data(valid_utf8(title), bad);
        write_page(output, data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
        return static_cast<int>(exit_status::done);
    });
}

} // namespace
} // namespace straggle_report

int main(int argc, char** argv) {
    return straggle_report::main_of(argc, argv);
}
