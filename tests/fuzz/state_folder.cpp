// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// What straggle-watch finds in its folder after whatever has happened to the files: snapshot, journal, and
// the lease that deciders share. It begins anew or goes on, says what it left out, and what it then writes is
// read back. The clocks in the journal say anything.

#include "examples/programs/straggle-watch/state_folder.hpp"
#include "examples/programs/straggle-watch/lease_file.hpp"
#include "fuzzing.hpp"
#include "small_watch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace {

using fuzzing::demand;
using namespace straggle_watch;
namespace fs = std::filesystem;

// A folder of this process, which goes with it; in memory where there is such a place, as each snapshot waits
// for the disk.
struct scratch {
    fs::path at = (fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) /
                  ("straggle-fuzz-" + std::to_string(::getpid()));
    scratch() { fs::create_directories(at); }
    scratch(scratch const&) = delete;
    scratch& operator=(scratch const&) = delete;
    ~scratch() {
        std::error_code ignored;
        fs::remove_all(at, ignored);
    }
};

std::vector<std::byte> read(fs::path const& file) {
    std::ifstream in(file, std::ios::binary);
    std::string const text((std::istreambuf_iterator<char>(in)), {});
    auto const bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}
void write(fs::path const& file, std::span<std::byte const> bytes) {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<char const*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void append(state_folder& to, watch& what, double wall, std::uint64_t& line, std::string text) {
    std::size_t const size = text.size();
    text.resize(size + padding);
    answers nobody;
    bool const is_timer = size == 0;
    journal_entry const entry{.is = is_timer ? journal_entry::kind::timer : journal_entry::kind::lines,
                              .when = {.wall = wall},
                              .first_line = line,
                              .position = {1, 2, line, line},
                              .text = {text.data(), size}};
    line += apply(what, entry, nobody);
    to.append(entry);
}

// A life of a few entries, whose clock the bytes tell; the names of the newest snapshot and its journal.
void live(fs::path const& folder, std::uint8_t const* data, std::size_t size, int entries) {
    state_folder state(folder.string());
    auto const what = state.load(fuzzing::small_watch());
    std::uint64_t line = 1;
    double now = 1000;
    for (int i = 0; i < entries; ++i) {
        static constexpr double odd[] = {0, 0x1p62, -0x1p62, 1e300, 1.7e12, -1};
        unsigned const b = size == 0 ? 20u : data[static_cast<std::size_t>(i) % size];
        double const wall = b < 6 ? odd[b] : b < 12 ? now -= 500 : now += b % 16;
        std::string const time = std::to_string(wall);
        if (i % 3 == 2) {
            append(state, *what, wall, line, {});
        } else {
            std::string const task = std::to_string(i), node = std::to_string(i % 5);
            std::string text = R"({"event": "start", "job": "j", "task": )" + task + R"(, "node": "n)" + node;
            (text += R"(", "start": )" + time + "}\n") += R"({"event": "end", "job": "j", "task": )" + task;
            text += R"(, "node": "n)" + node + R"(", "end": )" + time + "}\n";
            append(state, *what, wall, line, text);
        }
        if (i == entries / 2) state.snapshot(*what);
    }
    demand(state.faults() == 0);
}

// A file whose first frame is one but for a few bytes, or which is anything.
void spoil(fs::path const& file, std::uint8_t const*& data, std::size_t& size) {
    if (size < 2) return;
    std::uint8_t const how = *data;
    std::size_t const take = (std::min)(size - 1, std::size_t{12});
    std::uint8_t const* const from = data + 1;
    data += 1 + take;
    size -= 1 + take;
    std::vector<std::byte> bytes = read(file);
    constexpr std::size_t around = straggle::detail::frame_head_size + straggle::detail::frame_tail_size;
    switch (how % 5) {
    case 0:
        return;
    case 1: // torn
        bytes.resize(bytes.size() * from[0] / 256);
        break;
    case 2: // anything
        bytes = fuzzing::bytes_of(from, take);
        break;
    case 3: // what a disk does
        for (std::size_t i = 0; i + 1 < take && !bytes.empty(); i += 2)
            bytes[(from[i] * std::size_t{251}) % bytes.size()] = static_cast<std::byte>(from[i + 1]);
        break;
    default: { // edits that a checksum agrees with, in any of its frames
        std::size_t begin = 0;
        for (unsigned skip = from[0] % 4u;; --skip) {
            if (bytes.size() - begin < around) return;
            std::uint64_t const payload =
                straggle::detail::load_little<std::uint64_t>(bytes.data() + begin + 16);
            if (payload > bytes.size() - begin - around) return;
            std::size_t const whole = around + static_cast<std::size_t>(payload);
            if (skip == 0 || begin + whole == bytes.size()) {
                auto const first = bytes.begin() + static_cast<std::ptrdiff_t>(begin);
                std::vector<std::byte> frame(first, first + static_cast<std::ptrdiff_t>(whole));
                frame = fuzzing::edited(std::move(frame), from + 1, take - 1);
                std::copy(frame.begin(), frame.end(), first);
                break;
            }
            begin += whole;
        }
        break;
    }
    }
    write(file, bytes);
}

void look_at_lease(fs::path const& file, std::uint8_t const* data, std::size_t size) {
    {
        lease_file one(file.string(), 1, 30);
        demand(one.hold(1000));
        lease_file two(file.string(), 2, 30);
        demand(!two.hold(1001) && one.hold(1002));
    }
    spoil(file, data, size);
    lease_file one(file.string(), 1, 30), two(file.string(), 2, 30);
    static constexpr double odd[] = {0, 1000, 1029, 1031, 0x1p62, -0x1p62, 1e300, 1.7e308};
    for (std::size_t i = 0; i < (std::min)(size, std::size_t{8}); ++i) {
        double const wall = odd[data[i] % std::size(odd)];
        bool const first = one.hold(wall), second = two.hold(wall);
        demand(!(first && second));
        if (data[i] >= 128) one.release();
    }
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerInitialize(int*, char***) {
    // What is left out is said in a line each. libFuzzer took standard error before; sanitizers take the
    // descriptor.
    if (std::FILE* const nowhere = std::fopen("/dev/null", "w")) stderr = nowhere;
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    static scratch const here;
    fs::path const folder = here.at / "state", lease = here.at / "lease";
    // The files of a life without faults, made once.
    static std::vector<std::pair<fs::path, std::vector<std::byte>>> const files = [&] {
        live(folder, nullptr, 0, 12);
        std::vector<std::pair<fs::path, std::vector<std::byte>>> found;
        for (auto const& file : fs::directory_iterator(folder))
            if (file.path().filename() != "lock") found.emplace_back(file.path(), read(file.path()));
        std::sort(found.begin(), found.end());
        return found;
    }();
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    fs::remove(lease, ignored);
    look_at_lease(lease, data, size);
    fs::create_directory(folder);
    for (auto const& [file, bytes] : files) {
        write(file, bytes);
        spoil(file, data, size);
    }
    try {
        live(folder, data, size, 3);
    } catch (program::failure const& refused) { // a version to come, or more than its bounds allow
        demand(refused.status() == program::exit_status::bad_input);
        return 0;
    }
    state_folder again(folder.string());
    auto const what = again.load(fuzzing::small_watch());
    demand(what->told().running().size() <= 20 && what->told().nodes().size() <= 10);
    return 0;
}
