// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "lease_file.hpp"

#include <straggle/base/archive.hpp>
#include <straggle/mitigate/lease.hpp>

#include <array>

#include <sys/file.h>

namespace straggle_watch {

namespace {
constexpr std::uint32_t lease_frame = straggle::frame_kind("leas");
}

lease_file::lease_file(std::string file, std::uint64_t who, double length)
    : file_(std::move(file)), who_(who), length_(length) {
    fd_ = descriptor(::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0660));
    if (!fd_.is_open()) throw cannot_open(file_);
}

// Under the lock; an unreadable lease is free.
template <class Change>
bool lease_file::change(Change&& change) {
    if (::flock(fd_.get(), LOCK_EX) != 0) return false;
    std::array<std::byte, 256> bytes{};
    ssize_t const size = ::pread(fd_.get(), bytes.data(), bytes.size(), 0);
    straggle::mitigate::lease shared;
    if (size > 0) {
        auto const opened =
            straggle::open_frame({bytes.data(), static_cast<std::size_t>(size)}, lease_frame, 1);
        if (opened) {
            straggle::byte_reader in = opened->payload;
            straggle::mitigate::lease read;
            straggle::base::read_fields(in, read);
            if (in.ok()) shared = read;
        }
    }
    bool is_done = change(shared);
    if (is_done) {
        straggle::byte_writer out;
        straggle::base::write_fields(out, shared);
        auto const text = std::move(out).seal(lease_frame, 1);
        auto const written = ::pwrite(fd_.get(), text.data(), text.size(), 0);
        is_done = written == static_cast<ssize_t>(text.size());
        until_ = shared.until;
    }
    ::flock(fd_.get(), LOCK_UN);
    return is_done;
}

bool lease_file::hold(double wall) {
    // Also if the clock went back.
    if (wall >= asked_ && wall < asked_ + length_ / 4) return wall < until_;
    asked_ = wall;
    if (!change([&](auto& shared) { return shared.take(who_, wall, length_); })) until_ = -1e300;
    return wall < until_;
}

void lease_file::release() {
    change([&](auto& shared) {
        shared.release(who_);
        return true;
    });
    until_ = -1e300;
}

} // namespace straggle_watch
