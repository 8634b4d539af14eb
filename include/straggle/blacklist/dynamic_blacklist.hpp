// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which nodes to avoid, updated continuously: ended attempts go in, a state for each node comes out. It uses
/// the same node stage as a `mitigator`, without copies.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/blacklist/decision.hpp>
#include <straggle/blacklist/detail/blacklist_times.hpp>
#include <straggle/blacklist/detail/verdicts.hpp>
#include <straggle/blacklist/node_rows.hpp>
#include <straggle/blacklist/node_stage.hpp>
#include <straggle/record/attempt_reader.hpp>
#include <straggle/record/task_reader.hpp>
#include <straggle/record/time_line.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI {

/// How a `dynamic_blacklist` decides, and its limits. The defaults suit a production cluster.
struct dynamic_blacklist_options {
    node_stage_options decisions{};                ///< what counts as weak, limits, lengths of exclusions
    std::size_t most_nodes = std::size_t{1} << 17; ///< limit on node names remembered
    std::uint64_t hash_key = 0; ///< for the names of jobs and tasks; see `base/interner.hpp`
};

/// What became of the records that a `dynamic_blacklist` saw.
struct dynamic_blacklist_counts {
    attempt_counts attempts; ///< that ended; `used` ones are evidence, including failed and killed ones
    record::running_counts running;  ///< that ran at a decision
    std::uint64_t no_room = 0;       ///< nodes beyond `most_nodes`
    std::uint64_t nodes_refused = 0; ///< node records that repeat an earlier name or have none
    friend constexpr bool operator==(dynamic_blacklist_counts const&,
                                     dynamic_blacklist_counts const&) = default;
};

/// Decides which nodes to avoid, from everything observed so far.
///
/// A node is weak if its tasks provably take longer than elsewhere, by enough to matter
/// (`slowdown_evidence_options::least_slowdown`), if they do not end, or if they fail. It is excluded if the
/// others can carry its work; otherwise it is a last resort. See `node_stage`, which decides here and in a
/// `mitigator`; `rolling_blacklister` accepts custom rules and limits.
///
/// @par Example
/// `dynamic_blacklist list{attempt_fields{.job = &attempt::job, .node = &attempt::host, ...}};`
/// Call `observe` for every attempt that ends, including those that failed or were killed, and `decide` once
/// per heartbeat or once per hour: evidence accumulates by the times in the records.
///
/// Further input improves the decisions, and all of it is optional: with `running_fields` and all running
/// attempts it finds nodes that hang; with `node_fields` and all nodes it knows slots, machine classes,
/// failure domains and the operator's settings; with the load it estimates the cost of an exclusion. Without
/// nodes, the fleet is the set of nodes seen in attempts, with one slot each.
///
/// @tparam Attempt and `Running`, `Node`: the user's record types; `base::no_field` if there are none
/// @tparam AttemptFields and `RunningFields`, `NodeFields`: which members are what
/// @par Cost
/// `observe` O(1); `decide` O(n log n) for n nodes and attempts of unfinished jobs. The options bound the
/// memory; the steady state allocates nothing
/// @par Guarantees
/// deterministic. Only allocation and the caller's own functions can throw: the last decision then stands.
/// One thread at a time
/// @snippet blacklist.cpp blacklist
template <class Attempt, class AttemptFields, class Running = base::no_field,
          class RunningFields = base::no_field, class Node = base::no_field,
          class NodeFields = base::no_field>
    requires record::attempt_fields_for<AttemptFields, Attempt>
class dynamic_blacklist {
    static constexpr bool knows_running = detail::given<RunningFields>;
    static constexpr bool knows_nodes = detail::given<NodeFields>;
    static_assert(detail::explain_attempts_that_run<AttemptFields, Attempt, RunningFields, Running>());
    static_assert(detail::explain_nodes<AttemptFields, Attempt, NodeFields, Node>());
    using times = detail::blacklist_times<Attempt, AttemptFields, Running, RunningFields>;

  public:
    /// Type of node names.
    using node_id = owned_identifier_t<detail::field_value_t<decltype(AttemptFields::node), Attempt>>;
    /// Type of node names as arguments: `std::string_view` for text.
    using node_key = typename interner<node_id>::key_type;
    /// Points in time: the type of attempts' ends or starts; `double` if they have only a duration.
    using time_type = typename times::type;
    /// Type of a decision.
    using decision_type = blacklist_decision<node_id>;

