// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Damaged input is counted by reason with its lines; what can be read is read, in time that grows with its
// length.

#include "support.hpp"

#include "../../../examples/programs/common/failure.hpp"
#include "../../../examples/programs/readers/json_items.hpp"

#include <support/shared_data.hpp>

#include <fstream>
#include <iterator>

#include <zlib.h>

using namespace readers_test;
using readers::format;
using readers::reason;

namespace {

std::string const job = R"({
  "jobID" : "job_1_2",
  "mapTasks" : [ {
    "taskID" : "task_1_2_m_0",
    "attempts" : [ { "hostName" : "/r/h1", "startTime" : 1000, "finishTime" : 2000, "result" : "SUCCESS",
      "attemptID" : "attempt_1_2_m_0_0" } ]
  } ]
}
)";

std::string contents(std::string const& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace

TEST_CASE("readers: a damaged object among whole ones is left out") {
    std::string no_end = job, no_comma = job;
    no_end.erase(no_end.rfind('}'));
    no_comma.replace(no_comma.find(','), 1, " ");
    for (std::string const& bad : {no_end, no_comma, std::string("{\n")}) {
        reading const r = read_text(job + bad + job + job);
        CAPTURE(bad);
        CHECK(r.report.attempts == 3);
        CHECK(r.count(reason::not_json) == 1);
        CHECK(r.lines(reason::not_json) == std::vector<std::size_t>{9});
    }
    reading const cut = read_text(job + job.substr(0, job.size() / 2));
    CHECK(cut.report.attempts == 1);
    CHECK(cut.lines(reason::torn) == std::vector<std::size_t>{9});
    CHECK(read_text(job + "garbage\n" + job).lines(reason::not_a_record) == std::vector<std::size_t>{9});
    CHECK(read_text(job + "garbage\nmore\n").lines(reason::not_a_record) == std::vector<std::size_t>{9});
    CHECK(read_text(job + "\n] ").count(reason::not_a_record) == 0);
    // Where there is no object at all, too.
    CHECK(read_text("\nnone here\n", format::hadoop).lines(reason::not_a_record) ==
          std::vector<std::size_t>{2});
}

TEST_CASE("readers: lines that stand before a log are named, and hide nothing of it") {
    for (char const* const name :
         {"dask.jsonl", "hadoop.jhist", "nextflow-raw.txt", "nextflow-trace.txt", "parallel.joblog",
          "slurm-epoch.txt", "slurm-parsable.txt", "slurm-parsable2.txt"}) {
        CAPTURE(name);
        std::string const log = contents(kept(name));
        reading const whole = read_text(log), late = read_text("\r\nsacct: warning, a message\n" + log);
        CHECK(late.report.attempts == whole.report.attempts);
        CHECK(late.lines(reason::not_a_record) == std::vector<std::size_t>{2});
        CHECK(late.count(reason::not_json) == 0);
        for (std::size_t i = 0; i < late.rows.size(); ++i) CHECK(late.rows[i].line == whole.rows[i].line + 2);
        reading const told = read_text("a message\n" + log, whole.report.files[0].how);
        CHECK(told.report.attempts == whole.report.attempts);
    }
    CHECK(read_text("job 7\n" + job + job).lines(reason::not_a_record) == std::vector<std::size_t>{1});
    CHECK(read_text("job 7\n" + job + job).report.attempts == 2);
    // Far down it is a part of something else.
    CHECK(readers::guess_format(std::string(40, '\n') + "Seq\tHost\tStarttime\t") == std::nullopt);
    CHECK(readers::guess_format("job,node,duration\n1,2,3\n") == format::csv);
    CHECK(readers::guess_format("a,b\nSeq\tHost\tStarttime\tJobRuntime\n") == format::parallel);
}

TEST_CASE("readers: objects of one line, and several in one") {
    std::string line = job;
    std::erase(line, '\n');
    CHECK(read_text(line + line + '\n' + line).report.attempts == 3);
    reading const r = read_text(line + '\n' + line.substr(0, line.size() - 1) + '\n' + line + '\n');
    CHECK(r.report.attempts == 2);
    CHECK(r.lines(reason::not_json) == std::vector<std::size_t>{2});
    // Braces and quotes within texts are none.
    std::string odd = line;
    odd.replace(odd.find("task_1"), 6, R"(}{\"\\)");
    CHECK(read_text(odd + odd).report.attempts == 2);
}

TEST_CASE("readers: the end of an object is found wherever the text is cut into pieces") {
    std::string const object = R"({"a":"{\"\\}","b":[1,{"c":"]"}],)" + std::string(200, ' ') + R"("d":"x"})";
    for (std::size_t cut = 1; cut < object.size(); ++cut) {
        readers::brace_scan scan;
        CHECK(scan.find_end(std::string_view(object).substr(0, cut)) == 0);
        CHECK(scan.find_end(object + "{}") == object.size());
    }
}

