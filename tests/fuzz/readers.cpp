// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whatever the bytes: every reader of histories ends, what it hands out holds together, all lines it names
// are of the text, and it makes no difference in what pieces the bytes arrive. The first byte chooses the
// format, and whether the bytes are shown as they are or are packed first, so that the unpackers see whole
// and torn streams. tests/examples/readers/corpus.cpp replays the corpus.

#include "../../examples/programs/readers/readers.hpp"
#include "../../examples/programs/readers/fields.hpp"

#include <algorithm>
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
    if (choice % 8 != 0) from = static_cast<readers::format>(choice % 8);
    std::size_t const lines = 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    reading const whole = read_in_pieces(text, from, text.size() + 1);
    bool const packed = readers::packing_of(text) != readers::packing::none;
    if (!packed) check(whole, lines);
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
