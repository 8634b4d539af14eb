// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "file_input.hpp"

namespace straggle_watch {

namespace {

std::uint64_t line_ends(std::string_view text) {
    std::uint64_t count = 0;
    for (std::size_t at = 0; (at = text.find('\n')) != std::string_view::npos; text.remove_prefix(at + 1))
        ++count;
    return count;
}

} // namespace

file_input::file_input(std::string follow, options const& o, session& to)
    : follow_(std::move(follow)), session_(to), buffer_(o.watch.longest_line) {
    if (!follow_.empty()) open(session_.position());
}

// Waits for a file that does not exist yet, and for the writer of a pipe.
void file_input::open(file_position const& from) {
    file_ = descriptor(::open(follow_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file_.is_open()) {
        if (errno != ENOENT) throw cannot_open(follow_);
        return;
    }
    struct stat found{};
    if (::fstat(file_.get(), &found) != 0) throw cannot_open(follow_);
    at_ = {.device = static_cast<std::uint64_t>(found.st_dev),
           .inode = static_cast<std::uint64_t>(found.st_ino)};
    if (S_ISREG(found.st_mode) && from.device == at_.device && from.inode == at_.inode &&
        from.offset <= static_cast<std::uint64_t>(found.st_size)) {
        at_ = from;
        ::lseek(file_.get(), static_cast<off_t>(from.offset), SEEK_SET);
    }
    buffer_.restart(at_.line);
}

bool file_input::was_rotated() {
    struct stat there{}, here{};
    if (::stat(follow_.c_str(), &there) != 0) return false; // between the two steps of a rotation
    if (!file_.is_open()) return true;
    if (::fstat(file_.get(), &here) != 0) return true;
    return there.st_dev != here.st_dev || there.st_ino != here.st_ino ||
           (S_ISREG(there.st_mode) && static_cast<std::uint64_t>(there.st_size) < at_.offset);
}

std::uint64_t file_input::take(journal_entry entry, std::size_t bytes, answers& out) {
    at_.offset += bytes;
    at_.line = entry.first_line + (entry.is == journal_entry::kind::too_long ? 1 : line_ends(entry.text));
    entry.position = at_;
    return session_.take(entry, out);
}

bool file_input::read(answers& out) {
    auto const lines = [&](std::string_view block, std::uint64_t first) {
        return take({.first_line = first, .text = block}, follow_.empty() ? 0 : block.size(), out);
    };
    if (!follow_.empty() && !file_.is_open()) {
        if (was_rotated()) open({});
        if (!file_.is_open()) return false;
    }
    char* const to = buffer_.room();
    ssize_t const n = ::read(fd(), to, line_buffer::block);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return false;
    if (n < 0) throw cannot_open(follow_.empty() ? "standard input" : follow_);
    if (n == 0) {
        if (follow_.empty()) {
            buffer_.take_rest(lines);
            is_over_ = true;
            return true;
        }
        if (!was_rotated()) return false;
        buffer_.take_rest(lines);
        open({});
        return true;
    }
    buffer_.filled(static_cast<std::size_t>(n));
    std::size_t const before = buffer_.left();
    std::size_t handed = 0;
    buffer_.take(
        [&](std::string_view block, std::uint64_t first) {
            handed += block.size();
            return lines(block, first);
        },
        [&](std::uint64_t line) { take({.is = journal_entry::kind::too_long, .first_line = line}, 0, out); });
    // What was skipped of a line that is too long was read as well.
    if (!follow_.empty()) at_.offset += before - buffer_.left() - handed;
    return true;
}

} // namespace straggle_watch
