// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The readers of histories against the parser alone on the same bytes: simdjson's DOM parse of every line or
// object, and the CSV reader for text. Both take turns; `ratio` is the median of parser time over reader
// time, so 1 is as fast as the parser, and 0.8 is required. Formats with recorded files in
// tests/examples/histories repeat these files; the others are made up in their form. CSV is read as
// straggle-rank reads it: names are counted, numbers are read exactly, and all attempts are kept.

#include "../../examples/programs/readers/readers.hpp"
#include "../../examples/programs/common/csv.hpp"
#include "../../examples/programs/common/number.hpp"
#include "../../examples/programs/readers/json_items.hpp"
#include "../../examples/programs/straggle-rank/history.hpp"

#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

constexpr std::size_t bytes_wanted = std::size_t{32} << 20;

std::string spark_log() {
    std::string const padding =
        R"({"ID":1,"Name":"internal.metrics.executorRunTime","Update":1838,"Value":1838,"Internal":true},)";
    std::string metrics;
    for (int i = 0; i < 24; ++i) metrics += padding;
    metrics.pop_back();
    std::string text = "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.1\"}\n";
    for (std::size_t i = 0; text.size() < bytes_wanted; ++i) {
        std::string const n = std::to_string(i), end = std::to_string(1700000000000 + 3 * i);
        text +=
            R"({"Event":"SparkListenerTaskEnd","Stage ID":)" + std::to_string(i / 200) +
            R"(,"Stage Attempt ID":0,"Task Type":"ResultTask","Task End Reason":{"Reason":"Success"},"Task Info":{"Task ID":)" +
            n + R"(,"Index":)" + std::to_string(i % 200) +
            R"(,"Attempt":0,"Launch Time":1700000000000,"Executor ID":"7","Host":"worker-)" +
            std::to_string(i % 97) + R"(.example.com","Speculative":false,"Finish Time":)" + end +
            R"(,"Failed":false,"Killed":false,"Accumulables":[)" + metrics +
            R"(]},"Task Metrics":{"Executor Run Time":1838,"Input Metrics":{"Bytes Read":12345,"Records Read":9}}})" +
            "\n";
    }
    return text;
}

// As in Hadoop's own traces: three lists of twelve and a dozen counters for each attempt.
std::string rumen_trace() {
    std::string text, counters;
    for (char const* const list : {"clockSplits", "cpuUsages", "vmemKbytes", "physMemKbytes"}) {
        counters += "      \"" + std::string(list) + "\" : [ 226";
        for (int i = 0; i < 11; ++i) counters += ", " + std::to_string(34617 + 34243 * i);
        counters += " ],\n";
    }
    for (char const* const counter :
         {"shuffleFinished", "sortFinished", "hdfsBytesWritten", "fileBytesRead", "fileBytesWritten",
          "mapInputRecords", "mapOutputBytes", "mapOutputRecords", "combineInputRecords", "reduceInputGroups",
          "spilledRecords"})
        counters += "      \"" + std::string(counter) + "\" : 5481262,\n";
    for (std::size_t i = 0; text.size() < bytes_wanted; ++i) {
        std::string const job = std::to_string(i);
        text += "{\n  \"jobID\" : \"job_1_" + job + "\",\n  \"mapTasks\" : [ ";
        for (int t = 0; t < 20; ++t)
            text += std::string(t > 0 ? ", " : "") + "{\n    \"taskID\" : \"task_1_" + job + "_m_" +
                    std::to_string(t) + "\",\n    \"attempts\" : [ {\n      \"hostName\" : \"/r/host" +
                    std::to_string(t % 9) +
                    "\",\n      \"startTime\" : 1297228041232,\n      \"result\" : \"SUCCESS\",\n      "
                    "\"finishTime\" : "
                    "1297228049999,\n      \"attemptID\" : \"attempt_1_" +
                    job + "_m_" + std::to_string(t) + "_0\",\n" + counters +
                    "      \"hdfsBytesRead\" : 5380112\n    } ]\n  }";
        text += " ]\n}\n";
    }
    return text;
}

std::string sacct_table(char separator) {
    std::string text = "JobID|JobName|NodeList|State|Start|End|ElapsedRaw\n";
    for (std::size_t i = 0; text.size() < bytes_wanted; ++i)
        text += std::to_string(1000 + i / 100) + '_' + std::to_string(i % 100) + "|render|n" +
                std::to_string(i % 300) +
                "|COMPLETED|2026-11-22T16:01:02|2026-11-22T16:05:" + std::to_string(10 + i % 50) + "|240\n";
    std::replace(text.begin(), text.end(), '|', separator);
    return text;
}

