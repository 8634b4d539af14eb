// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "state_folder.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <ranges>
#include <vector>

#include <sys/file.h>
#include <sys/random.h>

namespace straggle_watch {

namespace {

namespace fs = std::filesystem;
using program::exit_status;
using program::failure;

constexpr std::uint32_t entry_frame = straggle::frame_kind("wjou");
constexpr std::uint32_t state_frame = straggle::frame_kind("wsta");
constexpr std::size_t head_size = 24, tail_size = 8; // of a frame

void write_position(straggle::byte_writer& out, file_position const& p) {
    for (std::uint64_t const n : {p.device, p.inode, p.offset, p.line}) out.varint(n);
}
void read_position(straggle::byte_reader& in, file_position& p) {
    for (std::uint64_t* const n : {&p.device, &p.inode, &p.offset, &p.line}) *n = in.varint();
}

std::vector<std::byte> sealed(journal_entry const& e, std::vector<std::byte> spare) {
    straggle::byte_writer out(std::move(spare));
    out.u8(static_cast<std::uint8_t>(e.is));
    out.flag(e.when.wall.has_value());
    out.real(e.when.wall.value_or(0));
    out.flag(e.when.is_decider);
    out.varint(e.first_line);
    write_position(out, e.position);
    out.text(e.text);
    return std::move(out).seal(entry_frame, 1);
}

// The length of the frame that begins there; 0 if there is none.
std::size_t frame_length(std::span<std::byte const> bytes) {
    if (bytes.size() < head_size + tail_size) return 0;
    straggle::byte_reader head(bytes.subspan(16, 8));
    std::uint64_t const payload = head.u64();
    return payload > bytes.size() - head_size - tail_size
               ? 0
               : head_size + tail_size + static_cast<std::size_t>(payload);
}

// The numbers of the files with a name, the largest first.
std::vector<std::uint64_t> numbers(std::string const& folder, std::string_view prefix) {
    std::vector<std::uint64_t> found;
    for (auto const& file : fs::directory_iterator(folder)) {
        std::string const name = file.path().filename().string();
        std::uint64_t n = 0;
        if (!name.starts_with(prefix)) continue;
        auto const [end, fault] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), n);
        if (fault == std::errc{} && end == name.data() + name.size()) found.push_back(n);
    }
    std::sort(found.rbegin(), found.rend());
    return found;
}

} // namespace

std::uint64_t apply(watch& to, journal_entry const& e, answers& out) {
    switch (e.is) {
    case journal_entry::kind::lines:
        return to.lines(e.text, e.first_line, e.when, out);
    case journal_entry::kind::too_long:
        to.too_long(e.first_line, out);
        return 1;
    case journal_entry::kind::timer:
        to.decide(e.when, out);
        return 0;
    }
    return 0;
}

state_folder::state_folder(std::string folder) : folder_(std::move(folder)) {
    std::error_code fault;
    fs::create_directories(fs::path(folder_).parent_path(), fault);
    if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) throw cannot_open(folder_);
    self_ = descriptor(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!self_.is_open()) throw cannot_open(folder_);
    std::string const lock = folder_ + "/lock";
    lock_ = descriptor(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock_.is_open()) throw cannot_open(lock);
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0)
        throw failure(exit_status::bad_input, folder_ + ": another process uses it");
}

std::string state_folder::name(char const* what, std::uint64_t number) const {
    return folder_ + "/" + what + "-" + std::to_string(number);
}

void state_folder::set_aside(std::string const& file, std::string const& why) {
    std::error_code fault;
    fs::rename(file, file + ".damaged", fault);
    std::fprintf(stderr, "straggle-watch: %s: %s; set aside as %s.damaged\n", file.c_str(), why.c_str(),
                 file.c_str());
}

std::unique_ptr<watch> state_folder::load_snapshot(watch_options const& options, std::uint64_t number) {
    std::string const file = name("snapshot", number);
    descriptor const in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!in.is_open()) return nullptr;
    std::vector<std::byte> const bytes = read_all(in.get());
    auto const opened = straggle::open_frame(bytes, state_frame, 1);
    straggle::status s = opened.reason();
    if (opened) {
        straggle::byte_reader from = opened->payload;
        read_position(from, position_);
        std::string_view const state = from.text();
        auto restored = std::make_unique<watch>(options);
        s = from.finish();
        if (s == straggle::status::ok)
            s = restored->restore({reinterpret_cast<std::byte const*>(state.data()), state.size()});
        if (s == straggle::status::ok) return restored;
    }
    if (s == straggle::status::unknown_version)
        throw failure(exit_status::bad_input, file + ": written by a newer version");
    if (s == straggle::status::out_of_range)
        throw failure(exit_status::bad_input,
                      file + ": holds more than --most-nodes or --most-running allow");
    set_aside(file, std::string(straggle::to_string(s)));
    position_ = {};
    return nullptr;
}

