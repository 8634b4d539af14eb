// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// straggle-rank: which nodes of a cluster are slow, from a recorded task history.

#include "decide.hpp"
#include "failure.hpp"
#include "output.hpp"

#include <cstdio>
#include <iostream>
#include <new>

#include <unistd.h>

namespace straggle_rank {
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
    if (!std::cout.flush()) throw failure(exit_status::cannot_write, "standard output: cannot be written");
}

void run(options const& o) {
    history const past = read_history(o.file, {.columns = o.columns,
                                               .with_input = o.normaliser == normaliser::work_rate,
                                               .show_progress = !o.quiet && isatty(STDERR_FILENO) != 0});
    ranking const nodes = rank(past, o);
    decision const verdicts = decide(nodes, past, o);
    result const all{o, past, nodes, verdicts};
    if (!o.report.empty()) write_report(o.report, all);
    print(all);
}

int main_of(int argc, char const* const* argv) {
    try {
        if (std::optional<options> const o = parse_command_line(argc, argv)) run(*o);
        return static_cast<int>(exit_status::done);
    } catch (failure const& e) {
        std::fprintf(stderr, "straggle-rank: %s\n", e.what());
        return static_cast<int>(e.status());
    } catch (std::bad_alloc const&) {
        std::fputs("straggle-rank: not enough memory\n", stderr);
        return static_cast<int>(exit_status::bad_input);
    }
}

} // namespace
} // namespace straggle_rank

int main(int argc, char** argv) {
    std::ios::sync_with_stdio(false);
    return straggle_rank::main_of(argc, argv);
}