// The table of docs/guide/records.md.
std::string attempts_table() {
    std::string text = "job,task,attempt,node,start_ms,end_ms,status,speculative,input_bytes\n";
    for (std::size_t i = 0; text.size() < bytes_wanted; ++i)
        text += "application_1700000000_" + std::to_string(1000 + i / 5000) + "/stage-3," +
                std::to_string(i % 5000) + ",0,worker-" + std::to_string(i * 7 % 300) + ".example.com," +
                std::to_string(1700000000000 + 11 * i) + ',' +
                std::to_string(1700000004000 + 11 * i + i * 131 % 9000) + ",success,false,134217728\n";
    return text;
}

std::string contents(std::string const& name) {
    std::string const file = STRAGGLE_BENCH_HISTORIES "/" + name;
    readers::unpacked_source source(readers::open_file(file));
    std::string text, block(std::size_t{1} << 16, '\0');
    while (std::size_t const n = source(block.data(), block.size())) text.append(block, 0, n);
    return text;
}

// The first lines, and the rest over and over.
std::string repeated(std::string const& recorded, std::size_t head_lines) {
    std::size_t head = 0;
    for (std::size_t i = 0; i < head_lines; ++i) head = recorded.find('\n', head) + 1;
    std::string text = recorded.substr(0, head);
    std::string const body = recorded.substr(head, recorded.rfind('\n') + 1 - head);
    while (text.size() < bytes_wanted) text += body;
    return text;
}

// The jobs of `sacct --json` over and over.
std::string sacct_document() {
    std::string const recorded = contents("slurm.json.gz");
    std::size_t const first = recorded.find("\"jobs\": [") + 9, last = recorded.rfind("\n  ]");
    std::string text = recorded.substr(0, first);
    std::string const jobs = recorded.substr(first, last - first);
    for (bool again = false; text.size() < bytes_wanted; again = true) text += (again ? "," : "") + jobs;
    return text + recorded.substr(last);
}

// The same as a table with commas, so that the CSV reader can show what it does with it.
std::string as_table(std::string text, char separator) {
    std::replace(text.begin(), text.end(), separator, ',');
    std::string header = "c";
    bool quoted = false;
    for (char const c : text.substr(0, text.find('\n'))) {
        if (c == '"') quoted = !quoted;
        if (c == ',' && !quoted) header += ",c";
    }
    return header + '\n' + text;
}

std::uint64_t read(std::string const& text, readers::format how) {
    std::uint64_t attempts = 0;
    readers::attempt_sink const count = [&](readers::attempt const&) { ++attempts; };
    auto in = std::make_unique<readers::input>("memory", readers::text_source(text));
    static_cast<void>(readers::read_history({"memory"}, {.from = how}, count, std::move(in)));
    return attempts;
}

std::uint64_t parse_lines(std::string const& text) {
    simdjson::dom::parser parser;
    readers::unpacked_source source(readers::text_source(text));
    readers::text_window window(source);
    readers::line_reader lines(window);
    std::uint64_t parsed = 0;
    while (lines.next()) {
        simdjson::dom::element value;
        parsed +=
            parser.parse(lines.line().data(), lines.line().size(), false).get(value) == simdjson::SUCCESS;
    }
    return parsed;
}

// One by one, as simdjson finds them.
std::uint64_t parse_stream(std::string const& text) {
    simdjson::dom::parser parser;
    simdjson::dom::document_stream stream;
    std::uint64_t parsed = 0;
    if (parser.parse_many(text.data(), text.size(), std::size_t{1} << 20).get(stream) != simdjson::SUCCESS)
        return 0;
    for (auto document : stream) parsed += document.error() == simdjson::SUCCESS;
    return parsed;
}

// All of it is one document.
std::uint64_t parse_document(simdjson::padded_string const& text) {
    simdjson::dom::parser parser;
    simdjson::dom::element value;
    return static_cast<std::uint64_t>(parser.parse(text).get(value) == simdjson::SUCCESS);
}

// @param numbers columns: as simdjson's DOM has numbers where the text has digits, a table is parsed when its
// rows are split and its numbers are read
// @param plain by `next_plain`, which finds the fields of many rows at once
std::uint64_t parse_csv(std::string const& text, std::vector<std::size_t> const& numbers = {},
                        bool plain = false) {
    ::csv::reader reader(::csv::text_source{text});
    std::uint64_t rows = 0;
    std::int64_t sum = 0;
    for (; plain ? reader.next_plain() : reader.next(); ++rows)
        for (std::size_t const column : numbers)
            benchmark::DoNotOptimize(sum ^= program::read_number(reader.fields()[column]).digits);
    return rows;
}

template <class Alone, class Reader>
void compare(benchmark::State& state, std::size_t bytes, Alone&& alone, Reader&& reader) {
    std::vector<double> ratios;
    auto const timed = [](auto&& work) {
        std::clock_t const begin = std::clock(); // of this process, so that others do not count
        benchmark::DoNotOptimize(work());
        return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    };
    for (auto _ : state) {
        double const parser = timed(alone), all = timed(reader);
        state.SetIterationTime(all);
        ratios.push_back(parser / all);
    }
    std::nth_element(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2),
                     ratios.end());
    state.counters["ratio"] = ratios[ratios.size() / 2];
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes));
}

