// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `node/score_engine.hpp`: attempts by dense job and node indices, either read in place
/// (dense integer identifiers) or interned into a compact copy (everything else).
#pragma once

#include <straggle/core/attempt.hpp>
#include <straggle/core/interner.hpp>
#include <straggle/node/first_completions.hpp>
#include <straggle/node/normalizer.hpp>
#include <straggle/node/prefetch.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <vector>

namespace straggle::detail {

template <class Fields, class Record>
using job_key_t = field_value_t<decltype(Fields::job), Record>;
template <class Fields, class Record>
using node_key_t = field_value_t<decltype(Fields::node), Record>;

template <class Id>
concept dense_capable = std::integral<Id> && !std::same_as<Id, bool>;

// Can be read more than once at any place, and both identifiers are plain integers: worth a look whether they
// are dense.
template <class Range, class Fields, class Record>
concept dense_candidate = std::ranges::random_access_range<Range> && std::ranges::sized_range<Range> &&
                          dense_capable<std::remove_cvref_t<projected_t<decltype(Fields::job), Record>>> &&
                          dense_capable<std::remove_cvref_t<projected_t<decltype(Fields::node), Record>>>;

// The slots in use, in the order in which they first appeared.
class order_of_appearance {
  public:
    // Apart, so that a loop in which it is rare keeps its registers.
    STRAGGLE_NEVER_INLINE void append(std::size_t slot) {
        slots_.push_back(static_cast<std::uint32_t>(slot));
    }
    [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }
    [[nodiscard]] std::size_t slot_at(std::size_t place) const noexcept { return slots_[place]; }

  protected:
    void forget() noexcept { slots_.clear(); }

  private:
    std::vector<std::uint32_t> slots_;
};

// Integers that are used as indices themselves.
template <class Id>
class dense_axis : public order_of_appearance {
  public:
    void clear() noexcept {
        forget();
        slots_ = 0;
    }
    [[nodiscard]] static std::size_t slot(Id id) noexcept { return static_cast<std::size_t>(id); }
    [[nodiscard]] Id id(std::size_t slot) const noexcept { return static_cast<Id>(slot); }

    // One more than the largest slot there is room for.
    [[nodiscard]] std::size_t slots() const noexcept { return slots_; }
    void set_slots(std::size_t slots) noexcept { slots_ = slots; }

  private:
    std::size_t slots_ = 0;
};

// Attempts that stay where they are.
template <class Record, class Fields>
class dense_attempts {
  public:
    using value_type = reading_t<Fields, Record>;

    [[nodiscard]] auto const& jobs() const noexcept { return jobs_; }
    [[nodiscard]] auto const& nodes() const noexcept { return nodes_; }

    // First pass: adds every usable duration to the moments of its job and notes who is there. False, with
    // everything to be thrown away, when the identifiers are too sparse or negative to be indices.
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
        // The loop keeps these in registers; only a table that grows moves them.
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
                        moments = moments_of.data(), jobs = moments_of.size();
                        seen = node_seen_.data(), nodes = node_seen_.size();
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

    // All bits that any integer duration has.
    [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }

    // Any later pass: calls use(row, job, node, value).
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

    // Until `use` returns false. Two loops, as most of the time there is nothing to ask for in advance.
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
        walk_part(first, at, end, fields, counts, no_field{}, use);
    }

