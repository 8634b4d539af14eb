// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whatever the bytes: every reader of histories ends, what it hands out holds together, all lines it names
// are of the text, and it makes no difference in what pieces the bytes arrive. The first byte chooses the
// format, and whether the bytes are shown as they are or are packed first, so that the unpackers see whole
// and torn streams. tests/examples/readers/corpus.cpp replays the corpus.

#include "../../examples/programs/readers/readers.hpp"
#include "../../examples/programs/readers/fields.hpp"
#include "../../examples/programs/readers/json_walk.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include <zlib.h>
#include <zstd.h>

namespace readers_fuzzing {

inline void demand(bool holds) {
    if (!holds) std::abort();
}

struct seen {
    std::string job, task, node;
    std::uint32_t number = 0;
    readers::ending end_state{};
    std::optional<readers::moment> start, end;
    std::optional<double> input;
    std::size_t line = 0;
    friend bool operator==(seen const&, seen const&) = default;
};

struct reading {
    std::vector<seen> attempts;
    readers::reading_report report;
};

inline reading read_in_pieces(std::string_view bytes, std::optional<readers::format> from,
                              std::size_t piece) {
    reading result;
    auto const whole = std::make_shared<readers::raw_source>(readers::text_source(bytes));
    auto in = std::make_unique<readers::input>(
        "fuzz", [whole, piece](char* to, std::size_t size) { return (*whole)(to, (std::min)(size, piece)); });
    result.report = readers::read_history(
        {"fuzz"}, {.from = from},
        [&](readers::attempt const& a) {
            result.attempts.push_back({std::string(a.job), std::string(a.task), std::string(a.node), a.number,
                                       a.end_state, a.start, a.end, a.input, a.line});
        },
        std::move(in));
    return result;
}

inline bool same(readers::reading_report const& a, readers::reading_report const& b) {
    for (std::size_t i = 0; i < readers::reason_count; ++i)
        if (a.reasons[i].count != b.reasons[i].count) return false;
    return a.attempts == b.attempts && a.lines == b.lines && a.engine_version == b.engine_version;
}

inline void check(reading const& r, std::size_t most_lines) {
    demand(r.attempts.size() == r.report.attempts);
    demand(r.report.attempts == r.report.successes + r.report.failed + r.report.killed + r.report.running);
    for (seen const& a : r.attempts) {
        demand(!a.job.empty() && !a.node.empty() && a.start.has_value());
        demand(a.start->count() >= 0 && a.start->count() <= readers::latest_ns);
        demand((a.end_state == readers::ending::running) == !a.end.has_value());
        if (a.end) demand(*a.end >= *a.start && a.end->count() <= 2 * readers::latest_ns);
        if (a.input) demand(*a.input >= 0);
        demand(a.line >= 1 && a.line <= most_lines);
    }
    for (readers::occurrences const& some : r.report.reasons) {
        demand(some.first.size() <= readers::occurrences::most_places && some.first.size() <= some.count);
        for (auto const& at : some.first) demand(at.file == 0 && at.line <= most_lines);
    }
    demand(!readers::summary_of(r.report).empty());
}

// What a walk says of a line, by members that the formats have.
struct walked_line {
    readers::json_kind kind{};
    std::array<std::string, 6> texts{};
    std::array<double, 6> numbers{};
    std::array<std::int64_t, 6> wholes{};
    std::array<std::optional<bool>, 6> flags{};
};

constexpr std::array<std::string_view, 6> some_names{"Event", "Task Info", "Stage Attempt ID",
                                                     "event", "start",     "key"};

template <class Read>
walked_line walk_line(Read&& read) {
    static readers::member_names<6> const names(some_names);
    walked_line line;
    readers::found_members<6> found;
    line.kind =
        read([&found](readers::walked_object& object) { return readers::walk(object, names, found); });
    if (line.kind != readers::json_kind::object) return line;
    for (std::size_t i = 0; i < some_names.size(); ++i) {
        line.texts[i] = readers::text_of(found[i]);
        line.numbers[i] = readers::number_of(found[i]);
        line.wholes[i] = readers::whole_or(-7, found[i]);
        line.flags[i] = readers::flag(found[i]);
    }
    return line;
}

inline bool same(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

// A value of another kind is no value, and so is a number that is not finite.
template <class Value>
Value value_or(Value none, simdjson::dom::object object, std::string_view name) {
    Value value{};
    return object.at_key(name).get(value) == simdjson::SUCCESS ? value : none;
}

// Of what nobody wants a walk sees less than a parser; of what it does see it says the same.
inline void compare_with_parser(std::string const& padded, std::size_t size, walked_line const& walked) {
    simdjson::dom::parser parser;
    simdjson::dom::element whole;
    simdjson::dom::object object;
    bool const is_json = parser.parse(padded.data(), size, false).get(whole) == simdjson::SUCCESS;
    bool const is_object = is_json && whole.get(object) == simdjson::SUCCESS;
    demand(is_object ? walked.kind == readers::json_kind::object
           : is_json ? walked.kind == readers::json_kind::other
                     : walked.kind != readers::json_kind::other);
    // Names are compared as they are written.
    if (!is_object || padded.find('\\') < size) return;
    for (std::size_t i = 0; i < some_names.size(); ++i) {
        demand(walked.texts[i] == value_or(std::string_view(), object, some_names[i]));
        demand(same(walked.numbers[i], value_or(std::nan(""), object, some_names[i])));
        if (auto const n = value_or(std::int64_t{-7}, object, some_names[i]); n != -7)
            demand(walked.wholes[i] == n);
        demand(walked.flags[i].value_or(false) == value_or(false, object, some_names[i]));
    }
}

inline void walk_through(std::string_view text) {
    readers::unpacked_source source(readers::text_source(text));
    readers::text_window window(source);
    readers::line_reader lines(window);
    readers::json_line_walker all(lines);
    readers::json_walker one;
    while (lines.next()) {
        walked_line const walked = walk_line([&](auto const& body) { return all.read(body); });
        std::string padded(lines.line());
        padded.resize(padded.size() + readers::text_window::padding, '}'); // what is there is not looked at
        std::string_view const alone = std::string_view(padded).substr(0, lines.line().size());
        walked_line const again = walk_line([&](auto const& body) { return one.read(alone, body); });
        demand(walked.kind == again.kind && walked.texts == again.texts && walked.wholes == again.wholes &&
               walked.flags == again.flags);
        compare_with_parser(padded, alone.size(), walked);
    }
}

inline std::string gzipped(std::string_view text) {
    z_stream z{};
    constexpr int gzip_only = 15 + 16;
    demand(deflateInit2(&z, 1, Z_DEFLATED, gzip_only, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string out(deflateBound(&z, static_cast<uLong>(text.size())) + 64, '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    z.avail_in = static_cast<uInt>(text.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    demand(deflate(&z, Z_FINISH) == Z_STREAM_END);
    out.resize(z.total_out);
    deflateEnd(&z);
    return out;
}

inline std::string zstd_packed(std::string_view text) {
    std::string out(ZSTD_compressBound(text.size()), '\0');
    std::size_t const size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1);
    demand(ZSTD_isError(size) == 0);
    out.resize(size);
    return out;
}

inline void look_at(std::string_view bytes) {
    if (bytes.empty()) return;
    auto const choice = static_cast<unsigned char>(bytes.front());
    std::string_view const text = bytes.substr(1);
    std::optional<readers::format> from;
    std::size_t const told = choice % 16;
    if (told > 0 && told < readers::format_names.size()) from = static_cast<readers::format>(told);
    std::size_t const lines = 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    reading const whole = read_in_pieces(text, from, text.size() + 1);
    bool const packed = readers::packing_of(text) != readers::packing::none;
    if (!packed) check(whole, lines);
    if (!packed) walk_through(text);
    for (std::size_t const piece : {1u, 7u}) {
        reading const pieces = read_in_pieces(text, from, piece);
        if (packed) continue; // how much of a damaged stream can be unpacked depends on its pieces
        demand(pieces.attempts == whole.attempts && same(pieces.report, whole.report));
    }
    if (packed || choice < 64) return;
    for (std::string const& stream : {gzipped(text), zstd_packed(text)}) {
        reading const unpacked = read_in_pieces(stream, from, 5);
        demand(unpacked.attempts == whole.attempts && same(unpacked.report, whole.report));
        std::string_view const torn = std::string_view(stream).substr(0, stream.size() - 1 - choice % 4);
        check(read_in_pieces(torn, from, 9), lines);
    }
}

} // namespace readers_fuzzing

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    readers_fuzzing::look_at(std::string_view(reinterpret_cast<char const*>(data), size));
    return 0;
}
