// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: what is kept of a job, and how a new one gets its number.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/monitor/detail/pair_table.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// The pairs of a job within one step of time.
template <class Pair>
struct job_span {
    static constexpr std::uint32_t none = (std::numeric_limits<std::uint32_t>::max)();
    pair_table<Pair> table;
    std::uint32_t next = none; // of the same job, among those that are not the first of theirs
    float longest = 0;         // attempt
};
// What is looked at for each attempt.
template <class Pair>
struct job_row {
    job_span<Pair> first; // the one begun last; without pairs where nothing is in the ring
    typename Pair::origin_type origin{};
};
// And what is not.
template <class Pair>
struct job_past {
    std::uint64_t seen = 0;             // when the job first appeared, counted in jobs
    typename Pair::moments_type gone{}; // what it said in steps that are gone
    // Step in which it was last seen, of those that are gone or in which it ran.
    std::int64_t last = (std::numeric_limits<std::int64_t>::min)();
    float longest = 0; // attempt that ended in steps that are gone, or runs
    bool is_finished = false;
    bool is_idle = false; // has a row among those that will be forgotten
};

// Gives identifiers their numbers, and takes the numbers back unless told to keep them: so a failed
// allocation leaves no trace.
template <class Store>
class new_names {
    using origin_type = typename Store::origin_type;
    using job_key = typename Store::job_key;
    using node_key = typename Store::node_key;
    static constexpr std::uint32_t none = Store::none;

  public:
    new_names(Store& s, origin_type origin) noexcept : s_(s), origin_(origin) {}
    new_names(new_names const&) = delete;
    new_names& operator=(new_names const&) = delete;
    ~new_names() {
        if (new_job_ != none) s_.jobs_.erase(new_job_);
        if (new_node_ != none) s_.nodes_.erase(new_node_);
    }
    std::uint32_t job(job_key id) {
        room_for_all(s_.rows_, s_.jobs_);
        room_for_all(s_.pasts_, s_.jobs_);
        if (s_.memory_.any()) s_.idle_.reserve(s_.jobs_.bound() + 1);
        std::size_t const before = s_.jobs_.size();
        std::uint32_t const job = s_.jobs_.insert(id);
        if (s_.jobs_.size() != before) new_job_ = job;
        return job;
    }
    std::uint32_t node(node_key id) {
        room_for_all(s_.node_uses_, s_.nodes_);
        make_room_for_one(s_.order_);
        std::size_t const before = s_.nodes_.size();
        std::uint32_t const node = s_.nodes_.insert(id);
        if (s_.nodes_.size() != before) new_node_ = node;
        return node;
    }
    void keep() noexcept {
        if (new_job_ != none) {
            s_.pasts_[new_job_].seen = s_.n_.jobs_seen++;
            s_.rows_[new_job_].origin = origin_;
        }
        if (new_node_ != none) {
            s_.node_uses_[new_node_] = 0;
            s_.order_.push_back(new_node_); // node() made room
        }
        new_job_ = new_node_ = none;
    }

  private:
    // Every index of the table, the next one too, has its place in `rows`.
    template <class Row, class Table>
    static void room_for_all(std::vector<Row>& rows, Table const& table) {
        if (table.bound() < rows.size()) return;
        make_room_for_one(rows);
        rows.resize(table.bound() + 1);
    }

    Store& s_;
    origin_type origin_;
    std::uint32_t new_job_ = none, new_node_ = none;
};

} // namespace straggle::detail
