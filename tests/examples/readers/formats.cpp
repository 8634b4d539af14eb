// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// What each format says, on the kept histories; tests/examples/histories/README.md says where they come from.

#include "support.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

using namespace readers_test;
using readers::ending;
using readers::format;
using readers::reason;

namespace {

std::uint64_t having(reading const& r, ending how) {
    return static_cast<std::uint64_t>(
        std::count_if(r.rows.begin(), r.rows.end(), [how](row const& a) { return a.end_state == how; }));
}

std::map<std::string, int> tasks_by_job(reading const& r) {
    std::map<std::string, int> jobs;
    for (row const& a : r.rows) ++jobs[a.job];
    return jobs;
}

} // namespace

TEST_CASE("readers: every kept history is known by its content") {
    for (auto const& [file, how] :
         {std::pair("slurm-parsable.txt", format::slurm), std::pair("slurm-parsable2.txt", format::slurm),
          std::pair("slurm-epoch.txt", format::slurm), std::pair("slurm.json.gz", format::slurm),
          std::pair("spark-rolled-1.jsonl", format::spark), std::pair("spark-rolled-2.jsonl", format::spark),
          std::pair("hadoop.jhist", format::hadoop), std::pair("nextflow-trace.txt", format::nextflow),
          std::pair("nextflow-raw.txt", format::nextflow), std::pair("haproxy-httplog.txt", format::haproxy),
          std::pair("haproxy-adapter.txt", format::haproxy), std::pair("parallel.joblog", format::parallel),
          std::pair("dask.jsonl", format::dask)}) {
        CAPTURE(file);
        readers::input in(kept(file));
        CHECK(in.guess() == how);
        CHECK(read_files({kept(file)}).report.attempts > 0);
    }
    CHECK(readers::guess_format("job,node,duration\n1,2,3\n") == format::csv);
    CHECK_FALSE(readers::guess_format("").has_value());
    CHECK_FALSE(readers::guess_format("hello\n").has_value());
}

TEST_CASE("readers: Slurm, sacct --parsable2 with steps") {
    reading const r = read_files({kept("slurm-parsable2.txt")});
    CHECK(r.report.attempts == 51);
    CHECK(having(r, ending::failed) == 1);
    CHECK(having(r, ending::running) == 3);
    CHECK(tasks_by_job(r) ==
          std::map<std::string, int>{{"1", 23}, {"2", 18}, {"3", 6}, {"4/job", 1}, {"44", 3}});
    CHECK(r.count(reason::step) == 46);
    CHECK(r.lines(reason::several_nodes) == std::vector<std::size_t>{2});
    auto const failed = std::find_if(r.rows.begin(), r.rows.end(),
                                     [](row const& a) { return a.end_state == ending::failed; });
    REQUIRE(failed != r.rows.end());
    CHECK(failed->job == "2");
    CHECK(failed->task == "7");
    CHECK(failed->node == "n3");
    CHECK(failed->start_ms == 1795363283000);
    CHECK(failed->end_ms == 1795363283000);
}

TEST_CASE("readers: Slurm says the same in three forms") {
    reading const iso = read_files({kept("slurm-parsable.txt")}),
                  epoch = read_files({kept("slurm-epoch.txt")});
    REQUIRE(iso.rows.size() == 45);
    REQUIRE(epoch.rows.size() == 45);
    for (std::size_t i = 0; i < iso.rows.size(); ++i) {
        CHECK(iso.rows[i].job == epoch.rows[i].job);
        CHECK(iso.rows[i].start_ms == epoch.rows[i].start_ms);
        CHECK(iso.rows[i].end_ms == epoch.rows[i].end_ms);
    }
    reading const json = read_files({kept("slurm.json.gz")});
    CHECK(tasks_by_job(json) == std::map<std::string, int>{{"2", 18}, {"3", 6}, {"4/job", 1}, {"44", 3}});
    auto const key = [](row const& a) {
        return std::tuple(a.job, a.task, a.node, a.start_ms, a.end_ms, a.end_state);
    };
    std::set<decltype(key(json.rows[0]))> known;
    for (row const& a : read_files({kept("slurm-parsable2.txt")}).rows) known.insert(key(a));
    for (row const& a : json.rows)
        if (a.job != "4/job") CHECK_MESSAGE(known.contains(key(a)), a.job << '_' << a.task);
}

