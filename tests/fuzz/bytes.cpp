// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whatever the bytes: opening them as a frame says ok or why not, and reading them in whatever order either
// fails for good or has read what a writer would write in just the same bytes: there are no two ways to write
// a value. tests/base/bytes.cpp replays the corpus.

#include <straggle/base/bytes.hpp>

#include "fuzzing.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

enum class rack : std::int16_t {};
constexpr std::uint32_t fuzz_kind = straggle::frame_kind("fuzz");
constexpr std::uint32_t newest = 2;

using fuzzing::demand;

// One read, and the write that undoes it.
template <class T>
void take_identifier(straggle::byte_reader& in, straggle::byte_writer& again) {
    auto const id = in.identifier<T>();
    if (in.ok())
        again.identifier(id);
    else
        demand(id == decltype(id){});
}

inline void take(unsigned what, straggle::byte_reader& in, straggle::byte_writer& again) {
    auto const undo = [&](auto value, auto&& write) {
        if (in.ok())
            write(value);
        else
            demand(value == decltype(value){});
    };
    switch (what % 16) {
    case 0:
        return undo(in.u8(), [&](auto v) { again.u8(v); });
    case 1:
        return undo(in.u32(), [&](auto v) { again.u32(v); });
    case 2:
        return undo(in.u64(), [&](auto v) { again.u64(v); });
    case 3:
        return undo(in.i64(), [&](auto v) { again.i64(v); });
    case 4:
        return undo(in.real(), [&](auto v) { again.real(v); });
    case 5:
        return undo(in.flag(), [&](auto v) { again.flag(v); });
    case 6:
        return undo(in.varint(), [&](auto v) { again.varint(v); });
    case 7: {
        std::size_t const item = 1 + what / 16;
        std::size_t const items = in.count(item);
        demand(items <= in.left() / item);
        return undo(items, [&](auto v) { again.count(v); });
    }
    case 8: {
        std::string const owned(in.text());
        return undo(owned, [&](auto const& v) { again.text(v); });
    }
    case 9:
        return take_identifier<std::string>(in, again);
    case 10:
        return take_identifier<std::int8_t>(in, again);
    case 11:
        return take_identifier<std::uint16_t>(in, again);
    case 12:
        return take_identifier<std::int64_t>(in, again);
    case 13:
        return take_identifier<std::uint64_t>(in, again);
    case 14:
        return take_identifier<rack>(in, again);
    default:
        if (in.tag(what)) again.tag(what);
        return;
    }
}

inline void read_as_told(std::span<std::byte const> program, std::span<std::byte const> data) {
    straggle::byte_reader in(data);
    straggle::byte_writer again;
    straggle::status first = straggle::status::ok;
    for (std::byte const what : program) {
        std::size_t const before = in.left();
        bool const well = in.ok();
        take(static_cast<unsigned>(what), in, again);
        demand(in.left() <= before);
        if (!well) demand(in.reason() == first); // the first failure sticks
        if (in.ok()) demand(again.payload().size() == data.size() - in.left());
        if (well) first = in.reason();
        if (!in.ok()) demand(in.left() == 0 && !in.at_end());
    }
    auto const written = again.payload();
    demand(written.size() <= data.size() && std::equal(written.begin(), written.end(), data.begin()));
}

inline void open_and_seal(std::span<std::byte const> bytes) {
    auto const frame = straggle::open_frame(bytes, fuzz_kind, newest);
    if (!frame) return;
    demand(frame->version >= 1 && frame->version <= newest && frame->payload.ok());
    straggle::byte_reader in = frame->payload;
    straggle::byte_writer again;
    while (!in.at_end()) again.u8(in.u8());
    std::vector<std::byte> const sealed = std::move(again).seal(fuzz_kind, frame->version);
    demand(std::equal(sealed.begin(), sealed.end(), bytes.begin(), bytes.end()));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::vector<std::byte> const bytes = fuzzing::bytes_of(data, size);
    std::span<std::byte const> const all(bytes);

    // The first byte says how many of the next tell what to read from the rest.
    if (!all.empty()) {
        auto const length = (std::min)(static_cast<std::size_t>(all[0]), all.size() - 1);
        read_as_told(all.subspan(1, length), all.subspan(1 + length));
    }

    fuzzing::as_is_and_mended(bytes, [](std::span<std::byte const> frame) { open_and_seal(frame); });

    // And as a payload.
    straggle::byte_writer out;
    for (std::byte const b : bytes) out.u8(static_cast<std::uint8_t>(b));
    std::vector<std::byte> const sealed = std::move(out).seal(fuzz_kind, newest);
    demand(straggle::open_frame(sealed, fuzz_kind, newest).has_value());
    open_and_seal(sealed);
    return 0;
}
