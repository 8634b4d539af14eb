// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Truth tables of the concepts about blacklists: selection and sentence policies, capacity guards, slots.
#include "../support/archetypes.hpp"

#include <straggle/blacklist/keeper.hpp>
#include <straggle/blacklist/outlier_rules.hpp>
#include <straggle/blacklist/timed_guards.hpp>
#include <straggle/blacklist/top_k_intersection.hpp>

#include <cstdint>
#include <random>
#include <string>

namespace {

using namespace straggle;
using namespace straggle_test;

using nodes = std::span<ranked_node<std::uint64_t> const>;
using candidates = std::vector<candidate>;

// --- selection_policy --------------------------------------------------------------------------------------
struct named {
    static constexpr std::string_view name = "named";
};
struct selection_of_one_id : named { // the concept asks with std::uint64_t only
    selection_note select(nodes, selection_scratch&, candidates&);
};
struct selection_without_name {
    selection_note select(nodes, selection_scratch&, candidates&);
};
struct selection_with_number_for_name {
    static constexpr int name = 7;
    selection_note select(nodes, selection_scratch&, candidates&);
};
struct selection_without_note : named {
    void select(nodes, selection_scratch&, candidates&);
};
struct selection_without_scratch : named {
    selection_note select(nodes, candidates&);
};
struct selection_that_writes_nodes : named {
    selection_note select(std::span<ranked_node<std::uint64_t>>, selection_scratch&, candidates&);
};
struct selection_into_indices : named {
    selection_note select(nodes, selection_scratch&, std::vector<std::uint32_t>&);
};
struct selection_that_cannot_move : named {
    selection_that_cannot_move(selection_that_cannot_move&&) = delete;
    selection_note select(nodes, selection_scratch&, candidates&);
};
static_assert(selection_policy<weakest_level> && selection_policy<dominated> &&
              selection_policy<dominated_fdr> && selection_policy<median_mad> &&
              selection_policy<leave_top_k_out> && selection_policy<mean_plus_sigmas>);
static_assert(selection_policy<decltype(top_k_intersection(3))> &&
              selection_policy<decltype(top_k_intersection(3, std::declval<std::mt19937&>()))>);
static_assert(selection_policy<minimal_selection> && selection_policy<selection_of_one_id>);
static_assert(!selection_policy<selection_without_name> &&
              !selection_policy<selection_with_number_for_name> &&
              !selection_policy<selection_without_note> && !selection_policy<selection_without_scratch> &&
              !selection_policy<selection_that_writes_nodes> && !selection_policy<selection_into_indices> &&
              !selection_policy<selection_that_cannot_move> && !selection_policy<int> &&
              !selection_policy<no_guard>);

// --- capacity_guard ----------------------------------------------------------------------------------------
using rack_of = decltype([](auto const&) { return std::string(); });
static_assert(capacity_guard<no_guard> && capacity_guard<at_most> &&
              capacity_guard<at_most_slot_fraction<>> && capacity_guard<at_least_healthy_slots<>> &&
              capacity_guard<one_per_domain<rack_of>> && capacity_guard<fail_open>);
static_assert(capacity_guard<minimal_guard> && capacity_guard<minimal_guard, std::string> &&
              capacity_guard<minimal_guard, minimal_id>);

struct guard_without_begin : named {
    bool admits(std::uint64_t);
    void take(std::uint64_t);
};
struct guard_without_admits : named {
    void begin(fleet_view<std::uint64_t> const&, std::size_t);
    void take(std::uint64_t);
};
struct guard_without_take : named {
    void begin(fleet_view<std::uint64_t> const&, std::size_t);
    bool admits(std::uint64_t);
};
struct guard_without_name {
    void begin(fleet_view<std::uint64_t> const&, std::size_t);
    bool admits(std::uint64_t);
    void take(std::uint64_t);
};
struct guard_of_numbers : named {
    void begin(fleet_view<std::uint64_t> const&, std::size_t);
    bool admits(std::uint64_t);
    void take(std::uint64_t);
};
struct guard_that_counts : guard_of_numbers {
    int admits(std::uint64_t);
};
struct guard_that_writes_fleets : guard_of_numbers {
    void begin(fleet_view<std::uint64_t>&, std::size_t);
};
struct guard_that_cannot_move : guard_of_numbers {
    guard_that_cannot_move(guard_that_cannot_move&&) = delete;
};
static_assert(capacity_guard<guard_of_numbers> && !capacity_guard<guard_of_numbers, std::string>);
static_assert(!capacity_guard<guard_without_begin> && !capacity_guard<guard_without_admits> &&
              !capacity_guard<guard_without_take> && !capacity_guard<guard_without_name> &&
              !capacity_guard<guard_that_counts> && !capacity_guard<guard_that_writes_fleets> &&
              !capacity_guard<guard_that_cannot_move> && !capacity_guard<weakest_level> &&
              !capacity_guard<int>);

static_assert(capacity_guard<rate_limit> && capacity_guard<rate_limit, minimal_id> &&
              capacity_guard<release_on_demand<int (*)()>> &&
              capacity_guard<optional_guard<release_on_demand<int (*)()>>>);

// --- sentence_policy ---------------------------------------------------------------------------------------
struct sentence_for_life : named { // what the concept asks for, and no more
    void advance(sentence&, window_evidence const&, std::int64_t) const {}
};
struct sentence_without_name {
    void advance(sentence&, window_evidence const&, std::int64_t) const;
};
struct sentence_with_a_memory : named {
    void advance(sentence&, window_evidence const&, std::int64_t);
};
struct sentence_that_answers : named {
    bool advance(sentence&, window_evidence const&, std::int64_t) const;
};
struct sentence_for_nothing : named {
    void advance(sentence&, std::int64_t) const;
};
struct sentence_that_changes_evidence : named {
    void advance(sentence&, window_evidence&, std::int64_t) const;
};
struct sentence_that_cannot_move : sentence_for_life {
    sentence_that_cannot_move(sentence_that_cannot_move&&) = delete;
};
static_assert(sentence_policy<rerank_every_window> && sentence_policy<escalating> &&
              sentence_policy<probation<>> && sentence_policy<hysteresis<>> &&
              sentence_policy<probation<hysteresis<rerank_every_window>>> &&
              sentence_policy<hysteresis<probation<sentence_for_life>>>);
static_assert(sentence_policy<sentence_for_life>);
static_assert(!sentence_policy<sentence_without_name> && !sentence_policy<sentence_with_a_memory> &&
              !sentence_policy<sentence_that_answers> && !sentence_policy<sentence_for_nothing> &&
              !sentence_policy<sentence_that_changes_evidence> &&
              !sentence_policy<sentence_that_cannot_move> && !sentence_policy<weakest_level> &&
              !sentence_policy<int>);
[[maybe_unused]] blacklist_decision<minimal_id> const& keeps_minimal_things(
    blacklist_keeper<minimal_id, minimal_selection, sentence_for_life, minimal_guard>& keeper,
    node_ranking<minimal_id, minimal_id> const& ranking) {
    (void)keeper.restore({}, {});
    (void)keeper.sentence_of({});
    keeper.forget({});
    keeper.for_each_sentence([](minimal_id const&, sentence const&) {});
    keeper.decide(ranking, 1);
    return keeper.decide(ranking, 2, std::span<minimal_id const>());
}

// --- slot_demand -------------------------------------------------------------------------------------------
using demand_in_words = decltype([] { return std::string("many"); });
using demand_of_somebody = decltype([](int) { return 1.0; });
using changing_demand = decltype([n = 0]() mutable { return ++n; });
static_assert(slot_demand<int (*)()> && slot_demand<changing_demand>);
static_assert(!slot_demand<demand_in_words> && !slot_demand<demand_of_somebody> && !slot_demand<int>);

// --- slots_projection --------------------------------------------------------------------------------------
using four_slots = decltype([](auto const&) { return 4; });
using slots_of_text = decltype([](std::string const& s) { return s.size(); });
using slots_in_words = decltype([](auto const&) { return std::string("four"); });
struct changing_slots {
    double operator()(std::uint64_t) { return 1; }
};
static_assert(slots_projection<one_slot, int> && slots_projection<one_slot, std::string> &&
              slots_projection<four_slots, minimal_id> && slots_projection<slots_of_text, std::string>);
static_assert(!slots_projection<slots_of_text, int> && !slots_projection<slots_in_words, int> &&
              !slots_projection<changing_slots, std::uint64_t> && !slots_projection<int, int>);

} // namespace
