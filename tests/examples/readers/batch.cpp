// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Batch systems: their accounting, and HTCondor's event log. Written to the documentation of each format.

#include "support.hpp"

using namespace readers_test;
using readers::ending;
using readers::format;
using readers::reason;

namespace {

std::string sge_row(std::string const& host, int job, int task, std::int64_t start, std::int64_t end,
                    int failed, int exit_status, std::string const& pe_task = "NONE") {
    std::string row = "all.q:" + host + ":users:me:align:" + std::to_string(job) +
                      ":sge:0:1:" + std::to_string(start) + ":" + std::to_string(end) + ":" +
                      std::to_string(failed) + ":" + std::to_string(exit_status);
    for (int i = 13; i < 34; ++i) row += ":0";
    row += ":1:" + std::to_string(task) + ":0:0:0:-l h_rt=1:0:" + pe_task + ":0:0:0\n";
    return row;
}

std::string lsf_row(int job, int index, std::int64_t start, std::int64_t end, std::string const& hosts,
                    int status, int exit_status) {
    std::string row = "\"JOB_FINISH\" \"10.1\" " + std::to_string(end) + " " + std::to_string(job) +
                      " 1000 33816578 1 " + "1767225000 0 0 " + std::to_string(start) +
                      " \"me\" \"normal\" \"select[mem > 5]\" \"\" \"\" \"login1\" \"a \"\"quoted\"\" "
                      "folder\" \"\" \"\" \"\" "
                      "\"1767225000.1\" 1 \"asked\" " +
                      hosts + " " + std::to_string(status) + " 60.0 \"align[1-9]\" \"run it\"";
    for (int i = 0; i < 19; ++i) row += " 0.5";
    row += " \"\" \"default\" " + std::to_string(exit_status) + " 1 \"\" \"\" " + std::to_string(index) +
           " 0 0 \"\" \"\"\n";
    return row;
}

} // namespace

TEST_CASE("readers: PBS and Torque") {
    reading const r = read_text(
        "01/01/2026 00:00:00;S;7[1].head;user=me\n"
        "01/01/2026 00:01:00;E;7[1].head;user=me jobname=a exec_host=n1/0+n1/1 start=1767225600 "
        "end=1767225660 "
        "Exit_status=0 run_count=1\n"
        "01/01/2026 00:01:00;E;7[2].head;user=me exec_host=n2/0*4 start=1767225600 end=1767225670 "
        "Exit_status=1\n"
        "01/01/2026 00:01:00;E;7-3.head;user=me exec_host=n3/0-3 start=1767225600 end=1767225670 "
        "Exit_status=271\n"
        "01/01/2026 00:01:00;E;8.head;user=me exec_host=n1/0+n2/0 start=1767225600 end=1767225670 "
        "Exit_status=0\n"
        "01/01/2026 00:01:00;R;9.head;user=me exec_host=n1/0 start=1767225600 end=1767225670 Exit_status=-11 "
        "run_count=2\n"
        "01/01/2026 00:01:00;E;10.head;exec_host=n1/0 start=noon end=1767225670 Exit_status=0\n"
        "gibberish\n");
    CHECK(r.report.files[0].how == format::pbs);
    REQUIRE(r.rows.size() == 4);
    CHECK(r.rows[0].job == "7");
    CHECK(r.rows[0].task == "1");
    CHECK(r.rows[0].node == "n1");
    CHECK(r.rows[0].start_ms == 1767225600000);
    CHECK(r.rows[0].end_ms == 1767225660000);
    CHECK(r.rows[1].end_state == ending::failed);
    CHECK(r.rows[2].task == "3");
    CHECK(r.rows[2].end_state == ending::killed);
    CHECK(r.rows[3].job == "9/job");
    CHECK(r.rows[3].end_state == ending::killed);
    CHECK(r.rows[3].number == 1);
    CHECK(r.lines(reason::several_nodes) == std::vector<std::size_t>{5});
    CHECK(r.lines(reason::bad_time) == std::vector<std::size_t>{7});
    CHECK(r.report[reason::bad_time].example.find("'noon'") != std::string::npos);
    CHECK(r.lines(reason::not_a_record) == std::vector<std::size_t>{8});
}