    /// @param attempts an `attempt_fields`
    explicit dynamic_blacklist(AttemptFields attempts, dynamic_blacklist_options options = {})
        requires(!knows_running && !knows_nodes)
        : dynamic_blacklist(std::move(attempts), RunningFields{}, NodeFields{}, options) {}
    /// @param attempts an `attempt_fields`, @param running a `running_fields`, @param nodes a `node_fields`;
    /// `base::no_field{}` for record types that you do not have
    dynamic_blacklist(AttemptFields attempts, RunningFields running, NodeFields nodes,
                      dynamic_blacklist_options options = {})
        : options_(options),
          attempts_(std::move(attempts), options.hash_key),
          running_(std::move(running), options.hash_key),
          nodes_(detail::node_fields_or_name<node_id>(std::move(nodes)), options.most_nodes),
          decisions_(options.decisions) {}

    /// Adds an attempt that ended, whatever its status. Its own times drive the clock.
    /// @return whether its duration is used; if not, `counts` has the reason. Failed attempts count as
    /// failures
    bool observe(Attempt const& attempt)
        requires(times::has_own)
    {
        if (auto const t = times::of(attempts_.fields(), attempt)) clock_.tell_origin(*t);
        clock_.is_open = true;
        bool const used = take(attempt);
        clock_.is_open = false;
        return used;
    }
    /// The same at the caller's time.
    bool observe(Attempt const& attempt, time_type const& now) {
        clock_.tell(now);
        return take(attempt);
    }

    /// Decides from ended attempts.
    /// @param now on the clock of the records; an earlier time than before changes nothing
    /// @return the decision, valid until the next one
    decision_type const& decide(time_type const& now) {
        begin(now);
        return finish({});
    }
    /// Decides from ended and running attempts.
    /// @param now on the clock of the records
    /// @param running all running attempts, copies included, one record each
    template <std::ranges::input_range RunningRange>
        requires knows_running &&
                 std::convertible_to<std::ranges::range_reference_t<RunningRange>, Running const&>
    decision_type const& decide(time_type const& now, RunningRange&& running) {
        begin(now);
        read_running(running);
        return finish({});
    }
    /// Decides from ended attempts, running attempts, and all nodes of the cluster; a missing node is gone.
    /// @param now on the clock of the records
    /// @param running all running attempts; an empty range if unknown
    /// @param nodes all nodes, including full and excluded ones
    /// @param load how many tasks wait; the slots may be omitted
    template <class RunningRange, std::ranges::input_range Nodes>
        requires knows_nodes && std::convertible_to<std::ranges::range_reference_t<Nodes>, Node const&>
    decision_type const& decide(time_type const& now, RunningRange&& running, Nodes&& nodes,
                                cluster_load const& load = {}) {
        begin(now);
        nodes_.read(nodes, clock_.now());
        counts_.no_room += nodes_.no_room();
        counts_.nodes_refused += nodes_.twice();
        read_running(running);
        if constexpr (knows_running) nodes_.count_busy(running_.rows());
        is_told_ = true;
        return finish(load);
    }

    /// The last decision; empty before the first.
    [[nodiscard]] decision_type const& decision() const& noexcept { return decision_; }
    void decision() const&& = delete; // keep the blacklist in a variable first
    /// The state of a node. O(1)
    [[nodiscard]] node_state state(node_key node) const {
        std::uint32_t const at = nodes_.ids().find(node);
        return at == detail::no_index ? node_state::healthy : decisions_.state(at);
    }
    /// How many times as long its tasks take; unknown without enough evidence. O(1)
    [[nodiscard]] slowdown slowdown_of(node_key node) const {
        std::uint32_t const at = nodes_.ids().find(node);
        return at == detail::no_index ? slowdown{} : decisions_.slowdown_of(at);
    }
    /// The same from minimal evidence. A verdict may rest on it, from 4 tasks in 2 jobs on. O(1)
    [[nodiscard]] slowdown estimate_of(node_key node) const {
        std::uint32_t const at = nodes_.ids().find(node);
        return at == detail::no_index ? slowdown{} : decisions_.estimate_of(at);
    }
    /// How its tasks fail. O(1)
    [[nodiscard]] blacklist::failure_rate failures_of(node_key node) const {
        std::uint32_t const at = nodes_.ids().find(node);
        return at == detail::no_index ? blacklist::failure_rate{} : decisions_.failures_of(at);
    }

