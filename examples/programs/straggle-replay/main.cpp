// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// straggle-replay: how good straggler detectors would have been on a recorded history.

#include "../common/detectors.hpp"
#include "../common/failure.hpp"
#include "../common/page.hpp"
#include "../common/progress.hpp"
#include "../common/run.hpp"
#include "mitigator_rule.hpp"
#include "node_memory.hpp"
#include "output.hpp"

#include <iostream>

#include <unistd.h>

namespace straggle_replay {
namespace {

using namespace program;

// Remembers what nodes were like, and shows the progress of the replay.
class watched_memory : public node_memory {
  public:
    watched_memory(history const& h, bool show_progress)
        : node_memory(h), bar_(show_progress, h.tape->tasks(), "tasks") {}
    void finished(std::size_t row) {
        node_memory::finished(row);
        bar_.update(tasks(), tasks());
    }

  private:
    progress_bar bar_;
};

result play(options const& o, history const& h, bool show_progress) {
    std::vector<contestant> contestants;
    for (std::string const& d : o.detectors) {
        if (d != mitigator_rule_name)
            contestants.push_back(make_contestant(d, known_of(o)));
        else
            contestants.emplace_back(d, true, mitigator_rule(h, std::chrono::milliseconds(o.interval_ms)));
    }
    replaying::replayer player(*h.tape, {.interval = std::chrono::milliseconds(o.interval_ms),
                                         .quantile = o.quantile,
                                         .usual = o.usual_seconds,
                                         .min_tasks = o.min_tasks,
                                         .how = {.straggler = {o.threshold}}});
    watched_memory memory(h, show_progress);
    player.run(memory, contestants);
    result r{o, h, player.counts(), {}};
    for (std::size_t i = 0; i < contestants.size(); ++i)
        r.detectors.push_back({contestants[i].label(), player.metrics()[i]});
    return r;
}

void print(result const& r) {
    switch (r.options.format) {
    case output_format::table:
        print_table(std::cout, r, isatty(STDOUT_FILENO) != 0);
        break;
    case output_format::json:
        std::cout << to_json(r).dump(1) << '\n';
        break;
    case output_format::csv:
        print_csv(std::cout, r);
        break;
    }
    flush_output();
}

std::string nothing_used(history const& past) {
    std::string text = past.file + ": every record was rejected";
    for (rejected_records const& some : rejected_attempts(past)) text += "; " + in_words(some);
    return text;
}

void run(options const& o) {
    bool const show_progress = !o.quiet && isatty(STDERR_FILENO) != 0;
    history const past = read_history(o, show_progress);
    if (past.tape->attempts().used == 0) throw failure(exit_status::bad_input, nothing_used(past));
    result const r = play(o, past, show_progress);
    if (!o.report.empty()) write_page(o.report, to_json(r).dump());
    print(r);
}

int main_of(int argc, char const* const* argv) {
    return program::run("straggle-replay", [&] {
        if (std::optional<options> const o = parse_command_line(argc, argv)) run(*o);
        return static_cast<int>(exit_status::done);
    });
}

} // namespace
} // namespace straggle_replay

int main(int argc, char** argv) {
    return straggle_replay::main_of(argc, argv);
}
