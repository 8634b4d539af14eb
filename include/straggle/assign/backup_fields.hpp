// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Defines what a straggler and a node are to the assigner: which of the user's members hold what. The
/// records are passed to the predictor unchanged. A time may be a number or samples; it is read only when
/// needed, so that all predictions can share the same memory.
#pragma once

#include <straggle/assign/job_goal.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/record/field.hpp>
#include <straggle/record/node_state.hpp>
#include <straggle/record/running.hpp>
#include <straggle/stats/empirical.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::assign {

/// A time: a number if known exactly, or samples in an `empirical` or an `empirical_view`.
template <class T>
concept distributed_time = (std::is_arithmetic_v<T> && !std::same_as<T, bool>) ||
                           std::same_as<T, stats::empirical_view> || std::same_as<T, stats::empirical>;

/// A `distributed_time`; may be a `std::optional` or an `outcome`: an empty one means unknown.
template <class Field, class Record>
concept distributed_time_field =
    base::projection_of<Field, Record> && distributed_time<detail::field_value_t<Field, Record>>;

/// A time as a number; may be optional.
template <class Field, class Record>
concept plain_time_field =
    base::projection_of<Field, Record> && std::is_arithmetic_v<detail::field_value_t<Field, Record>> &&
    !std::same_as<detail::field_value_t<Field, Record>, bool>;

/// A `node_state`; may be optional: an empty one means healthy.
template <class Field, class Record>
concept node_state_field =
    base::projection_of<Field, Record> && std::same_as<detail::field_value_t<Field, Record>, node_state>;

/// A `job_goal`; may be optional: an empty one means that the job is to end early.
template <class Field, class Record>
concept job_goal_field =
    base::projection_of<Field, Record> && std::same_as<detail::field_value_t<Field, Record>, job_goal>;

/// The node a task runs on, or a range of all nodes that run attempts of it; may be optional.
template <class Field, class Record>
concept runs_on_field =
    base::projection_of<Field, Record> &&
    (base::identifier<detail::field_value_t<Field, Record>> ||
     (std::ranges::forward_range<detail::field_value_t<Field, Record> const> &&
      base::identifier<std::ranges::range_value_t<detail::field_value_t<Field, Record>>>));

/// Maps the members of a straggler to their meaning. An aggregate for designated initializers; projections
/// may be callables that look up the answer elsewhere.
///
/// @par Example
/// `straggler_fields{.runs_on = &task::host, .remaining = [&](task const& t) { return times_left(t); }}`
template <class RunsOn = base::no_field, class Remaining = base::no_field, class Attempts = base::no_field,
          class NextSlowest = base::no_field, class MayCopy = base::no_field, class CanRun = base::no_field,
          class Goal = base::no_field>
struct straggler_fields {
    /// `runs_on_field`: copies never go there
    [[no_unique_address]] RunsOn runs_on{};
    /// `distributed_time_field`: the time it still needs, not negative; samples must stay valid while copies
    /// of this task are predicted
    [[no_unique_address]] Remaining remaining{};
    /// `count_field`: running attempts; if absent, the number of nodes in `runs_on`. 0: the task does not
    /// run, and a copy would be its only attempt
    [[no_unique_address]] Attempts attempts{};
    /// `plain_time_field`: the time the job's next-slowest task still needs; 0 if absent or not a number of
    /// at least 0
    [[no_unique_address]] NextSlowest next_slowest{};
    /// `flag_field`: false if the task must never run twice, because of side effects or as part of a gang; if
    /// absent, every task may have copies
    [[no_unique_address]] MayCopy may_copy{};
    /// `placement_test`: whether a copy may run on a node, by label, memory or locality; if absent,
    /// everywhere. Called after all cheap checks and before the prediction
    [[no_unique_address]] CanRun can_run{};
    /// `job_goal_field`: what its job is to achieve; if absent, to end early
    [[no_unique_address]] Goal goal{};
};

/// Maps the members of a node to their meaning. An aggregate for designated initializers.
template <class Node = base::no_field, class Slots = base::no_field, class Free = base::no_field,
          class Copies = base::no_field, class State = base::no_field>
struct backup_node_fields {
    [[no_unique_address]] Node node{};   ///< `node_field`: its name, of the same type as in `runs_on`
    [[no_unique_address]] Slots slots{}; ///< `count_field`: all slots; required if slots are reserved
    [[no_unique_address]] Free free{};   ///< `count_field`: idle slots
    [[no_unique_address]] Copies
        copies{};                        ///< `count_field`: slots with copies; required if slots are reserved
    [[no_unique_address]] State state{}; ///< `node_state_field`; if absent, all are healthy
};

