// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: what is remembered. A ring of time buckets; for each job that has
/// attempts in them, its pairs with nodes; for jobs that are finished, only what they say of each node.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/monitor/detail/job_node_sums.hpp>
#include <straggle/rank/job_table.hpp>
#include <straggle/rank/performance.hpp>
#include <straggle/record/attempt.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// What finished jobs said of nodes within one bucket: room for those nodes only, however many others there
// are.
template <class Scores>
class finished_scores {
  public:
    std::uint64_t scored = 0; // attempts
    std::size_t jobs = 0;

    // Makes a place for a node. Strong guarantee.
    void make_place(std::uint32_t node) {
        make_room_for_one(scores_);
        if (nodes_.insert(node) == scores_.size()) scores_.emplace_back();
    }
    // @pre the node has a place
    [[nodiscard]] Scores& operator[](std::uint32_t node) { return scores_[nodes_.find(node)]; }
    // The scores of a node if it has any.
    [[nodiscard]] Scores const* find(std::uint32_t node) const {
        std::uint32_t const place = nodes_.find(node);
        if (place == interner<std::uint32_t>::none || scores_[place].count() == 0) return nullptr;
        return &scores_[place];
    }
    // Calls visit(node, scores) for every node with some.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::uint32_t place = 0; place < scores_.size(); ++place)
            if (scores_[place].count() != 0) visit(nodes_[place], scores_[place]);
    }
    void clear() noexcept {
        scored = 0;
        jobs = 0;
        nodes_.clear();
        scores_.clear();
    }

  private:
    interner<std::uint32_t> nodes_;
    std::vector<Scores> scores_; // by place
};

template <class JobId, class NodeId, class Pair, class Scores>
class evidence {
  public:
    using job_id = JobId;
    using node_id = NodeId;
    using pair_type = Pair;
    using scores_type = Scores;
    using value_type = typename Pair::value_type;
    using job_key = typename interner<JobId>::key_type;
    using node_key = typename interner<NodeId>::key_type;

    // What ended within one step of time.
    struct bucket {
        attempt_counts counts;
        std::vector<std::uint32_t> jobs; // those with pairs here, some more than once, some no longer
        finished_scores<Scores> finished;
    };

    // With as many buckets as can be told apart at a time.
    explicit evidence(std::size_t ring) : ring_(ring) {}
    evidence(evidence const&) = default;
    evidence(evidence&&) noexcept = default;
    // Becomes a copy, or changes nothing should an allocation fail.
    evidence& operator=(evidence const& other) { return *this = evidence(other); }
    evidence& operator=(evidence&&) noexcept = default;
    ~evidence() = default;

    [[nodiscard]] bool empty() const noexcept { return !started_; }
    [[nodiscard]] std::size_t ring() const noexcept { return ring_.size(); }
    // Number of the latest bucket. @pre not empty()
    [[nodiscard]] std::int64_t head() const noexcept { return head_; }
    [[nodiscard]] std::int64_t oldest() const noexcept {
        return head_ - static_cast<std::int64_t>(ring()) + 1;
    }
    [[nodiscard]] bool holds(std::int64_t number) const noexcept {
        return started_ && number >= oldest() && number <= head_;
    }
    // Where a bucket is: its number modulo their count. @pre holds(number)
    [[nodiscard]] std::uint32_t slot(std::int64_t number) const noexcept {
        std::int64_t const place = static_cast<std::int64_t>(head_slot_) - (head_ - number);
        return static_cast<std::uint32_t>(place < 0 ? place + static_cast<std::int64_t>(ring()) : place);
    }
    [[nodiscard]] bucket& at(std::int64_t number) { return ring_[slot(number)]; }
    [[nodiscard]] bucket const& at(std::int64_t number) const { return ring_[slot(number)]; }

    [[nodiscard]] interner<JobId> const& jobs() const noexcept { return jobs_; }
    [[nodiscard]] interner<NodeId> const& nodes() const noexcept { return nodes_; }
    // The nodes in order of first appearance.
    [[nodiscard]] std::span<std::uint32_t const> order() const noexcept { return order_; }
    [[nodiscard]] job_pairs<Pair> const& pairs_of(std::uint32_t job) const { return pairs_[job]; }
    [[nodiscard]] typename Pair::wide_type const& wide() const noexcept { return wide_; }
    [[nodiscard]] std::size_t pairs() const noexcept { return size_; }

    // Makes `number` the latest bucket; what falls off the ring is forgotten.
    void advance(std::int64_t number) {
        if (!started_) {
            started_ = true;
            set_head(number);
            return;
        }
        if (number <= head_) return;
        // Unsigned: from one end of time to the other is further than a signed number goes.
        bool const all = static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(head_) >= ring();
        std::int64_t const last = all ? head_ : oldest() + (number - head_) - 1;
        for (std::int64_t old = oldest(); old <= last; ++old) expire(old);
        set_head(number);
        tidy();
    }

