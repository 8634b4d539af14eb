// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whatever the tables say, and at whatever times: straggle-rank, straggle-replay and straggle-backup say in
// one line what is wrong with a file, or account for every row and print JSON, always the same. The first
// byte chooses the program and what it is asked for; a line of `---` divides the text into its files.
// tests/examples/straggle_*_test.py replay the corpus.

#include "examples/programs/common/failure.hpp"
#include "examples/programs/common/text.hpp"
#include "examples/programs/straggle-backup/output.hpp"
#include "examples/programs/straggle-rank/window_output.hpp"
#include "examples/programs/straggle-replay/node_memory.hpp"
#include "examples/programs/straggle-replay/output.hpp"
#include "examples/programs/straggle-replay/replay.hpp"
#include "fuzzing.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace {

using fuzzing::demand;

// A file that only we can see.
class text_file {
  public:
    explicit text_file(std::string_view text) : number_(::memfd_create("text", MFD_CLOEXEC)) {
        demand(number_ >= 0 &&
               ::write(number_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    }
    text_file(text_file const&) = delete;
    text_file& operator=(text_file const&) = delete;
    ~text_file() { ::close(number_); }
    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

  private:
    int number_;
};

std::vector<std::string_view> parts_of(std::string_view text, std::size_t most) {
    constexpr std::string_view divider = "---\n";
    std::vector<std::string_view> parts;
    for (std::size_t at = 0; parts.size() + 1 < most;) {
        at = text.find(divider, at);
        if (at == std::string_view::npos) break;
        if (at > 0 && text[at - 1] != '\n') {
            ++at;
            continue;
        }
        parts.push_back(text.substr(0, at));
        text.remove_prefix(at + divider.size());
        at = 0;
    }
    parts.push_back(text);
    return parts;
}

std::string rank(std::string_view text, unsigned how) {
    namespace program = straggle_rank;
    text_file const file(text);
    program::options o;
    o.files = {file.path()};
    if ((how & 1U) != 0) o.normalizer = program::normalizer::work_rate;
    if ((how & 2U) != 0) o.selection = program::parse_selection("dominated:0.5");
    program::history past = program::read_history(
        o.files, {.columns = o.columns, .needs_input = o.normalizer == program::normalizer::work_rate});
    program::ranking const nodes = program::rank(past, o);
    auto const& counts = nodes.attempts();
    std::uint64_t accounted = past.unparsable_number.count + past.not_finite.count + counts.seen;
    accounted += past.log ? past.log->running : past.unended;
    demand(accounted == past.rows);
    for (auto const& n : nodes.nodes()) demand(n.id < past.nodes.size() && n.n > 0);
    program::fleet const cluster = program::fleet_of(past, o);
    std::vector<std::string> const names = program::distinct_names(cluster.names);
    program::whole_evidence const weighed = program::weigh(past, cluster, o, false);
    program::decision const verdicts =
        o.decides_by_slowdown() ? weighed.decision : program::decide(nodes, cluster, o);
    std::optional<program::lost_time> lost;
    if ((how & 32U) != 0) lost = program::lost_by_cause(past, weighed.slowdowns);
    program::result const all{o, past, nodes, verdicts, weighed, nullptr, lost ? &*lost : nullptr, &names};
    std::ostringstream out;
    program::print_json(out, all);
    if ((how & 4U) == 0 || past.end_column.empty()) return out.str();
    o.windows = program::parse_lengths("10m", (how & 8U) != 0 ? "1m" : "10m");
    program::window_calendar const calendar = program::calendar_of(past, o);
    auto const printer = program::window_json(past, o, calendar);
    program::window_sink* const sinks[] = {printer.get()};
    program::timeline const t =
        program::follow(past, o, cluster, calendar, sinks, (how & 16U) != 0 && past.inputs.empty());
    std::ostringstream windows;
    printer->print(windows, all, t);
    return windows.str();
}

std::string replay(std::string_view text, unsigned how) {
    namespace program = straggle_replay;
    auto const parts = parts_of(text, 2);
    text_file const attempts(parts[0]), reports(parts.back());
    program::options o;
    o.file = attempts.path();
    if (parts.size() > 1) o.progress_file = reports.path();
    o.interval_ms = (how & 1U) != 0 ? 0 : 1000;
    o.with_input = (how & 2U) != 0;
    o.detectors = {"late", "node_aware", "largest_gain"};
    program::history const past = program::read_history(o, false);
    std::vector<::program::contestant> contestants;
    for (std::string const& d : o.detectors)
        contestants.push_back(::program::make_contestant(d, program::known_of(o)));
    replaying::replayer player(*past.tape, {.interval = std::chrono::milliseconds(o.interval_ms)});
    program::node_memory memory(past);
    player.run(memory, contestants);
    program::result r{o, past, player.counts(), {}};
    for (std::size_t i = 0; i < contestants.size(); ++i)
        r.detectors.push_back({contestants[i].label(), player.metrics()[i]});
    return program::to_json(r).dump();
}

std::string back_up(std::string_view text, unsigned how) {
    namespace program = straggle_backup;
    auto const parts = parts_of(text, 3);
    text_file const history(parts[0]), running(parts[parts.size() > 1 ? 1 : 0]), nodes(parts.back());
    program::options o;
    o.history = history.path();
    if (parts.size() > 1) o.running = running.path();
    if (parts.size() > 2) o.nodes = nodes.path();
    if ((how & 1U) != 0) o.running_format = program::running_format::json_lines;
    if ((how & 2U) != 0) o.policy = program::profit_policy::riski_2014;
    program::name_table names;
    program::kind_finder kinds(o.kind_pattern);
    program::history past = program::read_history(o, names, kinds, false);
    program::snapshot const now = program::read_running(o, past, names, kinds, false);
    program::cluster cluster = program::read_cluster(o, past, now, names, false);
    program::avoid(cluster, o, past, names);
    program::time_model model(past, o);
    program::advised const all = program::advise(o, past, now, cluster, model);
    demand(all.copies <= cluster.slots);
    std::ostringstream out;
    program::print_json(out, {o, past, now, cluster, names, model, all});
    return out.str();
}

// What a program says; the number of a file is another one each time.
std::string said(unsigned choice, std::string_view text) {
    unsigned const how = choice / 3;
    try {
        std::string const json = choice % 3 == 0   ? rank(text, how)
                                 : choice % 3 == 1 ? replay(text, how)
                                                   : back_up(text, how);
        demand(nlohmann::json::accept(json));
        return json;
    } catch (program::failure const& e) {
        demand(e.status() == program::exit_status::bad_input || e.status() == program::exit_status::usage);
        return e.what();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    if (size == 0) return 0;
    std::string_view const text(reinterpret_cast<char const*>(data) + 1, size - 1);
    demand(said(data[0], text) == said(data[0], text));
    return 0;
}
