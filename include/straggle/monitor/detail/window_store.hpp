// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: the stored evidence. A ring of time buckets; for each job with
/// attempts in them, its pairs with nodes; for older data, one sum per job until the job is forgotten; for
/// finished jobs, only their scores of each node.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/monitor/detail/job_memory.hpp>
#include <straggle/monitor/detail/job_node_sums.hpp>
#include <straggle/monitor/detail/job_store.hpp>
#include <straggle/rank/performance.hpp>
#include <straggle/rank/relative_times.hpp>
#include <straggle/record/attempt.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Scores of finished jobs for nodes within one bucket: takes room for these nodes only.
template <class Scores>
class finished_scores {
  public:
    std::uint64_t scored = 0; // attempts scored
    std::size_t jobs = 0;

    // Creates a place for a node. Strong guarantee.
    void make_place(std::uint32_t node) {
        make_room_for_one(scores_);
        links_.grow(scores_.size() + 1);
        if (nodes_.insert(node) == scores_.size()) scores_.emplace_back();
    }
    // Records that two nodes have tasks of one job; `other` may be `node_links::somewhere`.
    // @pre both have a place
    void link(std::uint32_t node, std::uint32_t other) noexcept {
        links_.join(nodes_.find(node),
                    other == node_links::somewhere ? node_links::somewhere : nodes_.find(other));
    }
    // Calls visit(node, other) for pairs of nodes that together span all links.
    template <class Visit>
    void for_each_link(Visit&& visit) const {
        links_.for_each([&](std::uint32_t place, std::uint32_t other) {
            visit(nodes_[place], other == node_links::somewhere ? node_links::somewhere : nodes_[other]);
        });
    }
    // @pre the node has a place
    [[nodiscard]] Scores& operator[](std::uint32_t node) { return scores_[nodes_.find(node)]; }
    // The scores of a node, if any.
    [[nodiscard]] Scores const* find(std::uint32_t node) const {
        std::uint32_t const place = nodes_.find(node);
        if (place == decltype(nodes_)::none || scores_[place].count() == 0) return nullptr;
        return &scores_[place];
    }
    // Calls visit(node, scores) for every node with scores.
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
        links_.clear();
    }

  private:
    interner<std::uint32_t> nodes_;
    std::vector<Scores> scores_; // by place
    node_links links_;           // by place
};

template <class JobId, class NodeId, class Pair, class Scores>
class window_store {
  public:
    using job_id = JobId;
    using node_id = NodeId;
    using pair_type = Pair;
    using scores_type = Scores;
    using value_type = typename Pair::value_type;
    using moments_type = typename Pair::moments_type;
    using origin_type = typename Pair::origin_type;
    using store_type = job_store<JobId, NodeId, Pair>;
    using job_key = typename store_type::job_key;
    using node_key = typename store_type::node_key;
    static constexpr std::uint32_t none = store_type::none;

    // The attempts that ended within one time step.
    struct bucket {
        attempt_counts counts;
        finished_scores<Scores> finished;
    };

    // `ring`: number of buckets kept separately.
    window_store(std::size_t ring, remembered_steps memory) : store_(ring, memory) {}
    window_store(window_store const&) = default;
    // The moved-from store is empty.
    window_store(window_store&& other) noexcept
        : store_(std::move(other.store_)),
          ring_(std::move(other.ring_)),
          head_(other.head_),
          head_slot_(other.head_slot_),
          finished_(std::exchange(other.finished_, 0)),
          started_(std::exchange(other.started_, false)) {
        other.ring_.clear();
    }
    // Copies the other store, or changes nothing if an allocation fails.
    window_store& operator=(window_store const& other) { return *this = window_store(other); }
    window_store& operator=(window_store&& other) noexcept {
        store_ = std::move(other.store_);
        ring_.swap(other.ring_);
        other.ring_.clear();
        head_ = other.head_;
        head_slot_ = other.head_slot_;
        finished_ = std::exchange(other.finished_, 0);
        started_ = std::exchange(other.started_, false);
        return *this;
    }
    ~window_store() = default;

