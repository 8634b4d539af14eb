// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/monitor.hpp`: the attempts of each pair of a job and a
/// node as one sum per time step; for older steps, one sum per job until the job is forgotten; for finished
/// jobs, only their scores of each node.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/idle_order.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/rank/detail/relative_times.hpp>
#include <straggle/rank/monitor_counts.hpp>
#include <straggle/rank/performance.hpp>
#include <straggle/record/attempt.hpp>
#include <straggle/stats/moments.hpp>
#include <straggle/stats/tick_moments.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Limits on what is stored.
struct store_bounds {
    static constexpr std::size_t unlimited = (std::numeric_limits<std::size_t>::max)();
    std::size_t pairs = unlimited, jobs = unlimited, nodes = unlimited, finished = unlimited;
};

// Scores of finished jobs for nodes within one step: takes room for these nodes only.
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
    [[nodiscard]] Scores const& operator[](std::uint32_t node) const { return scores_[nodes_.find(node)]; }
    [[nodiscard]] bool has(std::uint32_t node) const {
        std::uint32_t const place = nodes_.find(node);
        return place != nodes_.none && scores_[place].count() != 0;
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

// The index of an identifier; a new one is erased again unless it is kept.
template <class Id>
class new_name {
  public:
    new_name(interner<Id>& names, std::uint32_t known, typename interner<Id>::key_type id)
        : names_(names), is_new_(known == interner<Id>::none), index_(is_new_ ? names.insert(id) : known) {}
    new_name(new_name const&) = delete;
    new_name& operator=(new_name const&) = delete;
    ~new_name() {
        if (is_new_ && !kept_) names_.erase(index_);
    }
    std::uint32_t keep() noexcept {
        kept_ = true;
        return index_;
    }
    [[nodiscard]] std::uint32_t index() const noexcept { return index_; }
    [[nodiscard]] bool is_new() const noexcept { return is_new_; }

  private:
    interner<Id>& names_;
    bool is_new_, kept_ = false;
    std::uint32_t index_;
};

template <class JobId, class NodeId, class Value>
class window_store {
  public:
    static constexpr bool exact = std::integral<Value>;
    static constexpr std::uint32_t none = interner<JobId>::none;
    static constexpr std::int64_t never = (std::numeric_limits<std::int64_t>::min)(); // no step
    using job_id = JobId;
    using node_id = NodeId;
    using value_type = Value;
    using moments_type = std::conditional_t<exact, stats::tick_moments, stats::moments>;
    using scores_type = timed_scores<score_moments_of<Value>, exact>;
    using job_key = typename interner<JobId>::key_type;
    using node_key = typename interner<NodeId>::key_type;

    // The attempts of one job on one node in one step.
    struct cell {
        moments_type sums{};
        std::uint32_t place = 0;                  // node and slot
        std::uint32_t next = none, before = none; // of the same job
        [[nodiscard]] std::uint32_t node() const noexcept { return place >> 8; }
        [[nodiscard]] std::uint32_t slot() const noexcept { return place & 0xff; }
    };
    struct job_row {
        moments_type gone{};        // from expired steps
        std::uint64_t seen = 0;     // creation number
        std::int64_t last = never;  // latest expired step in which it ended or ran
        std::int64_t until = never; // the step in which it is forgotten
        double longest = 0;         // attempt, ended or running
        std::uint32_t first = none;
        bool is_finished = false;
    };
    struct step {
        attempt_counts counts;
        finished_scores<scores_type> finished;
        std::vector<std::uint32_t> cells; // here, and possibly others; only where steps expire
    };

    // `ring`: number of steps kept separately. `remember`: how many steps a job is remembered after its
    // last one, per unit of its longest attempt; 0: jobs end with their steps.
    explicit window_store(std::size_t ring, double remember = 0) : ring_(ring), remember_(remember) {}
    window_store(window_store const&) = default;
    // The moved-from store is empty and usable.
    window_store(window_store&& other) noexcept
        : ring_(other.ring_), remember_(other.remember_), s_(std::exchange(other.s_, {})) {}
    // Copies the other store, or changes nothing if an allocation fails.
    window_store& operator=(window_store const& other) { return *this = window_store(other); }
    window_store& operator=(window_store&& other) noexcept {
        ring_ = other.ring_;
        remember_ = other.remember_;
        s_ = std::exchange(other.s_, {});
        return *this;
    }
    ~window_store() = default;

    [[nodiscard]] bool empty() const noexcept { return !s_.started; }
    [[nodiscard]] std::size_t ring() const noexcept { return ring_; }
    // Number of the latest step. @pre not empty()
    [[nodiscard]] std::int64_t head() const noexcept { return s_.head; }
    [[nodiscard]] std::int64_t oldest() const noexcept {
        return s_.head - static_cast<std::int64_t>(ring_) + 1;
    }
    [[nodiscard]] bool holds(std::int64_t number) const noexcept {
        return s_.started && number <= s_.head && number >= oldest();
    }
    [[nodiscard]] std::uint32_t slot(std::int64_t number) const noexcept {
        auto const size = static_cast<std::int64_t>(ring_), rest = number % size;
        return static_cast<std::uint32_t>(rest < 0 ? rest + size : rest);
    }
    // @pre holds(number)
    [[nodiscard]] step& at(std::int64_t number) { return s_.steps[slot(number)]; }
    [[nodiscard]] step const& at(std::int64_t number) const { return s_.steps[slot(number)]; }
    // The number of the step now in a slot.
    [[nodiscard]] std::int64_t number_of(std::uint32_t its_slot) const noexcept {
        std::int64_t const back = static_cast<std::int64_t>(slot(s_.head)) - its_slot;
        return s_.head - (back < 0 ? back + static_cast<std::int64_t>(ring_) : back);
    }

    [[nodiscard]] interner<JobId> const& jobs() const noexcept { return s_.jobs; }
    [[nodiscard]] interner<NodeId> const& nodes() const noexcept { return s_.nodes; }
    [[nodiscard]] job_row const& job(std::uint32_t j) const noexcept { return s_.rows[j]; }
    [[nodiscard]] job_row& job(std::uint32_t j) noexcept { return s_.rows[j]; }
    [[nodiscard]] std::uint64_t seen(std::uint32_t node) const noexcept { return s_.node_rows[node].seen; }
    void set_seen(std::uint32_t node, std::uint64_t order) noexcept { s_.node_rows[node].seen = order; }
    [[nodiscard]] std::size_t pairs() const noexcept { return s_.pairs.size(); }
    // Number of node scores from finished jobs, in all steps.
    [[nodiscard]] std::size_t finished() const noexcept { return s_.finished; }
    [[nodiscard]] monitor_counts& counts() noexcept { return s_.counts; }
    [[nodiscard]] monitor_counts const& counts() const noexcept { return s_.counts; }
    // Calls visit(cell) for the cells of a job, the latest first.
    template <class Visit>
    void for_each_cell(std::uint32_t j, Visit&& visit) const {
        for (std::uint32_t c = s_.rows[j].first; c != none; c = s_.cells[c].next) visit(s_.cells[c]);
    }
    [[nodiscard]] bool is_in_several_steps(std::uint32_t j) const {
        std::uint32_t const first = s_.cells[s_.rows[j].first].slot();
        bool others = false;
        for_each_cell(j, [&](cell const& c) { others = others || c.slot() != first; });
        return others;
    }
    // The jobs in order of first appearance.
    [[nodiscard]] std::vector<std::uint32_t> jobs_in_order() const {
        std::vector<std::uint32_t> order;
        order.reserve(jobs().size());
        for (std::uint32_t j = 0; j < jobs().bound(); ++j)
            if (jobs().contains(j)) order.push_back(j);
        std::sort(order.begin(), order.end(),
                  [this](std::uint32_t a, std::uint32_t b) { return job(a).seen < job(b).seen; });
        return order;
    }

    // Makes `number` the latest step; steps that leave the ring become the past of their jobs. Strong
    // guarantee.
    void advance(std::int64_t number) {
        if (!s_.started || number > s_.head) [[unlikely]]
            move_on(number);
    }

    // Adds an attempt to a step. False if a limit is exceeded. Strong guarantee. @pre holds(number)
    bool add(job_key job, node_key node, std::int64_t number, Value value, store_bounds const& most) {
        moments_type* const sums = find_or_insert(job, node, number, static_cast<double>(value), most);
        if (sums == nullptr) return false;
        sums->add(value);
        return true;
    }
    // The sums of a job on a node in a step, of attempts of at most some length; null if a limit is exceeded.
    // Strong guarantee.
    [[nodiscard]] moments_type* find_or_insert(job_key job, node_key node, std::int64_t number,
                                               double longest, store_bounds const& most) {
        std::uint32_t j = s_.jobs.find(job), n = s_.nodes.find(node), its_slot = slot(number);
        std::uint32_t c = none;
        if (pairs() >= most.pairs) [[unlikely]] {
            if (j != none && n != none) c = s_.pairs.find(key(j, n, its_slot));
            if (c == none) return nullptr;
        } else {
            make_room_for_one(s_.cells);
            if (ring_ > 1) make_room_in_list(its_slot);
            if (j != none && n != none) [[likely]] {
                std::size_t const before = pairs();
                c = s_.pairs.insert(key(j, n, its_slot));
                if (pairs() != before) begin_cell(c, j, n, its_slot);
            } else {
                c = insert(j, n, job, node, its_slot, most);
                if (c == none) return nullptr;
                j = job_of(c);
            }
        }
        if (longest > s_.rows[j].longest) s_.rows[j].longest = longest;
        return &s_.cells[c].sums;
    }
    // The past of a job, for attempts outside all steps; null if a limit is exceeded. Strong guarantee.
    [[nodiscard]] job_row* remember(job_key job, store_bounds const& most) {
        std::uint32_t const known = s_.jobs.find(job);
        make_room_for_idle(1);
        if (known != none) return &s_.rows[known];
        bool const is_full = s_.jobs.size() >= most.jobs;
        std::uint32_t const out = is_full ? idlest() : none;
        if (is_full && out == none) return nullptr;
        room_for_all(s_.rows, s_.jobs);
        std::uint32_t const j = s_.jobs.insert(job);
        begin(j);
        if (is_full) evict(out);
        return &s_.rows[j];
    }
    // Call for a job whose past was changed, and that may have no cells. @pre remember() was called
    void settle(std::uint32_t j) noexcept {
        renew(s_.rows[j]);
        rest(j);
    }

    // An attempt of a job was seen running at this age in a step. False if the job is unknown.
    bool note_running(job_key job, std::int64_t number, double age) {
        std::uint32_t const j = s_.jobs.find(job);
        if (j == none) return false;
        job_row& r = s_.rows[j];
        r.last = (std::max)(r.last, number);
        r.longest = (std::max)(r.longest, age);
        r.is_finished = false;
        renew(r);
        return true;
    }

    // Merges scores of finished jobs into those of a node with a place. @pre it has a pair or a score
    void add_finished(std::uint32_t node, step& in, scores_type const& scores) {
        scores_type& all = in.finished[node];
        if (all.count() == 0 && scores.count() != 0) {
            ++s_.node_rows[node].uses;
            ++s_.finished;
        }
        all.merge(scores);
    }
    // The same for a possibly new node. False if a limit is exceeded. Strong guarantee.
    [[nodiscard]] bool add_finished(node_key node, std::int64_t number, scores_type const& scores,
                                    store_bounds const& most) {
        std::uint32_t const known = s_.nodes.find(node);
        step& in = at(number);
        if ((known == none || !in.finished.has(known)) && s_.finished >= most.finished) return false;
        if (known == none && s_.nodes.size() >= most_nodes(most)) return false;
        room_for_all(s_.node_rows, s_.nodes);
        new_name<NodeId> name(s_.nodes, known, node);
        in.finished.make_place(name.index());
        begin_node(name);
        add_finished(name.keep(), in, scores);
        return true;
    }

    // Forgets a job with all its cells.
    void erase(std::uint32_t j) noexcept {
        while (s_.rows[j].first != none) {
            std::uint32_t const c = s_.rows[j].first;
            s_.rows[j].first = s_.cells[c].next;
            release(c);
        }
        s_.jobs.erase(j);
        s_.rows[j] = {};
    }

    void clear() noexcept { s_ = {}; }

    // Merges another store with the same number of steps.
    void merge(window_store const& other, store_bounds const& most) {
        s_.counts += other.s_.counts;
        if (other.empty()) return;
        advance(other.head());
        for (std::int64_t number = other.oldest(); number <= other.head(); ++number)
            if (holds(number)) merge_step(other, number, most); // else it would have expired here, too
        for (std::uint32_t const j : other.jobs_in_order()) merge_job(other, j, most);
        forget();
    }

  private:
    struct node_row {
        std::uint64_t uses = 0; // pairs and finished scores
        std::uint64_t seen = 0; // when it first appeared
    };
    struct state {
        interner<JobId> jobs{};
        interner<NodeId> nodes{};
        interner<std::uint64_t> pairs{}; // by job, node and slot
        std::vector<job_row> rows{};
        std::vector<node_row> node_rows{};
        std::vector<cell> cells{};
        std::vector<step> steps{};       // by slot
        idle_order<std::int64_t> idle{}; // jobs without cells, by when they are forgotten
        monitor_counts counts{};
        std::int64_t head = 0;
        std::size_t finished = 0;
        std::uint64_t appeared = 0; // jobs and nodes
        bool started = false;
    };

    [[nodiscard]] static std::uint32_t place(std::uint32_t n, std::uint32_t its_slot) noexcept {
        return n << 8 | its_slot;
    }
    [[nodiscard]] static std::uint64_t key(std::uint32_t j, std::uint32_t n,
                                           std::uint32_t its_slot) noexcept {
        return std::uint64_t{j} << 32 | place(n, its_slot);
    }
    // A place has 24 bits for the node.
    [[nodiscard]] static std::size_t most_nodes(store_bounds const& most) noexcept {
        return (std::min)(most.nodes, std::size_t{1} << 24);
    }
    // Ensures that every index of the table, including the next one, has a row.
    template <class Row, class Table>
    static void room_for_all(std::vector<Row>& rows, Table const& table) {
        if (table.bound() < rows.size()) return;
        make_room_for_one(rows);
        rows.resize(table.bound() + 1);
    }

    // A cell of a new job or node; none if a limit is exceeded. `j`, `n`: both, as far as known. Strong
    // guarantee.
    STRAGGLE_NEVER_INLINE std::uint32_t insert(std::uint32_t j, std::uint32_t n, job_key job, node_key node,
                                               std::uint32_t its_slot, store_bounds const& most) {
        if (n == none && s_.nodes.size() >= most_nodes(most)) return none;
        bool const is_full = j == none && s_.jobs.size() >= most.jobs;
        std::uint32_t const out = is_full ? idlest() : none;
        if (is_full && out == none) return none;
        room_for_all(s_.node_rows, s_.nodes);
        room_for_all(s_.rows, s_.jobs);
        new_name<NodeId> node_name(s_.nodes, n, node);
        new_name<JobId> job_name(s_.jobs, j, job);
        std::uint32_t const c = s_.pairs.insert(key(job_name.index(), node_name.index(), its_slot));
        begin_node(node_name);
        if (job_name.is_new()) begin(job_name.index());
        begin_cell(c, job_name.keep(), node_name.keep(), its_slot);
        if (is_full) evict(out);
        return c;
    }
    // @pre there is room for a cell, and in the list of the slot
    void begin_cell(std::uint32_t c, std::uint32_t j, std::uint32_t n, std::uint32_t its_slot) noexcept {
        if (c == s_.cells.size()) s_.cells.emplace_back();
        ++s_.node_rows[n].uses;
        job_row& r = s_.rows[j];
        s_.cells[c] = {{}, place(n, its_slot), r.first, none};
        if (r.first != none) s_.cells[r.first].before = c;
        r.first = c;
        r.is_finished = false; // it continues
        if (ring_ > 1) s_.steps[its_slot].cells.push_back(c);
    }
    [[nodiscard]] std::uint32_t job_of(std::uint32_t c) const {
        return static_cast<std::uint32_t>(s_.pairs[c] >> 32);
    }
    void begin(std::uint32_t j) noexcept {
        s_.rows[j] = {};
        s_.rows[j].seen = s_.appeared++;
    }
    void begin_node(new_name<NodeId> const& name) noexcept {
        if (name.is_new()) s_.node_rows[name.index()] = {0, s_.appeared++};
    }
    // Removes duplicates and cells that are gone: a long step would otherwise remember all it ever had.
    void make_room_in_list(std::uint32_t its_slot) {
        std::vector<std::uint32_t>& list = s_.steps[its_slot].cells;
        if (list.size() < list.capacity()) return;
        std::erase_if(list, [&](std::uint32_t c) { return !is_in(c, its_slot); });
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        if (2 * list.size() >= list.capacity()) list.reserve(2 * list.size() + 8);
    }
    void release(std::uint32_t c) noexcept {
        std::uint32_t const n = s_.cells[c].node();
        s_.pairs.erase(c);
        leave_node(n);
    }
    void leave_node(std::uint32_t n) noexcept {
        if (--s_.node_rows[n].uses == 0) s_.nodes.erase(n);
    }

    STRAGGLE_NEVER_INLINE void move_on(std::int64_t number) {
        if (!s_.started) {
            s_.steps.resize(ring_);
            s_.started = true;
            s_.head = number;
            return;
        }
        // Unsigned: the difference may overflow a signed number.
        bool const all = static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(s_.head) >= ring_;
        std::int64_t const last = all ? s_.head : oldest() + (number - s_.head) - 1;
        std::size_t resting = 0;
        for (std::int64_t old = oldest(); old <= last; ++old) resting += at(old).cells.size();
        make_room_for_idle((std::min)(resting, s_.jobs.size()));
        for (std::int64_t old = oldest(); old <= last; ++old) expire(old);
        s_.head = number;
        forget();
    }
    void expire(std::int64_t number) noexcept {
        std::uint32_t const its_slot = slot(number);
        step& old = s_.steps[its_slot];
        for (std::uint32_t const c : old.cells)
            if (is_in(c, its_slot)) close(c, number);
        old.cells.clear();
        old.finished.for_each([this](std::uint32_t n, scores_type const&) {
            leave_node(n);
            --s_.finished;
        });
        old.finished.clear();
        old.counts = {};
    }
    [[nodiscard]] bool is_in(std::uint32_t c, std::uint32_t its_slot) const noexcept {
        return s_.pairs.contains(c) && s_.cells[c].slot() == its_slot;
    }
    // Turns a cell of step `number` into the past of its job.
    void close(std::uint32_t c, std::int64_t number) noexcept {
        std::uint32_t const j = job_of(c);
        cell const& old = s_.cells[c];
        job_row& r = s_.rows[j];
        r.gone.merge(old.sums);
        r.last = (std::max)(r.last, number);
        (old.before == none ? r.first : s_.cells[old.before].next) = old.next;
        if (old.next != none) s_.cells[old.next].before = old.before;
        release(c);
        if (r.first == none) settle(j);
    }
    // Computes when a job is to be forgotten.
    void renew(job_row& r) const noexcept {
        constexpr double most = 0x1p61;
        double const steps = std::ceil(r.longest * remember_);
        r.until = r.last + 1 + static_cast<std::int64_t>(steps < most ? steps : most);
    }
    // @pre make_room_for_idle() was called
    void rest(std::uint32_t j) noexcept {
        if (s_.rows[j].first != none) return;
        if (s_.rows[j].is_finished || !(remember_ > 0)) return erase(j);
        s_.idle.add(j, s_.rows[j].until);
    }
    void make_room_for_idle(std::size_t more) {
        if (!(remember_ > 0)) return;
        s_.idle.make_room(
            s_.jobs.size(),
            [this](auto&& visit) {
                for (std::uint32_t j = 0; j < s_.jobs.bound(); ++j)
                    if (s_.jobs.contains(j) && s_.rows[j].first == none) visit(j, s_.rows[j].until);
            },
            more);
    }
    // The job to be forgotten next, or none.
    [[nodiscard]] std::uint32_t idlest() noexcept {
        return static_cast<std::uint32_t>(s_.idle.oldest([this](std::uint64_t id) -> std::int64_t const* {
            auto const j = static_cast<std::uint32_t>(id);
            return s_.jobs.contains(j) && s_.rows[j].first == none ? &s_.rows[j].until : nullptr;
        }));
    }
    void forget() noexcept {
        for (std::uint32_t j = idlest(); j != none && s_.rows[j].until <= s_.head; j = idlest()) {
            ++s_.counts.forgotten_jobs;
            erase(j);
        }
    }
    void evict(std::uint32_t j) noexcept {
        ++s_.counts.evicted_jobs;
        erase(j);
    }

    void merge_step(window_store const& other, std::int64_t number, store_bounds const& most) {
        step const& theirs = other.at(number);
        step& mine = at(number);
        mine.counts += theirs.counts;
        mine.finished.scored += theirs.finished.scored;
        mine.finished.jobs += theirs.finished.jobs;
        theirs.finished.for_each([&](std::uint32_t node, scores_type const& scores) {
            if (this->add_finished(other.nodes()[node], number, scores, most)) return;
            mine.finished.scored -= scores.count();
            leave_out(number, scores.count());
        });
        // Nodes that the other store has compared, as far as they exist here.
        theirs.finished.for_each_link([&](std::uint32_t node, std::uint32_t with) {
            std::uint32_t const a = s_.nodes.find(other.nodes()[node]);
            if (a == none || !mine.finished.has(a)) return;
            if (with == node_links::somewhere) return mine.finished.link(a, with);
            std::uint32_t const b = s_.nodes.find(other.nodes()[with]);
            if (b != none && mine.finished.has(b)) mine.finished.link(a, b);
        });
    }
    // Drops attempts that a step has counted but has no room for.
    void leave_out(std::int64_t number, std::uint64_t attempts) {
        at(number).counts.seen -= attempts;
        at(number).counts.used -= attempts;
        s_.counts.attempts.used -= attempts;
        s_.counts.over_capacity += attempts;
    }
    void merge_job(window_store const& other, std::uint32_t theirs, store_bounds const& most) {
        job_row const& from = other.job(theirs);
        job_key const id = other.jobs()[theirs];
        std::uint32_t const known = s_.jobs.find(id);
        bool const is_finished = from.is_finished && (known == none || job(known).is_finished);
        // What ended before the steps stored here becomes the past of the job, possibly all of it.
        moments_type gone = from.gone;
        std::int64_t last = from.last;
        other.for_each_cell(theirs, [&](cell const& c) {
            std::int64_t const number = other.number_of(c.slot());
            if (!holds(number)) {
                gone.merge(c.sums);
                last = (std::max)(last, number);
            } else if (moments_type* const to =
                           find_or_insert(id, other.nodes()[c.node()], number, from.longest, most)) {
                to->merge(c.sums);
            } else {
                leave_out(number, c.sums.count());
            }
        });
        // When it was last seen matters only for a job with attempts.
        if (gone.count() != 0 || (last != never && s_.jobs.find(id) != none))
            if (job_row* const r = remember(id, most)) {
                r->gone.merge(gone);
                r->last = (std::max)(r->last, last);
                r->longest = (std::max)(r->longest, from.longest);
            }
        std::uint32_t const mine = s_.jobs.find(id);
        if (mine == none) return;
        make_room_for_idle(1);
        job(mine).is_finished = is_finished;
        settle(mine);
    }

    std::size_t ring_;
    double remember_;
    state s_{};
};

} // namespace straggle::detail
