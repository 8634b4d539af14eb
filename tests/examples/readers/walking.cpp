// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// JSON that is walked through instead of held as a tree: members in any order, twice, with escapes, and
// damage at every place.

#include "support.hpp"

#include "../../../examples/programs/readers/json_walk.hpp"

#include <array>

using namespace readers_test;
using readers::ending;
using readers::format;
using readers::reason;

namespace {

std::string const task =
    R"({"event":"task","key":"k-1","prefix":"k","group":"g","worker":"tcp://w","name":"n","start":1.5,"stop":2.5,"to":"memory","input":7})";

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    std::size_t const at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.replace(at, what.size(), by);
}

std::string jhist(std::string const& events) {
    return "Avro-Json\n{\"name\":\"Event\",\"namespace\":\"n\"}\n" + events;
}

std::string const began =
    R"({"type":"MAP_ATTEMPT_STARTED","event":{"c.Started":{"taskid":"t","taskType":"MAP","attemptId":"attempt_1_2_m_000003_1","startTime":1000,"trackerName":"h1","avataar":null}}})"
    "\n";
std::string const ended =
    R"({"type":"MAP_ATTEMPT_FINISHED","event":{"c.Finished":{"attemptId":"attempt_1_2_m_000003_1","finishTime":3000,"hostname":{"string":"/rack/h2"},"counters":{"groups":[{"name":"other","counts":[{"name":"HDFS_BYTES_READ","value":1}]},{"name":"a.FileSystemCounter","counts":[{"name":"X","value":2},{"name":"HDFS_BYTES_READ","value":3}]}]}}}})"
    "\n";

} // namespace

TEST_CASE("readers: names of members are told apart up to their quote") {
    std::array<std::string_view, 7> const known{"to",
                                                "taskid",
                                                "taskType",
                                                "fifteen_letters",
                                                "sixteen_letters_",
                                                "twenty_letters_in_it",
                                                "twenty_letters_in_at"};
    readers::member_names<7> const names(known);
    auto const index = [&](std::string text) {
        text += "\":1}";
        text.resize(64);
        return names.index_of(std::string_view(text).substr(0, text.find('"')));
    };
    for (std::size_t i = 0; i < known.size(); ++i) {
        std::string const name(known[i]);
        CHECK(index(name) == i);
        CHECK(index(name + '_') == known.size());
        CHECK(index('_' + name) == known.size());
    }
    for (char const* const other : {"", "t", "tot", "toto", "task", "TO", "fifteen_letter", "sixteen_letters",
                                    "twenty_letters_i", "twenty_letters_in_i"})
        CHECK(index(other) == known.size());
}

TEST_CASE("readers: Dask, members in any order, with blanks, twice and with escapes") {
    reading const r = read_text(
        task + '\n' +
            R"x( { "input" : null , "to" : "erred" , "stop" : 3 , "start" : 2 , "name" : "" , "worker" : "w" , "group" : "g" , "prefix" : "p" , "more" : [ { "to" : "memory" } ] , "key" : "('a\u0062', \"0\\)" , "event" : "task" } )x" +
            '\n' + replaced(task, R"("start":1.5)", R"("start":1.5,"start":99,"copy":true)") + '\n',
        format::dask);
    REQUIRE(r.rows.size() == 3);
    CHECK(r.rows[0].job == "k");
    CHECK(r.rows[0].node == "n");
    CHECK(r.rows[0].executor == "tcp://w");
    CHECK(r.rows[0].start_ms == 1500);
    CHECK(r.rows[0].input == 7);
    CHECK_FALSE(r.rows[0].speculative.has_value());
    CHECK(r.rows[1].job == "g");
    CHECK(r.rows[1].task == R"x(('ab', "0\))x");
    CHECK(r.rows[1].node == "w");
    CHECK(r.rows[1].end_ms == 3000);
    CHECK(r.rows[1].end_state == ending::failed);
    CHECK(r.rows[1].input == -1);
    CHECK(r.rows[2].start_ms == 1500);
    CHECK(r.rows[2].speculative == true);
}

