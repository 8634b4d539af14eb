// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// straggle-mpi-rank: the nodes of a cluster ranked from a task history that no single process has seen.

#include "../common/run.hpp"
#include "../common/text.hpp"
#include "options.hpp"
#include "ranks.hpp"
#include "shard.hpp"
#include "table.hpp"

#include <cstdio>
#include <iostream>

namespace straggle_mpi {

namespace {

void say(std::string const& what) {
    std::fprintf(stderr, "straggle-mpi-rank: %s\n", what.c_str());
}

void say_left_out(std::uint64_t rows, std::string const& why) {
    if (rows > 0) say(program::counted(rows, "row") + " left out: " + why);
}

void say_left_out(unreadable_rows const& unreadable, straggle::attempt_counts const& counts) {
    say_left_out(unreadable.count, "unreadable, the first on line " + std::to_string(unreadable.first_line));
    for (std::size_t i = 0; i < straggle::record::rejection_count; ++i) {
        auto const reason = static_cast<straggle::rejection>(i);
        say_left_out(counts[reason], std::string(to_string(reason)));
    }
}

void print_counts(std::ostream& out, unreadable_rows const& unreadable, shard::ranking_type const& ranking) {
    auto const& counts = ranking.attempts();
    out << "\nRecords: " << counts.seen + unreadable.count << " read, " << counts.used << " used, "
        << counts.failed << " failed, " << counts.killed << " killed, "
        << counts.total_rejected() + unreadable.count << " rejected.\nJobs: " << ranking.usable_jobs()
        << " compared, " << ranking.degenerate_jobs().size() << " left out.\n";
}

void rank_nodes(ranks const& all, options const& o) {
    share mine;
    all.together([&] { read_share(o.file, all.rank(), all.size(), mine); });
    all.together([&] { all.reduce(mine.seen); });
    unreadable_rows const unreadable{all.sum(mine.unreadable.count), all.least(mine.unreadable.first_line)};
    all.together([&] {
        if (all.rank() != 0) return;
        auto const& ranking = mine.seen.rank();
        print_nodes(std::cout, ranking, o);
        if (o.format == output_format::text) print_counts(std::cout, unreadable, ranking);
        program::flush_output();
        say_left_out(unreadable, ranking.attempts());
    });
}

void run(ranks const& all, int argc, char const* const* argv) {
    options o;
    all.together([&] { o = parse_command_line(argc, argv); });
    if (o.text.empty()) return rank_nodes(all, o);
    all.together([&] {
        if (all.rank() != 0) return;
        std::cout << o.text;
        program::flush_output();
    });
}

} // namespace
} // namespace straggle_mpi

int main(int argc, char** argv) {
    std::ios::sync_with_stdio(false);
    straggle_mpi::ranks const all(argc, argv);
    try {
        straggle_mpi::run(all, argc, argv);
        return 0;
    } catch (program::failure const& e) { // the same on all ranks
        if (all.rank() == 0) straggle_mpi::say(e.what());
        return static_cast<int>(e.status());
    }
}
