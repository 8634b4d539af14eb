// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Files, locks and clocks of the system.
#pragma once

#include "../common/failure.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace straggle_watch {

/// Owns a file descriptor.
class descriptor {
  public:
    descriptor() = default;
    explicit descriptor(int fd) : fd_(fd) {}
    descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        if (this != &other) {
            reset();
            fd_ = std::exchange(other.fd_, -1);
        }
        return *this;
    }
    ~descriptor() { reset(); }
    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] bool is_open() const { return fd_ >= 0; }
    void reset() {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }

  private:
    int fd_ = -1;
};

[[nodiscard]] inline std::string last_fault() {
    return std::strerror(errno);
}
[[nodiscard]] inline program::failure cannot_open(std::string const& file) {
    return {program::exit_status::bad_input, file + ": " + last_fault()};
}

/// Seconds since 1970.
[[nodiscard]] inline double wall_clock() {
    std::timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}
/// Seconds of a clock that is never set.
[[nodiscard]] inline double steady_clock() {
    std::timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// False, with errno, if not all of it could be written.
[[nodiscard]] inline bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        ssize_t const n = ::write(fd, text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}
[[nodiscard]] inline std::string_view as_text(std::span<std::byte const> bytes) {
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

/// A whole file; empty, with errno, if it cannot be read.
[[nodiscard]] inline std::vector<std::byte> read_all(int fd) {
    std::vector<std::byte> bytes;
    for (;;) {
        std::size_t const size = bytes.size();
        bytes.resize(size + (std::size_t{1} << 20));
        ssize_t const n = ::read(fd, bytes.data() + size, bytes.size() - size);
        if (n < 0 && errno == EINTR) {
            bytes.resize(size);
            continue;
        }
        bytes.resize(size + static_cast<std::size_t>(n > 0 ? n : 0));
        if (n <= 0) return bytes;
    }
}

} // namespace straggle_watch
