// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// straggle-backup, the backup advisor: which running tasks are late, and whether and where a copy of each is
/// worthwhile.

#include "../common/failure.hpp"
#include "../common/run.hpp"
#include "output.hpp"

#include <iostream>

#include <unistd.h>

namespace straggle_backup {

using namespace program;
namespace {

void print(result const& r) {
    switch (r.options.format) {
    case output_format::table:
        print_table(std::cout, r, isatty(STDOUT_FILENO) != 0);
        break;
    case output_format::json:
        print_json(std::cout, r);
        break;
    case output_format::csv:
        print_csv(std::cout, r);
        break;
    }
    flush_output();
}

void run(options const& o) {
    bool const show_progress = !o.quiet && isatty(STDERR_FILENO) != 0;
    name_table names;
    kind_finder kinds(o.kind_pattern);
    history past = read_history(o, names, kinds, show_progress);
    snapshot const now = read_running(o, past, names, kinds, show_progress);
    cluster nodes = read_cluster(o, past, now, names, show_progress);
    avoid(nodes, o, past, names);
    time_model model(past, o);
    advised const all = advise(o, past, now, nodes, model);
    print({o, past, now, nodes, names, model, all});
}

int main_of(int argc, char const* const* argv) {
    return program::run("straggle-backup", [&] {
        if (std::optional<options> const o = parse_command_line(argc, argv)) run(*o);
        return static_cast<int>(exit_status::done);
    });
}

} // namespace
} // namespace straggle_backup

int main(int argc, char** argv) {
    return straggle_backup::main_of(argc, argv);
}
