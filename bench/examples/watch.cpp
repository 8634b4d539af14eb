// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The protocol of straggle-watch against the parser alone on the same bytes: simdjson's DOM parse of every
// line. Both take turns; `ratio` is the median of parser time over watch time, so 1 is as fast as the parser
// alone, and 0.5 is required. `bound` is the ratio if only the parser, and the mitigator learning from ends,
// took time. `with_state` writes the journal as well, of which at most the last second is lost.

#include "../../examples/programs/straggle-watch/watch.hpp"

#include <straggle/base/bytes.hpp>

#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace {

using namespace straggle_watch;

struct shape {
    bool has_starts = false, has_names = false;
    int lines_a_decision = 0; // 0: none
    int nodes = 100, slots = 4;
};

// A cluster whose slots are always busy: jobs of 50 tasks, their starts and ends in the order of time.
std::string stream(shape const& s) {
    constexpr std::size_t bytes_wanted = std::size_t{24} << 20;
    std::string text;
    auto const number = [](double x) {
        std::string digits(32, '\0');
        digits.resize(static_cast<std::size_t>(std::snprintf(digits.data(), digits.size(), "%.3f", x)));
        return digits;
    };
    auto const name = [&](char const* what, std::uint64_t n) {
        if (!s.has_names) return std::string(1, *what) + std::to_string(n);
        return "application-" + std::string(what) + "-" + std::to_string(1000000 + n) + ".example.com";
    };
    for (int n = 0; n < s.nodes; ++n)
        text += R"({"event": "node", "node": ")" + name("node", static_cast<std::uint64_t>(n)) +
                R"(", "slots": )" + std::to_string(s.slots) + "}\n";
    struct attempt {
        double end, start;
        std::uint64_t job, task;
        int node;
        bool operator<(attempt const& other) const { return end > other.end; }
    };
    std::vector<attempt> running;
    std::uint64_t seed = 1, launched = 0;
    auto const begin = [&](int node, double now) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double const length = 20 + static_cast<double>(seed >> 54) / 50 + (node == 3 ? 30 : 0);
        attempt const a{now + length, now, launched / 50, launched % 50, node};
        ++launched;
        running.push_back(a);
        std::push_heap(running.begin(), running.end());
        if (s.has_starts)
            text += R"({"event": "start", "job": ")" + name("job", a.job) + R"(", "task": )" +
                    std::to_string(a.task) + R"(, "node": ")" +
                    name("node", static_cast<std::uint64_t>(node)) + R"(", "start": )" + number(now) + "}\n";
    };
    for (int i = 0; i < s.nodes * s.slots; ++i) begin(i % s.nodes, 1.7e9 + i * 0.01);
    for (int lines = 0; text.size() < bytes_wanted; ++lines) {
        std::pop_heap(running.begin(), running.end());
        attempt const a = running.back();
        running.pop_back();
        text += R"({"event": "end", "job": ")" + name("job", a.job) + R"(", "task": )" +
                std::to_string(a.task) + R"(, "node": ")" + name("node", static_cast<std::uint64_t>(a.node)) +
                R"(", "start": )" + number(a.start) + R"(, "end": )" + number(a.end) + "}\n";
        if (a.task == 49) text += R"({"event": "finish", "job": ")" + name("job", a.job) + "\"}\n";
        begin(a.node, a.end);
        if (s.lines_a_decision > 0 && lines % s.lines_a_decision == s.lines_a_decision - 1)
            text += R"({"event": "decide", "now": )" + number(a.end) + R"(, "waiting": 100})" + "\n";
    }
    return text;
}

std::size_t parse_lines(std::string const& text, std::size_t size) {
    simdjson::dom::parser parser;
    std::string_view left(text.data(), size);
    std::size_t good = 0;
    while (!left.empty()) {
        std::size_t const end = left.find('\n');
        simdjson::dom::element line;
        good += parser.parse(left.data(), end, false).get(line) == simdjson::SUCCESS ? 1u : 0u;
        left.remove_prefix(end + 1);
    }
    return good;
}

std::size_t watch_lines(std::string const& text, std::size_t size, std::FILE* journal) {
    watch watched({});
    answers out;
    std::string_view left(text.data(), size);
    std::uint64_t line = 1;
    while (!left.empty()) { // in blocks, as the program reads them
        std::size_t n = std::min<std::size_t>(left.size(), std::size_t{1} << 18);
        if (n < left.size()) n = left.rfind('\n', n) + 1;
        if (journal != nullptr) {
            straggle::byte_writer entry;
            entry.text(left.substr(0, n));
            auto const bytes = std::move(entry).seal(straggle::frame_kind("wjou"), 1);
            std::fwrite(bytes.data(), 1, bytes.size(), journal);
        }
        line += watched.lines(left.substr(0, n), line, {}, out);
        left.remove_prefix(n);
        benchmark::DoNotOptimize(out.reply.data());
        out.clear();
    }
    if (journal != nullptr) ::fdatasync(::fileno(journal));
    return watched.counts().lines - watched.counts().bad_lines();
}

