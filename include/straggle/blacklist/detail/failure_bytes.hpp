// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `blacklist/node_decisions.hpp`: how what is known of failures is stored.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/size.hpp>
#include <straggle/blacklist/detail/failure_watch.hpp>

#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class T>
void basic_failure_watch<T>::write(byte_writer& out) const {
    out.real(all_failed_);
    out.real(all_succeeded_);
    out.real(bad_);
    out.real(lately_failed_);
    out.real(lately_);
    out.u64(known_);
    out.count(nodes_.size());
    for (node_failures const& n : nodes_) {
        out.real(n.failed);
        out.real(n.succeeded);
        out.u32(n.consecutive);
        out.real(n.failing_since);
        out.real(n.longest);
        out.u64(n.attempts);
        out.u64(n.failures);
        out.u64(n.tasks);
        out.u32(n.trial);
        out.flag(n.is_suspect);
    }
    out.count(tasks_.size());
    for (failed_task const& t : tasks_) {
        out.u8(t.nodes);
        if (t.nodes == 0) continue;
        out.u64(t.key);
        out.u64(t.job);
        out.flag(t.withdrawn);
        for (std::size_t k = 0; k < t.nodes; ++k) {
            out.u32(t.at[k].node);
            out.u32(t.at[k].trial);
        }
    }
}

template <class T>
status basic_failure_watch<T>::read(byte_reader& in, std::uint32_t max_nodes) {
    all_failed_ = in.real();
    all_succeeded_ = in.real();
    bad_ = in.real();
    in.expect(all_failed_ >= 0 && all_succeeded_ >= 0 && bad_ >= 0 &&
              all_failed_ + all_succeeded_ + bad_ < 1e5);
    lately_failed_ = in.real();
    lately_ = in.real();
    in.expect(lately_failed_ >= 0 && lately_ >= lately_failed_ && lately_ < 1e5);
    std::uint64_t const known = in.u64();
    if (!in.expect(known <= max_nodes)) return in.reason();
    known_ = to_size(known);
    std::size_t const nodes = in.count(65);
    if (!in.expect(nodes <= max_nodes)) return in.reason();
    nodes_.resize(nodes);
    for (node_failures& n : nodes_) {
        n.failed = in.real();
        n.succeeded = in.real();
        n.consecutive = in.u32();
        n.failing_since = in.real();
        n.longest = in.real();
        n.attempts = in.u64();
        n.failures = in.u64();
        n.tasks = in.u64();
        n.trial = in.u32();
        in.expect(n.failures <= n.attempts && n.tasks <= n.failures);
        all_attempts_ += n.attempts;
        all_failures_ += n.failures;
        in.expect(n.failed >= 0 && n.failed < 1e15 && n.succeeded >= 0 && n.succeeded < 1e15);
        n.is_suspect = in.flag();
        if (!n.is_suspect) continue;
        ++suspects_;
        apart_ += n.failed;
    }
    std::size_t const tasks = in.count(1);
    if (!in.expect(tasks == 0 || tasks == max_tasks)) return in.reason();
    tasks_.resize(tasks);
    for (failed_task& t : tasks_) {
        t.nodes = in.u8();
        if (!in.expect(t.nodes <= t.at.size())) return in.reason();
        if (t.nodes == 0) continue;
        t.key = in.u64();
        t.job = in.u64();
        t.withdrawn = in.flag();
        for (std::size_t k = 0; k < t.nodes; ++k) {
            t.at[k] = {in.u32(), in.u32()};
            in.expect(t.at[k].node < nodes_.size());
        }
    }
    return in.reason();
}

} // namespace straggle::detail
