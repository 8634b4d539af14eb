// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: the remembered jobs. Each has its pairs with nodes, by the slot of
/// their time step, and one sum over expired steps.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/prefetch.hpp>
#include <straggle/monitor/detail/block_arena.hpp>
#include <straggle/monitor/detail/job_memory.hpp>
#include <straggle/monitor/detail/job_node_sums.hpp>
#include <straggle/monitor/detail/job_rows.hpp>
#include <straggle/monitor/detail/look_ahead.hpp>
#include <straggle/monitor/detail/pair_table.hpp>
#include <straggle/monitor/detail/used_nodes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class JobId, class NodeId, class Pair>
class job_store {
  public:
    using value_type = typename Pair::value_type;
    using moments_type = typename Pair::moments_type;
    using origin_type = typename Pair::origin_type;
    using job_key = typename interner<JobId>::key_type;
    using node_key = typename interner<NodeId>::key_type;
    static constexpr std::uint32_t none = (std::numeric_limits<std::uint32_t>::max)();

    using job_span = detail::job_span<Pair>;
    using job_row = detail::job_row<Pair>;
    using job_past = detail::job_past<Pair>;
    using idle_type = idle_jobs;

    // `slots`: number of separate time steps.
    job_store(std::size_t slots, remembered_steps memory) : slots_(slots), memory_(memory) {}
    job_store(job_store const& other)
        : jobs_(other.jobs_),
          nodes_(other.nodes_),
          rows_(other.rows_),
          pasts_(other.pasts_),
          spans_(other.spans_),
          listed_(other.listed_),
          wide_(other.wide_),
          idle_(other.idle_),
          slots_(other.slots_),
          memory_(other.memory_),
          n_(other.n_) {
        if (memory_.any()) idle_.reserve(jobs_.bound());
        for (std::uint32_t job = 0; job < jobs_.bound(); ++job) {
            if (!jobs_.contains(job) || !is_in_ring(job)) continue;
            for (job_span* s = &rows_[job].first; s != nullptr; s = spans_.after(*s))
                s->table = s->table.copy(arena_);
        }
    }
    // The moved-from store is empty and usable.
    job_store(job_store&& other) noexcept : slots_(other.slots_), memory_(other.memory_) { swap(other); }
    job_store& operator=(job_store const& other) { return *this = job_store(other); }
    job_store& operator=(job_store&& other) noexcept {
        job_store taken(std::move(other));
        swap(taken);
        return *this;
    }
    ~job_store() = default;

    void swap(job_store& other) noexcept {
        std::swap(jobs_, other.jobs_);
        nodes_.swap(other.nodes_);
        rows_.swap(other.rows_);
        pasts_.swap(other.pasts_);
        spans_.swap(other.spans_);
        arena_.swap(other.arena_);
        listed_.swap(other.listed_);
        std::swap(wide_, other.wide_);
        std::swap(idle_, other.idle_);
        std::swap(slots_, other.slots_);
        std::swap(memory_, other.memory_);
        std::swap(n_, other.n_);
    }

    [[nodiscard]] interner<JobId> const& jobs() const noexcept { return jobs_; }
    [[nodiscard]] interner<NodeId> const& nodes() const noexcept { return nodes_.names(); }
    // The nodes in order of first appearance.
    [[nodiscard]] std::span<std::uint32_t const> order() const noexcept { return nodes_.order(); }
    [[nodiscard]] job_row const& row(std::uint32_t job) const noexcept { return rows_[job]; }
    [[nodiscard]] job_past const& past(std::uint32_t job) const noexcept { return pasts_[job]; }
    [[nodiscard]] job_past& past(std::uint32_t job) noexcept { return pasts_[job]; }
    [[nodiscard]] bool is_in_ring(std::uint32_t job) const noexcept {
        return rows_[job].first.table.size() != 0;
    }
    // The next span of a job, or null.
    [[nodiscard]] job_span const* after(job_span const& s) const noexcept { return spans_.after(s); }
    [[nodiscard]] typename Pair::wide_type const& wide() const noexcept { return wide_; }
    [[nodiscard]] typename Pair::wide_type& wide() noexcept { return wide_; }
    [[nodiscard]] std::size_t slots() const noexcept { return slots_; }
    [[nodiscard]] std::size_t pairs() const noexcept { return n_.pairs; }
    // Number of jobs forgotten by age, and for lack of room.
    [[nodiscard]] std::uint64_t forgotten() const noexcept { return n_.forgotten; }
    [[nodiscard]] std::uint64_t evicted() const noexcept { return n_.evicted; }
    void count_lost_jobs(std::uint64_t forgotten, std::uint64_t evicted) noexcept {
        n_.forgotten += forgotten;
        n_.evicted += evicted;
    }
    // Increases whenever an index may have been reassigned.
    [[nodiscard]] std::uint64_t erasures() const noexcept { return n_.erasures; }

