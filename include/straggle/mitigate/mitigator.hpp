// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The whole library in one object: which nodes to avoid, which tasks to run twice and where, and where a new
/// task runs best. A scheduler reports ended attempts, running attempts and nodes; it gets a plan of plain
/// structs.
///
/// If enabled, a share of the jobs is left alone, and a kind of action that does not help is stopped. It does
/// not act on unfit input, for example after the clock jumped or while the feed is stale.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/published.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/mitigate/detail/loop_handle.hpp>
#include <straggle/mitigate/detail/mitigator_intake.hpp>
#include <straggle/mitigate/effect.hpp>
#include <straggle/mitigate/lease.hpp>
#include <straggle/mitigate/mitigator_counts.hpp>
#include <straggle/mitigate/mitigator_options.hpp>
#include <straggle/mitigate/node_states.hpp>
#include <straggle/mitigate/plan.hpp>
#include <straggle/record/record_reader.hpp>
#ifndef STRAGGLE_COMPILED
#include <straggle/mitigate/stages.hpp>
#endif

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI {
class node_stage;
} // namespace straggle
namespace straggle::inline STRAGGLE_ABI::mitigate {

template <class Tasks, class Copies>
class speculator;
template <class Nodes, class Tasks, class Copies>
struct stages;

/// For `rank_places`: the queue at the last decision. Later arrivals are estimated.
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
        return node_stage_type<Nodes>(options.nodes);
    else
        return own;
}

using default_copies = mitigate::speculator<mitigate::by_options, mitigate::by_options>;

// Whether the loop with these parts is compiled elsewhere, or can be compiled here.
template <class NodePart, class CopyPart>
concept has_loop = (std::same_as<NodePart, node_stage> && std::same_as<CopyPart, default_copies>) ||
                   requires { sizeof(mitigation_loop<NodePart, CopyPart>); };

// Whether the options are all it takes to make a part. The default parts may be known by name only.
template <class Part, class Options>
concept made_of_options = std::same_as<Part, node_stage> || std::same_as<Part, default_copies> ||
                          std::constructible_from<Part, Options>;

#ifdef STRAGGLE_COMPILED
extern template class loop_handle<node_stage, default_copies>;
#endif

// Whether arguments of a mitigator are fields of records.
template <class... Arguments>
inline constexpr bool has_fields_of_mitigator = false;
template <class AttemptFields, class RunningFields, class NodeFields, class... Options>
    requires requires {
        typename record_of<AttemptFields>;
        typename record_of<RunningFields>;
        typename record_of<NodeFields>;
    }
inline constexpr bool has_fields_of_mitigator<AttemptFields, RunningFields, NodeFields, Options...> =
    record::attempt_fields_for<AttemptFields, record_of<AttemptFields>> &&
    record::running_attempt_fields_for<RunningFields, record_of<RunningFields>> &&
    record::node_fields_for<NodeFields, record_of<NodeFields>>;

// Says in one line which argument of a mitigator does not fit.
template <class... Arguments>
struct not_of_mitigator {
    static_assert(sizeof...(Arguments) == 0,
                  "a mitigator takes an attempt_fields, a running_fields and a node_fields, or nothing "
                  "where task_traits name the fields; with .node as a callable, write mitigator_of");
    using type = void;
};
template <fields_aggregate AttemptFields, class RunningFields, class NodeFields, class... Options>
    requires requires { typename record_of<AttemptFields>; }