// An end, or the end of a job.
struct fact {
    std::string job, node, task;
    double start = 0, end = 0;
};

std::vector<fact> facts_in(std::string const& text, std::size_t size) {
    std::vector<fact> facts;
    simdjson::dom::parser parser;
    std::string_view left(text.data(), size);
    for (; !left.empty(); left.remove_prefix(left.find('\n') + 1)) {
        simdjson::dom::element line;
        std::string_view event, job, node;
        std::int64_t task = 0;
        fact f;
        if (parser.parse(left.data(), left.find('\n'), false).get(line) != simdjson::SUCCESS ||
            line["event"].get(event) != simdjson::SUCCESS || (event != "end" && event != "finish"))
            continue;
        if (line["job"].get(job) != simdjson::SUCCESS) continue;
        f.job = job;
        if (event == "end" && line["node"].get(node) == simdjson::SUCCESS &&
            line["task"].get(task) == simdjson::SUCCESS && line["start"].get(f.start) == simdjson::SUCCESS &&
            line["end"].get(f.end) == simdjson::SUCCESS) {
            f.node = node;
            f.task = std::to_string(task);
        }
        facts.push_back(std::move(f));
    }
    return facts;
}

std::uint64_t learn(std::vector<fact> const& facts) {
    auto mitigator = make_mitigator({});
    for (fact const& f : facts) {
        if (f.node.empty())
            mitigator.finish(std::string_view(f.job));
        else
            static_cast<void>(mitigator.observe(
                ended_attempt{.job = f.job, .node = f.node, .start = f.start, .end = f.end, .task = f.task},
                f.end));
    }
    return mitigator.counts().attempts.used;
}

void compare(benchmark::State& state, shape const& s, bool keeps_journal = false) {
    std::string text = stream(s);
    std::size_t const size = text.size();
    text.resize(size + padding);
    auto const facts = facts_in(text, size);
    std::vector<double> ratios, bounds;
    auto const median = [](std::vector<double>& of) {
        auto const middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
        std::nth_element(of.begin(), middle, of.end());
        return *middle;
    };
    auto const timed = [](auto&& work) {
        std::clock_t const begin = std::clock(); // of this process, so that others do not count
        benchmark::DoNotOptimize(work());
        return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    };
    if (parse_lines(text, size) != watch_lines(text, size, nullptr))
        return state.SkipWithError("lines were refused");
    for (auto _ : state) {
        std::FILE* const journal = keeps_journal ? std::tmpfile() : nullptr;
        double const parser = timed([&] { return parse_lines(text, size); });
        double const all = timed([&] { return watch_lines(text, size, journal); });
        double const learning = timed([&] { return learn(facts); });
        if (journal != nullptr) std::fclose(journal);
        state.SetIterationTime(all);
        ratios.push_back(parser / all);
        bounds.push_back(parser / (parser + learning));
    }
    state.counters["ratio"] = median(ratios);
    state.counters["bound"] = median(bounds);
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(size));
}

void ends(benchmark::State& state) {
    compare(state, {});
}
void starts_and_ends(benchmark::State& state) {
    compare(state, {.has_starts = true});
}
void long_names(benchmark::State& state) {
    compare(state, {.has_starts = true, .has_names = true});
}
void decides_every_1000(benchmark::State& state) {
    compare(state, {.has_starts = true, .lines_a_decision = 1000});
}
void with_state(benchmark::State& state) {
    compare(state, {.has_starts = true, .lines_a_decision = 1000}, true);
}

} // namespace

BENCHMARK(ends)->UseManualTime()->Iterations(7)->Unit(benchmark::kMillisecond);
BENCHMARK(starts_and_ends)->UseManualTime()->Iterations(7)->Unit(benchmark::kMillisecond);
BENCHMARK(long_names)->UseManualTime()->Iterations(7)->Unit(benchmark::kMillisecond);
BENCHMARK(decides_every_1000)->UseManualTime()->Iterations(7)->Unit(benchmark::kMillisecond);
BENCHMARK(with_state)->UseManualTime()->Iterations(7)->Unit(benchmark::kMillisecond);