    // Adds a duration to the pair of a job and a node in a slot; `known`: their locations, as far as known.
    // False if a limit is exceeded. Strong guarantee.
    STRAGGLE_ALWAYS_INLINE bool add(looked_up const& known, job_key job, node_key node, std::uint32_t slot,
                                    value_type value, store_bounds const& bounds) {
        if (known.job != none && known.node != none) [[likely]] {
            job_row& r = rows_[known.job];
            if (r.first.table.slot == slot) [[likely]] {
                if (Pair* const pair = r.first.table.find(known.node, known.pair)) [[likely]] {
                    pair->add(value, r.origin, wide_);
                    r.first.lengthen(static_cast<double>(value));
                    return true;
                }
                if (r.first.table.size() != 0) return add_pair(known.job, known.node, value, bounds);
            }
        }
        return add_rarely(known.job, known.node, job, node, slot, value, bounds);
    }
    STRAGGLE_ALWAYS_INLINE void prefetch_row(std::uint32_t job) const noexcept {
        detail::prefetch_row(rows_.data(), job);
    }
    STRAGGLE_ALWAYS_INLINE void prefetch_index(std::uint32_t job, std::uint32_t node) const noexcept {
        rows_[job].first.table.prefetch_index(node);
    }
    [[nodiscard]] STRAGGLE_ALWAYS_INLINE std::uint32_t prefetch_pair(std::uint32_t job,
                                                                     std::uint32_t node) const noexcept {
        return rows_[job].first.table.prefetch_pair(node);
    }

    // The location of a pair; no pair if a limit was exceeded.
    struct place {
        Pair* pair = nullptr;
        job_span* span = nullptr;
        std::uint32_t job = none;
    };
    // The pair, created if needed. `origin`: for a new job. Strong guarantee.
    [[nodiscard]] place find_or_insert(job_key job, node_key node, std::uint32_t slot, origin_type origin,
                                       store_bounds const& bounds) {
        return find_or_insert(jobs_.find(job), nodes().find(node), job, node, slot, origin, bounds);
    }

    // A job, created if needed; none if a limit is exceeded. Strong guarantee.
    [[nodiscard]] std::uint32_t find_or_insert(job_key job, origin_type origin, store_bounds const& bounds) {
        std::uint32_t j = jobs_.find(job);
        if (j != none) return j;
        bool const must_evict = jobs_.size() >= bounds.jobs;
        if (must_evict && !can_evict()) return none;
        new_names names(*this, origin);
        j = names.job(job);
        names.keep();
        if (must_evict) evict();
        return j;
    }
    // A node, created if needed, for a use that `use` makes room for.
    template <class Use>
    std::uint32_t find_or_insert_node(node_key node, Use&& use) {
        new_names names(*this, {});
        std::uint32_t const n = names.node(node);
        use(n);
        names.keep();
        return n;
    }
    void use_node(std::uint32_t node) noexcept { nodes_.use(node); }
    void leave_node(std::uint32_t node) noexcept {
        if (nodes_.leave(node)) ++n_.erasures;
    }