    /// Jobs with more failed tasks than successes, most failures first. A job that fails everywhere counts
    /// against no node: check the job itself.
    [[nodiscard]] std::vector<blacklist::failing_job> failing_jobs() const {
        std::vector<blacklist::failing_job> jobs;
        decisions_.failing_jobs(jobs);
        return jobs;
    }
    /// The key of a job in `failing_jobs`.
    template <base::identifier Job>
    [[nodiscard]] std::uint64_t key_of_job(Job const& job) const {
        return detail::key_of(job, options_.hash_key);
    }

    /// Reports that a job is over, so that its memory can be reused. Without this call, a job is over once it
    /// has not been seen for long.
    template <base::identifier Job>
    void finish_job(Job const& job) {
        decisions_.finish_job(detail::key_of(job, options_.hash_key));
    }
    /// Forgets a node, for example because the machine is gone: a later node of that name is new.
    void forget(node_key node) {
        std::uint32_t const at = nodes_.ids().find(node);
        if (at == detail::no_index) return;
        decisions_.forget_node(at);
        nodes_.ids().erase(at);
    }

    /// The node stage.
    [[nodiscard]] node_stage const& decisions() const noexcept { return decisions_; }
    /// What became of all records.
    [[nodiscard]] dynamic_blacklist_counts const& counts() const noexcept { return counts_; }

    /// Merges what another blacklist has learned, as shards of one cluster do; this one keeps its own
    /// decisions.
    /// @pre the same options, and a different object
    void merge(dynamic_blacklist const& other) {
        STRAGGLE_EXPECTS(&other != this);
        clock_.adopt_origin(other.clock_);
        double const later = clock_.line().later_by(other.clock_.line());
        decisions_.merge(other.decisions_, nodes_.ids().take_in(other.nodes_.ids(), later), later);
    }

    /// All state learned and decided, as bytes that `restore` reads on any machine.
    [[nodiscard]] std::vector<std::byte> serialize() const
        requires base::storable_identifier<node_id>
    {
        byte_writer out;
        clock_.write(out);
        nodes_.write(out);
        running_.races().write(out);
        decisions_.write(out);
        return std::move(out).seal(kind_of_frame, version_of_frame);
    }
    /// Restores serialized state, and decides from then on as the original would have; on failure nothing
    /// changes. The decision itself is empty until the next call of `decide`; `state` is restored.
    /// @return `status::ok`; `truncated`, `corrupt` or `unknown_version` for bytes that are incomplete or
    /// from a newer library; `wrong_kind` for bytes of another type; `out_of_range` for more than the options
    /// allow
    [[nodiscard]] status restore(std::span<std::byte const> bytes)
        requires base::storable_identifier<node_id>
    {
        auto const frame = open_frame(bytes, kind_of_frame, version_of_frame);
        if (!frame) return frame.reason();
        if (frame->version != version_of_frame) return status::unknown_version;
        byte_reader in = frame->payload;
        auto clock = clock_;
        clock.read(in);
        typename nodes_type::tables_type tables(options_.most_nodes);
        tables.read(in);
        detail::race_book races;
        races.read(in);
        if (!in.ok()) return in.reason();
        decltype(decisions_) decisions(options_.decisions);
        if (status const s = decisions.read(in); s != status::ok) return s;
        if (status const s = in.finish(); s != status::ok) return s;
        clock_ = clock;
        nodes_.adopt(std::move(tables));
        running_.races() = std::move(races);
        decisions_ = std::move(decisions);
        decision_ = {};
        return status::ok;
    }

  private:
    using running_type = detail::running_reader_or_none<Running, RunningFields>;
    using nodes_type = detail::node_rows_or_none<node_id, Node, NodeFields>;
    static constexpr std::uint32_t kind_of_frame = frame_kind("dybl"), version_of_frame = 4;

    std::uint32_t node_of(node_key name) {
        std::uint32_t const node = nodes_.ids().insert(name, clock_.last());
        if (node == detail::no_index) ++counts_.no_room;
        return node;
    }
    bool take(Attempt const& attempt) {
        detail::read_ended out;
        std::uint64_t none = 0;
        ++counts_.attempts.seen;
        if (!attempts_.read(attempt, clock_.line(), clock_, running_.races(), counts_.attempts, none, out,
                            [this](auto const& name) { return this->node_of(name); }))
            return false;
        nodes_.ids().touch(out.attempt.node, out.attempt.end);
        return decisions_.observe(out.attempt, clock_.last());
    }

