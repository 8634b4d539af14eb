// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "options.hpp"

#include "../common/failure.hpp"

#include <straggle/version.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>

namespace straggle_mpi {

namespace {

constexpr char const* description =
    "Ranks the nodes of a cluster from a task history that is divided among MPI ranks.";

constexpr char const* footer = R"(
  mpirun -n RANKS straggle-mpi-rank FILE

Each rank takes every RANKS-th attempt of FILE into a monitor of its own. The monitors travel as bytes up
a binary tree and are merged on the way; rank 0 prints the table of nodes: the weakest level first, within
it the slowest first. All of it is integer arithmetic until the last step, so the output has the same bytes
whatever the number of ranks, and one process (without mpirun) prints it too.

FILE is CSV with a header (RFC 4180), where every rank can read it, one row per attempt to run a task.
Columns: job, node, start_ms, end_ms (whole numbers), and status if there is one: success, succeeded, ok,
true, 1, completed, done: a success; killed, cancelled: killed; anything else, and nothing: failed. An empty
field is unknown. Rows that cannot be read are left out and counted.

Exit status, of every rank: 0 done; 1 wrong usage; 2 the input cannot be read or is no such table; 3 the
output cannot be written.)";

[[noreturn]] void wrong(std::string const& what) {
    throw program::failure(program::exit_status::usage, what + " (see --help)");
}

output_format format_of(std::string const& word) {
    if (word == "text") return output_format::text;
    if (word == "json") return output_format::json;
    if (word == "csv") return output_format::csv;
    wrong("--format: '" + word + "' is none of text, json, csv");
}

} // namespace

options parse_command_line(int argc, char const* const* argv) {
    CLI::App app(description, "straggle-mpi-rank");
    std::string file, format = "text";
    app.add_option("FILE", file, "the history")->required();
    app.add_option("--format", format, "text, json (a line per node) or csv (default text)")
        ->type_name("FORMAT");
    bool csv_safe = false;
    app.add_flag("--csv-safe", csv_safe, "in CSV, defuse names that a spreadsheet would run as formulas");
    app.footer(footer);
    app.set_version_flag("--version", "straggle-mpi-rank " + std::to_string(STRAGGLE_VERSION_MAJOR) + "." +
                                          std::to_string(STRAGGLE_VERSION_MINOR) + "." +
                                          std::to_string(STRAGGLE_VERSION_PATCH));
    options o;
    try {
        app.parse(argc, argv);
    } catch (CLI::CallForHelp const&) {
        o.text = app.help() + '\n';
        return o;
    } catch (CLI::CallForVersion const& version) {
        o.text = std::string(version.what()) + '\n';
        return o;
    } catch (CLI::ParseError const& e) {
        std::string text = e.what();
        std::replace(text.begin(), text.end(), '\n', ' ');
        wrong(text);
    }
    if (file == "-") wrong("FILE: standard input reaches one rank only");
    o.file = file;
    o.format = format_of(format);
    o.csv_safe = csv_safe;
    return o;
}

} // namespace straggle_mpi