TEST_CASE("readers: Slurm, outputs of other columns one after the other") {
    std::string const times = "2026-11-22T16:01:02|2026-11-22T16:05:10";
    reading const r = read_text("JobID|NodeList|State|Start|End\n12_1|n1|COMPLETED|" + times +
                                "\nJobIDRaw|JobID|NodeList|State|Start|End\n99|12_2|n2|COMPLETED|" + times +
                                "\nNodeList|State|JobID|Start|End|\nn3|COMPLETED|12_3|" + times +
                                "|\nJobID|State\n12_4|COMPLETED\n");
    CHECK(r.rows.size() == 3);
    for (std::size_t i = 0; i < r.rows.size(); ++i) {
        CHECK(r.rows[i].task == std::to_string(i + 1));
        CHECK(r.rows[i].node == "n" + std::to_string(i + 1));
    }
    CHECK(r.lines(reason::wrong_field_count) == std::vector<std::size_t>{7, 8});
}

TEST_CASE("readers: Slurm, odd rows") {
    reading const r = read_text("JobID|NodeList|State|Start|End\n"
                                "7_1|n1|CANCELLED by 0|2026-01-01T00:00:00|2026-01-01T00:01:00\n"
                                "7_2|n1|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:01:00\n"
                                "7_2|n2|COMPLETED|2026-01-01T00:02:00|2026-01-01T00:03:00\n"
                                "7_[3-9]|None assigned|PENDING|Unknown|Unknown\n"
                                "7_10|None assigned|CANCELLED|None|2026-01-01T00:01:00\n"
                                "7_11|n1|COMPLETED|1767225600|1767225660\n"
                                "7_12|n1|COMPLETED|2026-01-01T00:01:00|2026-01-01T00:00:00\n"
                                "7_13|n1|COMPLETED|2026-13-01T00:01:00|2026-01-01T00:00:00\n"
                                "7_14|n1|COMPLETED\n");
    REQUIRE(r.rows.size() == 3);
    CHECK(r.rows[0].end_state == ending::killed);
    CHECK(r.rows[1].number == 0);
    CHECK(r.rows[2].number == 1); // requeued: the same task again
    CHECK(r.count(reason::never_started) == 2);
    CHECK(r.lines(reason::mixed_clocks) == std::vector<std::size_t>{7});
    CHECK(r.lines(reason::ends_before_start) == std::vector<std::size_t>{8});
    CHECK(r.lines(reason::bad_time) == std::vector<std::size_t>{9});
    CHECK(r.lines(reason::wrong_field_count) == std::vector<std::size_t>{10});
    CHECK(read_text("JobID|State\n1|COMPLETED\n").report.files[0].remark.find("NodeList") !=
          std::string::npos);
}

TEST_CASE("readers: Slurm, the steps of a job are part of it") {
    std::string const times = "COMPLETED|2026-03-01T00:00:00|2026-03-01T00:10:00\n";
    reading const r =
        read_text("JobID|NodeList|State|Start|End\n100|n1|" + times + "100.batch|n1|" + times + "100.0|n1|" +
                  times + "101|d07n[03-04]|" + times + "101.0|d07n03|" + times + "101.1|d07n04|" + times);
    CHECK(tasks_by_job(r) == std::map<std::string, int>{{"100/job", 1}, {"101", 2}});
    CHECK(r.count(reason::step) == 2);
    CHECK(r.count(reason::several_nodes) == 1);
}