    void begin(time_type const& now) {
        clock_.tell(now);
        called_at_ = clock_.line().at(now);
        attempts_running_.clear();
        is_told_ = false;
    }
    template <class Range>
    void read_running(Range&& running) {
        if constexpr (knows_running && std::ranges::input_range<Range>) {
            std::uint64_t none = 0;
            running_.read(
                called_at_, running, clock_.line(), clock_,
                [this](auto const& name) { return this->node_of(name); },
                [](auto const&) { return detail::no_index; }, [](std::uint64_t) { return false; },
                counts_.running, none);
            for (detail::read_running_row const& r : running_.rows())
                attempts_running_.push_back(r.attempt());
        }
    }
    decision_type const& finish(cluster_load load) {
        if (!is_told_) nodes_.name_all(attempts_running_);
        if (load.slots == 0) nodes_.count_slots(load);
        decisions_.decide(clock_.now(), attempts_running_, nodes_.rows(), load);
        write();
        std::swap(decision_, next_);
        // By then, the evidence on a vanished node has lost its weight.
        double const gone = 384 * decisions_.evidence().window_length();
        if (gone > 0) forget_before(clock_.now() - gone);
        return decision_;
    }
    void forget_before(double time) {
        auto& ids = nodes_.ids();
        for (std::uint32_t node = 0; node < ids.bound(); ++node) {
            if (!ids.contains(node) || !(ids.last_seen(node) < time)) continue;
            node_state const state = decisions_.state(node);
            if (state == node_state::excluded || state == node_state::on_probation) continue;
            decisions_.forget_node(node);
            ids.erase(node);
        }
    }
    void write() {
        using access = detail::decision_access;
        auto const verdicts = decisions_.verdicts();
        access::begin(next_, "dynamic_blacklist", blacklist::selection_note::none, verdicts.size());
        std::size_t sizes[4] = {0, 0, 0, 0}, place = 0;
        for (std::size_t list = 0; list < 4; ++list)
            for (blacklist::node_verdict const& v : verdicts) {
                if (list_of(v.state) != list || !nodes_.ids().contains(v.node)) continue;
                verdict<node_id>& to = access::write(
                    next_, place++, nodes_.ids()[v.node],
                    {.slow = v.slow,
                     .n = v.slow.tasks,
                     .value = v.why.value,
                     .threshold = v.why.threshold,
                     .rule = v.why.rule},
                    v.spared_by == blacklist::spared::no ? std::string_view{} : to_string(v.spared_by));
                to.state = v.state;
                to.causes = v.causes;
                to.strikes = v.strikes;
                to.since = clock_.line().absolute(v.since);
                to.until = v.until > 0 ? clock_.line().absolute(v.until) : 0;
                to.probe_slots = v.probe_slots;
                ++sizes[list];
            }
        access::end(next_, sizes[0], sizes[1], sizes[2], sizes[3]);
    }
    static constexpr std::size_t list_of(node_state s) noexcept {
        return s == node_state::excluded       ? 0
               : s == node_state::on_probation ? 1
               : s == node_state::away         ? 3
                                               : 2;
    }

    dynamic_blacklist_options options_;
    detail::attempt_reader<Attempt, AttemptFields> attempts_;
    running_type running_;
    nodes_type nodes_;
    node_stage decisions_;
    detail::blacklist_clock<time_type> clock_;
    decision_type decision_, next_;
    dynamic_blacklist_counts counts_;
    std::vector<running_attempt> attempts_running_;
    bool is_told_ = false; // the nodes were passed to this decision
    double called_at_ = 0; // time of the current call
};

template <class AttemptFields>
dynamic_blacklist(AttemptFields, dynamic_blacklist_options = {})
    -> dynamic_blacklist<detail::record_of<AttemptFields>, AttemptFields>;
template <class AttemptFields, class RunningFields, class NodeFields>
dynamic_blacklist(AttemptFields, RunningFields, NodeFields, dynamic_blacklist_options = {})
    -> dynamic_blacklist<detail::record_of<AttemptFields>, AttemptFields,
                         detail::record_or_none<RunningFields>, RunningFields,
                         detail::record_or_none<NodeFields>, NodeFields>;

} // namespace straggle