void state_folder::replay(watch& to, std::uint64_t number) {
    std::string const file = name("journal", number);
    descriptor const in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!in.is_open()) return;
    std::vector<std::byte> const bytes = read_all(in.get());
    std::span<std::byte const> left = bytes;
    answers nobody;
    std::vector<char> block;
    while (std::size_t const length = frame_length(left)) {
        auto const opened = straggle::open_frame(left.first(length), entry_frame, 1);
        if (!opened) break;
        straggle::byte_reader from = opened->payload;
        journal_entry e;
        std::uint8_t const kind = from.u8();
        from.expect(kind <= static_cast<std::uint8_t>(journal_entry::kind::timer));
        e.is = static_cast<journal_entry::kind>(kind);
        bool const has_wall = from.flag();
        double const wall = from.real();
        if (has_wall) e.when.wall = wall;
        e.when.is_decider = from.flag();
        e.first_line = from.varint();
        read_position(from, e.position);
        std::string_view const text = from.text();
        if (from.finish() != straggle::status::ok || (e.is == journal_entry::kind::timer && !has_wall)) break;
        block.assign(text.begin(), text.end());
        block.resize(text.size() + padding);
        e.text = {block.data(), text.size()};
        apply(to, e, nobody);
        nobody.clear();
        position_ = e.position;
        left = left.subspan(length);
    }
    if (!left.empty()) // the process ended while writing it
        std::fprintf(stderr, "straggle-watch: %s: the last %zu bytes are no whole entry and are left out\n",
                     file.c_str(), left.size());
}

std::unique_ptr<watch> state_folder::load(watch_options const& options) {
    std::unique_ptr<watch> found;
    auto const snapshots = numbers(folder_, "snapshot-"), journals = numbers(folder_, "journal-");
    std::uint64_t from = journals.empty() ? 0 : journals.back();
    for (std::uint64_t const n : snapshots) {
        found = load_snapshot(options, n);
        if (!found) continue;
        from = n;
        break;
    }
    if (!found) found = std::make_unique<watch>(options);
    number_ = from;
    for (std::uint64_t const n : std::views::reverse(journals)) {
        if (n < from) continue;
        replay(*found, n);
        number_ = n;
    }
    if (!snapshots.empty()) number_ = (std::max)(number_, snapshots.front());
    bool const has_seen = found->counts().lines != 0 || found->counts().plans != 0;
    if (has_seen) found->restored();
    snapshot(*found);
    return found;
}

std::uint64_t state_folder::identity() {
    std::string const file = folder_ + "/id";
    std::uint64_t id = 0;
    descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (in.is_open() && ::read(in.get(), &id, sizeof id) == sizeof id && id != 0) return id;
    if (::getrandom(&id, sizeof id, 0) != sizeof id || id == 0) id = 1;
    in = descriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!in.is_open() || !write_all(in.get(), {reinterpret_cast<char const*>(&id), sizeof id}))
        complain(file);
    return id;
}

void state_folder::complain(std::string const& file) {
    if (faults_++ == 0) std::fprintf(stderr, "straggle-watch: %s: %s\n", file.c_str(), last_fault().c_str());
}

bool state_folder::open_journal() {
    std::string const file = name("journal", number_);
    journal_ = descriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    journal_bytes_ = 0;
    if (!journal_.is_open()) complain(file);
    return journal_.is_open();
}

void state_folder::append(journal_entry const& entry) {
    position_ = entry.position;
    if (is_broken_) return;
    entry_ = sealed(entry, std::move(entry_));
    if (!write_all(journal_.get(), as_text(entry_))) {
        is_broken_ =
            true; // entries after half an entry could not be read again: the next snapshot repairs that
        complain(name("journal", number_));
        return;
    }
    journal_bytes_ += entry_.size();
    is_dirty_ = true;
}

void state_folder::sync() {
    if (is_dirty_ && ::fdatasync(journal_.get()) != 0) complain(name("journal", number_));
    is_dirty_ = false;
}

void state_folder::snapshot(watch const& of) {
    straggle::byte_writer out;
    write_position(out, position_);
    auto const state = of.serialize();
    out.text(as_text(state));
    auto const bytes = std::move(out).seal(state_frame, 1);
    std::string const file = name("snapshot", number_ + 1), part = folder_ + "/part";
    {
        descriptor const to(
            ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (!to.is_open() || !write_all(to.get(), as_text(bytes)) || ::fsync(to.get()) != 0 ||
            ::rename(part.c_str(), file.c_str()) != 0)
            return complain(file);
    }
    sync(); // the old journal is the fallback if the new snapshot is damaged
    ++number_;
    is_broken_ = !open_journal();
    ::fsync(self_.get());
    for (char const* const what : {"snapshot", "journal"}) // keeps the previous one
        for (std::uint64_t const n : numbers(folder_, std::string(what) + "-"))
            if (n + 1 < number_) ::unlink(name(what, n).c_str());
}

} // namespace straggle_watch