TEST_CASE("readers: Dask, a damaged line costs itself") {
    for (std::string const& bad : {replaced(task, ",", " "),
                                   replaced(task, ":", " "),
                                   task + task,
                                   task + " x",
                                   task + "}",
                                   replaced(task, "}", "]"),
                                   task.substr(0, task.size() - 1),
                                   task.substr(0, task.size() / 2),
                                   replaced(task, "7}", "7,}"),
                                   replaced(task, "7", "[7"),
                                   replaced(task, "7", "{\"a\":"),
                                   replaced(task, "k-1", "\xff"),
                                   replaced(task, "\"k\"", "\"k"),
                                   replaced(task, "7}", "}"),
                                   replaced(task, ",", ",\"x\":],"),
                                   std::string("hello"),
                                   std::string("{"),
                                   std::string("nonsense"),
                                   std::string("null-like"),
                                   std::string("nullnull"),
                                   std::string("true,"),
                                   std::string("falsely"),
                                   std::string("[nonsense]"),
                                   std::string("[1,2"),
                                   std::string("5 apples"),
                                   std::string("-"),
                                   std::string("007"),
                                   std::string("\"unclosed"),
                                   std::string("\"a\" \"b\"")}) {
        CAPTURE(bad);
        reading const r = read_text(task + '\n' + bad + '\n' + task + '\n', format::dask);
        CHECK(r.report.attempts == 2);
        CHECK(r.lines(reason::not_json) == std::vector<std::size_t>{2});
        CHECK(read_text(task + '\n' + bad, format::dask).count(reason::torn) == 1);
    }
    reading const other = read_text("[]\n5\n\"task\"\n null \n{}\n" + task + '\n', format::dask);
    CHECK(other.report.attempts == 1);
    CHECK(other.lines(reason::not_a_record) == std::vector<std::size_t>{1, 2, 3, 4, 5});
    // Of the wrong kind is as if it were not there.
    CHECK(read_text(replaced(task, "1.5", "\"1.5\""), format::dask).count(reason::bad_time) == 1);
    CHECK(read_text(replaced(task, "1.5", "1.5e999"), format::dask).count(reason::bad_time) == 1);
    CHECK(read_text(replaced(task, "\"n\"", "{\"n\":1}"), format::dask).rows.at(0).node == "tcp://w");
}

TEST_CASE("readers: Dask, an object over several lines is none, and several on one line are none") {
    std::string const broken = replaced(task, ",\"name\"", ",\n\"name\"");
    reading const r = read_text(task + '\n' + broken + '\n' + task + '\n', format::dask);
    CHECK(r.report.attempts == 2);
    CHECK(r.lines(reason::not_json) == std::vector<std::size_t>{2, 3});
    CHECK(r.rows.back().line == 4);
    // Where brackets that are missing on one line are too many on the next one.
    std::string const open = replaced(task, "7}", "[7"), rest = "8]}";
    reading const two = read_text(task + '\n' + open + '\n' + rest + '\n' + task + '\n', format::dask);
    CHECK(two.report.attempts == 2);
    CHECK(two.lines(reason::not_json) == std::vector<std::size_t>{2, 3});
}

TEST_CASE("readers: Dask, times are exact to the nanosecond, however they are written") {
    auto const start_of = [](std::string const& written) {
        std::string const text = replaced(replaced(task, "1.5", written), "2.5", "4e9") + '\n';
        std::int64_t ns = -1;
        static_cast<void>(readers::read_history(
            {"text"}, {.from = format::dask}, [&ns](readers::attempt const& a) { ns = a.start->count(); },
            std::make_unique<readers::input>("text", readers::text_source(text))));
        return ns;
    };
    CHECK(start_of("1795363813.1466036") == 1795363813146603600);
    CHECK(start_of("1795363813.146928") == 1795363813146928000);
    CHECK(start_of("1795363813.1") == 1795363813100000000);
    CHECK(start_of("1795363813.123456789") == 1795363813123456789);
    CHECK(start_of("1795363813") == 1795363813000000000);
    CHECK(start_of("1795363813 ") == 1795363813000000000);
    CHECK(start_of("17953638.25") == 17953638250000000);
    CHECK(start_of("0.5") == 500000000);
    CHECK(start_of("1.5e9") == 1500000000000000000);
    for (char const* const bad :
         {"1795363813.", "01795363813.5", "1795363813.5.5", "1795363813,5", "5000000000.5", "9999999999.5",
          "-1.5", "1795363813.14692x", "+1795363813.5", ".5"}) {
        CAPTURE(bad);
        CHECK(start_of(bad) == -1);
    }
}

