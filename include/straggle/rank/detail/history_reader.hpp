// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/rank_nodes.hpp` and `rank/normalize.hpp`: reads the caller's records, once, into
/// plain columns.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/rank/detail/attempt_columns.hpp>
#include <straggle/rank/detail/first_completions.hpp>
#include <straggle/rank/detail/log_ticks.hpp>
#include <straggle/record/attempt.hpp>
#include <straggle/record/field.hpp>
#include <straggle/record/record_reader.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Fields, class Record>
using job_key_t = field_value_t<decltype(Fields::job), Record>;
template <class Fields, class Record>
using node_key_t = field_value_t<decltype(Fields::node), Record>;

// Numbers names in order of first appearance. Those of small integers are in a table of their own, several
// times faster.
template <class Id>
class name_numbers {
  public:
    using key_type = typename interner<Id>::key_type;
    static constexpr std::uint32_t none = interner<Id>::none;

    void clear() noexcept {
        ids_.clear();
        direct_.clear();
        reach_ = 0;
        numbers_.clear();
        names_.clear();
    }
    [[nodiscard]] std::size_t size() const noexcept { return is_direct ? ids_.size() : names_.size(); }
    [[nodiscard]] Id const& operator[](std::size_t i) const {
        if constexpr (is_direct)
            return ids_[i];
        else
            return names_[static_cast<std::uint32_t>(i)];
    }
    [[nodiscard]] std::uint32_t find(key_type id) const {
        if constexpr (is_direct) {
            std::uint32_t const number = glance(static_cast<std::uint64_t>(id));
            return number == none ? find_large(id) : number;
        } else {
            return names_.find(id);
        }
    }

    STRAGGLE_ALWAYS_INLINE std::uint32_t insert(key_type id) {
        if constexpr (is_direct) {
            std::uint32_t const number = glance(static_cast<std::uint64_t>(id));
            if (number != none) [[likely]]
                return number;
            return insert_further(id, static_cast<std::uint64_t>(id));
        } else {
            return names_.insert(id);
        }
    }

  private:
    static constexpr bool is_direct = std::integral<Id>;

    [[nodiscard]] STRAGGLE_ALWAYS_INLINE std::uint32_t glance(std::uint64_t at) const noexcept {
        return at < reach_ ? direct_[at] : none;
    }
    [[nodiscard]] std::uint32_t find_large(key_type id) const {
        std::uint32_t const place = names_.size() == 0 ? none : names_.find(id);
        return place == none ? none : numbers_[place];
    }
    STRAGGLE_NEVER_INLINE std::uint32_t insert_further(key_type id, std::uint64_t at) {
        if (std::uint32_t const known = find_large(id); known != none) return known;
        STRAGGLE_EXPECTS(ids_.size() < none);
        auto const number = static_cast<std::uint32_t>(ids_.size());
        ids_.push_back(id);
        if (std::size_t const reach = 2 * ids_.size() + 1024; at < reach) {
            if (at >= reach_) {
                direct_.resize(reach, none);
                reach_ = reach;
            }
            direct_[at] = number;
        } else {
            names_.insert(id);
            numbers_.push_back(number);
        }
        return number;
    }

    std::vector<Id> ids_;                // by number
    std::vector<std::uint32_t> direct_;  // by integer
    std::size_t reach_ = 0;              // its size
    interner<Id> names_;                 // all names, or those of integers that are large when they appear
    std::vector<std::uint32_t> numbers_; // of those integers
};

// What to read.
struct read_plan {
    bool first_of_task = false; // only the first completion of each task is used
    bool others = false;        // keep what is superseded or killed
    bool inputs = false;
};

// With `Numbered`, notes which record each row is from.
template <class Record, class Fields, bool Numbered = false>
class history_reader {
  public:
    using job_id = owned_identifier_t<job_key_t<Fields, Record>>;
    using node_id = owned_identifier_t<node_key_t<Fields, Record>>;

    [[nodiscard]] name_numbers<job_id> const& jobs() const noexcept { return jobs_; }
    [[nodiscard]] name_numbers<node_id> const& nodes() const noexcept { return nodes_; }