TEST_CASE("readers: Grid Engine") {
    reading const r = read_text("# Version: 8.1.9\n" + sge_row("n1", 5, 1, 1767225600, 1767225660, 0, 0) +
                                sge_row("n2", 5, 2, 1767225600, 1767225661, 0, 3) +
                                sge_row("n3", 5, 3, 1767225600123, 1767225661123, 100, 137) +
                                sge_row("n1", 5, 4, 1767225600, 1767225661, 25, 0) +
                                sge_row("n2", 5, 4, 1767225700, 1767225761, 0, 0) +
                                sge_row("n1", 6, 0, 0, 0, 21, 0) + sge_row("n1", 7, 0, 1, 2, 0, 0, "1.n1"));
    CHECK(r.report.files[0].how == format::sge);
    REQUIRE(r.rows.size() == 5);
    CHECK(r.rows[0].job == "5");
    CHECK(r.rows[0].task == "1");
    CHECK(r.rows[0].end_state == ending::success);
    CHECK(r.rows[1].end_state == ending::failed);
    CHECK(r.rows[2].end_state == ending::killed);
    CHECK(r.rows[2].start_ms == 1767225600123);   // UGE counts milliseconds
    CHECK(r.rows[3].end_state == ending::killed); // rescheduled
    CHECK(r.rows[4].number == 1);
    CHECK(r.count(reason::never_started) == 1);
    CHECK(r.count(reason::step) == 1);
}

