// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/rank_nodes.hpp`: groups attempts by job, and within a job by node.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/record/field.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Assigns each job its range when attempts are sorted by job, jobs in the order of `axis`; `count(job)` is
// the size of each. Returns the total.
template <class Axis, class Count>
std::size_t starts_of_jobs(std::vector<std::uint32_t>& starts, Axis const& axis, Count&& count) {
    starts.resize(axis.slots());
    std::size_t total = 0;
    for (std::size_t place = 0; place < axis.size(); ++place) {
        std::size_t const job = axis.slot_at(place);
        starts[job] = static_cast<std::uint32_t>(total);
        total += count(job);
    }
    STRAGGLE_EXPECTS(total < 0xffffffffu);
    return total;
}

// Attempts sorted by job, stable within a job. `Rows` also keeps the index of the record.
template <class Value, bool Rows>
class job_groups {
  public:
    struct attempt {
        Value value;
        std::uint32_t node;
        [[no_unique_address]] std::conditional_t<Rows, std::size_t, base::no_field> row;
    };

    // A counting sort, with jobs in the order of `axis`, in which they will be requested: `count(job)` is the
    // number of attempts of each, `walk` visits all attempts.
    template <class Axis, class Count, class Walk>
    void sort(Axis const& axis, Count&& count, Walk&& walk) {
        std::size_t const jobs = axis.slots();
        attempts_.resize(starts_of_jobs(next_, axis, count));
        attempt* const attempts = attempts_.data();
        std::uint32_t* const next = next_.data();
        walk(
            [attempts, next, jobs](std::size_t job) STRAGGLE_INLINE_LAMBDA {
                if (job < jobs) STRAGGLE_PREFETCH(attempts + next[job]);
            },
            [attempts, next](std::size_t row, std::size_t job, std::size_t node, Value value)
                STRAGGLE_INLINE_LAMBDA {
                    attempt& a = attempts[next[job]++];
                    a.value = value;
                    a.node = static_cast<std::uint32_t>(node);
                    if constexpr (Rows) a.row = row;
                });
    }

    // The attempts of a job, of which there are `count`.
    [[nodiscard]] std::span<attempt const> of(std::size_t job, std::size_t count) const {
        return {attempts_.data() + (next_[job] - count), count};
    }
    // Converts an element to an attempt: the identity here.
    [[nodiscard]] static auto unpacked() noexcept {
        return [](attempt const& a) STRAGGLE_INLINE_LAMBDA -> attempt const& { return a; };
    }

  private:
    std::vector<attempt> attempts_;
    std::vector<std::uint32_t> next_; // after the sort: end of each job
};

// The same for ticks, with node and duration packed into one word, which halves the memory traffic.
class packed_groups {
  public:
    // Whether nodes below a number, and durations with only these bits, fit a word.
    [[nodiscard]] static constexpr bool fit(std::size_t nodes, std::uint64_t bits) noexcept {
        return std::bit_width(nodes) + std::bit_width(bits) <= 64;
    }

    // @pre fit(nodes, bits of all durations)
    template <class Axis, class Count, class Walk>
    void sort(Axis const& axis, std::size_t nodes, Count&& count, Walk&& walk) {
        node_bits_ = static_cast<unsigned>(std::bit_width(nodes));
        std::size_t const jobs = axis.slots();
        attempts_.resize(starts_of_jobs(next_, axis, count));
        std::uint64_t* const attempts = attempts_.data();
        std::uint32_t* const next = next_.data();
        walk(
            [attempts, next, jobs](std::size_t job) STRAGGLE_INLINE_LAMBDA {
                if (job < jobs) STRAGGLE_PREFETCH(attempts + next[job]);
            },
            [attempts, next, shift = node_bits_](std::size_t, std::size_t job, std::size_t node,
                                                 std::int64_t value) STRAGGLE_INLINE_LAMBDA {
                attempts[next[job]++] = (static_cast<std::uint64_t>(value) << shift) | node;
            });
    }

