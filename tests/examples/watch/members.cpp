// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Lines that are plain are read without the parser of all JSON: the parser says what they are.

#include "../../../examples/programs/straggle-watch/members.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <string_view>

using namespace straggle_watch;

namespace {

struct lines {
    simdjson::dom::parser parser;
    members plain, whole;
    std::string padded;

    // Both ways; whether the line is plain, and whether it is an object.
    std::pair<bool, bool> read(std::string_view line) {
        padded.assign(line);
        padded.append(simdjson::SIMDJSON_PADDING, '"'); // what is behind the line is none of it
        bool const is_plain = plain.read_plain({padded.data(), line.size()});
        simdjson::dom::object object;
        bool const is_object =
            parser.parse(padded.data(), line.size(), true).get(object) == simdjson::SUCCESS;
        if (is_object) whole.read(object);
        return {is_plain, is_object};
    }

    bool agree() {
        for (std::size_t i = 0; i < member_count; ++i) {
            auto const m = static_cast<member>(i);
            if (plain.has(m) != whole.has(m)) return false;
            if (plain.name(m) != whole.name(m) || plain.text(m) != whole.text(m)) return false;
            auto const x = plain.number(m), y = whole.number(m);
            if (x != y || (x && std::signbit(*x) != std::signbit(*y))) return false;
            if (plain.count(m) != whole.count(m) || plain.flag(m) != whole.flag(m)) return false;
            if (plain.array(m).has_value() != whole.array(m).has_value()) return false;
            if (plain.what().what != whole.what().what || plain.what().detail != whole.what().detail)
                return false;
        }
        return true;
    }
};

} // namespace

TEST_CASE("plain lines: what the protocol's users write is plain, and read as the parser reads it") {
    lines l;
    for (
        std::string_view const line :
        {R"({"event": "end", "job": "j7", "task": 3, "node": "n1", "start": 1700000000.2, "end": 1700000004.9})",
         R"({"event":"end","job":7,"task":"3","node":"n1","duration":0.1,"copy":true,"outrun":false})",
         R"({"event":"decide","now":1700000000.1234567,"waiting":12,"all":false})",
         R"( {	"event" :  "start" , "kind" : null , "start":0 , "x":{} } )",
         R"({"event":"start","start":9007199254740993,"end":18014398509481985,"now":1234567890123456789})",
         R"({"event":"a","event":"b","job":"","node":"~ ^?"})",
         R"({"condition":"pinned","conditiom":1,"nod":2,"nodes":"n","running":4})"}) {
        auto const [is_plain, is_object] = l.read(line);
        CAPTURE(line);
        CHECK(is_object);
        CHECK(is_plain == (line.find("{}") == line.npos));
        if (is_plain) CHECK(l.agree());
    }
}

TEST_CASE("plain lines: everything else is left to the parser") {
    lines l;
    for (std::string_view const line : {"",
                                        "{",
                                        "}",
                                        "{}",
                                        "[]",
                                        "7",
                                        R"({"a":1)",
                                        R"({"a":1,})",
                                        R"({"a" 1})",
                                        R"({"a":})",
                                        R"({a:1})",
                                        R"({"a":01})",
                                        R"({"a":1.})",
                                        R"({"a":.5})",
                                        R"({"a":-1})",
                                        R"({"a":1e5})",
                                        R"({"a":+1})",
                                        R"({"a":tru})",
                                        R"({"a":nulll})",
                                        R"({"a":truefalse})",
                                        R"({"a":1}x)",
                                        R"({"a":1}{"a":1})",
                                        R"({"a":"\n"})",
                                        R"({"a\u0062":1})",
                                        "{\"a\":\"\xC3\xA9\"}",
                                        "{\"a\":\"\xFF\"}",
                                        "{\"a\":\"\x01\"}",
                                        "{\"a\":\"\t\"}",
                                        R"({"a":[1]})",
                                        R"({"a":{}})",
                                        R"({"a":1 2})",
                                        R"({"a":"b)",
                                        R"({"a)",
                                        R"({"a":12345678901234567890})",
                                        R"({"a":1.2345678901234567890})"}) {
        CAPTURE(line);
        CHECK_FALSE(l.read(line).first);
    }
}

TEST_CASE("plain lines: whatever the line, what is plain is JSON and the same") {
    lines l;
    std::mt19937_64 random(20261122);
    auto const below = [&](std::uint64_t n) { return std::size_t{random() % n}; };
    std::string const alphabet = "{}[]\":,.0123456789eE+-truefalsnl\\ \t\x01\x7F\x80\xC3";
    std::array<std::string, 4> const seeds{
        R"({"event":"end","job":"j7","task":3,"node":"n1","start":1700000000.25,"end":1700000004.9375})",
        R"({"event": "start", "job": 12, "node": "node-with-a-long-name", "start": 0.1, "copy": true})",
        R"({"event":"decide","now":1700000000.1234567,"waiting":12,"kind":null})",
        R"({"progress":0.30000000000000004,"input":9007199254740993,"end":123456789.987654321})"};
    std::size_t plain = 0;
    for (int round = 0; round < 200'000; ++round) {
        std::string line = seeds[below(seeds.size())];
        for (std::size_t edits = below(4); edits-- > 0;) {
            std::size_t const at = below(line.size());
            switch (below(3)) {
            case 0:
                line[at] = alphabet[below(alphabet.size())];
                break;
            case 1:
                line.insert(at, 1, alphabet[below(alphabet.size())]);
                break;
            default:
                line.erase(at, 1 + below(3));
            }
            if (line.empty()) break;
        }
        auto const [is_plain, is_object] = l.read(line);
        if (!is_plain) continue;
        ++plain;
        CAPTURE(line);
        REQUIRE(is_object);
        REQUIRE(l.agree());
    }
    CHECK(plain > 50'000);
}