    [[nodiscard]] bool empty() const noexcept { return !started_; }
    [[nodiscard]] std::size_t ring() const noexcept { return store_.slots(); }
    // Number of the latest bucket. @pre not empty()
    [[nodiscard]] std::int64_t head() const noexcept { return head_; }
    [[nodiscard]] std::int64_t oldest() const noexcept {
        return head_ - static_cast<std::int64_t>(ring()) + 1;
    }
    [[nodiscard]] bool holds(std::int64_t number) const noexcept {
        return started_ && number >= oldest() && number <= head_;
    }
    // Whether it is the latest bucket, as in nearly all calls.
    [[nodiscard]] bool is_head(std::int64_t number) const noexcept { return started_ && number == head_; }
    [[nodiscard]] std::uint32_t head_slot() const noexcept { return head_slot_; }
    // The slot of a bucket: its number modulo the ring size. @pre holds(number)
    [[nodiscard]] std::uint32_t slot(std::int64_t number) const noexcept {
        std::int64_t const place = static_cast<std::int64_t>(head_slot_) - (head_ - number);
        return static_cast<std::uint32_t>(place < 0 ? place + static_cast<std::int64_t>(ring()) : place);
    }
    [[nodiscard]] bucket& in_slot(std::uint32_t its_slot) { return ring_[its_slot]; }
    [[nodiscard]] bucket& at(std::int64_t number) { return ring_[slot(number)]; }
    [[nodiscard]] bucket const& at(std::int64_t number) const { return ring_[slot(number)]; }
    // The number of the bucket currently in a slot.
    [[nodiscard]] std::int64_t number_of(std::uint32_t its_slot) const noexcept {
        std::int64_t const back = static_cast<std::int64_t>(head_slot_) - its_slot;
        return head_ - (back < 0 ? back + static_cast<std::int64_t>(ring()) : back);
    }

    // The jobs and their pairs, by slots.
    [[nodiscard]] store_type const& held() const noexcept { return store_; }
    [[nodiscard]] store_type& held() noexcept { return store_; }
    // Number of node scores from finished jobs, in all buckets.
    [[nodiscard]] std::size_t finished() const noexcept { return finished_; }

    // Makes `number` the latest bucket; buckets that leave the ring become the past of their jobs.
    STRAGGLE_ALWAYS_INLINE void advance(std::int64_t number) {
        if (!started_ || number > head_) [[unlikely]]
            move_on(number);
    }

    // An attempt of a job was seen running at this age in a time step. False if the job is unknown.
    bool note_running(job_key job, std::int64_t number, float age) {
        std::uint32_t const j = store_.jobs().find(job);
        if (j == none) return false;
        auto& past = store_.past(j);
        past.last = (std::max)(past.last, number);
        past.longest = (std::max)(past.longest, age);
        past.is_finished = false;
        return true;
    }

    // Merges scores of finished jobs into those of a node with a place. @pre it has a pair or a score
    void add_finished(std::uint32_t node, bucket& b, Scores const& scores) {
        Scores& all = b.finished[node];
        if (all.count() == 0 && scores.count() != 0) {
            store_.use_node(node);
            ++finished_;
        }
        all.merge(scores);
    }
    // The same for a possibly new node. False if a limit is exceeded. Strong guarantee.
    [[nodiscard]] bool add_finished(node_key node, std::int64_t number, Scores const& scores,
                                    store_bounds const& bounds) {
        std::uint32_t const known = store_.nodes().find(node);
        bool const is_known = known != none && at(number).finished.find(known) != nullptr;
        if (!is_known && finished_ >= bounds.finished) return false;
        if (known == none && store_.nodes().size() >= bounds.nodes) return false;
        bucket& b = at(number);
        add_finished(store_.find_or_insert_node(node, [&](std::uint32_t n) { b.finished.make_place(n); }), b,
                     scores);
        return true;
    }

    // Merges another store with the same number of buckets. Returns the number of attempts dropped for lack
    // of room.
    [[nodiscard]] std::uint64_t merge(window_store const& other, store_bounds const& bounds) {
        std::uint64_t dropped = 0;
        if (other.empty()) return dropped;
        advance(other.head());
        for (std::int64_t number = other.oldest(); number <= other.head(); ++number) {
            bucket const& theirs = other.at(number);
            if (!holds(number)) continue; // it would have expired here by now, too
            bucket& mine = at(number);
            mine.counts += theirs.counts;
            mine.finished.scored += theirs.finished.scored;
            mine.finished.jobs += theirs.finished.jobs;
            theirs.finished.for_each([&](std::uint32_t node, Scores const& scores) {
                if (this->add_finished(other.store_.nodes()[node], number, scores, bounds)) return;
                mine.finished.scored -= scores.count();
                dropped += leave_out(number, scores.count());
            });
            link_as(other, theirs, mine);
        }
        for (std::uint32_t const job : jobs_in_order(other.store_)) dropped += merge_job(other, job, bounds);
        store_.count_lost_jobs(other.store_.forgotten(), other.store_.evicted());
        store_.forget_until(head_);
        store_.tidy();
        return dropped;
    }

    void clear() noexcept {
        if (started_)
            for (std::int64_t number = oldest(); number <= head_; ++number) expire(number);
        store_.clear();
        started_ = false;
    }