/// Whether a copy of a straggler may run on a node: `can_run(straggler, node)` returns a flag.
template <class CanRun, class Straggler, class Node>
concept placement_test = requires(CanRun const& can_run, Straggler const& straggler, Node const& node) {
    { can_run(straggler, node) } -> std::same_as<bool>;
};

/// Fields with which a `Record` can be read as a straggler.
template <class Fields, class Record>
concept straggler_fields_for =
    runs_on_field<decltype(Fields::runs_on), Record> &&
    distributed_time_field<decltype(Fields::remaining), Record> &&
    (!detail::given<decltype(Fields::attempts)> || record::count_field<decltype(Fields::attempts), Record>) &&
    (!detail::given<decltype(Fields::next_slowest)> ||
     plain_time_field<decltype(Fields::next_slowest), Record>) &&
    (!detail::given<decltype(Fields::may_copy)> || record::flag_field<decltype(Fields::may_copy), Record>) &&
    (!detail::given<decltype(Fields::goal)> || job_goal_field<decltype(Fields::goal), Record>);

/// Fields with which a `Record` can be read as a node for copies.
template <class Fields, class Record>
concept backup_node_fields_for =
    record::node_field<decltype(Fields::node), Record> &&
    record::count_field<decltype(Fields::free), Record> &&
    (!detail::given<decltype(Fields::state)> || node_state_field<decltype(Fields::state), Record>) &&
    (!detail::given<decltype(Fields::slots)> || record::count_field<decltype(Fields::slots), Record>) &&
    (!detail::given<decltype(Fields::copies)> || record::count_field<decltype(Fields::copies), Record>);

/// Predicts how long a copy of a straggler would take on a node: `predict(straggler, node)` returns a
/// nonnegative `distributed_time`, without the launch time; may be an `outcome` or a `std::optional`: an
/// empty one means unknown. Samples need to stay valid only until the next call.
template <class Predict, class Straggler, class Node>
concept backup_predictor = requires(Predict& predict, Straggler const& straggler, Node const& node) {
    { predict(straggler, node) };
    requires distributed_time<detail::unwrapped_t<decltype(predict(straggler, node))>>;
};

} // namespace straggle::assign

namespace straggle::inline STRAGGLE_ABI::detail {

// A distribution; if it is a single number, the number is stored here.
class time_reading {
  public:
    time_reading() = default;
    time_reading(time_reading const&) = delete;
    time_reading& operator=(time_reading const&) = delete;

    // False if unknown, negative or not a number. Samples are not copied.
    template <class Time>
    bool read(Time const& time) {
        view_ = {};
        if (!is_present(time)) return false;
        auto const& t = unwrap(time);
        using value = std::remove_cvref_t<decltype(t)>;
        if constexpr (std::same_as<value, stats::empirical_view>)
            view_ = t;
        else if constexpr (std::same_as<value, stats::empirical>)
            view_ = t.view();
        else
            view_ = known(static_cast<double>(t));
        bool const usable = !view_.empty() && view_[0] >= 0 && is_finite(view_[view_.size() - 1]);
        if (!usable) view_ = {};
        return usable;
    }
    [[nodiscard]] stats::empirical_view const& view() const noexcept { return view_; }

  private:
    stats::empirical_view known(double x) {
        sample_[0] = sums_[1] = x;
        return {sample_, sums_};
    }

