// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// All of it in one object: which nodes to avoid, which tasks to run twice and where, where a new task runs
/// best. A scheduler tells it what ended, what runs and what nodes there are; it gets a plan of plain
/// structs.
///
/// Where asked for, a share of the jobs is left alone, and a kind of action that does not help is stopped. It
/// does not act on what is not fit for it, such as after a jump of the clock or while no news comes in.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/published.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/mitigate/detail/mitigator_intake.hpp>
#include <straggle/mitigate/effect.hpp>
#include <straggle/mitigate/lease.hpp>
#include <straggle/mitigate/mitigator_counts.hpp>
#include <straggle/mitigate/mitigator_options.hpp>
#include <straggle/mitigate/node_states.hpp>
#include <straggle/mitigate/plan.hpp>
#include <straggle/mitigate/stages.hpp>
#include <straggle/record/record_reader.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::mitigate {

/// For `rank_places`: the queue as it was at the last decision. What came since then is guessed.
inline constexpr cluster_load last_load{.waiting = (std::numeric_limits<std::uint64_t>::max)()};

} // namespace straggle::mitigate

namespace straggle::inline STRAGGLE_ABI::detail {

// Every task can run on every node.
struct any_node {
    template <class... Records>
    constexpr bool operator()(Records const&...) const noexcept {
        return true;
    }
};

template <class Nodes>
using node_stage_type = std::conditional_t<std::same_as<Nodes, mitigate::by_options>, node_stage, Nodes>;

template <class Nodes>
[[nodiscard]] node_stage_type<Nodes> node_stage_of(mitigator_options const& options, Nodes own) {
    if constexpr (std::same_as<Nodes, mitigate::by_options>)
        return node_stage(options.nodes);
    else
        return own;
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI {

/// Tells a scheduler what to do about stragglers.
///
/// Source: ours; the parts name theirs.
///
/// @par Example
/// `mitigator<attempt, task, host> m;` where `task_traits` name the fields; where they are members also
/// `mitigator m{attempt_fields{...}, running_fields{...}, node_fields{...}};`; with callables name the
/// records: `auto m = mitigator_of<attempt, task, host>(fields...);`
///
/// Call `observe` for every attempt that ends, in any order; `decide` at each heartbeat, with all that runs
/// and all nodes; `rank_places` for a new task where you like.
///
/// `now` is the scheduler's own clock, the one that stamps starts. Ends that nodes stamp may be off by the
/// slack: a tenth of the longest attempt of late, or a step between decisions if that is more. Within it the
/// clock stands still and nothing is lost; beyond it the attempts of that node are counted as `other_clock`
/// and not used, and a note of the plan says so.
///
/// What to do with a plan: see `node_state`; to a node on probation go as many attempts as its `probe_slots`.
/// Launch the copies, best first, kill what is named. A plan is advice: what you do not do costs nothing.
///
/// @tparam Attempt and `Running`, `Node`: the user's record types
/// @tparam AttemptFields and `RunningFields`, `NodeFields`: which members are what; left out, those of
/// `task_traits`
/// @tparam NodePart decides about nodes: `node_stage`, or anything with its functions; `slow_now` and
/// `only_fails` may be missing
/// @tparam CopyPart decides about tasks and copies: `mitigate::speculator`, or anything with its functions;
/// `mitigate::stages` name a detector, profit, matching or limits of your own
/// @par Cost
/// `observe` O(1). `decide` O(n log n) for n nodes and running attempts. Memory is bounded by the
/// options; the steady state allocates nothing
/// @par Guarantees
/// deterministic. Only allocation and what the caller passes in can throw: then the last plan
/// stands, and the call may be made again. One thread calls; any number of threads read `published()`
/// @snippet scheduler.cpp mitigator
template <class Attempt, class Running, class Node,
          class AttemptFields = typename detail::traits_fields<Attempt>::type,
          class RunningFields = typename detail::traits_fields<Running>::type,
          class NodeFields = typename detail::traits_fields<Node>::type, class NodePart = node_stage,
          class CopyPart = mitigate::speculator<>>
    requires record::attempt_fields_for<AttemptFields, Attempt> &&
             record::running_attempt_fields_for<RunningFields, Running> &&
             record::node_fields_for<NodeFields, Node>
class mitigator : detail::mitigator_intake<Attempt, Running, Node, AttemptFields, RunningFields, NodeFields,
                                           NodePart, CopyPart> {
    using intake = detail::mitigator_intake<Attempt, Running, Node, AttemptFields, RunningFields, NodeFields,
                                            NodePart, CopyPart>;
    using node_reader = typename intake::node_reader;
    using loop_type = typename intake::loop_type;
    using kind_table = typename intake::kind_table;
    using intake::counts_;
    using intake::fleet_;
    using intake::kinds_;
    using intake::line_;
    using intake::loop_;
    using intake::options_;
    using intake::tasks_;

  public:
    /// Points of time: what running attempts start at.
    using time_type = typename intake::time_type;
    /// How nodes are named.
    using node_id = typename node_reader::node_id;
    /// How jobs are named.
    using job_id = typename intake::job_id;
    /// What jobs are named by in calls: `std::string_view` for text.
    using job_key = typename intake::job_key;
    /// What other threads see: a state for each node, for as long as it is held.
    using snapshot = typename published<mitigate::node_states<node_id>>::snapshot;

    /// A mitigator of records whose `task_traits` name the fields.
    explicit mitigator(mitigator_options options = {})
        requires record::has_task_traits<Attempt> && record::has_task_traits<Running> &&
                 record::has_task_traits<Node>
        : mitigator(task_traits<Attempt>::fields, task_traits<Running>::fields, task_traits<Node>::fields,
                    options) {}

    /// @param attempts an `attempt_fields`, @param running a `running_fields`, @param nodes a `node_fields`
    explicit mitigator(AttemptFields attempts, RunningFields running, NodeFields nodes,
                       mitigator_options options = {})
        requires std::constructible_from<NodePart, decltype(options.nodes)> &&
                 std::constructible_from<CopyPart, decltype(options.copies)>
        : mitigator(std::move(attempts), std::move(running), std::move(nodes), options,
                    NodePart(options.nodes), CopyPart(options.copies)) {}
    /// The same with parts of the caller's own.
    mitigator(AttemptFields attempts, RunningFields running, NodeFields nodes, mitigator_options options,
              NodePart node_part, CopyPart copy_part)
        : intake(std::move(attempts), std::move(running), std::move(nodes), options, node_part, copy_part),
          blank_nodes_(std::move(node_part)),
          blank_copies_(std::move(copy_part)) {}
    /// The same with stages of the caller's own.
    template <class Nodes, class Tasks, class Copies>
        requires std::same_as<NodePart, detail::node_stage_type<Nodes>> &&
                 std::same_as<CopyPart, mitigate::speculator<Tasks, Copies>>
    mitigator(AttemptFields attempts, RunningFields running, NodeFields nodes, mitigator_options options,
              mitigate::stages<Nodes, Tasks, Copies> own)
        : mitigator(std::move(attempts), std::move(running), std::move(nodes), options,
                    detail::node_stage_of(options, std::move(own.nodes)),
                    CopyPart(options.copies, std::move(own.tasks), std::move(own.copies))) {}
    mitigator(mitigator const&) = delete;
    mitigator& operator=(mitigator const&) = delete;

    /// Takes in an attempt that has ended, whichever way.
    /// @param now by the clock of the starts and ends
    /// @return whether it is used; if not, `counts` tells why
    bool observe(Attempt const& attempt, time_type const& now) {
        this->tell(now);
        ++counts_.attempts.seen;
        return this->take(attempt);
    }
    /// The same for many, such as those that came with a heartbeat.
    /// @return how many are used
    template <std::ranges::input_range Attempts>
        requires std::convertible_to<std::ranges::range_reference_t<Attempts>, Attempt const&>
    std::size_t observe(Attempts&& attempts, time_type const& now) {
        std::size_t used = 0;
        for (Attempt const& attempt : attempts) used += observe(attempt, now) ? 1u : 0u;
        return used;
    }

    /// Says that a job is over, so that its memory can be used again. Without it a job is over when nothing
    /// was seen of it for long.
    template <base::identifier Job>
        requires std::convertible_to<Job const&, job_key>
    void finish(Job const& job) {
        loop_.finish(this->key_of_job(job));
    }

    /// Decides, at each heartbeat or more often.
    /// @param now not earlier than before; what happens if it is: see `plan_note`
    /// @param running all attempts that run now, copies too, one record for each
    /// @param nodes all nodes there are, full and excluded ones too
    /// @param load how many tasks wait; the slots may be left out
    /// @param can_run `can_run(running, node)` with two of the caller's records: whether a copy may run
    /// there; asked only for what is about to be planned, so it may take its time
    /// @return the plan, valid until the next call
    template <std::ranges::forward_range RunningRange, std::ranges::forward_range Nodes, class CanRun>
    mitigation_plan const& decide(time_type const& now, RunningRange&& running, Nodes&& nodes,
                                  cluster_load load, CanRun&& can_run) {
        detail::clock_step const step = this->take_round(now, running, nodes, load);
        load_ = load;
        loop_.decide({.step = step,
                      .may_decide = holds_lease(now),
                      .running = tasks_.rows(),
                      .nodes = fleet_.rows(),
                      .user_rows = fleet_.user_rows(),
                      .user_nodes = fleet_.total(),
                      .load = load},
                     next_, [&](std::uint32_t task, std::uint32_t node) -> bool {
                         return can_run(detail::row_of(running, tasks_.rows()[task].row),
                                        detail::row_of(nodes, fleet_.user_rows()[node]));
                     });
        latest_.publish([this](mitigate::node_states<node_id>& view) { fleet_.fill(view, next_.nodes()); });
        std::swap(plan_, next_);
        ++counts_.decisions;
        if (double const longest = loop_.guard().longest(); longest > 0)
            fleet_.forget_before(loop_.guard().now() - 10 * longest,
                                 [this](std::uint32_t node) { loop_.forget_node(node); });
        return plan_;
    }
    /// The same where every task can run everywhere.
    template <std::ranges::forward_range RunningRange, std::ranges::forward_range Nodes>
    mitigation_plan const& decide(time_type const& now, RunningRange&& running, Nodes&& nodes,
                                  cluster_load load = {}) {
        return decide(now, running, nodes, load, detail::any_node{});
    }

    /// Where a new task runs best: the nodes that have a free slot for it and are in service, best first;
    /// none where it does better to wait. Between two decisions; pass the busy slots, and which nodes are
    /// there, as they are now.
    /// @param job of the task; its kind is that of the job's other tasks
    /// @param nodes the caller's, all or those that come into question; with a `can_run` all that may be able
    /// to, full ones too: whether it does better to wait depends on them
    /// @param load of now; `waiting` tasks come before this one. Left out, it is guessed from the last
    /// decision, the slots that were taken since then, and how many tasks jobs have
    /// @param input how much the task reads, where known
    /// @param can_run `can_run(node)`: whether the task may run there
    /// @return valid until the next call
    template <base::identifier Job, std::ranges::forward_range Nodes, class CanRun = detail::any_node>
        requires std::convertible_to<Job const&, job_key> && std::predicate<CanRun&, Node const&>
    std::span<mitigate::planned_place const>
    rank_places(Job const& job, Nodes&& nodes, cluster_load const& load = mitigate::last_load,
                double input = detail::unknown, CanRun&& can_run = {}) {
        mitigate::new_task task{.job = this->key_of_job(job), .input = input};
        if (auto const* const known = loop_.jobs().find(task.job)) task.kind = known->kind;
        return rank<CanRun>(task, nodes, load, can_run);
    }
    /// The same for a record of the task, of which the job, the kind and the input are read.
    /// @param can_run `can_run(task, node)`, as for `decide`
    template <std::ranges::forward_range Nodes, class CanRun = detail::any_node>
        requires std::predicate<CanRun&, Running const&, Node const&>
    std::span<mitigate::planned_place const> rank_places(Running const& task, Nodes&& nodes,
                                                         cluster_load const& load = mitigate::last_load,
                                                         CanRun&& can_run = {}) {
        return rank<CanRun>(this->waiting_task(task), nodes, load,
                            [&](Node const& node) -> bool { return can_run(task, node); });
    }

    /// Whether a job is one of those that nothing is done for, to see what the others gain: `rank_places`
    /// draws its nodes at random. Nodes that hang or fail are out for it as for the others. A job that lasts
    /// longer than 20 times the longest attempt of late is left alone no longer.
    template <base::identifier Job>
        requires std::convertible_to<Job const&, job_key>
    [[nodiscard]] bool is_left_alone(Job const& job) const {
        return loop_.is_left_alone(this->key_of_job(job));
    }

    /// Tells which decider holds the lease, before each `decide` where `options.decider` is not 0: one that
    /// does not hold it learns and decides nothing, and its exclusions end.
    void hold(mitigate::lease const& shared) noexcept { lease_ = shared; }

    /// The last plan.
    [[nodiscard]] mitigation_plan const& plan() const& noexcept { return plan_; }
    void plan() const&& = delete;
    /// What the last plan says of nodes, for any thread: never waits, and never makes `decide` wait.
    [[nodiscard]] snapshot published() const noexcept { return latest_.read(); }
    /// Where a node stands, by its name, for the thread that decides. O(1)
    template <base::identifier Name>
        requires std::convertible_to<Name const&, typename interner<node_id>::key_type>
    [[nodiscard]] node_state state(Name const& node) const {
        std::uint32_t const at = fleet_.ids().find(node);
        mitigate::planned_node const* const shown = at == detail::no_index ? nullptr : loop_.shown(at);
        return shown == nullptr ? node_state::healthy : shown->state;
    }
    /// What a kind of action does, as far as the jobs that are left alone can tell.
    [[nodiscard]] mitigate::effect effect_of(mitigate::action_kind kind) const noexcept {
        return loop_.effects().effect_of(kind);
    }
    /// Lets a kind of action that was stopped try again.
    void resume(mitigate::action_kind kind) noexcept { loop_.effects().resume(kind); }
    /// Turns everything off or on, between two decisions.
    void enable(bool is_enabled) noexcept { loop_.enable(is_enabled); }
    /// Actions charged within the period of `options.actions`.
    [[nodiscard]] std::uint64_t actions() const noexcept { return loop_.actions(); }
    /// What became of all records there ever were.
    [[nodiscard]] mitigate::mitigator_counts const& counts() const noexcept { return counts_; }
    /// The part that decides about nodes.
    [[nodiscard]] NodePart const& node_part() const noexcept { return loop_.nodes(); }
    /// The part that decides about copies.
    [[nodiscard]] CopyPart const& copy_part() const noexcept { return loop_.copies(); }

    /// Takes in what another one has learned of the same cluster; its exclusions and its plan stay its own.
    /// @pre the same options, and not this one
    void merge(mitigator const& other) {
        STRAGGLE_EXPECTS(&other != this);
        if (!line_.is_set()) line_ = other.line_;
        double const later = line_.later_by(other.line_);
        loop_.merge(other.loop_, fleet_.ids().take_in(other.fleet_.ids(), later), later);
    }

    /// All that was learned and decided, as bytes that `restore` reads on any machine.
    [[nodiscard]] std::vector<std::byte> serialize() const
        requires base::storable_identifier<node_id>
    {
        byte_writer out;
        line_.write(out);
        fleet_.write(out);
        detail::write_table(out, kinds_);
        loop_.write(out);
        return std::move(out).seal(kind_of_frame, 2);
    }
    /// Becomes what was serialized; nothing changes when that fails. What is old is not acted on at first.
    /// @return `status::ok`; `truncated`, `corrupt` or `unknown_version` for bytes that are not whole or from
    /// a newer library; `wrong_kind` for bytes of something else; `out_of_range` for more than the options
    /// allow
    [[nodiscard]] status restore(std::span<std::byte const> bytes)
        requires base::storable_identifier<node_id>
    {
        auto const frame = open_frame(bytes, kind_of_frame, 2);
        if (!frame) return frame.reason();
        byte_reader in = frame->payload;
        auto line = line_;
        line.read(in);
        typename node_reader::tables_type tables(options_.most_nodes);
        tables.read(in);
        kind_table kinds = detail::make_table<kind_table>(options_.most_nodes);
        detail::read_table(in, kinds);
        if (!in.ok()) return in.reason();
        loop_type loop(options_, blank_nodes_, blank_copies_);
        if (status const s = loop.read(in); s != status::ok) return s;
        line_ = line;
        fleet_.adopt(std::move(tables));
        kinds_ = std::move(kinds);
        loop_ = std::move(loop);
        return status::ok;
    }

  private:
    static constexpr std::uint32_t kind_of_frame = frame_kind("mtgr");

    [[nodiscard]] bool holds_lease(time_type const& now) const noexcept {
        if (options_.decider == 0) return true;
        return lease_.holder == options_.decider && line_.absolute(line_.at(now)) < lease_.until;
    }

    // `Given`: what the caller passed; the nodes that a task is restricted to say how long it has to wait.
    template <class Given, class Nodes, class CanRun>
    std::span<mitigate::planned_place const> rank(mitigate::new_task task, Nodes&& nodes,
                                                  cluster_load const& load, CanRun&& can_run) {
        task.only_here = !std::same_as<std::remove_cvref_t<Given>, detail::any_node>;
        task.queue_is_now = load != mitigate::last_load;
        if (task.queue_is_now) load_ = load;
        bool const is_alone = loop_.is_left_alone(task.job);
        loop_.placed(task.job, is_alone, task.kind);
        ranked_.clear();
        fleet_.read_places(nodes, loop_, task.only_here || is_alone, can_run, places_);
        leave_out_failed(task);
        if (is_alone)
            loop_.draw(places_, placed_);
        else if (loop_.places_by_time())
            loop_.rank(task, places_, load_, placed_);
        else
            loop_.list(places_, placed_);
        for (auto const& p : placed_) ranked_.push_back({p.row, p.end});
        return detail::span_of(ranked_);
    }

    // A task goes to a node where it has failed only when no other one is free.
    void leave_out_failed(mitigate::new_task const& task) {
        auto const has_failed = [&](mitigate::place_row const& p) {
            return p.node != detail::no_index &&
                   detail::has_failed(loop_.nodes(), task.job, task.task, p.node);
        };
        if (std::any_of(places_.begin(), places_.end(), [&](mitigate::place_row const& p) {
                return p.free > 0 && p.state != node_state::excluded && !has_failed(p);
            }))
            places_.erase(std::remove_if(places_.begin(), places_.end(), has_failed), places_.end());
    }

    NodePart blank_nodes_; // that have seen nothing
    CopyPart blank_copies_;
    mitigation_plan plan_, next_;
    cluster_load load_;
    mitigate::lease lease_;
    straggle::published<mitigate::node_states<node_id>> latest_;
    std::vector<mitigate::place_row> places_;
    std::vector<assign::ranked_place> placed_;
    std::vector<mitigate::planned_place> ranked_;
};

template <class AttemptFields, class RunningFields, class NodeFields>
mitigator(AttemptFields, RunningFields, NodeFields, mitigator_options = {})
    -> mitigator<detail::record_of<AttemptFields>, detail::record_of<RunningFields>,
                 detail::record_of<NodeFields>, AttemptFields, RunningFields, NodeFields>;

template <class AttemptFields, class RunningFields, class NodeFields, class Nodes, class Tasks, class Copies>
mitigator(AttemptFields, RunningFields, NodeFields, mitigator_options, mitigate::stages<Nodes, Tasks, Copies>)
    -> mitigator<detail::record_of<AttemptFields>, detail::record_of<RunningFields>,
                 detail::record_of<NodeFields>, AttemptFields, RunningFields, NodeFields,
                 detail::node_stage_type<Nodes>, mitigate::speculator<Tasks, Copies>>;

/// A mitigator of records that are named: for fields that are callables.
/// @par Example
/// `auto m = mitigator_of<attempt, task, host>(attempt_fields, running_fields, node_fields);`
template <class Attempt, class Running, class Node, class AttemptFields, class RunningFields,
          class NodeFields>
[[nodiscard]] auto mitigator_of(AttemptFields attempts, RunningFields running, NodeFields nodes,
                                mitigator_options options = {}) {
    return mitigator<Attempt, Running, Node, AttemptFields, RunningFields, NodeFields>(
        std::move(attempts), std::move(running), std::move(nodes), options);
}
/// The same with stages of the caller's own.
template <class Attempt, class Running, class Node, class AttemptFields, class RunningFields,
          class NodeFields, class Nodes, class Tasks, class Copies>
[[nodiscard]] auto mitigator_of(AttemptFields attempts, RunningFields running, NodeFields nodes,
                                mitigator_options options, mitigate::stages<Nodes, Tasks, Copies> own) {
    return mitigator<Attempt, Running, Node, AttemptFields, RunningFields, NodeFields,
                     detail::node_stage_type<Nodes>, mitigate::speculator<Tasks, Copies>>(
        std::move(attempts), std::move(running), std::move(nodes), options, std::move(own));
}
} // namespace straggle