    template <class Range, class Value>
    void read(Range& attempts, Fields const& fields, read_plan const& plan, attempt_columns<Value>& to) {
        jobs_.clear();
        nodes_.clear();
        killed_jobs_.clear();
        killed_nodes_.clear();
        firsts_.clear();
        to.clear();
        attempt_counts counts;
        std::uint64_t place = 0;
        for (auto const& attempt : attempts) {
            if (plan.others && is_killed(fields, attempt)) {
                ++counts.killed;
                note_killed(fields, attempt, to);
            } else {
                judge_attempt(fields, attempt, counts,
                              [&](auto const& job, auto const& node, auto value) STRAGGLE_INLINE_LAMBDA {
                                  attempt_row<Value> const row{static_cast<Value>(value), jobs_.insert(job),
                                                               nodes_.insert(node)};
                                  if constexpr (first_completions<Record, Fields>::possible)
                                      if (plan.first_of_task &&
                                          !is_new(fields, attempt, plan, row, place, to))
                                          return;
                                  to.rows.push_back(row);
                                  if constexpr (given<decltype(Fields::input)>)
                                      if (plan.inputs) {
                                          to.inputs.push_back(read_input(fields, attempt));
                                          note_kind(fields, attempt, row.job, to);
                                      }
                                  if constexpr (Numbered) to.records.push_back(place);
                              });
            }
            ++place;
        }
        to.row_nodes = nodes_.size();
        place_killed(to);
        to.jobs = jobs_.size();
        to.nodes = nodes_.size();
        if (plan.inputs) to.kinds.resize(to.jobs);
        counts.seen = place;
        counts.used = to.rows.size();
        counts.superseded = to.counts.superseded;
        to.counts = counts;
    }

  private:
    // 0 if unknown: neither an unknown size nor a size of 0 can be a divisor.
    static double read_input(Fields const& fields, Record const& attempt) {
        if constexpr (given<decltype(Fields::input)>) {
            double const input = read_number(fields.input, attempt);
            return is_finite(input) && input > 0 ? input : 0;
        } else {
            return 0;
        }
    }
    template <class Value>
    void note_kind(Fields const& fields, Record const& attempt, std::uint32_t job,
                   attempt_columns<Value>& to) {
        if constexpr (given<decltype(Fields::kind)>) {
            auto const& kind = project(fields.kind, attempt);
            if (!is_present(kind)) return;
            to.kinds.resize(jobs_.size());
            to.kinds[job] = key_of(unwrap(kind), 0);
        }
    }
    // Whether an attempt is the first of its task so far. If not, keeps the one that completed first.
    template <class Value>
    bool is_new(Fields const& fields, Record const& attempt, read_plan const& plan,
                attempt_row<Value> const& row, std::uint64_t place, attempt_columns<Value>& to) {
        auto const [at, keep] = firsts_.place(fields, attempt, row.job, to.rows.size());
        if (at == to.rows.size()) return true;
        ++to.counts.superseded;
        attempt_row<Value> const loser = keep ? to.rows[at] : row;
        double input = plan.inputs ? read_input(fields, attempt) : 0.0;
        if (keep) {
            to.rows[at] = row;
            if (plan.inputs) {
                std::swap(to.inputs[at], input);
                note_kind(fields, attempt, row.job, to);
            }
            if constexpr (Numbered) to.records[at] = place;
        }
        if (plan.others) to.others.push_back({loser.value, loser.job, loser.node, log_input(input), false});
        return false;
    }

    static bool is_killed(Fields const& fields, Record const& attempt) {
        if constexpr (given<decltype(Fields::status)>)
            return record::was_stopped(read_status(fields, attempt));
        else
            return false;
    }
    // Killed attempts introduce no jobs or nodes until all others are read.
    template <class Value>
    void note_killed(Fields const& fields, Record const& attempt, attempt_columns<Value>& to) {
        attempt_counts ignored;
        check_attempt(fields, attempt, ignored, [&](auto const& job, auto const& node, auto value) {
            to.others.push_back({static_cast<Value>(value), killed_jobs_.insert(job),
                                 killed_nodes_.insert(node), log_input(read_input(fields, attempt)), true});
        });
    }
    template <class Value>
    void place_killed(attempt_columns<Value>& to) {
        std::size_t kept = 0;
        for (unscored_attempt<Value>& other : to.others) {
            if (other.censored) {
                other.job = jobs_.find(killed_jobs_[other.job]);
                if (other.job == name_numbers<job_id>::none) continue;
                other.node = nodes_.insert(killed_nodes_[other.node]);
            }
            to.others[kept++] = other;
        }
        to.others.resize(kept);
    }

    name_numbers<job_id> jobs_, killed_jobs_;
    name_numbers<node_id> nodes_, killed_nodes_;
    first_completions<Record, Fields> firsts_;
};

} // namespace straggle::detail