    [[nodiscard]] std::span<std::uint64_t const> of(std::size_t job, std::size_t count) const {
        return span_of(attempts_.data() + (next_[job] - count), count);
    }
    struct attempt {
        std::int64_t value;
        std::uint32_t node;
    };
    [[nodiscard]] auto unpacked() const noexcept {
        return [shift = node_bits_,
                mask = (std::uint64_t{1} << node_bits_) - 1](std::uint64_t word) STRAGGLE_INLINE_LAMBDA {
            return attempt{static_cast<std::int64_t>(word >> shift), static_cast<std::uint32_t>(word & mask)};
        };
    }

  private:
    std::vector<std::uint64_t> attempts_;
    std::vector<std::uint32_t> next_;
    unsigned node_bits_ = 0;
};

// Groups the rows of one job by node, in time linear in the rows and with nothing to clear between jobs. Most
// rows are alone on their node and cost one comparison.
template <class Moments>
class node_joiner {
  public:
    // Node numbers are below `nodes`.
    void prepare(std::size_t nodes) {
        if (nodes > last_.size()) last_.resize(nodes);
    }

    // Step 1: reports the node of each row of the job, in order.
    STRAGGLE_ALWAYS_INLINE void note(std::uint32_t node, std::size_t row) noexcept {
        last_[node] = static_cast<std::uint32_t>(row);
    }

    // Step 2: the indices of the rows that are alone on their node, in order. `read` converts an element of
    // `rows` to a row: something with a `node`.
    template <class Rows, class Read>
    [[nodiscard]] STRAGGLE_ALWAYS_INLINE std::span<std::uint32_t const> alone(Rows const& rows, Read read) {
        make_room_for(rows.size());
        std::uint32_t* const last = last_.data();
        std::uint32_t *one = alone_.data(), *more = shared_.data();
        std::uint32_t const size = static_cast<std::uint32_t>(rows.size());
        for (std::uint32_t i = 0; i < size; ++i) {
            std::uint32_t const node = read(rows[i]).node;
            if (last[node] == i) [[likely]] {
                *one++ = i;
            } else {
                last[node] = is_shared;
                *more++ = i;
            }
        }
        others_ = static_cast<std::uint32_t>(more - shared_.data());
        return span_of(alone_.data(), static_cast<std::size_t>(one - alone_.data()));
    }
    // The remaining rows.
    [[nodiscard]] std::span<std::uint32_t const> shared() const noexcept {
        return span_of(shared_.data(), others_);
    }

    // Step 3: calls together(node, moments) for each node with more than one row, after `add(moments, row)`
    // has added all of them.
    template <class Rows, class Read, class Add, class Together>
    STRAGGLE_ALWAYS_INLINE void join(Rows const& rows, Read read, Add&& add, Together&& together) {
        std::uint32_t* const last = last_.data();
        std::size_t const most = others_ / 2 < last_.size() ? others_ / 2 : last_.size();
        if (most > groups_.size()) groups_.resize(most);
        std::uint32_t groups = 0;
        for (std::uint32_t const i : shared()) {
            auto const& row = read(rows[i]);
            std::uint32_t& place = last[row.node];
            if (place == is_shared) {
                groups_[groups] = {{}, row.node};
                place = is_group + groups++;
            }
            add(groups_[place - is_group].moments, row);
        }
        for (std::uint32_t g = 0; g < groups; ++g) together(groups_[g].node, groups_[g].moments);
    }

  private:
    static constexpr std::uint32_t is_group = 0x80000000u;
    static constexpr std::uint32_t is_shared = 0xffffffffu; // its group is not assigned yet
    struct group {
        Moments moments;
        std::uint32_t node;
    };

    void make_room_for(std::size_t rows) {
        STRAGGLE_EXPECTS(rows < is_group);
        if (rows <= shared_.size()) return;
        alone_.resize(rows);
        shared_.resize(rows);
    }

    std::vector<std::uint32_t> last_;   // by node: its last row in the job, is_shared, or its group
    std::vector<std::uint32_t> alone_;  // rows that are alone on their node
    std::vector<std::uint32_t> shared_; // all other rows
    std::uint32_t others_ = 0;          // their number
    std::vector<group> groups_;
};

} // namespace straggle::detail
