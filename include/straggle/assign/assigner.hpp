// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Combines profit, matching and limits: which stragglers get a copy, and on which nodes?
#pragma once

#include <straggle/assign/assigner_options.hpp>
#include <straggle/assign/backup_fields.hpp>
#include <straggle/assign/backup_plan.hpp>
#include <straggle/assign/copy_limits.hpp>
#include <straggle/assign/detail/candidate_nodes.hpp>
#include <straggle/assign/detail/priced_pairs.hpp>
#include <straggle/assign/greedy_assignment.hpp>
#include <straggle/assign/profit.hpp>
#include <straggle/assign/suspect_fields.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/no_index.hpp>
#include <straggle/base/ranges.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::assign {

/// Decides which stragglers get a copy and where, and says why the others do not.
///
/// For each straggler every node passes the hard filters, in the order of `backup_refusal`; for the nodes
/// that remain, the time of a copy is predicted, and the profit policy values it. Then the matching assigns
/// stragglers to nodes: at most one copy per straggler, on each node at most as many as it has slots for
/// copies, none that a limit refuses. A node on probation may get a copy but never the only attempt: the
/// straggler is not killed for it.
///
/// While tasks wait for every free slot, a slot costs at least 1: a copy must then save more slot time than
/// it takes. The load says so (`cluster_load::slots`, `busy`, `waiting`); otherwise the policy's price
/// applies.
///
/// The attempts of a task on nodes that are not healthy count as one for the limits: a straggler on a weak
/// node whose copy went to a node on probation, or to one that has become weak, is not helped by that copy
/// and may get another. Otherwise probes would use up a task's allowance.
///
/// Source: RiskI (Zheng et al. 2014), algorithm 2. Ours: many stragglers at once; a copy must have a free
/// slot.
///
/// @par Example
/// `assigner{}` has the defaults: `expected_gain`, one copy per task. `assigner{expected_gain{},
/// suspect_share_limit{}, retry_budget{}}` names a policy and limits; naming limits replaces the default one,
/// `unlimited{}` removes it. `assigner{expected_gain{}, optimal_assignment{}}` names a matching;
/// `assigner{expected_gain{}, assigner_options{.kill = kill_rule::when_certain}, suspect_share_limit{}}`
/// options.
///
/// Stragglers and nodes are identified by their index in the ranges of the user's records. Two records of one
/// node count as two nodes, each with its slots.
/// @par Cost
/// one prediction and one profit for each pair that passes the filters, plus the matching; about 40 bytes for
/// each acceptable pair and 600 for each straggler. Allocates nothing in the steady state
/// @par Guarantees
/// deterministic: among equal profits the larger win probability is better, then the first straggler and the
/// first node. Only allocation, or the caller's own functions, can throw, and then nothing is taken from a
/// limit and the last plan still stands
template <class Profit = expected_gain, matching Matching = greedy_assignment, class... Limits>
class assigner {
    static_assert(detail::explain_profit<Profit>());
    static_assert((detail::explain_limit<Limits, cluster_load, backup_request>() && ...));

  public:
    /// A policy with the default limits.
    explicit constexpr assigner(Profit profit = {}, assigner_options options = {})
        requires(std::default_initializable<Limits> && ...)
        : profit_(std::move(profit)), options_(checked(options)) {}
    /// A policy and a matching with the default limits.
    constexpr assigner(Profit profit, Matching how_to_match, assigner_options options = {})
        requires(std::default_initializable<Limits> && ...)
        : profit_(std::move(profit)), matching_(std::move(how_to_match)), options_(checked(options)) {}
    /// A policy and its limits.
    constexpr assigner(Profit profit, Limits... limits)
        requires(sizeof...(Limits) > 0)
        : profit_(std::move(profit)), limits_(std::move(limits)...) {}
    /// A policy, options, and limits.
    constexpr assigner(Profit profit, assigner_options options, Limits... limits)
        requires(sizeof...(Limits) > 0)
        : profit_(std::move(profit)), options_(checked(options)), limits_(std::move(limits)...) {}
    /// A policy, a matching, and limits.
    constexpr assigner(Profit profit, Matching how_to_match, Limits... limits)
        requires(sizeof...(Limits) > 0)
        : profit_(std::move(profit)), matching_(std::move(how_to_match)), limits_(std::move(limits)...) {}
    /// Policy, matching, options and limits.
    constexpr assigner(Profit profit, Matching how_to_match, assigner_options options, Limits... limits)
        requires(sizeof...(Limits) > 0)
        : profit_(std::move(profit)),
          matching_(std::move(how_to_match)),
          options_(checked(options)),
          limits_(std::move(limits)...) {}