struct not_of_mitigator<AttemptFields, RunningFields, NodeFields, Options...> {
    using attempt = record_of<AttemptFields>;
    static_assert(explain_attempt_fields<AttemptFields, attempt>());
    static_assert(has_fields_of_mitigator<AttemptFields, RunningFields, NodeFields>,
                  "the second argument is not a running_fields of a record with job, node and start, or "
                  "the third is not a node_fields of a record with node");
    using type = void;
};

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI {

/// Advises a scheduler on stragglers.
///
/// Source: ours; the parts name theirs.
///
/// @par Example
/// `mitigator<attempt, task, host> m;` where `task_traits` name the fields; where they are members also
/// `mitigator m{attempt_fields{...}, running_fields{...}, node_fields{...}};`; with callables name the
/// records: `auto m = mitigator_of<attempt, task, host>(fields...);`
///
/// Call `observe` for every attempt that ends, in any order; `decide` at each heartbeat, with all running
/// attempts and all nodes; `rank_places` for a new task at any time.
///
/// `now` is the scheduler's own clock, the same that stamps starts. Ends stamped by nodes may be off by the
/// slack: a tenth of the longest recent attempt, or a step between decisions if that is more. Within the
/// slack the clock stands still and nothing is lost; beyond it the attempts of that node are counted as
/// `other_clock` and not used, and the plan has a note.
///
/// How to follow a plan: see `node_state`; a node on probation gets as many attempts as its `probe_slots`.
/// Launch the copies, best first, and kill the named attempts. A plan is advice: ignoring it costs nothing.
///
/// @tparam Attempt and `Running`, `Node`: the user's record types
/// @tparam AttemptFields and `RunningFields`, `NodeFields`: which members are what; left out, those of
/// `task_traits`
/// @tparam NodePart decides about nodes: `node_stage`, or a `blacklist::node_weighing`
/// @tparam CopyPart decides about tasks and copies: `mitigate::speculator`, or anything with its functions;
/// `mitigate::stages` name a detector, profit, matching or limits of your own
/// @par Cost
/// `observe` O(1). `decide` O(n log n) for n nodes and running attempts. The options bound the memory; the
/// steady state allocates nothing
/// @par Guarantees
/// deterministic. Only allocation and the caller's own functions can throw: then the last plan stands, and
/// the call may be repeated. One thread calls; any number of threads read `published()`
/// @snippet scheduler.cpp mitigator
template <class Attempt, class Running, class Node,
          class AttemptFields = typename detail::traits_fields<Attempt>::type,
          class RunningFields = typename detail::traits_fields<Running>::type,
          class NodeFields = typename detail::traits_fields<Node>::type, class NodePart = node_stage,
          class CopyPart = detail::default_copies>
    requires record::attempt_fields_for<AttemptFields, Attempt> &&
             record::running_attempt_fields_for<RunningFields, Running> &&
             record::node_fields_for<NodeFields, Node>
class mitigator : detail::mitigator_intake<Attempt, Running, Node, AttemptFields, RunningFields, NodeFields,
                                           NodePart, CopyPart> {
    static_assert(detail::has_loop<NodePart, CopyPart>,
                  "a mitigator with a part of your own: include <straggle/mitigate/stages.hpp>");
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
    /// Points in time: the type of running attempts' starts.
    using time_type = typename intake::time_type;
    /// Type of node names.
    using node_id = typename node_reader::node_id;
    /// Type of job names.
    using job_id = typename intake::job_id;
    /// Type of job names as arguments: `std::string_view` for text.
    using job_key = typename intake::job_key;
    /// What other threads see: a state for each node, unchanged while held.
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
        requires detail::made_of_options<NodePart, node_stage_options> &&
                 detail::made_of_options<CopyPart, mitigate::speculator_options>
        : intake(std::move(attempts), std::move(running), std::move(nodes), options) {}
    /// The same with custom parts.
    mitigator(AttemptFields attempts, RunningFields running, NodeFields nodes, mitigator_options options,
              NodePart node_part, CopyPart copy_part)
        : intake(std::move(attempts), std::move(running), std::move(nodes), options, std::move(node_part),
                 std::move(copy_part)) {}
    /// The same with custom stages.
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

    /// Adds an attempt that ended, whatever its status.
    /// @param now on the clock of the starts and ends
    /// @return whether it is used; if not, `counts` has the reason
    bool observe(Attempt const& attempt, time_type const& now) {
        this->tell(now);
        ++counts_.attempts.seen;
        return this->take(attempt);
    }
    /// The same for several, such as all ends of a heartbeat.
    /// @return how many are used
    template <std::ranges::input_range Attempts>
        requires std::convertible_to<std::ranges::range_reference_t<Attempts>, Attempt const&>
    std::size_t observe(Attempts&& attempts, time_type const& now) {
        std::size_t used = 0;
        for (Attempt const& attempt : attempts) used += observe(attempt, now) ? 1u : 0u;
        return used;
    }

    /// Reports that a job is over, so that its memory can be reused. Without this call, a job is over once it
    /// has not been seen for long.
    template <base::identifier Job>
        requires std::convertible_to<Job const&, job_key>
    void finish(Job const& job) {
        loop_.finish(this->key_of_job(job));
    }

    /// Decides, at each heartbeat or more often.
    /// @param now not earlier than before; if it is, see `plan_note`
    /// @param running all running attempts, copies included, one record each
    /// @param nodes all nodes, including full and excluded ones
    /// @param load how many tasks wait; the slots may be omitted
    /// @param can_run `can_run(running, node)` with two of the caller's records: whether a copy may run
    /// there; called only for copies about to be planned, so it may be slow
    /// @return the plan, valid until the next call
    template <std::ranges::forward_range RunningRange, std::ranges::forward_range Nodes, class CanRun>
    mitigation_plan const& decide(time_type const& now, RunningRange&& running, Nodes&& nodes,
                                  cluster_load load, CanRun&& can_run) {
        detail::clock_step const step = this->take_round(now, running, nodes, load);
        load_ = load;
        auto const may_run = [&](std::uint32_t task, std::uint32_t node) -> bool {
            return can_run(detail::row_of(running, tasks_.rows()[task].row),
                           detail::row_of(nodes, fleet_.user_rows()[node]));
        };
        loop_.decide({.step = step,
                      .may_decide = holds_lease(now),
                      .running = tasks_.rows(),
                      .goals = tasks_.goals(),
                      .nodes = fleet_.rows(),
                      .user_rows = fleet_.user_rows(),
                      .user_nodes = fleet_.total(),
                      .load = load},
                     next_, detail::can_run_ref(may_run));
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

    /// Where a new task runs best: the nodes in service with a free slot for it, best first; empty if it does
    /// better to wait. Call between two decisions; pass the current busy slots and the nodes present now.
    /// @param job of the task; its kind is that of the job's other tasks
    /// @param nodes the caller's, all or the candidates only; with a `can_run`, all that may be able to run
    /// it, including full ones: whether to wait depends on them
    /// @param load current; `waiting` tasks come before this one. If omitted, it is estimated from the last
    /// decision, the slots taken since then, and the number of tasks per job
    /// @param input how much the task reads, if known
    /// @param can_run `can_run(node)`: whether the task may run there
    /// @return valid until the next call
    template <base::identifier Job, std::ranges::forward_range Nodes, class CanRun = detail::any_node>
        requires std::convertible_to<Job const&, job_key> && std::predicate<CanRun&, Node const&>
    std::span<mitigate::planned_place const>
    rank_places(Job const& job, Nodes&& nodes, cluster_load const& load = mitigate::last_load,
                double input = detail::unknown, CanRun&& can_run = {}) {
        return rank<CanRun>(task_of(job, input), nodes, load, can_run);
    }
    /// Where several new tasks of a job run best, if they start one after the other: each takes a slot of the
    /// node that `rank_places` would put first by then. The answers are the same; for a job left alone they
    /// are drawn with the same odds.
    /// @param tasks how many
    /// @param load current; `waiting` tasks come before all of these. The other parameters are those of
    /// `rank_places`
    /// @return one place for each task, in turn; shorter if the others do better to wait. Valid until the
    /// next call
    /// @par Cost
    /// O(n) for n nodes, and O(log n) for each task
    template <base::identifier Job, std::ranges::forward_range Nodes, class CanRun = detail::any_node>
        requires std::convertible_to<Job const&, job_key> && std::predicate<CanRun&, Node const&>
    std::span<mitigate::planned_place const> place_tasks(Job const& job, std::size_t tasks, Nodes&& nodes,
                                                         cluster_load const& load = mitigate::last_load,
                                                         double input = detail::unknown,
                                                         CanRun&& can_run = {}) {
        mitigate::new_task task = task_of(job, input);
        bool const is_alone = read_places<CanRun>(task, nodes, load, can_run);
        loop_.fill(task, is_alone, places_, load_, tasks, ranked_);
        return detail::span_of(ranked_);
    }
    /// The same for a record of the task; reads its job, kind and input.
    /// @param can_run `can_run(task, node)`, as for `decide`
    template <std::ranges::forward_range Nodes, class CanRun = detail::any_node>
        requires std::predicate<CanRun&, Running const&, Node const&>
    std::span<mitigate::planned_place const> rank_places(Running const& task, Nodes&& nodes,
                                                         cluster_load const& load = mitigate::last_load,
                                                         CanRun&& can_run = {}) {
        return rank<CanRun>(this->waiting_task(task), nodes, load,
                            [&](Node const& node) -> bool { return can_run(task, node); });
    }

    /// Whether a job is left alone, to measure what the others gain: `rank_places` then draws nodes at
    /// random. Nodes that hang or fail are avoided for it, too. A job that lasts longer than 20 times the
    /// longest recent attempt is no longer left alone.
    template <base::identifier Job>
        requires std::convertible_to<Job const&, job_key>
    [[nodiscard]] bool is_left_alone(Job const& job) const {
        return loop_.is_left_alone(this->key_of_job(job));
    }

    /// Passes the lease, before each `decide`, if `options.decider` is not 0. A decider that does not hold
    /// the lease learns and decides nothing, and its exclusions end.
    void hold(mitigate::lease const& shared) noexcept { lease_ = shared; }

    /// The last plan.
    [[nodiscard]] mitigation_plan const& plan() const& noexcept { return plan_; }
    void plan() const&& = delete;
    /// The node states of the last plan, for any thread: never waits, and never makes `decide` wait.
    [[nodiscard]] snapshot published() const noexcept { return latest_.read(); }
    /// A node's state by its name, for the thread that decides. O(1)
    template <base::identifier Name>
        requires std::convertible_to<Name const&, typename interner<node_id>::key_type>
    [[nodiscard]] node_state state(Name const& node) const {
        std::uint32_t const at = fleet_.ids().find(node);
        return at == detail::no_index ? node_state::healthy : loop_.shown(at);
    }
    /// How many times as long tasks take on a node as elsewhere, by its name, for the thread that decides;
    /// unknown without enough evidence. O(1)
    template <base::identifier Name>
        requires std::convertible_to<Name const&, typename interner<node_id>::key_type>
    [[nodiscard]] slowdown slowdown_of(Name const& node) const {
        std::uint32_t const at = fleet_.ids().find(node);
        return at == detail::no_index ? slowdown{} : loop_.slowdown_of(at);
    }
    /// The effect of a kind of action, measured against the jobs left alone.
    [[nodiscard]] mitigate::effect effect_of(mitigate::action_kind kind) const noexcept {
        return loop_.effect_of(kind);
    }
    /// Lets a kind of action that was stopped try again.
    void resume(mitigate::action_kind kind) noexcept { loop_.resume(kind); }
    /// Turns everything off or on, between two decisions.
    void enable(bool is_enabled) noexcept { loop_.enable(is_enabled); }
    /// Actions charged within the period of `options.actions`.
    [[nodiscard]] std::uint64_t actions() const noexcept { return loop_.actions(); }
    /// What became of all records so far.
    [[nodiscard]] mitigate::mitigator_counts const& counts() const noexcept { return counts_; }
    /// The part that decides about nodes.
    [[nodiscard]] NodePart const& node_part() const noexcept { return loop_.nodes(); }
    /// The part that decides about copies.
    [[nodiscard]] CopyPart const& copy_part() const noexcept { return loop_.copies(); }

    /// Merges what another mitigator has learned about the same cluster; this one keeps its own exclusions
    /// and plan.
    /// @pre the same options, and a different object
    void merge(mitigator const& other) {
        STRAGGLE_EXPECTS(&other != this);
        if (!line_.is_set()) line_ = other.line_;
        double const later = line_.later_by(other.line_);
        loop_.merge(other.loop_, fleet_.ids().take_in(other.fleet_.ids(), later), later);
    }

    /// All state learned and decided, as bytes that `restore` reads on any machine: a restored mitigator
    /// plans what this one would, given the same options, the hash key included.
    [[nodiscard]] std::vector<std::byte> serialize() const
        requires base::storable_identifier<node_id>
    {
        byte_writer out;
        line_.write(out);
        fleet_.write(out);
        detail::write_table(out, kinds_);
        tasks_.races().write(out);
        loop_.write(out);
        return std::move(out).seal(kind_of_frame, version_of_frame);
    }
    /// Restores serialized state; on failure nothing changes. State that is old is not acted on at first.
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
        auto line = line_;
        line.read(in);
        typename node_reader::tables_type tables(options_.most_nodes);
        tables.read(in);
        kind_table kinds = detail::make_table<kind_table>(options_.most_nodes);
        detail::read_table(in, kinds);
        detail::race_book races;
        races.read(in);
        if (!in.ok()) return in.reason();
        if (status const s = loop_.read(in); s != status::ok) return s;
        line_ = line;
        fleet_.adopt(std::move(tables));
        kinds_ = std::move(kinds);
        tasks_.races() = std::move(races);
        return status::ok;
    }

  private:
    static constexpr std::uint32_t kind_of_frame = frame_kind("mtgr"), version_of_frame = 5;

    [[nodiscard]] bool holds_lease(time_type const& now) const noexcept {
        if (options_.decider == 0) return true;
        return lease_.holder == options_.decider && line_.absolute(line_.at(now)) < lease_.until;
    }

    template <class Job>
    [[nodiscard]] mitigate::new_task task_of(Job const& job, double input) const {
        mitigate::new_task task{.job = this->key_of_job(job), .input = input};
        if (auto const* const known = loop_.kind_of(task.job)) task.kind = *known;
        return task;
    }
    // Whether the job is left alone. `Given`: what the caller passed; for a restricted task, the wait depends
    // on the nodes it may use.
    template <class Given, class Nodes, class CanRun>
    bool read_places(mitigate::new_task& task, Nodes&& nodes, cluster_load const& load, CanRun&& can_run) {
        task.only_here = !std::same_as<std::remove_cvref_t<Given>, detail::any_node>;
        task.queue_is_now = load != mitigate::last_load;
        if (task.queue_is_now) load_ = load;
        bool const is_alone = loop_.is_placed_alone(task);
        fleet_.read_places(nodes, loop_, task.only_here || is_alone, can_run, places_);
        return is_alone;
    }
    template <class Given, class Nodes, class CanRun>
    std::span<mitigate::planned_place const> rank(mitigate::new_task task, Nodes&& nodes,
                                                  cluster_load const& load, CanRun&& can_run) {
        bool const is_alone = read_places<Given>(task, nodes, load, can_run);
        loop_.rank(task, is_alone, places_, load_, ranked_);
        return detail::span_of(ranked_);
    }

    mitigation_plan plan_, next_;
    cluster_load load_;
    mitigate::lease lease_;
    straggle::published<mitigate::node_states<node_id>> latest_;
    std::vector<mitigate::place_row> places_;
    std::vector<mitigate::planned_place> ranked_;
};

template <class AttemptFields, class RunningFields, class NodeFields>
mitigator(AttemptFields, RunningFields, NodeFields, mitigator_options = {})
    -> mitigator<detail::record_of<AttemptFields>, detail::record_of<RunningFields>,
                 detail::record_of<NodeFields>, AttemptFields, RunningFields, NodeFields>;

/// Not valid: makes the compiler say first which argument does not fit.
template <class First>
mitigator(First) -> mitigator<typename detail::not_of_mitigator<First>::type, void, void, base::no_field,
                              base::no_field, base::no_field>;
/// The same for two.
template <class First, class Second>
mitigator(First, Second) -> mitigator<typename detail::not_of_mitigator<First, Second>::type, void, void,
                                      base::no_field, base::no_field, base::no_field>;
/// The same for three or more, of which `{}` may be one.
template <class First, class Second, class Third, class... Others>
    requires(!detail::has_fields_of_mitigator<First, Second, Third>)
mitigator(First, Second, Third, Others...)
    -> mitigator<typename detail::not_of_mitigator<First, Second, Third>::type, void, void, base::no_field,
                 base::no_field, base::no_field>;

template <class AttemptFields, class RunningFields, class NodeFields, class Nodes, class Tasks, class Copies>
mitigator(AttemptFields, RunningFields, NodeFields, mitigator_options, mitigate::stages<Nodes, Tasks, Copies>)
    -> mitigator<detail::record_of<AttemptFields>, detail::record_of<RunningFields>,
                 detail::record_of<NodeFields>, AttemptFields, RunningFields, NodeFields,
                 detail::node_stage_type<Nodes>, mitigate::speculator<Tasks, Copies>>;

/// A mitigator with its record types named: for fields that are callables.
/// @par Example
/// `auto m = mitigator_of<attempt, task, host>(attempt_fields, running_fields, node_fields);`
template <class Attempt, class Running, class Node, class AttemptFields, class RunningFields,
          class NodeFields>
[[nodiscard]] auto mitigator_of(AttemptFields attempts, RunningFields running, NodeFields nodes,
                                mitigator_options options = {}) {
    return mitigator<Attempt, Running, Node, AttemptFields, RunningFields, NodeFields>(
        std::move(attempts), std::move(running), std::move(nodes), options);
}
/// The same with custom stages.
template <class Attempt, class Running, class Node, class AttemptFields, class RunningFields,
          class NodeFields, class Nodes, class Tasks, class Copies>
[[nodiscard]] auto mitigator_of(AttemptFields attempts, RunningFields running, NodeFields nodes,
                                mitigator_options options, mitigate::stages<Nodes, Tasks, Copies> own) {
    return mitigator<Attempt, Running, Node, AttemptFields, RunningFields, NodeFields,
                     detail::node_stage_type<Nodes>, mitigate::speculator<Tasks, Copies>>(
        std::move(attempts), std::move(running), std::move(nodes), options, std::move(own));
}
} // namespace straggle
