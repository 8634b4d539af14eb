// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../fuzz/csv.cpp"

#include <support/corpus.hpp>

#include <doctest/doctest.h>

#include <array>

using table = std::vector<std::vector<std::string>>;

namespace {

reading read(std::string_view text) {
    reading const slowly = read_in_pieces(text, text.size() + 1);
    CHECK(read_in_pieces(text, text.size() + 1, true) == slowly);
    return slowly;
}

} // namespace

TEST_CASE("csv: records, header first") {
    auto const records = [](std::string_view text) { return read(text).records; };
    CHECK(records("a,b\n1,2\n") == table{{"a", "b"}, {"1", "2"}});
    CHECK(records("a,b\n1,2") == table{{"a", "b"}, {"1", "2"}});
    CHECK(records("a,b\r\n1,2\r\n") == table{{"a", "b"}, {"1", "2"}});
    CHECK(records("a,b\r1,2\r3,4") == table{{"a", "b"}, {"1", "2"}, {"3", "4"}});
    CHECK(records("\xEF\xBB\xBF"
                  "a,b\n1,2\n") == table{{"a", "b"}, {"1", "2"}});
    CHECK(records("a,b\n,\n") == table{{"a", "b"}, {"", ""}});
    CHECK(records("a,b\n1,") == table{{"a", "b"}, {"1", ""}});
    CHECK(records("a\n\n1\n\r\n2\n\n") == table{{"a"}, {"1"}, {"2"}});
    CHECK(records("a\n\"\"\n") == table{{"a"}, {""}});
    CHECK(records("a, b\n 1 ,2\n") == table{{"a", " b"}, {" 1 ", "2"}});
}

TEST_CASE("csv: quoted fields") {
    auto const records = [](std::string_view text) { return read(text).records; };
    CHECK(records("a,b\n\"1,5\",\"x\"\n") == table{{"a", "b"}, {"1,5", "x"}});
    CHECK(records("a,b\n\"say \"\"no\"\"\",\"\"\"\"\n") == table{{"a", "b"}, {"say \"no\"", "\""}});
    CHECK(records("a,b\n\"1\n2\",\"3\r\n4\"\n") == table{{"a", "b"}, {"1\n2", "3\r\n4"}});
    CHECK(records("\"a\",\"b\"\n1,2") == table{{"a", "b"}, {"1", "2"}});
    // A quote inside an unquoted field is not RFC 4180, but harmless and found in real logs.
    CHECK(records("a,b\n5\" disk,x\n") == table{{"a", "b"}, {"5\" disk", "x"}});
}

TEST_CASE("csv: every record knows its line") {
    reading const r = read("a,b\n\n\"1\n2\",x\n3,4\n");
    CHECK(r.lines == std::vector<std::size_t>{0, 3, 5});
}

TEST_CASE("csv: faults name the line") {
    auto const faults = [](std::string_view text, std::size_t line, std::string_view part) {
        reading const r = read(text);
        CAPTURE(std::string(text));
        CHECK(r.fault_line == line);
        CHECK_MESSAGE(r.fault.find(part) != std::string::npos, r.fault);
    };
    faults("", 1, "empty");
    faults("\n\n", 3, "empty");
    faults("\xEF\xBB\xBF", 1, "empty");
    faults("a,b\n1,2\n1\n", 3, "1 fields where the header has 2");
    faults("a,b\n1,2,3\n", 2, "3 fields");
    faults("a,b\n1,\"2\n3,4\n", 2, "never closed");
    faults("a,b\n1,\"2\"x\n", 2, "behind a closing quote");
    faults("a,b\n1,\"\n\n2\"x\n", 4, "behind a closing quote");
    faults(std::string_view("a,b\n1,\0\n", 8), 2, "NUL");
    faults(std::string_view("a,b\n\"\n\0\",1\n", 11), 3, "NUL");
    faults("\xFF\xFE"
           "a",
           1, "UTF-16");
    faults("\x1F\x8B"
           "a",
           1, "gzip");
}