TEST_CASE("readers: what a line of Hadoop says is not taken for what the next one says") {
    for (char const* const other : {"[]", "5", "null", "\"type\""}) {
        CAPTURE(other);
        reading const r = read_text(jhist(began + other + '\n' + ended + other + '\n'));
        CHECK(r.report.attempts == 1);
        CHECK(r.lines(reason::not_a_record) == std::vector<std::size_t>{4, 6});
        CHECK(r.count(reason::end_without_start) == 0);
    }
}

TEST_CASE("readers: a last line that is cut off is counted as that, wherever the cut is") {
    std::string const spark =
        R"({"Event":"SparkListenerTaskEnd","Stage ID":1,"Task End Reason":{"Reason":"Success"},"Task Info":{"Task ID":1,"Index":0,"Launch Time":1000,"Host":"h","Finish Time":2000}})";
    std::string const log = R"({"Event":"SparkListenerLogStart","Spark Version":"3.5.1"})"
                            "\n";
    for (std::size_t size = 1; size < spark.size(); ++size) {
        reading const r = read_text(log + spark + '\n' + spark.substr(0, size), format::spark);
        CHECK(r.report.attempts == 1);
        CHECK(r.count(reason::torn) == 1);
    }
    CHECK(read_text(log + spark + '\n' + spark, format::spark).report.attempts == 2);
    std::string const cut = ended.substr(0, ended.size() - 1); // its line end
    for (std::size_t size = 1; size < cut.size(); ++size) {
        reading const r = read_text(jhist(began + ended + cut.substr(0, size)));
        CHECK(r.report.attempts == 1);
        CHECK(r.count(reason::torn) == 1);
    }
}

TEST_CASE("readers: Hadoop, a history in another order") {
    reading const plain = read_text(jhist(began + ended));
    REQUIRE(plain.rows.size() == 1);
    CHECK(plain.rows[0].job == "job_1_2/map");
    CHECK(plain.rows[0].number == 1);
    CHECK(plain.rows[0].node == "h2");
    CHECK(plain.rows[0].input == 3);
    CHECK_FALSE(plain.rows[0].speculative.has_value());
    std::string const turned =
        R"({"event":{"c.Finished":{"counters":{"groups":[{"counts":[{"value":3,"name":"HDFS_BYTES_READ"}],"name":"a.FileSystemCounter"}]},"hostname":"h2","finishTime":3e3,"attemptId":"attempt_1_2_m_000003_1"}},"type":"MAP_ATTEMPT_FINISHED"})"
        "\n";
    reading const other = read_text(jhist(began + turned));
    REQUIRE(other.rows.size() == 1);
    CHECK(other.rows[0].input == 3);
    CHECK(other.rows[0].end_ms == 3000);
    // An event with two bodies is none, nor is one of which we do not know what it is.
    reading const odd =
        read_text(jhist(replaced(began, "}}}", "},\"b\":1}}") + replaced(began, "STARTED", "SEEN") +
                        R"({"type":"TASK_FINISHED","event":{"c":{"attemptId":3}}})"
                        "\n"));
    CHECK(odd.rows.empty());
    CHECK(odd.count(reason::other_event) == 3);
}