    // For what was seen in a bucket and entered: the usual case of counting. @pre holds(number)
    void count_used(std::int64_t number) noexcept {
        attempt_counts& counts = ring_[slot(number)].counts;
        ++counts.seen;
        ++counts.used;
    }

    // Adds a duration to the pair of a job and a node in a bucket that is held. False when the pair would be
    // one too many. Strong guarantee.
    bool add(job_key job, node_key node, std::int64_t number, value_type value, std::size_t most_pairs) {
        Pair* const pair = find_or_insert(job, node, number, most_pairs);
        if (pair == nullptr) return false;
        pair->add(value, wide_);
        return true;
    }

    void merge_into(Pair& pair, typename Pair::moments_type const& more) { pair.merge(more, wide_); }

    // The pair, new if need be; nothing when it would be one too many.
    [[nodiscard]] Pair* find_or_insert(job_key job, node_key node, std::int64_t number,
                                       std::size_t most_pairs) {
        std::uint32_t const s = slot(number);
        std::uint32_t const known_job = jobs_.find(job), known_node = nodes_.find(node);
        if (known_job != jobs_.none && known_node != nodes_.none)
            if (Pair* const pair = pairs_[known_job].find(known_node, s)) return pair;
        if (size_ >= most_pairs) return nullptr;
        return &insert(job, node, s, known_job, known_node);
    }

    // Merges scores of finished jobs into those of a node that has a place. @pre it has a pair or a score
    void add_finished(std::uint32_t node, bucket& b, Scores const& scores) {
        Scores& all = b.finished[node];
        if (all.count() == 0 && scores.count() != 0) ++node_uses_[node];
        all.merge(scores);
    }
    // The same for a node that may be new. Strong guarantee.
    void add_finished(node_key node, std::int64_t number, Scores const& scores) {
        new_names names(*this);
        std::uint32_t const n = names.node(node);
        at(number).finished.make_place(n);
        names.keep();
        add_finished(n, at(number), scores);
    }

    // Takes in all of another one with as many buckets. Returns how many attempts were left out for lack of
    // room.
    [[nodiscard]] std::uint64_t merge(evidence const& other, std::size_t most_pairs) {
        std::uint64_t dropped = 0;
        if (other.empty()) return dropped;
        advance(other.head());
        for (std::int64_t number = other.oldest(); number <= other.head(); ++number) {
            bucket const& theirs = other.at(number);
            if (!holds(number)) continue; // it would be forgotten by now here, too
            bucket& mine = at(number);
            mine.counts += theirs.counts;
            mine.finished.scored += theirs.finished.scored;
            mine.finished.jobs += theirs.finished.jobs;
            theirs.finished.for_each([&](std::uint32_t node, Scores const& scores) {
                this->add_finished(other.nodes_[node], number, scores);
            });
        }
        for (std::uint32_t const job : other.jobs_in_order()) {
            for (Pair const& theirs : other.pairs_[job].all()) {
                std::int64_t const number = other.number_of(theirs.slot());
                if (!holds(number)) continue;
                auto const moments = theirs.moments(other.wide_);
                if (Pair* const mine =
                        find_or_insert(other.jobs_[job], other.nodes_[theirs.node], number, most_pairs)) {
                    mine->merge(moments, wide_);
                } else {
                    dropped += moments.count();
                    at(number).counts.seen -= moments.count();
                    at(number).counts.used -= moments.count();
                }
            }
        }
        return dropped;
    }

    // The number of the bucket that is now in a slot.
    [[nodiscard]] std::int64_t number_of(std::uint32_t its_slot) const noexcept {
        std::int64_t const back = static_cast<std::int64_t>(head_slot_) - its_slot;
        return head_ - (back < 0 ? back + static_cast<std::int64_t>(ring()) : back);
    }

    // The live jobs in order of first appearance.
    [[nodiscard]] std::vector<std::uint32_t> jobs_in_order() const {
        std::vector<std::uint32_t> order;
        order.reserve(jobs_.size());
        for (std::uint32_t job = 0; job < jobs_.bound(); ++job)
            if (jobs_.contains(job)) order.push_back(job);
        std::sort(order.begin(), order.end(),
                  [this](std::uint32_t a, std::uint32_t b) { return pairs_[a].seen < pairs_[b].seen; });
        return order;
    }

    // Puts the nodes in another order. @pre it is a permutation
    void set_order(std::vector<std::uint32_t> order) noexcept { order_ = std::move(order); }

    // Forgets a job with all its pairs.
    void erase_job(std::uint32_t job) {
        for (Pair const& pair : pairs_[job].all()) leave(pair);
        pairs_[job].clear();
        jobs_.erase(job);
        tidy();
    }

    void clear() {
        if (started_)
            for (std::int64_t number = oldest(); number <= head_; ++number) expire(number);
        tidy();
        started_ = false;
    }

  private:
    void set_head(std::int64_t number) noexcept {
        std::int64_t const size = static_cast<std::int64_t>(ring()), rest = number % size;
        head_ = number;
        head_slot_ = static_cast<std::uint32_t>(rest < 0 ? rest + size : rest);
    }