    /// Decides on a range of stragglers.
    /// @param stragglers any forward range; worst first for `assignment_in_turn`
    /// @param straggler_fields a `straggler_fields` that names the members of a straggler
    /// @param nodes any forward range of nodes; in the same order on each call if slots are reserved
    /// @param node_fields a `backup_node_fields` that names the members of a node
    /// @param predict a `backup_predictor`
    /// @param load of the cluster, for the limits and the price of a slot
    /// @pre if slots are reserved, the fields name all slots and those with copies
    /// @return the plan, valid until the next call
    template <std::ranges::forward_range Stragglers, class StragglerFields, std::ranges::forward_range Nodes,
              class NodeFields, class Predict>
        requires detail::choosable<StragglerFields, std::ranges::range_value_t<Stragglers>, NodeFields,
                                   std::ranges::range_value_t<Nodes>, Predict>
    backup_plan const& choose(Stragglers&& stragglers, StragglerFields const& straggler_fields, Nodes&& nodes,
                              NodeFields const& node_fields, Predict&& predict,
                              cluster_load const& load = {}) {
        begin();
        price_ = is_full(load) ? 1 : 0;
        nodes_.read(nodes, node_fields, options_.slots, load);
        limits_.begin(load, static_cast<std::size_t>(std::ranges::distance(stragglers)));
        for (auto const& straggler : stragglers) {
            price(straggler, straggler_fields, nodes, node_fields, predict);
            pairs_.end_straggler();
        }
        match();
        write_plan();
        return plan_;
    }
    /// Not a valid call: makes the compiler say in one line what does not fit.
    template <std::ranges::forward_range S, class SFields, std::ranges::forward_range N, class NFields,
              class P, class... Load>
        requires(!detail::running_aggregate<SFields> &&
                 !detail::choosable<SFields, std::ranges::range_value_t<S>, NFields,
                                    std::ranges::range_value_t<N>, P>)
    auto choose(S&&, SFields const&, N&&, NFields const&, P&&, Load const&...) {
        return detail::explain_backup_fields<SFields, std::ranges::range_value_t<S>, NFields,
                                             std::ranges::range_value_t<N>, P>();
    }
    /// The same for suspects that point to the user's running tasks, as `straggler_scan` returns them.
    /// @param task_fields the `running_fields` of such a task
    template <std::ranges::forward_range Suspects, class TaskFields, std::ranges::forward_range Nodes,
              class NodeFields, class Predict>
        requires detail::running_aggregate<TaskFields>
    backup_plan const& choose(Suspects&& suspects, TaskFields const& task_fields, Nodes&& nodes,
                              NodeFields const& node_fields, Predict&& predict,
                              cluster_load const& load = {}) {
        constexpr bool points = detail::points_to<std::ranges::range_value_t<Suspects>, TaskFields>;
        static_assert(points,
                      "running_fields are of the tasks that suspects point to: give the scan your tasks, "
                      "scan(job.view(), tasks), or name straggler_fields");
        if constexpr (points)
            return choose(suspects, suspect_fields(task_fields), nodes, node_fields, predict, load);
        else
            return plan_;
    }
    /// The same for records whose `task_traits` name the fields; for a suspect, those of its task.
    template <std::ranges::forward_range Stragglers, std::ranges::forward_range Nodes, class Predict>
        requires detail::has_straggler_traits<std::ranges::range_value_t<Stragglers>> &&
                 record::has_task_traits<std::ranges::range_value_t<Nodes>>
    backup_plan const& choose(Stragglers&& stragglers, Nodes&& nodes, Predict&& predict,
                              cluster_load const& load = {}) {
        return choose(stragglers, detail::straggler_traits<std::ranges::range_value_t<Stragglers>>::fields,
                      nodes, task_traits<std::ranges::range_value_t<Nodes>>::fields, predict, load);
    }

    /// Decides on one straggler: the best node for it, as `choose` does for a range of one.
    /// @return the choice, valid until the next call
    template <class Straggler, class StragglerFields, std::ranges::forward_range Nodes, class NodeFields,
              class Predict>
        requires detail::backup_fields_for<StragglerFields, Straggler, NodeFields,
                                           std::ranges::range_value_t<Nodes>>
    backup_choice const& choose_for(Straggler const& straggler, StragglerFields const& straggler_fields,
                                    Nodes&& nodes, NodeFields const& node_fields, Predict&& predict,
                                    cluster_load const& load = {}) {
        std::span<Straggler const, 1> const one(&straggler, 1);
        return choose(one, straggler_fields, nodes, node_fields, predict, load).choices.front();
    }
    /// The same for records whose `task_traits` name the fields.
    template <record::has_task_traits Straggler, std::ranges::forward_range Nodes, class Predict>
    backup_choice const& choose_for(Straggler const& straggler, Nodes&& nodes, Predict&& predict,
                                    cluster_load const& load = {}) {
        std::span<Straggler const, 1> const one(&straggler, 1);
        return choose(one, nodes, predict, load).choices.front();
    }