    // Turns the contents of a slot, which was step `number`, into the past of its jobs.
    void close(std::uint32_t slot, std::int64_t number) noexcept {
        if (slot >= listed_.size()) return;
        for (std::uint32_t const job : listed_[slot]) {
            if (!jobs_.contains(job) || !is_in_ring(job)) continue;
            job_span* const span = find_span(job, slot);
            if (span == nullptr) continue;
            job_past& past = pasts_[job];
            for (Pair const& pair : span->table.all()) past.gone.merge(pair.moments(wide_));
            past.last = (std::max)(past.last, number);
            past.longest = (std::max)(past.longest, span->longest);
            drop_pairs(*span);
            spans_.unlink(rows_[job].first, *span);
            if (!is_in_ring(job)) rest(job);
        }
        listed_[slot].clear();
    }

    // Call for a job that may have nothing in the ring.
    void rest(std::uint32_t job) noexcept {
        job_past& past = pasts_[job];
        if (is_in_ring(job)) return;
        if (past.is_finished || !memory_.any()) return drop(job);
        if (past.is_idle) return; // its row is checked against the new time when it reaches the top
        past.is_idle = true;
        idle_.push({memory_.until(past.last, past.longest), past.seen, job},
                   [this](typename idle_type::row const& r) { return this->is_current(r); });
    }

    // Forgets the jobs that expire at the start of step `number`.
    void forget_until(std::int64_t number) noexcept {
        while (can_evict() && idle_.top().until <= number) {
            ++n_.forgotten;
            drop_top();
        }
    }

    // Forgets a job with all its pairs.
    void erase(std::uint32_t job) noexcept {
        while (is_in_ring(job)) {
            drop_pairs(rows_[job].first);
            spans_.unlink(rows_[job].first, rows_[job].first);
        }
        drop(job);
    }

    // Removes unused nodes from the order, before their numbers are reused.
    void tidy() noexcept { nodes_.tidy(); }
    // Reorders the nodes. @pre it is a permutation
    void set_order(std::vector<std::uint32_t> order) noexcept { nodes_.set_order(std::move(order)); }

    void clear() noexcept {
        for (std::uint32_t job = 0; job < jobs_.bound(); ++job)
            if (jobs_.contains(job)) erase(job);
        for (auto& jobs : listed_) jobs.clear();
        idle_.clear();
        tidy();
        n_.forgotten = n_.evicted = 0;
    }

  private:
    using new_names = detail::new_names<job_store>;
    friend new_names;

    struct tallies {
        std::size_t pairs = 0;
        std::uint64_t jobs_seen = 0, forgotten = 0, evicted = 0, erasures = 0;
    };

    // Adds a duration of a new pair of a known job and a known node, in the job's latest step. False if a
    // limit is exceeded. Strong guarantee.
    STRAGGLE_NEVER_INLINE bool add_pair(std::uint32_t job, std::uint32_t node, value_type value,
                                        store_bounds const& bounds) {
        job_row& r = rows_[job];
        if (n_.pairs >= bounds.pairs || r.first.table.size() >= pair_table<Pair>::most) return false;
        Pair& pair = r.first.table.insert(node, arena_);
        nodes_.use(node);
        ++n_.pairs;
        pasts_[job].is_finished = false; // it continues
        pair.add(value, r.origin, wide_);
        r.first.lengthen(static_cast<double>(value));
        return true;
    }

    STRAGGLE_NEVER_INLINE bool add_rarely(std::uint32_t known_job, std::uint32_t known_node, job_key job,
                                          node_key node, std::uint32_t slot, value_type value,
                                          store_bounds const& bounds) {
        place const at =
            find_or_insert(known_job, known_node, job, node, slot, origin_type::at(value), bounds);
        if (at.pair == nullptr) return false;
        at.pair->add(value, rows_[at.job].origin, wide_); // never throws for a new pair
        at.span->lengthen(static_cast<double>(value));
        return true;
    }