    double sample_[1] = {}, sums_[2] = {};
    stats::empirical_view view_;
};

// Comparing numbers of different types may silently go wrong.
template <class A, class B>
concept same_kind_of_id =
    base::identifier<A> && base::identifier<B> && ((text<A> && text<B>) || std::same_as<A, B>);

template <class A, class B>
constexpr bool same_id(A const& a, B const& b) {
    if constexpr (text<A>)
        return std::string_view(a) == std::string_view(b);
    else
        return a == b;
}

template <class T>
struct id_in {
    using type = T;
};
template <class T>
    requires(!base::identifier<T>)
struct id_in<T> {
    using type = std::ranges::range_value_t<T>;
};

// Number of nodes of a task, how many of its attempts run on a given node, and whether any does.
template <class RunsOn>
constexpr std::uint32_t count_nodes(RunsOn const& nodes) {
    if constexpr (base::identifier<RunsOn>)
        return 1;
    else
        return read_count(std::ranges::distance(nodes));
}
template <class RunsOn, class Id>
constexpr std::uint32_t count_there(RunsOn const& nodes, Id const& id) {
    if constexpr (base::identifier<RunsOn>) {
        return same_id(nodes, id) ? 1 : 0;
    } else {
        std::uint32_t n = 0;
        for (auto const& node : nodes) n += same_id(node, id) ? 1u : 0u;
        return n;
    }
}
template <class RunsOn, class Id>
constexpr bool runs_there(RunsOn const& nodes, Id const& id) {
    return count_there(nodes, id) != 0;
}

template <class Fields, class Straggler, class Node>
concept can_run_fits =
    !given<decltype(Fields::can_run)> || assign::placement_test<decltype(Fields::can_run), Straggler, Node>;

// Both records can be read, and their nodes are comparable.
template <class StragglerFields, class Straggler, class NodeFields, class Node>
concept backup_fields_for =
    assign::straggler_fields_for<StragglerFields, Straggler> &&
    assign::backup_node_fields_for<NodeFields, Node> &&
    same_kind_of_id<typename id_in<field_value_t<decltype(StragglerFields::runs_on), Straggler>>::type,
                    field_value_t<decltype(NodeFields::node), Node>> &&
    can_run_fits<StragglerFields, Straggler, Node>;

template <class StragglerFields, class Straggler, class NodeFields, class Node, class Predict>
concept choosable = backup_fields_for<StragglerFields, Straggler, NodeFields, Node> &&
                    assign::backup_predictor<Predict, Straggler, Node>;

// Says in one line which field is wrong and what would be right; the concept would take dozens.
template <class StragglerFields, class Straggler, class NodeFields, class Node, class Predict>
consteval bool explain_backup_fields() {
    using namespace assign;
    constexpr bool of_straggler = requires(StragglerFields const& f) { f.runs_on, f.remaining, f.attempts; };
    constexpr bool of_node = requires(NodeFields const& f) { f.node, f.free, f.state; };
    static_assert(of_straggler,
                  "the fields of a straggler are a straggler_fields{.runs_on = ..., .remaining = ...}");
    static_assert(of_node, "the fields of a node are a backup_node_fields{.node = ..., .free = ...}");
    if constexpr (of_straggler) {
        using runs_on = decltype(StragglerFields::runs_on);
        using remaining = decltype(StragglerFields::remaining);
        static_assert(given<runs_on>, "straggler_fields without .runs_on: add .runs_on = &task::host");
        static_assert(
            !given<runs_on> || runs_on_field<runs_on, Straggler>,
            ".runs_on has to be a member of the straggler, or a callable on it: a node, or a range of nodes");
        static_assert(given<remaining>,
                      "straggler_fields without .remaining: add .remaining = &task::time_left, or a "
                      "callable that says what the task still takes");
        static_assert(!given<remaining> || distributed_time_field<remaining, Straggler>,
                      ".remaining has to be a member of the straggler, or a callable on it, that is a number "
                      "or an empirical");
        using may_copy = decltype(StragglerFields::may_copy);
        static_assert(!given<may_copy> || record::flag_field<may_copy, Straggler>,
                      ".may_copy has to be a bool of the straggler, or a callable on it that says yes or no");
        static_assert(can_run_fits<StragglerFields, Straggler, Node>,
                      ".can_run has to be a callable on a straggler and a node, can_run(straggler, node), "
                      "that says yes or no");
    }
    if constexpr (of_node) {
        using node = decltype(NodeFields::node);
        using free = decltype(NodeFields::free);
        static_assert(given<node>, "backup_node_fields without .node: add .node = &host::name");
        static_assert(
            !given<node> || record::node_field<node, Node>,
            ".node has to be a member of the node, or a callable on it, that is text or has a std::hash");
        static_assert(given<free>, "backup_node_fields without .free: add .free = &host::free_slots");
        static_assert(!given<free> || record::count_field<free, Node>, ".free has to be a whole number");
        static_assert(!of_straggler || !straggler_fields_for<StragglerFields, Straggler> ||
                          backup_node_fields_for<NodeFields, Node>,
                      ".state has to be a node_state, .slots and .copies whole numbers");
    }
    if constexpr (of_straggler && of_node)
        if constexpr (straggler_fields_for<StragglerFields, Straggler> &&
                      backup_node_fields_for<NodeFields, Node> &&
                      can_run_fits<StragglerFields, Straggler, Node>)
            static_assert(backup_fields_for<StragglerFields, Straggler, NodeFields, Node>,
                          ".runs_on of a straggler and .node of a node have to be of one type");
    static_assert(
        backup_predictor<Predict, Straggler, Node>,
        "the predictor has to say, as predict(straggler, node), how long a copy takes there: a number, an "
        "empirical, or an optional or outcome of one");
    return true;
}

} // namespace straggle::detail