TEST_CASE("readers: Hadoop, a damaged line of a history costs itself") {
    for (std::string const& bad :
         {replaced(ended, "3000,", "3000 "), replaced(ended, "\"value\":1}", "\"value\":1"),
          replaced(ended, "}\n", "\n"), replaced(ended, "\n", "}\n"), std::string("{\"type\":\n")}) {
        CAPTURE(bad);
        reading const r = read_text(jhist(began + bad + ended));
        CHECK(r.report.attempts == 1);
        CHECK(r.lines(reason::not_json) == std::vector<std::size_t>{4});
    }
    // What nobody wants may be damaged as long as its brackets are whole: the attempt is known all the same.
    reading const within = read_text(jhist(began + replaced(ended, "[", "{")));
    REQUIRE(within.rows.size() == 1);
    CHECK(within.rows[0].input == -1);
    reading const r = read_text(jhist(began + began + replaced(began, "_1\"", "_2\"")));
    REQUIRE(r.rows.size() == 2); // still running, in the order in which they began
    CHECK(r.rows[0].number == 1);
    CHECK(r.rows[1].number == 2);
    CHECK(r.rows[1].end_state == ending::running);
    reading const over = read_text(jhist(began + "{\"type\":\"JOB_FINISHED\",\"event\":{\"c\":{}}}\n"));
    CHECK(over.count(reason::no_end_written) == 1);
}

TEST_CASE("readers: Hadoop, a Rumen trace in another order") {
    std::string const attempt =
        R"({"attemptID":"attempt_1_2_m_0_0","hostName":"h","startTime":1000,"finishTime":3000,"result":"SUCCESS"})";
    std::string const copy = replaced(replaced(attempt, "0_0", "0_1"), "1000", "2000");
    reading const r = read_text(R"({"reduceTasks":[{"attempts":[)" + replaced(attempt, "SUCCESS", "KILLED") +
                                    R"(],"taskID":"r0"},{"taskID":"r1"},5],"mapTasks":[{"attempts":[)" +
                                    attempt + ',' + copy + R"(],"taskID":"m0"}],"jobID":"job_1_2"})" + '\n',
                                format::hadoop);
    REQUIRE(r.rows.size() == 3);
    CHECK(r.rows[0].job == "job_1_2/reduce");
    CHECK(r.rows[0].task == "r0");
    CHECK(r.rows[0].end_state == ending::killed);
    CHECK_FALSE(r.rows[0].speculative.has_value());
    CHECK(r.rows[1].job == "job_1_2/map");
    CHECK(r.rows[1].task == "m0");
    CHECK(r.rows[1].speculative == false);
    CHECK(r.rows[2].speculative == true);
    CHECK(r.rows[2].number == 1);
    CHECK(r.count(reason::not_a_record) == 1); // r1 has no attempts
    CHECK(read_text(R"({"mapTasks":[{"attempts":[]}]})", format::hadoop).count(reason::no_job) == 1);
    // Damage behind the last attempt of a job: none of them is handed out.
    std::string const whole =
        R"({"jobID":"job_1_2","mapTasks":[{"taskID":"m0","attempts":[)" + attempt + "]}]";
    reading const late = read_text(whole + " \"x\":1}\n" + whole + "}\n", format::hadoop);
    CHECK(late.report.attempts == 1);
    CHECK(late.lines(reason::not_json) == std::vector<std::size_t>{1});
}

TEST_CASE("readers: Slurm, how often a job was restarted") {
    auto const job = [](int id, std::string const& more) {
        return "{\"job_id\":" + std::to_string(id) +
               R"(,"array":{"job_id":7,"task_id":1},"nodes":"n1","state":{"current":["COMPLETED"]},"time":{"start":10,"end":20})" +
               more + "}";
    };
    reading const r =
        read_text("{\"meta\":{\"Slurm\":{}},\"jobs\":[" + job(8, "") + ',' + job(8, "") + ',' +
                  job(9, R"(,"restart_cnt":4)") + ',' + job(9, R"(,"restart_cnt":{"set":true,"number":5})") +
                  ',' + job(10, R"(,"restart_cnt":{"set":false,"number":0})") + "]}");
    REQUIRE(r.rows.size() == 5);
    std::vector<std::uint32_t> numbers;
    for (row const& a : r.rows) numbers.push_back(a.number);
    CHECK(numbers == std::vector<std::uint32_t>{0, 1, 4, 5, 0});
}