    [[nodiscard]] place find_or_insert(std::uint32_t j, std::uint32_t n, job_key job, node_key node,
                                       std::uint32_t slot, origin_type origin, store_bounds const& bounds) {
        job_span* const span = j != none ? find_span(j, slot) : nullptr;
        if (span != nullptr && n != none)
            if (Pair* const pair = span->table.find(n)) return {pair, span, j};
        if (n_.pairs >= bounds.pairs || (n == none && nodes().size() >= bounds.nodes)) return {};
        if (span != nullptr && span->table.size() >= pair_table<Pair>::most) return {};
        bool const must_evict = j == none && jobs_.size() >= bounds.jobs;
        if (must_evict && !can_evict()) return {};

        new_names names(*this, origin);
        if (n == none) n = names.node(node);
        if (j == none) j = names.job(job);
        place const at = span != nullptr ? place{&span->table.insert(n, arena_), span, j} : begin(j, n, slot);
        names.keep();
        nodes_.use(n);
        ++n_.pairs;
        pasts_[j].is_finished = false; // it continues
        if (must_evict) evict();
        return at;
    }

    // The first pair of a job in a slot. Strong guarantee.
    place begin(std::uint32_t job, std::uint32_t node, std::uint32_t slot) {
        make_room_in_list(slot);
        bool const is_only = !is_in_ring(job);
        if (!is_only) spans_.make_room();
        pair_table<Pair> table;
        table.slot = static_cast<std::uint8_t>(slot);
        Pair* const pair = &table.insert(node, arena_);
        job_span& first = rows_[job].first;
        std::uint32_t const next = is_only ? none : spans_.push(first);
        first = {table, next, 0};
        if (slots_ > 1) listed_[slot].push_back(job);
        return {pair, &first, job};
    }

    // Makes room for one more job in a slot. Removes gone jobs and duplicates: otherwise an endless step
    // would remember all jobs it ever saw.
    void make_room_in_list(std::uint32_t slot) {
        if (slots_ == 1) return; // a single slot never closes
        if (listed_.size() < slots_) listed_.resize(slots_);
        std::vector<std::uint32_t>& list = listed_[slot];
        if (list.size() < list.capacity()) return;
        std::erase_if(list, [&](std::uint32_t job) {
            return !jobs_.contains(job) || !is_in_ring(job) || find_span(job, slot) == nullptr;
        });
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        if (2 * list.size() >= list.capacity()) list.reserve(2 * list.size() + 8);
    }

    // @pre the job has a number
    [[nodiscard]] job_span* find_span(std::uint32_t job, std::uint32_t slot) noexcept {
        return spans_.find(rows_[job].first, slot);
    }

    void drop_pairs(job_span& span) noexcept {
        for (Pair const& pair : span.table.all()) {
            pair.release(wide_);
            leave_node(pair.node);
        }
        n_.pairs -= span.table.size();
        span.table.release(arena_);
    }
    [[nodiscard]] bool is_current(typename idle_type::row const& r) const noexcept {
        return jobs_.contains(r.job) && pasts_[r.job].seen == r.seen;
    }
    // Whether a job can be forgotten; the one on top is then the next.
    [[nodiscard]] bool can_evict() noexcept {
        while (!idle_.empty()) {
            typename idle_type::row const top = idle_.top();
            if (!is_current(top)) {
                idle_.pop();
                continue;
            }
            job_past& past = pasts_[top.job];
            std::int64_t const until = memory_.until(past.last, past.longest);
            if (!is_in_ring(top.job) && until <= top.until) return true;
            idle_.pop();
            past.is_idle = false;
            rest(top.job);
        }
        return false;
    }
    void evict() noexcept {
        if (!can_evict()) return;
        ++n_.evicted;
        drop_top();
    }
    void drop_top() noexcept {
        std::uint32_t const job = idle_.top().job;
        idle_.pop();
        drop(job);
    }
    // @pre it has nothing in the ring
    void drop(std::uint32_t job) noexcept {
        jobs_.erase(job);
        rows_[job] = {};
        pasts_[job] = {};
        ++n_.erasures;
    }

    interner<JobId> jobs_;
    used_nodes<NodeId> nodes_;
    std::vector<job_row> rows_;   // by job
    std::vector<job_past> pasts_; // by job
    later_spans<Pair> spans_;
    block_arena arena_;
    // By slot: jobs with pairs there, and possibly others.
    std::vector<std::vector<std::uint32_t>> listed_;
    typename Pair::wide_type wide_;
    idle_type idle_;
    std::size_t slots_;
    remembered_steps memory_;
    tallies n_;
};

} // namespace straggle::detail