    template <class Iterator, class Prefetch, class Use>
    STRAGGLE_ALWAYS_INLINE static bool walk_part(Iterator const first, Iterator& begin, Iterator const end,
                                                 Fields const& given_fields, attempt_counts& counts,
                                                 [[maybe_unused]] Prefetch const& prefetch, Use& use) {
        // Plain pointers to members stay in registers if they are our own: what `use` writes cannot be them.
        std::conditional_t<std::is_trivially_copyable_v<Fields>, Fields, Fields const&> fields = given_fields;
        constexpr auto ahead = static_cast<std::iter_difference_t<Iterator>>(prefetch_distance);
        bool go_on = true;
        Iterator at = begin, stop = end;
        for (; at != stop; ++at) {
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

    // Whether neighbouring records belong to jobs whose rows are far apart: a few places tell.
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

// Indices of an interner, in the shape of dense_axis.
template <class Id>
class hashed_axis : public order_of_appearance {
  public:
    interner<Id> table;

    void clear() noexcept {
        table.clear();
        forget();
    }
    [[nodiscard]] std::size_t slots() const noexcept { return table.size(); }
    [[nodiscard]] Id const& id(std::size_t slot) const { return table[static_cast<std::uint32_t>(slot)]; }
};

// Attempts copied as (job, node, value) with identifiers interned; with their place in the range where
// `Rows`.
template <class Record, class Fields, class Value, bool Rows>
class hashed_attempts {
  public:
    using value_type = Value;
    using job_id = owned_identifier_t<job_key_t<Fields, Record>>;
    using node_id = owned_identifier_t<node_key_t<Fields, Record>>;

    [[nodiscard]] auto const& jobs() const noexcept { return jobs_; }
    [[nodiscard]] auto const& nodes() const noexcept { return nodes_; }

    // Every usable attempt, and the moments of each job.
    template <class Range, class Moments>
    void collect(Range& attempts, Fields const& fields, attempt_counts& counts,
                 std::vector<Moments>& moments_of) {
        clear();
        moments_of.clear();
        attempt_counts skipped;
        std::uint64_t bits = 0;
        std::size_t place = 0;
        for (auto const& record : attempts) {
            judge_attempt(
                fields, record, skipped,
                [&](auto const& job, auto const& node, auto value) STRAGGLE_INLINE_LAMBDA {
                    row r{jobs_.table.insert(job), nodes_.table.insert(node), static_cast<Value>(value), {}};
                    if constexpr (Rows) r.place = place;
                    if (r.job == moments_of.size()) [[unlikely]]
                        moments_of.emplace_back();
                    moments_of[r.job].add(r.value);
                    if constexpr (std::integral<Value>) bits |= static_cast<std::uint64_t>(r.value);
                    rows_.push_back(r);
                });
            ++place;
        }
        bits_ = bits;
        skipped.seen = place;
        skipped.used = rows_.size();
        counts += skipped;
        for (std::size_t job = 0; job < jobs_.slots(); ++job) jobs_.append(job);
        for (std::size_t node = 0; node < nodes_.slots(); ++node) nodes_.append(node);
    }

    // The same where attempts may be superseded by others, or need to be divided by their input first.
    template <class Range, class Moments>
    void collect(Range& attempts, Fields const& fields, attempt_counts& counts,
                 std::vector<Moments>& moments_of, bool first_of_task, bool per_input) {
        read(attempts, fields, counts, first_of_task, per_input);
        if constexpr (std::floating_point<Value>)
            if (per_input) divide_by_input();
        moments_of.assign(jobs_.slots(), {});
        bits_ = 0;
        for (row const& r : rows_) {
            moments_of[r.job].add(r.value);
            if constexpr (std::integral<Value>) bits_ |= static_cast<std::uint64_t>(r.value);
        }
    }

    // All bits that any integer duration has.
    [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }

    template <class Prefetch, class Use>
    STRAGGLE_ALWAYS_INLINE void walk(Prefetch&& prefetch, Use&& use) const {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (i + prefetch_distance < rows_.size()) prefetch(rows_[i + prefetch_distance].job);
            std::size_t place = 0;
            if constexpr (Rows) place = rows_[i].place;
            use(place, rows_[i].job, rows_[i].node, rows_[i].value);
        }
    }

  private:
    struct row {
        std::uint32_t job;
        std::uint32_t node;
        Value value;
        [[no_unique_address]] std::conditional_t<Rows, std::size_t, no_field> place;
    };

    void clear() noexcept {
        jobs_.clear();
        nodes_.clear();
        rows_.clear();
    }

    template <class Range>
    void read(Range& attempts, Fields const& fields, attempt_counts& counts, bool first_of_task,
              bool with_input) {
        clear();
        input_.clear();
        firsts_.clear();
        std::size_t place_in_range = 0;
        for (auto const& record : attempts) {
            std::size_t const place = place_in_range++;
            read_attempt(fields, record, counts, [&](auto const& job, auto const& node, auto value) {
                row r{jobs_.table.insert(job), nodes_.table.insert(node), static_cast<Value>(value), {}};
                if constexpr (Rows) r.place = place;
                std::size_t at = rows_.size();
                if constexpr (first_completions<Record, Fields>::possible) {
                    if (first_of_task) {
                        auto const [known, keep] = firsts_.place(fields, record, r.job, at);
                        if (known != at) {
                            --counts.used;
                            ++counts.superseded;
                        }
                        if (!keep) return;
                        at = known;
                    }
                }
                if (at == rows_.size())
                    rows_.push_back(r);
                else
                    rows_[at] = r;
                if (with_input) {
                    input_.resize(rows_.size());
                    input_[at] = read_input(fields, record);
                }
            });
        }
        note_who_is_left();
    }

    // Divides each duration by its input in the jobs where every attempt has one.
    void divide_by_input() {
        complete_.assign(jobs_.slots(), 1);
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (!(input_[i] > 0) || !is_finite(rows_[i].value / input_[i])) complete_[rows_[i].job] = 0;
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (complete_[rows_[i].job] != 0) rows_[i].value /= static_cast<Value>(input_[i]);
    }

    // A node all of whose attempts were superseded has no used attempt, and is not there. Jobs always are:
    // the attempt that supersedes is of the same job.
    void note_who_is_left() {
        for (std::size_t job = 0; job < jobs_.slots(); ++job) jobs_.append(job);
        node_seen_.assign(nodes_.slots(), 0);
        for (row const& r : rows_) node_seen_[r.node] = 1;
        for (std::size_t node = 0; node < nodes_.slots(); ++node)
            if (node_seen_[node] != 0) nodes_.append(node);
    }

    // 0 for unknown, which is no more use as a divisor than a size of 0.
    static double read_input(Fields const& fields, Record const& record) {
        if constexpr (given<decltype(Fields::input)>) {
            auto const& field = project(fields.input, record);
            if (!is_present(field)) return 0;
            double const input = static_cast<double>(unwrap(field));
            return is_finite(input) && input > 0 ? input : 0;
        } else {
            return 0;
        }
    }

    hashed_axis<job_id> jobs_;
    hashed_axis<node_id> nodes_;
    std::vector<row> rows_;
    std::uint64_t bits_ = 0;
    std::vector<double> input_;
    std::vector<unsigned char> node_seen_;
    std::vector<unsigned char> complete_;
    first_completions<Record, Fields> firsts_;
};

} // namespace straggle::detail