TEST_CASE("readers: LSF") {
    reading const r =
        read_text(lsf_row(3, 1, 1767225600, 1767225660, "1 \"n1\"", 64, 0) +
                  lsf_row(3, 2, 1767225600, 1767225661, "2 \"n2\" \"n2\"", 32, 256) +
                  lsf_row(3, 3, 1767225600, 1767225662, "1 \"4*n3\"", 32, 9) +
                  lsf_row(4, 0, 1767225600, 1767225662, "2 \"n1\" \"n2\"", 64, 0) +
                  lsf_row(5, 0, 0, 1767225662, "0", 32, 0) + "\"EVENT_ADRSV_FINISH\" \"10.1\" 1\n");
    CHECK(r.report.files[0].how == format::lsf);
    REQUIRE(r.rows.size() == 3);
    CHECK(r.rows[0].job == "3");
    CHECK(r.rows[0].task == "1");
    CHECK(r.rows[0].end_ms - r.rows[0].start_ms == 60'000);
    CHECK(r.rows[1].node == "n2");
    CHECK(r.rows[1].end_state == ending::failed);
    CHECK(r.rows[2].node == "n3");
    CHECK(r.rows[2].end_state == ending::killed);
    CHECK(r.count(reason::several_nodes) == 1);
    CHECK(r.count(reason::never_started) == 1);
    CHECK(r.count(reason::other_event) == 1);
}

TEST_CASE("readers: HTCondor") {
    reading const r = read_text(
        "000 (0012.000.000) 2026-01-01 00:00:00 Job submitted from host: <192.0.2.1:9618?addrs=x>\n...\n"
        "001 (0012.000.000) 2026-01-01 00:01:00 Job executing on host: "
        "<192.0.2.7:9618?addrs=x&alias=n1.example.org&y>\n"
        "\tSlotName: slot1_1@n1.example.org\n...\n"
        "001 (0012.001.000) 2026-01-01 00:01:00 Job executing on host: <192.0.2.8:9618?addrs=x>\n...\n"
        "005 (0012.000.000) 2026-01-01 00:02:00 Job terminated.\n"
        "\t(1) Normal termination (return value 0)\n\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Remote "
        "Usage\n...\n"
        "004 (0012.001.000) 2026-01-01 00:02:30 Job was evicted.\n...\n"
        "001 (0012.001.000) 2026-01-01 00:03:00 Job executing on host: <192.0.2.9:9618?addrs=x>\n...\n"
        "005 (0012.001.000) 2026-01-01 00:04:00 Job terminated.\n\t(0) Abnormal termination (signal "
        "11)\n...\n"
        "009 (0012.002.000) 2026-01-01 00:05:00 Job was aborted.\n...\n"
        "001 (0012.003.000) 2026-01-01 00:05:00 Job executing on host: <192.0.2.9:9618?addrs=x>\n...\n");
    CHECK(r.report.files[0].how == format::htcondor);
    REQUIRE(r.rows.size() == 4);
    CHECK(r.rows[0].job == "12");
    CHECK(r.rows[0].task == "0");
    CHECK(r.rows[0].node == "n1.example.org");
    CHECK(r.rows[0].end_ms - r.rows[0].start_ms == 60'000);
    CHECK(r.rows[1].end_state == ending::killed);
    CHECK(r.rows[1].node == "192.0.2.8");
    CHECK(r.rows[2].end_state == ending::failed);
    CHECK(r.rows[2].number == 1);
    CHECK(r.rows[3].end_state == ending::running);
    CHECK(r.count(reason::never_started) == 1);
    // Older logs have no year.
    reading const old = read_text(
        "001 (7.0.0) 12/31 23:59:00 Job executing on host: <192.0.2.7:9618>\n...\n"
        "005 (7.0.0) 01/01 00:01:00 Job terminated.\n\t(1) Normal termination (return value 0)\n...\n");
    REQUIRE(old.rows.size() == 1);
    CHECK(old.rows[0].end_ms - old.rows[0].start_ms == 120'000);
}

TEST_CASE("readers: Hadoop 1") {
    std::string const attempt = "TASK_TYPE=\"MAP\" TASKID=\"task_1_0002_m_00000";
    auto const of = [&](int n) {
        std::string const id = std::to_string(n);
        return attempt + id + "\" TASK_ATTEMPT_ID=\"attempt_1_0002_m_00000" + id + "_0\" ";
    };
    reading const r = read_text(
        "Meta VERSION=\"1\" .\nJob JOBID=\"job_1_0002\" JOBNAME=\"a \\\"quoted\\\" name\" .\n"
        "MapAttempt " +
        of(1) +
        "START_TIME=\"1000\" TRACKER_NAME=\"tracker_n1\\.example\\.org:localhost/127\\.0\\.0\\.1:9\" .\n"
        "MapAttempt " +
        of(2) +
        "START_TIME=\"1000\" TRACKER_NAME=\"tracker_n2:localhost/127\\.0\\.0\\.1:9\" .\n"
        "MapAttempt " +
        of(1) +
        "TASK_STATUS=\"SUCCESS\" FINISH_TIME=\"4000\" HOSTNAME=\"/rack/n1\\.example\\.org\" .\n"
        "MapAttempt " +
        of(2) + "TASK_STATUS=\"FAILED\" FINISH_TIME=\"5000\" HOSTNAME=\"n2\" ERROR=\"x\" .\n");
    CHECK(r.report.files[0].how == format::hadoop);
    REQUIRE(r.rows.size() == 2);
    CHECK(r.rows[0].job == "job_1_0002/map");
    CHECK(r.rows[0].node == "n1.example.org");
    CHECK(r.rows[0].end_ms - r.rows[0].start_ms == 3000);
    CHECK(r.rows[1].end_state == ending::failed);
}

TEST_CASE("readers: Dask's task stream") {
    reading const r = read_text(
        "[{\"worker\": \"tcp://192.0.2.1:1\", \"status\": \"OK\", \"nbytes\": 28, \"thread\": 1, \"key\": "
        "\"inc-1f2e9c\", "
        "\"startstops\": [{\"action\": \"transfer\", \"start\": 1.0, \"stop\": 2.0}, "
        "{\"action\": \"compute\", \"start\": 2.0, \"stop\": 2.5}]}, "
        "{\"worker\": \"tcp://192.0.2.2:1\", \"status\": \"error\", \"key\": \"('sum-1f2e', 0, 3)\", "
        "\"startstops\": [[\"compute\", 3.0, 4.0]]}]");
    CHECK(r.report.files[0].how == format::dask);
    REQUIRE(r.rows.size() == 2);
    CHECK(r.rows[0].job == "inc");
    CHECK(r.rows[0].end_ms - r.rows[0].start_ms == 500);
    CHECK(r.rows[1].job == "sum-1f2e");
    CHECK(r.rows[1].end_state == ending::failed);
}

TEST_CASE("readers: HAProxy's JSON") {
    reading const r = read_text(
        "{\"accept_date\": \"06/Feb/2026:12:14:14.655\", \"backend_name\": \"app\", \"server_name\": \"s1\", "
        "\"time_queue\": \"5\", \"Tr\": \"20\", \"http_status_code\": \"200\", \"method\": \"GET\", "
        "\"path\": \"/users/17\"}\n"
        "{\"backend_name\": \"app\", \"server_name\": \"s1\", \"time\": 1770380054.655, \"Tr\": 30, "
        "\"status\": 503}\n"
        "{\"backend_name\": \"app\", \"server_name\": \"s1\", \"time\": 1770380054.655, \"status\": 503}\n");
    CHECK(r.report.files[0].how == format::haproxy);
    REQUIRE(r.rows.size() == 2);
    CHECK(r.rows[0].job == "app GET /users/#");
    CHECK(r.rows[0].node == "app/s1");
    CHECK(r.rows[0].start_ms == 1770380054660);
    CHECK(r.rows[0].end_ms - r.rows[0].start_ms == 20);
    CHECK(r.rows[1].end_state == ending::failed);
    CHECK(r.lines(reason::bad_time) == std::vector<std::size_t>{3});
}