TEST_CASE("csv: a record has an end to its size") {
    auto const read_with = [](std::string const& text, csv::limits limits) {
        csv::reader reader(csv::text_source(text), limits);
        while (reader.next()) {
        }
    };
    std::string const long_field = "a\n" + std::string(3'000'000, 'x') + "\n";
    CHECK_NOTHROW(read_with(long_field, {}));
    CHECK_THROWS_AS(read_with(long_field, {.record_bytes = 1'000'000}), csv::error);
    CHECK_THROWS_AS(read_with("a\n\"" + std::string(3'000'000, '\n'), {.record_bytes = 1'000'000}),
                    csv::error);
    CHECK_THROWS_AS(read_with(std::string(100, ','), {.fields = 100}), csv::error);
    CHECK_NOTHROW(read_with(std::string(100, ','), {.fields = 101}));
}

namespace {

// Everything that can be read, and the lines on which what cannot begins.
struct patient_reading {
    table records;
    std::vector<std::size_t> left_out;
    friend bool operator==(patient_reading const&, patient_reading const&) = default;
};

patient_reading read_patiently(std::string_view text, std::size_t piece, bool fast = false) {
    patient_reading result;
    csv::text_source whole(text);
    csv::reader reader([&](char* to, std::size_t size) { return whole(to, (std::min)(size, piece)); });
    for (bool more = true; more;) {
        try {
            more = fast ? reader.next_plain() : reader.next();
            if (more) result.records.emplace_back(reader.fields().begin(), reader.fields().end());
        } catch (csv::error const&) {
            result.left_out.push_back(reader.skip_fault());
        }
    }
    return result;
}

// The same with a new reader behind every fault, which knows nothing of those before it.
patient_reading read_afresh(std::string_view text) {
    patient_reading result;
    std::string const header(text.substr(0, text.find('\n') + 1));
    std::string rest(text);
    for (;;) {
        csv::reader reader{csv::text_source(rest)};
        try {
            while (reader.next()) result.records.emplace_back(reader.fields().begin(), reader.fields().end());
            return result;
        } catch (csv::error const&) {
            result.left_out.push_back(reader.skip_fault()); // counted from that fault on
            rest = header + rest.substr(reader.bytes());
        }
    }
}

} // namespace

TEST_CASE("csv: faults can be left out") {
    using lines = std::vector<std::size_t>;
    auto const leaves_out = [](std::string_view text, table const& records, lines const& left_out) {
        CAPTURE(std::string(text));
        for (std::size_t const piece : {std::size_t{1}, std::size_t{2}, std::size_t{3}, text.size()}) {
            patient_reading const r = read_patiently(text, piece);
            CHECK(r.records == records);
            CHECK(r.left_out == left_out);
            CHECK(read_patiently(text, piece, true) == r);
        }
    };
    leaves_out("a,b\n1\n2,3\n1,2,3\n\n4,5\n", {{"2", "3"}, {"4", "5"}}, {2, 4});
    leaves_out("a,b\n1,\"2\"x\n2,3\n", {{"2", "3"}}, {2});
    leaves_out("a,b\r\n1,\"2\"x\r\n2,3\r\n", {{"2", "3"}}, {2});
    leaves_out("a,b\r1,\"2\"x\r2,3", {{"2", "3"}}, {2});
    // A quote too many takes with it the line it is on, not those up to the next quote.
    leaves_out("a,b\n\"1,2\n2,3\n4,\"5\"\n", {{"2", "3"}, {"4", "5"}}, {2});
    leaves_out("a,b\n2,3\n1,\"2\n4,5", {{"2", "3"}, {"4", "5"}}, {3});
    leaves_out("a,b\n2,3\n1,\"2", {{"2", "3"}}, {3});
    leaves_out(std::string_view("a,b\n1,\0\0\n2,3\n\0", 14), {{"2", "3"}}, {2, 4});
    leaves_out("a,b\n1\n\"2\n3\",4\n5\n6,7\n", {{"2\n3", "4"}, {"6", "7"}}, {2, 5});

    // Unless nobody knows where the line ends.
    std::string const endless = "a\n\"" + std::string(3'000'000, 'x');
    csv::reader reader(csv::text_source(endless), {.record_bytes = 1'000'000});
    CHECK_THROWS_AS(reader.next(), csv::error);
    CHECK_THROWS_AS(reader.skip_fault(), csv::error);
}

