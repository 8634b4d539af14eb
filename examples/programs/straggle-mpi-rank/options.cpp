// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "options.hpp"

#include "../common/failure.hpp"

#include <straggle/version.hpp>

#include <string_view>

namespace straggle_mpi {

namespace {

constexpr char const* help_text =
    R"(Ranks the nodes of a cluster from a task history that is divided among MPI ranks.

Usage: mpirun -n RANKS straggle-mpi-rank [--format text|json|csv] FILE

Each rank takes every RANKS-th attempt of FILE into a monitor of its own. The monitors travel as bytes up
a binary tree and are merged on the way; rank 0 prints the table of nodes: the weakest level first, within
it the slowest first. All of it is integer arithmetic until the last step, so the output has the same bytes
whatever the number of ranks, and one process (without mpirun) prints it too.

FILE is CSV with a header (RFC 4180), where every rank can read it, one row per attempt to run a task.
Columns: job, node, start_ms, end_ms (whole numbers), and status if there is one: success, succeeded, ok,
true, 1, completed, done: a success; killed, cancelled: killed; anything else, and nothing: failed. An empty
field is unknown. Rows that cannot be read are left out and counted.

  --format FORMAT   text (default), json (a line per node) or csv
  --help            print this
  --version         print the version

Exit status, of every rank: 0 done; 1 wrong usage; 2 the input cannot be read or is no such table; 3 the
output cannot be written.
)";

[[noreturn]] void wrong(std::string const& what) {
    throw program::failure(program::exit_status::usage, what + " (see --help)");
}

output_format format_of(std::string_view word) {
    if (word == "text") return output_format::text;
    if (word == "json") return output_format::json;
    if (word == "csv") return output_format::csv;
    wrong("--format: '" + std::string(word) + "' is none of text, json, csv");
}

} // namespace

options parse_command_line(int argc, char const* const* argv) {
    options o;
    bool only_files = false;
    for (int i = 1; i < argc; ++i) {
        std::string_view const word = argv[i];
        if (!only_files && word == "--help") {
            o.request = request::help;
            return o;
        }
        if (!only_files && word == "--version") {
            o.request = request::version;
            return o;
        }
        if (!only_files && word == "--") {
            only_files = true;
        } else if (!only_files && word == "--format") {
            if (i + 1 == argc) wrong("--format: which?");
            o.format = format_of(argv[++i]);
        } else if (!only_files && word.starts_with("--format=")) {
            o.format = format_of(word.substr(std::string_view("--format=").size()));
        } else if (!only_files && word == "-") {
            wrong("FILE: standard input reaches one rank only");
        } else if (!only_files && word.starts_with('-')) {
            wrong("'" + std::string(word) + "' is no option");
        } else if (!o.file.empty()) {
            wrong("more than one FILE");
        } else {
            o.file = word;
        }
    }
    if (o.file.empty()) wrong("FILE is required");
    return o;
}

std::string help() {
    return help_text;
}

std::string version() {
    return "straggle-mpi-rank " + std::to_string(STRAGGLE_VERSION_MAJOR) + "." +
           std::to_string(STRAGGLE_VERSION_MINOR) + "." + std::to_string(STRAGGLE_VERSION_PATCH) + "\n";
}

} // namespace straggle_mpi