    // Gives identifiers their numbers, and takes the numbers back unless told to keep them: so a failed
    // allocation leaves no trace.
    class new_names {
      public:
        explicit new_names(evidence& e) noexcept : e_(e) {}
        new_names(new_names const&) = delete;
        new_names& operator=(new_names const&) = delete;
        ~new_names() {
            if (new_job_ != none) e_.jobs_.erase(new_job_);
            if (new_node_ != none) e_.nodes_.erase(new_node_);
        }
        std::uint32_t job(job_key id) {
            room_for_all(e_.pairs_, e_.jobs_);
            std::size_t const before = e_.jobs_.size();
            std::uint32_t const job = e_.jobs_.insert(id);
            if (e_.jobs_.size() != before) new_job_ = job;
            return job;
        }
        std::uint32_t node(node_key id) {
            room_for_all(e_.node_uses_, e_.nodes_);
            make_room_for_one(e_.order_);
            std::size_t const before = e_.nodes_.size();
            std::uint32_t const node = e_.nodes_.insert(id);
            if (e_.nodes_.size() != before) new_node_ = node;
            return node;
        }
        void keep() noexcept {
            if (new_job_ != none) {
                e_.pairs_[new_job_].seen = e_.jobs_seen_++;
                e_.pairs_[new_job_].listed = job_pairs<Pair>::nowhere;
            }
            if (new_node_ != none) {
                e_.node_uses_[new_node_] = 0;
                e_.order_.push_back(new_node_); // node() made room
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

        static constexpr std::uint32_t none = (std::numeric_limits<std::uint32_t>::max)();
        evidence& e_;
        std::uint32_t new_job_ = none, new_node_ = none;
    };

    // `j`, `n`: their indices where they are known.
    STRAGGLE_NEVER_INLINE Pair& insert(job_key job, node_key node, std::uint32_t s, std::uint32_t j,
                                       std::uint32_t n) {
        new_names names(*this);
        if (n == nodes_.none) n = names.node(node);
        if (j == jobs_.none) j = names.job(job);
        std::vector<std::uint32_t>& listed = ring_[s].jobs;
        make_room_in(listed);
        Pair& pair = pairs_[j].insert(n, s);
        names.keep();
        if (std::int64_t const number = number_of(s); pairs_[j].listed != number) {
            pairs_[j].listed = number;
            listed.push_back(j);
        }
        ++node_uses_[n];
        ++size_;
        return pair;
    }

    // Room for one more job of a bucket. Many may be gone by now, or be named twice: if they stayed, a step
    // of time that never ends would remember all jobs it ever saw.
    void make_room_in(std::vector<std::uint32_t>& listed) {
        if (listed.size() < listed.capacity()) return;
        std::erase_if(listed,
                      [this](std::uint32_t job) { return !jobs_.contains(job) || pairs_[job].empty(); });
        std::sort(listed.begin(), listed.end());
        listed.erase(std::unique(listed.begin(), listed.end()), listed.end());
        if (2 * listed.size() >= listed.capacity()) listed.reserve(2 * listed.size() + 8);
    }

    void leave(Pair const& pair) {
        pair.release(wide_);
        --size_;
        leave_node(pair.node);
    }
    void leave_node(std::uint32_t node) {
        if (--node_uses_[node] != 0) return;
        nodes_.erase(node);
        order_stale_ = true;
    }

    void expire(std::int64_t number) {
        std::uint32_t const s = slot(number);
        bucket& b = ring_[s];
        for (std::uint32_t const job : b.jobs) {
            if (!jobs_.contains(job) || pairs_[job].empty()) continue;
            pairs_[job].remove(s, [this](Pair const& pair) { this->leave(pair); });
            if (pairs_[job].empty()) {
                pairs_[job].clear();
                jobs_.erase(job);
            }
        }
        b.finished.for_each([this](std::uint32_t node, Scores const&) { this->leave_node(node); });
        b.counts = {};
        b.jobs.clear();
        b.finished.clear();
    }

    // Nodes that went must go from the order before their numbers are given to others.
    void tidy() {
        if (!order_stale_) return;
        std::erase_if(order_, [this](std::uint32_t node) { return !nodes_.contains(node); });
        order_stale_ = false;
    }

    interner<JobId> jobs_;
    interner<NodeId> nodes_;
    std::vector<job_pairs<Pair>> pairs_;   // by job
    std::vector<std::uint64_t> node_uses_; // by node: pairs and finished scores that name it
    std::vector<std::uint32_t> order_;     // nodes by first appearance
    std::vector<bucket> ring_;             // by slot
    typename Pair::wide_type wide_;
    std::int64_t head_ = 0;
    std::uint32_t head_slot_ = 0;
    std::uint64_t jobs_seen_ = 0;
    std::size_t size_ = 0;
    bool started_ = false;
    bool order_stale_ = false;
};

} // namespace straggle::detail