TEST_CASE("csv: leaving out faults comes to an end, however the text is cut") {
    std::string_view const alphabet("ab,\"\n\r\0", 7);
    std::uint64_t state = 7;
    auto const draw = [&state](std::size_t below) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::size_t>(state >> 33) % below;
    };
    for (int round = 0; round < 2000; ++round) {
        std::string text = "a,b\n";
        for (std::size_t k = draw(40); k > 0; --k) text += alphabet[draw(alphabet.size())];
        CAPTURE(text);
        patient_reading const whole = read_patiently(text, text.size());
        patient_reading const afresh = read_afresh(text);
        CHECK(whole.records == afresh.records);
        CHECK(whole.left_out.size() == afresh.left_out.size());
        CHECK(std::ranges::all_of(whole.records, [](auto const& record) { return record.size() == 2; }));
        CHECK(std::ranges::is_sorted(whole.left_out));
        for (std::size_t const piece : {1u, 2u, 3u, 7u, 64u})
            for (bool const fast : {false, true}) CHECK(read_patiently(text, piece, fast) == whole);
    }
}

// Each of these lines opens quotes that the next one neither closes nor contradicts: looked at to the end of
// the file for every line, they would take a minute.
TEST_CASE("csv: leaving out faults is linear") {
    std::string text = "a,b\n";
    for (int i = 0; i < 40'000; ++i) text += "a\",b,\"c\n";
    text += "1,2\n";
    patient_reading const r = read_patiently(text, text.size());
    CHECK(r.records == table{{"1", "2"}});
    CHECK(r.left_out.size() == 40'000);
    CHECK(read_patiently(text, text.size(), true) == r);
}

TEST_CASE("csv: what is written quoted reads back, however it is cut") {
    std::string_view const alphabet = "ab,\"\n\r x";
    std::uint64_t state = 1;
    auto const draw = [&state](std::size_t below) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::size_t>(state >> 33) % below;
    };
    for (int round = 0; round < 300; ++round) {
        std::size_t const width = 2 + draw(4);
        table records(1 + draw(6), std::vector<std::string>(width));
        std::string text;
        for (auto& record : records) {
            for (std::size_t i = 0; i < width; ++i) {
                for (std::size_t k = draw(6); k > 0; --k) record[i] += alphabet[draw(alphabet.size())];
                text += (i > 0 ? "," : "") + csv::quoted(record[i]);
            }
            text += draw(2) == 0 ? "\n" : "\r\n";
        }
        CAPTURE(text);
        CHECK(read(text).records == records);
        CHECK(read_in_pieces(text, 1 + draw(5)).records == records);
    }
}

TEST_CASE("csv: a file longer than the buffer") {
    std::string text = "id,text\n";
    std::size_t const rows = 50'000;
    for (std::size_t i = 0; i < rows; ++i)
        text += std::to_string(i) + ",\"row \"\"" + std::to_string(i) + "\"\"\"\n";
    csv::reader reader{csv::text_source(text)};
    std::size_t wrong = 0, read = 0;
    for (; reader.next(); ++read) {
        std::string const id = std::to_string(read);
        wrong += reader.fields()[0] != id || reader.fields()[1] != "row \"" + id + "\"" ||
                 reader.line() != read + 2;
    }
    CHECK(read == rows);
    CHECK(wrong == 0);
    CHECK(reader.bytes() == text.size());
}

TEST_CASE("csv: plain rows between others, over many buffers") {
    std::uint64_t state = 3;
    auto const draw = [&state](std::size_t below) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::size_t>(state >> 33) % below;
    };
    for (std::size_t const odd : {2u, 50u, 100'000u}) { // one row in so many is not plain
        std::string text = "a,b,c\n";
        while (text.size() < 900'000) {
            for (int field = 0; field < 3; ++field) {
                std::string const word(draw(odd) == 0 ? draw(9000) : draw(70), 'x');
                text += (field > 0 ? "," : "") + (draw(odd) == 0 ? "\"" + word + ",\"\"\r\n\"" : word);
            }
            text += draw(odd) == 0 ? ",1" : "";
            text += std::array{"\n", "\r\n", "\n\n", "\r"}[draw(odd) == 0 ? draw(4) : odd % 2];
        }
        patient_reading const slowly = read_patiently(text, text.size());
        REQUIRE(slowly.records.size() > 50);
        for (std::size_t const piece : {std::size_t{1000}, std::size_t{65'536}, text.size()})
            CHECK(read_patiently(text, piece, true) == slowly);
    }
}

TEST_CASE("csv: the corpus of the fuzzer") {
    straggle_test::replay_corpus(__FILE__, "csv", LLVMFuzzerTestOneInput);
}
