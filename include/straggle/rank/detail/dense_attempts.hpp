// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/detail/batch_scorer.hpp`: reads attempts in place when jobs and nodes are dense
/// integers.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/prefetch.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/rank/detail/order_of_appearance.hpp>
#include <straggle/record/attempt.hpp>
#include <straggle/record/field.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Id>
concept dense_capable = std::integral<Id> && !std::same_as<Id, bool>;

// Random access, multipass, and plain integer identifiers: worth checking for density.
template <class Range, class Fields, class Record>
concept dense_candidate = std::ranges::random_access_range<Range> && std::ranges::sized_range<Range> &&
                          dense_capable<std::remove_cvref_t<projected_t<decltype(Fields::job), Record>>> &&
                          dense_capable<std::remove_cvref_t<projected_t<decltype(Fields::node), Record>>>;

// Uses integers directly as indices.
template <class Id>
class dense_axis : public order_of_appearance {
  public:
    void clear() noexcept {
        forget();
        slots_ = 0;
    }
    [[nodiscard]] static std::size_t slot(Id id) noexcept { return static_cast<std::size_t>(id); }
    [[nodiscard]] Id id(std::size_t slot) const noexcept { return static_cast<Id>(slot); }

    // One more than the largest slot allocated.
    [[nodiscard]] std::size_t slots() const noexcept { return slots_; }
    void set_slots(std::size_t slots) noexcept { slots_ = slots; }

  private:
    std::size_t slots_ = 0;
};

// Attempts that are read in place.
template <class Record, class Fields>
class dense_attempts {
  public:
    using value_type = reading_t<Fields, Record>;

    [[nodiscard]] auto const& jobs() const noexcept { return jobs_; }
    [[nodiscard]] auto const& nodes() const noexcept { return nodes_; }

    // First pass: adds every usable duration to the moments of its job, and records the order of appearance.
    // Returns false, and all results must be discarded, if the identifiers are negative or too sparse to be
    // indices.
    template <class Range, class Moments>
    [[nodiscard]] bool collect(Range& attempts, Fields const& fields, attempt_counts& counts,
                               std::vector<Moments>& moments_of) {
        std::size_t const size = static_cast<std::size_t>(std::ranges::size(attempts));
        limit_ = 2 * size + 1024;
        scattered_ = is_scattered(attempts, fields);
        jobs_.clear();
        nodes_.clear();
        node_seen_.clear();
        moments_of.clear();
        // Kept in registers; only growing a table changes them.
        Moments* moments = nullptr;
        unsigned char* seen = nullptr;
        std::size_t jobs = 0, nodes = 0;
        std::uint64_t bits = 0;
        attempt_counts skipped;
        bool dense = limit_ <= 0xffff'ffff;
        if (dense)
            walk_while(
                attempts, fields, skipped,
                [&](std::size_t job) STRAGGLE_INLINE_LAMBDA { prefetch_row(moments, job); },
                [&](std::size_t, std::size_t job, std::size_t node, value_type value) STRAGGLE_INLINE_LAMBDA {
                    if (job >= jobs || node >= nodes) [[unlikely]] {
                        dense = make_room(moments_of, job) && make_room(node_seen_, node);
                        moments = moments_of.data();
                        jobs = moments_of.size();
                        seen = node_seen_.data();
                        nodes = node_seen_.size();
                        if (!dense) return false;
                    }
                    Moments& of_job = moments[job];
                    if (of_job.count() == 0) [[unlikely]]
                        jobs_.append(job);
                    of_job.add(value);
                    if constexpr (std::integral<value_type>) bits |= static_cast<std::uint64_t>(value);
                    if (seen[node] == 0) [[unlikely]] {
                        seen[node] = 1;
                        nodes_.append(node);
                    }
                    return true;
                });
        jobs_.set_slots(jobs);
        nodes_.set_slots(nodes);
        bits_ = bits;
        skipped.seen = size;
        skipped.used = size - skipped.failed - skipped.killed - skipped.total_rejected();
        if (dense) counts += skipped;
        return dense;
    }

    // Union of the bits of all integer durations.
    [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }

