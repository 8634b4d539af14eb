// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// How inputs that are lines of text are changed: by lines, by fields, and by the values of JSON, rather than
// by bytes, which seldom get past a parser. Among the values are times that no clock should say. Linked to
// every target whose input is such text; STRAGGLE_FUZZ_HEAD bytes in front of the text say how the target
// reads it.

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#ifndef STRAGGLE_FUZZ_HEAD
#define STRAGGLE_FUZZ_HEAD 0
#endif

namespace {

using nlohmann::ordered_json;

// Every value of a document.
void collect(ordered_json& from, std::vector<ordered_json*>& to) {
    to.push_back(&from);
    if (from.is_structured())
        for (ordered_json& inner : from) collect(inner, to);
}

ordered_json odd_value(std::minstd_rand& draw) {
    using i64 = std::numeric_limits<std::int64_t>;
    using real = std::numeric_limits<double>;
    static ordered_json const odd = {0,
                                     1,
                                     -1,
                                     2,
                                     255,
                                     256,
                                     4294967295U,
                                     4294967296U,
                                     std::int64_t{1} << 53,
                                     std::int64_t{1} << 62,
                                     -(std::int64_t{1} << 62),
                                     i64::max(),
                                     i64::min(),
                                     ~std::uint64_t{0},
                                     0.5,
                                     -0.0,
                                     real::max(),
                                     real::lowest(),
                                     real::denorm_min(),
                                     1e15,
                                     1.7e9,
                                     1.7e12,
                                     nullptr,
                                     true,
                                     false,
                                     "",
                                     "n2",
                                     "j0",
                                     "healthy",
                                     "excluded",
                                     "failed",
                                     "killed",
                                     "dominated:0.5",
                                     "slower_by:1.1",
                                     "slowdown:1.1",
                                     "top_k:2:7",
                                     "hysteresis:2:3",
                                     "escalating:1:1000000000",
                                     "rerank",
                                     "254ms",
                                     ordered_json::array(),
                                     ordered_json::object()};
    return odd[draw() % odd.size()];
}

// A clock that goes on, goes back, or counts in another unit.
ordered_json later_or_earlier(ordered_json const& time, std::minstd_rand& draw) {
    double const t = time.get<double>();
    double const moved[] = {t + 1, t + 1000, t - 1, t - 1000, t * 1000, t / 1000, -t, t + 4e9};
    double const to = moved[draw() % std::size(moved)];
    if (!time.is_number_integer() || !(to > -9e18 && to < 9e18)) return to;
    return static_cast<std::int64_t>(to);
}

// One value becomes another, goes, or comes twice.
void change(ordered_json& line, std::minstd_rand& draw) {
    std::vector<ordered_json*> all;
    collect(line, all);
    ordered_json& at = *all[draw() % all.size()];
    unsigned const how = static_cast<unsigned>(draw()) % 8;
    if (how == 0 && at.is_number_integer())
        at = static_cast<std::int64_t>(at.get<std::uint64_t>() + draw() % 5 - 2);
    else if (how == 1 && at.is_array() && !at.empty())
        at.erase(draw() % at.size());
    else if (how == 2 && at.is_array() && !at.empty())
        at.push_back(ordered_json(at[draw() % at.size()]));
    else if (how == 3 && at.is_object() && !at.empty())
        at.erase(std::next(at.begin(), static_cast<std::ptrdiff_t>(draw() % at.size())));
    else if (how == 4)
        at = ordered_json(*all[draw() % all.size()]);
    else if (how <= 6 && at.is_number())
        at = later_or_earlier(at, draw);
    else
        at = odd_value(draw);
}

// One field of a table's row becomes another one, or odd, or goes.
void change(std::string& row, std::minstd_rand& draw) {
    static constexpr std::string_view odd[] = {"",
                                               "0",
                                               "-1",
                                               "1",
                                               "4611686018427387904",
                                               "-4611686018427387904",
                                               "9223372036854775807",
                                               "1e308",
                                               "nan",
                                               "inf",
                                               "Unknown",
                                               "None",
                                               "1970-01-01T00:00:00",
                                               "9999-12-31T23:59:59",
                                               "2024-02-30T25:61:61",
                                               "2024-03-31T02:30:00+02:00",
                                               "31/Dec/9999:23:59:59.999",
                                               "-00:00:01",
                                               "106751991167-00:00:00",
                                               "\"",
                                               "\"a\"\"b\"",
                                               "COMPLETED",
                                               "NODE_FAIL",
                                               "1 ms",
                                               "9999999999999h 1ms",
                                               "=1+1"};
    std::string_view const separators = "|\t,; ";
    char const by = separators[draw() % separators.size()];
    std::vector<std::string> fields;
    std::istringstream in(row);
    for (std::string field; std::getline(in, field, by);) fields.push_back(field);
    if (fields.empty()) return;
    std::size_t const i = draw() % fields.size();
    switch (draw() % 4) {
    case 0:
        fields[i] = std::string(fields[draw() % fields.size()]);
        break;
    case 1:
        fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(i));
        break;
    default:
        fields[i] = odd[draw() % std::size(odd)];
        break;
    }
    row.clear();
    for (std::string const& field : fields) {
        if (&field != fields.data()) row += by;
        row += field;
    }
}

std::string changed(std::string_view text, unsigned seed) {
    std::minstd_rand draw(seed);
    std::vector<std::string> lines;
    std::istringstream in{std::string(text)};
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    if (lines.empty()) return {};
    for (unsigned changes = 1 + static_cast<unsigned>(draw()) % 3; changes > 0 && !lines.empty(); --changes) {
        std::size_t const i = draw() % lines.size(), j = draw() % lines.size();
        switch (draw() % 12) {
        case 0:
            std::swap(lines[i], lines[j]);
            break;
        case 1:
            lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(i), std::string(lines[j]));
            break;
        case 2:
            lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
            break;
        default:
            ordered_json line = ordered_json::parse(lines[i], nullptr, false);
            if (line.is_discarded()) {
                change(lines[i], draw);
            } else {
                change(line, draw);
                lines[i] = line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
            }
            break;
        }
    }
    std::string out;
    for (std::string const& line : lines) (out += line) += '\n';
    return out;
}

} // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t room);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t room,
                                               unsigned seed);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t room,
                                               unsigned seed) {
    constexpr std::size_t head = STRAGGLE_FUZZ_HEAD;
    if (seed % 8 == 0 || size <= head) return LLVMFuzzerMutate(data, size, room);
    std::string const text = changed({reinterpret_cast<char const*>(data) + head, size - head}, seed);
    if (text.empty() || text.size() > room - head) return LLVMFuzzerMutate(data, size, room);
    std::copy(text.begin(), text.end(), data + head);
    return head + text.size();
}