    /// The last plan; empty before the first.
    [[nodiscard]] backup_plan const& plan() const& noexcept { return plan_; }
    void plan() const&& = delete; // keep the assigner in a variable first
    /// The policy.
    [[nodiscard]] Profit const& profit() const noexcept { return profit_; }
    /// The options.
    [[nodiscard]] assigner_options const& options() const noexcept { return options_; }
    /// One of the limits, by its index.
    template <std::size_t Place>
    [[nodiscard]] constexpr auto const& limit() const noexcept {
        return limits_.template get<Place>();
    }

  private:
    using limit_row = std::conditional_t<sizeof...(Limits) == 0, detail::limit_row<copies_per_task>,
                                         detail::limit_row<Limits...>>;
    static constexpr std::uint32_t none = detail::no_index;

    // The state of a straggler while the plan is made.
    struct draft {
        detail::best_two options;
        std::uint32_t attempts = 0;
        std::uint32_t counted = 0; // attempts, as counted by the limits
        std::size_t refused_by = limit_row::none;
        std::uint32_t pair = none;
    };

    static constexpr assigner_options checked(assigner_options options) {
        STRAGGLE_EXPECTS(detail::is_finite(options.launch) && options.launch >= 0);
        return options;
    }

    // Whether tasks wait for all the slots that are free.
    static constexpr bool is_full(cluster_load const& load) noexcept {
        return load.slots > 0 && load.waiting > 0 && load.busy + load.waiting >= load.slots;
    }

    void begin() {
        plan_.limits.reserve(limit_row::names.size());
        choices_.clear();
        drafts_.clear();
        pairs_.clear();
    }

    // Evaluates one straggler on all nodes.
    template <class Straggler, class Fields, class Nodes, class NodeFields, class Predict>
    void price(Straggler const& straggler, Fields const& fields, Nodes& nodes, NodeFields const& node_fields,
               Predict& predict) {
        backup_choice& choice = choices_.emplace_back();
        draft& d = drafts_.emplace_back();
        choice.straggler = static_cast<std::uint32_t>(choices_.size() - 1);
        auto&& runs_on = detail::project(fields.runs_on, straggler);
        if (!detail::is_present(runs_on)) {
            choice.reason = backup_refusal::no_straggler;
            return;
        }
        auto const& here = detail::unwrap(runs_on);
        if constexpr (detail::given<decltype(Fields::attempts)>)
            d.attempts = detail::read_count(detail::project(fields.attempts, straggler));
        else
            d.attempts = detail::count_nodes(here);
        if constexpr (detail::given<decltype(Fields::may_copy)>)
            if (d.attempts > 0 && !detail::read_flag(fields.may_copy, straggler, true)) {
                choice.reason = backup_refusal::may_not_copy;
                return;
            }
        d.counted = nodes_.counted(d.attempts, here, nodes, node_fields);
        d.refused_by = limits_.objection(backup_request{choice.straggler, d.counted});
        if (d.refused_by != limit_row::none && !options_.price_over_budget) {
            choice.reason = backup_refusal::over_limit;
            return;
        }
        detail::time_reading left, there;
        auto&& remaining = detail::project(fields.remaining, straggler);
        if (!left.read(remaining)) {
            choice.reason = backup_refusal::no_straggler;
            return;
        }
        backup_case c{.remaining = left.view(), .launch = options_.launch, .slot_price = price_};
        if constexpr (detail::given<decltype(Fields::next_slowest)>)
            c.next_slowest = time_or_zero(detail::project(fields.next_slowest, straggler));
        if constexpr (detail::given<decltype(Fields::goal)>) {
            auto const& goal = detail::project(fields.goal, straggler);
            if (detail::is_present(goal)) c.goal = detail::unwrap(goal);
        }

        std::uint32_t place = 0;
        for (auto const& node : nodes) {
            std::uint32_t const at = place++;
            auto const can_run = [&] {
                if constexpr (detail::given<decltype(Fields::can_run)>)
                    return fields.can_run(straggler, node);
                else
                    return true;
            };
            std::optional<backup_refusal> refusal =
                nodes_.refusal(at, detail::project(node_fields.node, node), here, d.attempts, can_run);
            backup_option option{.node = at};
            if (!refusal) {
                auto&& predicted = predict(straggler, node);
                refusal = backup_refusal::no_prediction;
                if (there.read(predicted)) {
                    c.copy = there.view();
                    refusal = weigh(c, option);
                }
            }
            if (refusal) ++choice.nodes.refused[static_cast<std::size_t>(*refusal)];
            if (refusal && *refusal <= backup_refusal::no_prediction) continue;
            option.refusal = refusal;
            option.kill = option.kill && d.attempts > 0;
            d.options.consider(option);
            if (refusal) continue;
            ++choice.nodes.acceptable;
            if (d.refused_by == limit_row::none) pairs_.add(option);
        }
    }