void spark(benchmark::State& state) {
    std::string const text = spark_log();
    compare(
        state, text.size(), [&] { return parse_lines(text); },
        [&] { return read(text, readers::format::spark); });
}
void rumen(benchmark::State& state) {
    std::string const text = rumen_trace();
    compare(
        state, text.size(), [&] { return parse_stream(text); },
        [&] { return read(text, readers::format::hadoop); });
}
void sacct_json(benchmark::State& state) {
    std::string const text = sacct_document();
    simdjson::padded_string const padded(text);
    compare(
        state, text.size(), [&] { return parse_document(padded); },
        [&] { return read(text, readers::format::slurm); });
}
void json_lines(benchmark::State& state, char const* file, std::size_t head, readers::format how) {
    std::string const text = repeated(contents(file), head);
    compare(state, text.size(), [&] { return parse_lines(text); }, [&] { return read(text, how); });
}
void table(benchmark::State& state, std::string const& text, char separator, readers::format how) {
    std::string const rows = as_table(text, separator);
    compare(state, text.size(), [&] { return parse_csv(rows); }, [&] { return read(text, how); });
}
void dask(benchmark::State& state) {
    json_lines(state, "dask.jsonl", 1, readers::format::dask);
}
void jhist(benchmark::State& state) {
    json_lines(state, "hadoop.jhist", 2, readers::format::hadoop);
}
void sacct(benchmark::State& state) {
    table(state, sacct_table('|'), '|', readers::format::slurm);
}
void nextflow(benchmark::State& state) {
    table(state, repeated(contents("nextflow-trace.txt"), 1), '\t', readers::format::nextflow);
}
// The whole way to attempts in memory, against a parser that reads the times or one that only splits.
void csv_attempts(benchmark::State& state, std::vector<std::size_t> const& numbers, bool plain = false) {
    std::string const text = attempts_table();
    std::string const file = (std::filesystem::temp_directory_path() / "straggle-bench-readers.csv").string();
    std::ofstream(file, std::ios::binary) << text;
    compare(
        state, text.size(), [&] { return parse_csv(text, numbers, plain); },
        [&] { return straggle_rank::read_history({file}, {}).rows; });
    std::filesystem::remove(file);
}
void csv_rows(benchmark::State& state) {
    csv_attempts(state, {4, 5});
}
// What keeping attempts costs beside the way in which their rows are found.
void csv_rows_plain(benchmark::State& state) {
    csv_attempts(state, {4, 5}, true);
}
void csv_rows_split(benchmark::State& state) {
    csv_attempts(state, {});
}
void parallel(benchmark::State& state) {
    table(state, repeated(contents("parallel.joblog"), 1), '\t', readers::format::parallel);
}
void haproxy(benchmark::State& state) {
    table(state, repeated(contents("haproxy-httplog.txt"), 0), ' ', readers::format::haproxy);
}
void haproxy_adapter(benchmark::State& state) {
    std::string recorded = contents("haproxy-adapter.txt"); // its last lines are messages
    for (int i = 0; i < 3; ++i) recorded.resize(recorded.rfind('\n'));
    table(state, repeated(recorded + '\n', 0), ' ', readers::format::haproxy);
}

} // namespace

BENCHMARK(spark)->UseManualTime()->Iterations(9)->Unit(benchmark::kMillisecond);
BENCHMARK(rumen)->UseManualTime()->Iterations(9)->Unit(benchmark::kMillisecond);
BENCHMARK(jhist)->UseManualTime()->Iterations(9)->Unit(benchmark::kMillisecond);
BENCHMARK(sacct_json)->UseManualTime()->Iterations(9)->Unit(benchmark::kMillisecond);
BENCHMARK(dask)->UseManualTime()->Iterations(9)->Unit(benchmark::kMillisecond);
BENCHMARK(sacct)->UseManualTime()->Iterations(9)->Unit(benchmark::kMillisecond);
BENCHMARK(nextflow)->UseManualTime()->Iterations(9)->Unit(benchmark::kMillisecond);
BENCHMARK(haproxy)->UseManualTime()->Iterations(9)->Unit(benchmark::kMillisecond);
BENCHMARK(haproxy_adapter)->UseManualTime()->Iterations(9)->Unit(benchmark::kMillisecond);
BENCHMARK(parallel)->UseManualTime()->Iterations(9)->Unit(benchmark::kMillisecond);
BENCHMARK(csv_rows)->UseManualTime()->Iterations(9)->Unit(benchmark::kMillisecond);
BENCHMARK(csv_rows_plain)->UseManualTime()->Iterations(9)->Unit(benchmark::kMillisecond);
BENCHMARK(csv_rows_split)->UseManualTime()->Iterations(9)->Unit(benchmark::kMillisecond);