TEST_CASE("readers: Slurm without a header") {
    auto const row = [](int task, char const* node, int minutes) {
        return "7_" + std::to_string(task) + "|" + std::to_string(900 + task) +
               "|cluster1|cpu|chem|g1|100|u12|1000|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:00:"
               "01|"
               "2026-01-01T00:0" +
               std::to_string(minutes) + ":00|00:01:00|0:0|COMPLETED|1|1|1|4G|01:00:00|" + node + "|align\n";
    };
    reading const wide = read_text(row(1, "d07n03", 1) + row(2, "d07n04", 2) + row(3, "d07n[03-05]", 3));
    CHECK(wide.report.files[0].how == readers::format::slurm);
    REQUIRE(wide.rows.size() == 2);
    CHECK(wide.rows[0].job == "7");
    CHECK(wide.rows[0].node == "d07n03");
    CHECK(wide.rows[1].end_ms - wide.rows[1].start_ms == 119'000);
    CHECK(wide.count(reason::several_nodes) == 1);
    // The default columns have neither nodes nor times.
    reading const few = read_text("7_1|align|cpu|chem|1|COMPLETED|0:0\n7_2|align|cpu|chem|1|FAILED|1:0\n");
    CHECK(few.rows.empty());
    CHECK(few.report.files[0].remark.find("NodeList") != std::string::npos);
    CHECK(few.report.files[0].remark.find("--columns") != std::string::npos);
    // Nodes whose names have no number are not guessed.
    std::string const named = "7_1|alpha|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:01:00\n";
    CHECK(read_text(named).rows.empty());
    reading said;
    readers::reading_options how;
    how.columns.node = "#2";
    said.report =
        readers::read_history({"text"}, how, into(said.rows),
                              std::make_unique<readers::input>("text", readers::text_source(named)));
    REQUIRE(said.rows.size() == 1);
    CHECK(said.rows[0].node == "alpha");
}

TEST_CASE("readers: Spark, blanks in its JSON") {
    reading const r = read_text("{\"Event\": \"SparkListenerLogStart\", \"Spark Version\": \"3.5.1\"}\n"
                                "{\"Event\": \"SparkListenerTaskEnd\", \"Stage ID\": 0, \"Task End Reason\": "
                                "{\"Reason\": \"Success\"}, "
                                "\"Task Info\": {\"Task ID\": 0, \"Index\": 0, \"Launch Time\": 1, \"Host\": "
                                "\"a\", \"Finish Time\": 9}}\n");
    CHECK(r.report.files[0].how == readers::format::spark);
    CHECK(r.rows.size() == 1);
}

TEST_CASE("readers: Spark, a rolled log goes on in its next file") {
    namespace fs = std::filesystem;
    fs::path const folder = fs::temp_directory_path() / "straggle-readers-rolled/eventlog_v2_app-7";
    fs::create_directories(folder);
    fs::copy_file(kept("spark-rolled-1.jsonl"), folder / "events_9_app-7",
                  fs::copy_options::overwrite_existing);
    fs::copy_file(kept("spark-rolled-2.jsonl"), folder / "events_10_app-7",
                  fs::copy_options::overwrite_existing);
    fs::copy_file(kept("spark-rolled-1.jsonl"), folder / "appstatus_app-7",
                  fs::copy_options::overwrite_existing);
    reading const r = read_files({folder.parent_path().string()});
    fs::remove_all(folder.parent_path());
    REQUIRE(r.rows.size() == 4);
    CHECK(r.report.files.size() == 2);
    CHECK(r.report.engine_version == "3.5.1");
    CHECK(r.rows[0].job == "app-7/stage-2.0");
    CHECK(r.rows[0].node == "h1");
    CHECK(r.rows[0].executor == "1");
    CHECK(r.rows[0].input == 123); // 3 from storage, 120 of other stages
    CHECK(r.rows[1].speculative == true);
    CHECK(r.rows[1].number == 1);
    CHECK(r.rows[2].end_state == ending::killed);
    CHECK(r.rows[2].task == "1");
    CHECK(r.rows[2].end_ms - r.rows[2].start_ms == 6040);
    CHECK(r.rows[3].end_state == ending::running);
    CHECK(r.rows[3].job == "app-7/stage-3.1");
    CHECK(r.count(reason::torn) == 1);
}

TEST_CASE("readers: Spark, an attempt that is reported again counts once") {
    std::string const end =
        R"({"Event":"SparkListenerTaskEnd","Stage ID":1,"Stage Attempt ID":0,"Task End Reason":{"Reason":"R"},"Task Info":{"Task ID":1,"Index":0,"Attempt":0,"Launch Time":1000,"Executor ID":"1","Host":"h","Speculative":false,"Finish Time":2000,"Failed":false,"Killed":false}})";
    auto const with = [&](std::string const& why) {
        std::string line = end;
        return line.replace(line.find("\"R\""), 3, '"' + why + '"') + '\n';
    };
    reading const r = read_text(with("Success") + with("Resubmitted") + with("FetchFailed") +
                                with("TaskKilled") + with("TaskCommitDenied") + "[]\n{\"Event\":3}\n");
    REQUIRE(r.rows.size() == 4);
    CHECK(r.rows[0].end_state == ending::success);
    CHECK(r.rows[1].end_state == ending::failed);
    CHECK(r.rows[2].end_state == ending::killed);
    CHECK(r.rows[3].end_state == ending::killed);
    CHECK(r.count(reason::reported_again) == 1);
    CHECK(r.lines(reason::not_a_record) == std::vector<std::size_t>{6, 7});
}

TEST_CASE("readers: Hadoop, a job history file") {
    reading const r = read_files({kept("hadoop.jhist")});
    REQUIRE(r.rows.size() == 5);
    CHECK(r.rows[0].job == "job_1700000000000_0007/map");
    CHECK(r.rows[0].task == "task_1700000000000_0007_m_000000");
    CHECK(r.rows[0].node == "node1.example.com");
    CHECK(r.rows[0].input == 134217728);
    CHECK(r.rows[0].speculative == false);
    CHECK(r.rows[1].speculative == true);
    CHECK(r.rows[2].end_state == ending::killed);
    CHECK(r.rows[3].end_state == ending::failed);
    CHECK(r.rows[3].job == "job_1700000000000_0007/reduce");
    CHECK(r.rows[4].end_state == ending::running);
    CHECK(read_text("Avro-Binary\nxx").count(reason::unknown_version) == 1);
}

TEST_CASE("readers: Nextflow") {
    reading const r = read_files({kept("nextflow-trace.txt")});
    REQUIRE(r.rows.size() == 5);
    CHECK(r.rows[1].job == "ALIGN");
    CHECK(r.rows[1].node == "node1");
    CHECK(r.rows[1].end_ms - r.rows[1].start_ms == 60'000); // realtime, not what the executor added
    CHECK(r.rows[1].input == std::int64_t{2} << 30);
    CHECK(r.rows[2].end_state == ending::failed);
    CHECK(r.rows[3].task == r.rows[2].task); // tried again
    CHECK(r.rows[3].number == 1);
    CHECK(r.rows[3].end_ms - r.rows[3].start_ms == 180'500);
    CHECK(r.rows[4].end_state == ending::killed);
    CHECK(r.lines(reason::not_run) == std::vector<std::size_t>{7});
    CHECK(r.lines(reason::bad_time) == std::vector<std::size_t>{8});
    reading const raw = read_files({kept("nextflow-raw.txt")});
    REQUIRE(raw.rows.size() == 2);
    CHECK(raw.rows[0].job == "ALIGN"); // the name without its tag
    CHECK(raw.rows[0].end_ms - raw.rows[0].start_ms == 8200);
    reading const no_host = read_text("task_id\thash\tname\tstatus\tsubmit\tduration\trealtime\n");
    CHECK(no_host.report.files[0].remark.find("hostname") != std::string::npos);
}

TEST_CASE("readers: Nextflow, tasks of one name are not one task") {
    std::string text = "task_id;hash;process;name;status;hostname;submit;duration;realtime;attempt\n";
    auto const add = [&](int id, char const* status, char const* node, int number) {
        text += std::to_string(id) + ";aa/" + std::to_string(id) + ";merge;merge (tile7);" + status + ";" +
                node + ";2026-01-01 00:00:00.000;1m 5s;1m 3s;" + std::to_string(number) + "\n";
    };
    add(1, "COMPLETED", "w1", 1);
    add(2, "FAILED", "w2", 1);
    add(3, "COMPLETED", "w3", 1);
    add(4, "COMPLETED", "w1", 2); // 2 again
    reading const r = read_text(text);
    REQUIRE(r.rows.size() == 4);
    CHECK(std::set{r.rows[0].task, r.rows[1].task, r.rows[2].task}.size() == 3);
    CHECK(r.rows[3].task == r.rows[1].task);
    CHECK(r.rows[0].end_ms - r.rows[0].start_ms == 63'000);
}

TEST_CASE("readers: Nextflow, nodes from sacct") {
    std::string const table = std::filesystem::temp_directory_path() / "straggle-join-test.psv";
    std::ofstream(table) << "JobID|NodeList|State|Start|End\n"
                            "51|n1|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:01:00\n"
                            "52_3|n2|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:01:00\n";
    std::string const text = "task_id\thash\tnative_id\tname\tstatus\tsubmit\tduration\trealtime\n"
                             "1\taa/1\t51\talign (a)\tCOMPLETED\t2026-01-01 00:00:00.000\t1m\t50s\n"
                             "2\taa/2\t52_3\talign (b)\tCOMPLETED\t2026-01-01 00:00:00.000\t1m\t-\n"
                             "3\taa/3\t99\talign (c)\tCOMPLETED\t2026-01-01 00:00:00.000\t1m\t50s\n";
    reading r;
    r.report = readers::read_history({"text"}, {.join = table}, into(r.rows),
                                     std::make_unique<readers::input>("text", readers::text_source(text)));
    std::filesystem::remove(table);
    REQUIRE(r.rows.size() == 2);
    CHECK(r.rows[0].node == "n1");
    CHECK(r.rows[0].end_ms - r.rows[0].start_ms == 50'000);
    CHECK(r.rows[1].node == "n2");
    CHECK(r.rows[1].end_ms - r.rows[1].start_ms == 60'000); // as sacct says
    CHECK(r.report[reason::no_node].example.find("'99'") != std::string::npos);
    CHECK(read_text(text).report.files[0].remark.find("--join") != std::string::npos);
}

TEST_CASE("readers: HAProxy in its own format and in the adapter's") {
    reading const http = read_files({kept("haproxy-httplog.txt")});
    CHECK(http.report.attempts == 119);
    CHECK(http.count(reason::no_server) == 1);
    CHECK(tasks_by_job(http) == std::map<std::string, int>{{"app GET /api/fail/#", 1},
                                                           {"app GET /api/orders/#/...", 39},
                                                           {"app GET /api/users/#", 40},
                                                           {"app GET /static/app.js", 39}});
    CHECK(http.rows[0].node == "app/s2");
    CHECK(http.rows[0].end_ms - http.rows[0].start_ms == 12);
    reading const brief = read_files({kept("haproxy-adapter.txt")});
    CHECK(brief.report.attempts == 120);
    CHECK(brief.count(reason::other_event) == 2);
    CHECK(brief.count(reason::not_a_record) == 0);
    CHECK(having(brief, ending::failed) == 1);
    CHECK(tasks_by_job(brief) == std::map<std::string, int>{{"app", 120}});
}

TEST_CASE("readers: HAProxy, odd lines") {
    reading const r = read_text(
        "h haproxy[1]: 1.2.3.4:5 [06/Feb/2009:12:14:14.655] in app/s1 10/0/30/69/109 200 2750 - - ---- "
        "1/1/1/1/0 0/0 \"GET /a/0123456789abcdef HTTP/1.1\"\n"
        "h haproxy[1]: 1.2.3.4:5 [06/Feb/2009:12:14:14.655] in app/s1 10/0/30/-1/109 -1 0 - - CH-- 1/1/1/1/0 "
        "0/0 \"GET / HTTP/1.1\"\n"
        "h haproxy[1]: 1.2.3.4:5 [06/Feb/2009:12:14:14.655] in app/s1 10/0/30/-1/109 504 0 - - sH-- "
        "1/1/1/1/0 0/0 \"GET / HTTP/1.1\"\n"
        "h haproxy[1]: 1.2.3.4:5 [06/Feb/2009:12:14:14.655] in app/s1 0/0/5007 212 -- 0/0/0/0/3 0/0\n"
        "h haproxy[1]: 1.2.3.4:5 [99/Feb/2009:12:14:14.655] in app/s1 10/0/30/69/109 200 1 - - ---- "
        "1/1/1/1/0 0/0 \"GET / HTTP/1.1\"\n"
        "h haproxy[1]: Server app/s1 is DOWN, reason: Layer4\n"
        "what is this\n"
        "1795363807.933  s2 200 7 7 7402 ---- 6 1 0 0\n");
    REQUIRE(r.rows.size() == 3);
    CHECK(r.rows[0].job == "app GET /a/#");
    CHECK(r.rows[0].start_ms % 1000 == 695); // 655 + 10 + 0 + 30: when the server had the request
    CHECK(r.rows[0].end_ms - r.rows[0].start_ms == 69);
    CHECK(r.rows[1].end_state == ending::killed);
    CHECK(r.rows[1].end_ms - r.rows[1].start_ms == 69); // it waited in vain until it was given up
    CHECK(r.rows[2].end_state == ending::failed);
    CHECK(r.lines(reason::not_http) == std::vector<std::size_t>{4});
    CHECK(r.lines(reason::bad_time) == std::vector<std::size_t>{5});
    CHECK(r.lines(reason::not_a_record) == std::vector<std::size_t>{7});
    CHECK(r.lines(reason::no_job) == std::vector<std::size_t>{8}); // no backend
}

TEST_CASE("readers: GNU parallel") {
    reading const r = read_files({kept("parallel.joblog")});
    CHECK(tasks_by_job(r) == std::map<std::string, int>{{"/home/user/work.sh --item {}", 40}});
    CHECK(having(r, ending::failed) == 1);
    CHECK(having(r, ending::killed) == 1);
    std::string log = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n";
    for (int i = 0; i < 40; ++i)
        log += std::to_string(i) + "\t8/me@n" + std::to_string(i % 4) +
               "\t1700000000.5\t     1.25\t7\t0\t0\t0\tpython " + (i % 2 == 0 ? "train.py" : "test.py") +
               " --lr 0." + std::to_string(i) + '\n';
    reading const two = read_text(log);
    CHECK(tasks_by_job(two) ==
          std::map<std::string, int>{{"python train.py --lr {}", 20}, {"python test.py --lr {}", 20}});
    CHECK(two.rows[1].node == "n1");
    CHECK(two.rows[1].start_ms == 1700000000500);
    CHECK(two.rows[1].end_ms == 1700000001750);
    CHECK(two.rows[1].input == 7);
}

TEST_CASE("readers: Dask") {
    reading const r = read_files({kept("dask.jsonl")});
    CHECK(tasks_by_job(r) == std::map<std::string, int>{{"bad", 1}, {"inc", 60}, {"total", 30}});
    CHECK(having(r, ending::failed) == 1);
    CHECK(r.report.engine_version == "2022.12.1+ds.1");
}
