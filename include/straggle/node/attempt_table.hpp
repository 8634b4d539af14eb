// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `node/score_engine.hpp`: attempts by dense job and node indices, either read in place
/// (dense integer identifiers) or interned into a compact copy (everything else).
#pragma once

#include <straggle/core/attempt.hpp>
#include <straggle/core/interner.hpp>
#include <straggle/node/normalizer.hpp>
#include <straggle/node/prefetch.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <type_traits>
#include <utility>
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
    void append(std::size_t slot) { slots_.push_back(static_cast<std::uint32_t>(slot)); }
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
        walk_while(
            dense, attempts, fields, skipped,
            [&](std::size_t job) STRAGGLE_INLINE_LAMBDA { prefetch_row(moments, job); },
            [&](std::size_t, std::size_t job, std::size_t node, value_type value) STRAGGLE_INLINE_LAMBDA {
                if (job >= jobs || node >= nodes) [[unlikely]] {
                    dense = make_room(moments_of, job) && make_room(node_seen_, node);
                    moments = moments_of.data(), jobs = moments_of.size();
                    seen = node_seen_.data(), nodes = node_seen_.size();
                    if (!dense) return;
                }
                if (moments[job].count() == 0) jobs_.append(job);
                moments[job].add(value);
                if constexpr (std::integral<value_type>) bits |= static_cast<std::uint64_t>(value);
                if (seen[node] == 0) {
                    seen[node] = 1;
                    nodes_.append(node);
                }
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
        walk_while(true, attempts, fields, ignored, prefetch, use);
    }

  private:
    template <class Table>
    STRAGGLE_NEVER_INLINE bool make_room(Table& table, std::size_t slot) const {
        if (slot >= limit_) return false;
        if (slot >= table.size()) table.resize((std::min)(limit_, (std::max)(slot + 1, 2 * table.size())));
        return true;
    }

    template <class Range, class Prefetch, class Use>
    STRAGGLE_ALWAYS_INLINE void walk_while(bool const& go_on, Range& attempts, Fields const& given_fields,
                                           attempt_counts& counts, Prefetch&& prefetch, Use&& use) const {
        // Plain pointers to members stay in registers if they are our own: what `use` writes cannot be them.
        std::conditional_t<std::is_trivially_copyable_v<Fields>, Fields, Fields const&> fields = given_fields;
        using difference = std::ranges::range_difference_t<Range>;
        auto const first = std::ranges::begin(attempts);
        std::size_t const size = static_cast<std::size_t>(std::ranges::size(attempts));
        std::size_t const last_prefetch =
            scattered_ && size > prefetch_distance ? size - prefetch_distance : 0;
        for (std::size_t i = 0; i < size && go_on; ++i) {
            if (i < last_prefetch)
                prefetch(axis_of_jobs::slot(
                    project(fields.job, first[static_cast<difference>(i + prefetch_distance)])));
            judge_attempt(fields, first[static_cast<difference>(i)], counts,
                          [&](auto const& job, auto const& node, value_type value) STRAGGLE_INLINE_LAMBDA {
                              use(i, axis_of_jobs::slot(job), axis_of_nodes::slot(node), value);
                          });
        }
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

// How tasks and their ends are kept; stand-ins where the record has no such field.
template <class Fields, class Record>
struct task_types {
    using id = std::uint32_t;
    using end = char;
};
template <class Fields, class Record>
    requires given<decltype(Fields::task)>
struct task_types<Fields, Record> {
    using id = owned_identifier_t<field_value_t<decltype(Fields::task), Record>>;
    using end = char;
};
template <class Fields, class Record>
    requires(given<decltype(Fields::task)> && given<decltype(Fields::end)>)
struct task_types<Fields, Record> {
    using id = owned_identifier_t<field_value_t<decltype(Fields::task), Record>>;
    using end = std::remove_cvref_t<projected_t<decltype(Fields::end), Record>>;
};

// Keeps the first completion of each task only.
template <class Record, class Fields>
class first_completions {
  public:
    static constexpr bool possible = given<decltype(Fields::task)>;

    void clear() noexcept {
        tasks_.clear();
        pairs_.clear();
        row_.clear();
        end_.clear();
    }

    // The row an earlier attempt of the same task has, or `next` if there is none; second: whether this
    // attempt is the one to keep.
    [[nodiscard]] std::pair<std::size_t, bool> place(Fields const& fields, Record const& record,
                                                     std::uint32_t job, std::size_t next) {
        auto&& task = project(fields.task, record);
        if (!is_present(task)) return {next, true};
        std::uint64_t const key = (std::uint64_t{job} << 32) | tasks_.insert(unwrap(task));
        std::size_t const known = pairs_.size();
        std::size_t const index = pairs_.insert(key);
        if (index == known) {
            row_.push_back(next);
            if constexpr (timed) end_.push_back(project(fields.end, record));
            return {next, true};
        }
        bool earlier = false; // without times the first in the range is the first
        if constexpr (timed) {
            auto const& end = project(fields.end, record);
            earlier = is_known(end) && (!is_known(end_[index]) || unwrap(end) < unwrap(end_[index]));
            if (earlier) end_[index] = end;
        }
        return {row_[index], earlier};
    }

  private:
    static constexpr bool timed = given<decltype(Fields::end)>;

    template <class End>
    static constexpr bool is_known(End const& end) {
        return is_present(end) && !is_unordered(unwrap(end));
    }

    interner<typename task_types<Fields, Record>::id> tasks_;
    interner<std::uint64_t> pairs_; // (job, task)
    std::vector<std::size_t> row_;
    std::vector<typename task_types<Fields, Record>::end> end_;
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

    template <class Range>
    void read(Range& attempts, Fields const& fields, attempt_counts& counts, bool first_of_task,
              bool with_input) {
        jobs_.clear();
        nodes_.clear();
        rows_.clear();
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
    std::vector<double> input_;
    std::vector<unsigned char> node_seen_;
    std::vector<unsigned char> complete_;
    first_completions<Record, Fields> firsts_;
};

} // namespace straggle::detail