    template <class Time>
    static double time_or_zero(Time const& field) noexcept {
        if (!detail::is_present(field)) return 0;
        double const t = static_cast<double>(detail::unwrap(field));
        return t >= 0 && detail::is_finite(t) ? t : 0.0;
    }

    // Whether the value of the copy is a reason to refuse it.
    [[nodiscard]] std::optional<backup_refusal> weigh(backup_case const& c, backup_option& option) const {
        outcome<backup_value> const value = profit_.value(c);
        if (!value || !detail::is_finite(value->profit) || !detail::is_finite(value->gain) ||
            !detail::is_finite(value->cost) || !detail::is_finite(value->win_probability))
            return backup_refusal::no_prediction;
        option.value = *value;
        option.kill = nodes_.state(option.node) == node_state::healthy &&
                      kills_straggler(options_.kill, c.remaining, c.copy, c.launch);
        if (!(value->profit > 0)) return backup_refusal::not_profitable;
        if (!profit_.accepts(*value)) return backup_refusal::unlikely_to_win;
        return std::nullopt;
    }

    void match() {
        auto const admit = [this](std::uint32_t row) { return admits(row); };
        matching_(pairs_.view(), nodes_.room(), matched_, admit);
    }
    bool admits(std::uint32_t row) {
        backup_request const request{row, drafts_[row].counted};
        drafts_[row].refused_by = limits_.objection(request);
        if (drafts_[row].refused_by != limit_row::none) return false;
        limits_.take(request);
        return true;
    }
    void write_plan() noexcept {
        plan_.limits.clear(); // begin() reserved the memory
        for (std::string_view const name : limit_row::names) plan_.limits.push_back({name, 0});
        plan_.nodes = {};
        plan_.copies = 0;
        plan_.profit = 0;
        plan_.slot_price = price_;
        plan_.policy = Profit::name;
        plan_.matching = Matching::name;
        for (assigned_pair const& m : matched_) drafts_[m.row].pair = m.pair;
        for (std::size_t row = 0; row < choices_.size(); ++row) {
            backup_choice& choice = choices_[row];
            draft const& d = drafts_[row];
            if (d.pair != none) {
                choice.copy = pairs_.option(d.pair);
                choice.runner_up = d.options.other_than(choice.copy->node);
                ++plan_.copies;
                plan_.profit += choice.copy->value.profit;
            } else {
                choice.runner_up = d.options.best;
                if (!choice.reason) choice.reason = why_not(choice.nodes, d);
                if (choice.reason == backup_refusal::over_limit) {
                    limit_refusals& limit = plan_.limits[d.refused_by];
                    choice.refused_by = limit.limit;
                    ++limit.refused;
                }
            }
            plan_.nodes += choice.nodes;
        }
        plan_.choices.swap(choices_);
    }

    [[nodiscard]] static backup_refusal why_not(node_counts const& nodes, draft const& d) noexcept {
        if (nodes.acceptable > 0)
            return d.refused_by != limit_row::none ? backup_refusal::over_limit : backup_refusal::slots_taken;
        for (std::size_t i = node_refusal_count; i-- > 0;)
            if (nodes.refused[i] > 0) return static_cast<backup_refusal>(i);
        return backup_refusal::no_nodes;
    }

    [[no_unique_address]] Profit profit_;
    [[no_unique_address]] Matching matching_{};
    assigner_options options_{};
    [[no_unique_address]] limit_row limits_;
    backup_plan plan_;
    double price_ = 0; // of a slot, from the load
    // Scratch: by straggler, by node, by pair.
    std::vector<backup_choice> choices_;
    std::vector<draft> drafts_;
    detail::candidate_nodes nodes_;
    detail::priced_pairs pairs_;
    std::vector<assigned_pair> matched_;
};

assigner() -> assigner<>;
template <class Profit>
assigner(Profit) -> assigner<Profit>;
template <profit_policy Profit, copy_limit... Limits>
assigner(Profit, assigner_options, Limits...) -> assigner<Profit, greedy_assignment, Limits...>;
template <profit_policy Profit, copy_limit Limit, copy_limit... Limits>
assigner(Profit, Limit, Limits...) -> assigner<Profit, greedy_assignment, Limit, Limits...>;
template <profit_policy Profit, matching Matching, copy_limit... Limits>
assigner(Profit, Matching, Limits...) -> assigner<Profit, Matching, Limits...>;
template <profit_policy Profit, matching Matching, copy_limit... Limits>
assigner(Profit, Matching, assigner_options, Limits...) -> assigner<Profit, Matching, Limits...>;

} // namespace straggle::assign