    // Later passes: calls use(row, job, node, value).
    template <class Range, class Prefetch, class Use>
    STRAGGLE_ALWAYS_INLINE void walk(Range& attempts, Fields const& fields, Prefetch&& prefetch,
                                     Use&& use) const {
        attempt_counts ignored;
        walk_while(attempts, fields, ignored, prefetch,
                   [&use](std::size_t row, std::size_t job, std::size_t node, value_type value)
                       STRAGGLE_INLINE_LAMBDA {
                           use(row, job, node, value);
                           return true;
                       });
    }

  private:
    template <class Table>
    STRAGGLE_NEVER_INLINE bool make_room(Table& table, std::size_t slot) const {
        if (slot >= limit_) return false;
        if (slot >= table.size()) table.resize((std::min)(limit_, (std::max)(slot + 1, 2 * table.size())));
        return true;
    }

    // Stops when `use` returns false. Two loops, as prefetching is rarely needed.
    template <class Range, class Prefetch, class Use>
    STRAGGLE_ALWAYS_INLINE void walk_while(Range& attempts, Fields const& fields, attempt_counts& counts,
                                           Prefetch&& prefetch, Use&& use) const {
        using difference = std::ranges::range_difference_t<Range>;
        auto const first = std::ranges::begin(attempts);
        difference const size = static_cast<difference>(std::ranges::size(attempts));
        constexpr difference ahead = static_cast<difference>(prefetch_distance);
        auto at = first, end = first + size;
        if (scattered_ && size > ahead && !walk_part(first, at, end - ahead, fields, counts, prefetch, use))
            return;
        walk_part(first, at, end, fields, counts, base::no_field{}, use);
    }

    template <class Iterator, class Prefetch, class Use>
    STRAGGLE_ALWAYS_INLINE static bool walk_part(Iterator const first, Iterator& begin, Iterator const end,
                                                 Fields const& given_fields, attempt_counts& counts,
                                                 [[maybe_unused]] Prefetch const& prefetch, Use& use) {
        // A local copy of plain member pointers can stay in registers: `use` cannot modify it.
        std::conditional_t<std::is_trivially_copyable_v<Fields>, Fields, Fields const&> fields = given_fields;
        constexpr auto ahead = static_cast<std::iter_difference_t<Iterator>>(prefetch_distance);
        bool go_on = true;
        Iterator at = begin, stop = end;
        for (; at != stop; ++at) {
            if constexpr (std::contiguous_iterator<Iterator>) prefetch_behind(*at);
            if constexpr (given<Prefetch>) prefetch(axis_of_jobs::slot(project(fields.job, at[ahead])));
            judge_attempt(fields, *at, counts,
                          [&](auto const& job, auto const& node, value_type value) STRAGGLE_INLINE_LAMBDA {
                              go_on = use(static_cast<std::size_t>(at - first), axis_of_jobs::slot(job),
                                          axis_of_nodes::slot(node), value);
                              if (!go_on) stop = at + 1;
                          });
        }
        begin = at;
        return go_on;
    }

    // Whether neighboring records belong to jobs with distant rows, judged from a few samples.
    template <class Range>
    static bool is_scattered(Range& attempts, Fields const& fields) {
        using difference = std::ranges::range_difference_t<Range>;
        constexpr std::size_t places = 64;
        constexpr std::size_t near_rows = 512;
        auto const first = std::ranges::begin(attempts);
        std::size_t const step = static_cast<std::size_t>(std::ranges::size(attempts)) / places;
        if (step < 2) return false;
        std::size_t jumps = 0;
        for (std::size_t i = 0; i < places; ++i) {
            std::size_t const a =
                axis_of_jobs::slot(project(fields.job, first[static_cast<difference>(i * step)]));
            std::size_t const b =
                axis_of_jobs::slot(project(fields.job, first[static_cast<difference>(i * step + 1)]));
            jumps += static_cast<std::size_t>((a < b ? b - a : a - b) > near_rows);
        }
        return jumps > places / 4;
    }

    using axis_of_jobs = dense_axis<std::remove_cvref_t<projected_t<decltype(Fields::job), Record>>>;
    using axis_of_nodes = dense_axis<std::remove_cvref_t<projected_t<decltype(Fields::node), Record>>>;

    axis_of_jobs jobs_;
    axis_of_nodes nodes_;
    std::vector<unsigned char> node_seen_;
    std::size_t limit_ = 0;
    std::uint64_t bits_ = 0;
    bool scattered_ = false;
};

} // namespace straggle::detail