TEST_CASE("readers: hostile objects take linear time") {
    std::string starts, quotes;
    for (int i = 0; i < 300'000; ++i) starts += "{\n";
    for (int i = 0; i < 300'000; ++i) quotes += "{\"jobID\": \"\n";
    CHECK(read_text(starts, format::hadoop).report.attempts == 0);
    CHECK(read_text(starts + "}\n" + job, format::hadoop).report.attempts == 1);
    CHECK(read_text(quotes, format::hadoop).report.attempts == 0);
    CHECK(read_text(std::string(3'000'000, '{'), format::hadoop).report.attempts == 0);
}

TEST_CASE("readers: packed streams that are cut off or damaged") {
    std::string const whole = contents(kept("slurm.json.gz"));
    REQUIRE(whole.size() > 1000);
    reading const all = read_text(whole);
    CHECK(all.report.attempts == 28);
    CHECK(all.count(reason::damaged_packing) == 0);
    CHECK(read_text(whole + whole).count(reason::damaged_packing) == 0); // two members
    std::string const zeros(700'000, '\0');
    CHECK(read_text(whole + zeros).count(reason::damaged_packing) == 0);
    for (std::string const& rest : {std::string("plain"), zeros + "plain"}) {
        reading const more = read_text(whole + rest);
        CHECK(more.report.attempts == 28);
        CHECK(more.count(reason::damaged_packing) == 1);
    }
    reading const cut = read_text(std::string_view(whole).substr(0, whole.size() - 800));
    CHECK(cut.report.attempts > 0);
    CHECK(cut.report.attempts < 28);
    CHECK(cut.count(reason::damaged_packing) == 1);
    std::string bad = whole;
    for (std::size_t i = whole.size() * 3 / 4; i < whole.size() * 3 / 4 + 9; ++i) bad[i] = '\xFF';
    CHECK(read_text(bad).count(reason::damaged_packing) == 1);
    reading const foreign = read_text("BZh91AY&SY");
    CHECK(foreign.count(reason::unknown_format) == 1);
    CHECK(foreign.report.files[0].remark.find("bunzip2") != std::string::npos);
}

TEST_CASE("readers: nothing read is an error that says what was there") {
    reading const r = read_text("hello\n");
    CHECK_THROWS_WITH_AS(readers::expect_attempts(r.report), doctest::Contains("none of the formats"),
                         program::failure);
    reading const lines = read_text("JobID|NodeList|State|Start|End\n1_1|n1\n");
    CHECK_THROWS_WITH_AS(readers::expect_attempts(lines.report), doctest::Contains("line 2"),
                         program::failure);
    CHECK_THROWS_AS(static_cast<void>(read_files({"/nowhere/at/all"})), program::failure);
}

TEST_CASE("readers: the histories beside the project") {
    if (auto const file = straggle_test::shared_file("data/raw/spark-malformed_json_eventlog.jsonl.zst")) {
        reading const r = read_files({file->string()});
        CHECK(r.report.attempts == 217);
        CHECK(r.lines(reason::not_json) == std::vector<std::size_t>{4});
    }
    for (auto const& [name, attempts] :
         {std::pair("spark-nds-q66-gpu.jsonl.zst", 12987u),
          std::pair("spark-join_agg_on_yarn_eventlog.jsonl.zst", 107u),
          std::pair("spark-rp_nosql_eventlog.jsonl", 4u), std::pair("spark-rdd_only_eventlog.jsonl", 1u),
          std::pair("hadoop-rumen-trace-1m.json.gz", 57u)})
        if (auto const file = straggle_test::shared_file(std::string("data/raw/") + name)) {
            reading const r = read_files({file->string()});
            CHECK(r.report.attempts == attempts);
            CHECK(r.report.damaged() == 0);
        }
}