  private:
    STRAGGLE_NEVER_INLINE void move_on(std::int64_t number) {
        if (!started_) {
            if (ring_.size() < ring()) ring_.resize(ring());
            started_ = true;
            set_head(number);
            return;
        }
        // Unsigned: the difference may overflow a signed number.
        bool const all = static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(head_) >= ring();
        std::int64_t const last = all ? head_ : oldest() + (number - head_) - 1;
        for (std::int64_t old = oldest(); old <= last; ++old) expire(old);
        set_head(number);
        store_.forget_until(number);
        store_.tidy();
    }

    void set_head(std::int64_t number) noexcept {
        std::int64_t const size = static_cast<std::int64_t>(ring()), rest = number % size;
        head_ = number;
        head_slot_ = static_cast<std::uint32_t>(rest < 0 ? rest + size : rest);
    }

    void expire(std::int64_t number) noexcept {
        std::uint32_t const s = slot(number);
        bucket& b = ring_[s];
        store_.close(s, number);
        b.finished.for_each([this](std::uint32_t node, Scores const&) {
            store_.leave_node(node);
            --finished_;
        });
        b.counts = {};
        b.finished.clear();
    }

    // Links nodes that the other store's jobs have compared, as far as they exist here.
    void link_as(window_store const& other, bucket const& theirs, bucket& mine) noexcept {
        theirs.finished.for_each_link([&](std::uint32_t node, std::uint32_t with) {
            std::uint32_t const a = store_.nodes().find(other.store_.nodes()[node]);
            if (a == none || mine.finished.find(a) == nullptr) return;
            if (with == node_links::somewhere) return mine.finished.link(a, with);
            std::uint32_t const b = store_.nodes().find(other.store_.nodes()[with]);
            if (b != none && mine.finished.find(b) != nullptr) mine.finished.link(a, b);
        });
    }

    // Drops attempts that a bucket has counted but has no room for.
    std::uint64_t leave_out(std::int64_t number, std::uint64_t attempts) {
        if (holds(number)) {
            at(number).counts.seen -= attempts;
            at(number).counts.used -= attempts;
        }
        return attempts;
    }

    [[nodiscard]] std::uint64_t merge_job(window_store const& other, std::uint32_t theirs,
                                          store_bounds const& bounds) {
        std::uint64_t dropped = 0;
        store_type const& from = other.store_;
        auto const& row = from.row(theirs);
        auto const& past = from.past(theirs);
        job_key const id = from.jobs()[theirs];
        std::uint32_t mine = store_.jobs().find(id);
        bool const is_finished = past.is_finished && (mine == none || store_.past(mine).is_finished);
        // Attempts that ended before the stored steps form the job's past, and may be all there is.
        auto const remember = [&](moments_type const& gone, std::int64_t last, float longest) {
            mine = store_.find_or_insert(id, row.origin, bounds);
            if (mine == none) return;
            auto& p = store_.past(mine);
            p.gone.merge(relocated(gone, row.origin, store_.row(mine).origin));
            p.last = (std::max)(p.last, last);
            p.longest = (std::max)(p.longest, longest);
        };
        for (auto const* s = from.is_in_ring(theirs) ? &row.first : nullptr; s != nullptr;
             s = from.after(*s)) {
            std::int64_t const number = other.number_of(s->table.slot);
            for (Pair const& pair : s->table.all()) {
                auto const moments = pair.moments(from.wide());
                if (!holds(number)) {
                    remember(moments, number, s->longest);
                    continue;
                }
                auto const at =
                    store_.find_or_insert(id, from.nodes()[pair.node], slot(number), row.origin, bounds);
                if (at.pair == nullptr) {
                    dropped += leave_out(number, moments.count());
                    continue;
                }
                mine = at.job;
                at.pair->merge(relocated(moments, row.origin, store_.row(mine).origin), store_.wide());
                at.span->longest = (std::max)(at.span->longest, s->longest);
            }
        }
        if (past.gone.count() != 0 || past.longest > 0) remember(past.gone, past.last, past.longest);
        if (mine != none) {
            store_.past(mine).is_finished = is_finished;
            store_.rest(mine);
        }
        return dropped;
    }

    // Sums relative to a different origin.
    static stats::tick_moments const& relocated(stats::tick_moments const& m, origin_type const&,
                                                origin_type const&) noexcept {
        return m;
    }
    template <class Origin>
    static real_sums relocated(real_sums const& m, Origin const& from, Origin const& to) noexcept {
        return m.moved(to.value - from.value);
    }

    store_type store_;
    std::vector<bucket> ring_; // by slot
    std::int64_t head_ = 0;
    std::uint32_t head_slot_ = 0;
    std::size_t finished_ = 0;
    bool started_ = false;
};

} // namespace straggle::detail
