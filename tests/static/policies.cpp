// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Truth tables of the concepts about blacklists: selection and exclusion policies, capacity limits, slots.
#include "../support/archetypes.hpp"

#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/rolling_blacklister.hpp>
#include <straggle/blacklist/timed_limits.hpp>
#include <straggle/blacklist/top_k_intersection.hpp>

#include <cstdint>
#include <random>
#include <string>

namespace {

using namespace straggle;
using namespace straggle_test;

using nodes = std::span<ranked_node<std::uint64_t> const>;
using candidates = std::vector<blacklist::candidate>;

// --- selection_policy --------------------------------------------------------------------------------------
struct named {
    static constexpr std::string_view name = "named";
};
struct selection_of_one_id : named { // the concept asks with std::uint64_t only
    blacklist::selection_note select(nodes, blacklist::selection_scratch&, candidates&);
};
struct selection_without_name {
    blacklist::selection_note select(nodes, blacklist::selection_scratch&, candidates&);
};
struct selection_with_number_for_name {
    static constexpr int name = 7;
    blacklist::selection_note select(nodes, blacklist::selection_scratch&, candidates&);
};
struct selection_without_note : named {
    void select(nodes, blacklist::selection_scratch&, candidates&);
};
struct selection_without_scratch : named {
    blacklist::selection_note select(nodes, candidates&);
};
struct selection_that_writes_nodes : named {
    blacklist::selection_note select(std::span<ranked_node<std::uint64_t>>, blacklist::selection_scratch&,
                                     candidates&);
};
struct selection_into_indices : named {
    blacklist::selection_note select(nodes, blacklist::selection_scratch&, std::vector<std::uint32_t>&);
};
struct selection_that_cannot_move : named {
    selection_that_cannot_move(selection_that_cannot_move&&) = delete;
    blacklist::selection_note select(nodes, blacklist::selection_scratch&, candidates&);
};
static_assert(blacklist::selection_policy<blacklist::weakest_level> &&
              blacklist::selection_policy<blacklist::dominated> &&
              blacklist::selection_policy<blacklist::dominated_fdr>);
static_assert(
    blacklist::selection_policy<decltype(blacklist::top_k_intersection(3))> &&
    blacklist::selection_policy<decltype(blacklist::top_k_intersection(3, std::declval<std::mt19937&>()))>);
static_assert(blacklist::selection_policy<minimal_selection> &&
              blacklist::selection_policy<selection_of_one_id>);
static_assert(!blacklist::selection_policy<selection_without_name> &&
              !blacklist::selection_policy<selection_with_number_for_name> &&
              !blacklist::selection_policy<selection_without_note> &&
              !blacklist::selection_policy<selection_without_scratch> &&
              !blacklist::selection_policy<selection_that_writes_nodes> &&
              !blacklist::selection_policy<selection_into_indices> &&
              !blacklist::selection_policy<selection_that_cannot_move> && !blacklist::selection_policy<int> &&
              !blacklist::selection_policy<record::unlimited>);

// --- node_limit ----------------------------------------------------------------------------------------
using rack_of = decltype([](auto const&) { return std::string(); });
static_assert(blacklist::node_limit<record::unlimited> && blacklist::node_limit<blacklist::at_most> &&
              blacklist::node_limit<blacklist::share_of_slots<>> &&
              blacklist::node_limit<blacklist::at_most_slot_fraction<>> &&
              blacklist::node_limit<blacklist::at_least_healthy_slots<>> &&
              blacklist::node_limit<blacklist::one_per_domain<rack_of>> &&
              blacklist::node_limit<blacklist::fail_open>);
static_assert(blacklist::node_limit<minimal_guard> && blacklist::node_limit<minimal_guard, std::string> &&
              blacklist::node_limit<minimal_guard, minimal_id>);

struct guard_without_begin : named {
    bool admits(std::uint64_t);
    void take(std::uint64_t);
};
struct guard_without_admits : named {
    void begin(blacklist::fleet_view<std::uint64_t> const&, std::size_t);
    void take(std::uint64_t);
};
struct guard_without_take : named {
    void begin(blacklist::fleet_view<std::uint64_t> const&, std::size_t);
    bool admits(std::uint64_t);
};
struct guard_without_name {
    void begin(blacklist::fleet_view<std::uint64_t> const&, std::size_t);
    bool admits(std::uint64_t);
    void take(std::uint64_t);
};
struct guard_of_numbers : named {
    void begin(blacklist::fleet_view<std::uint64_t> const&, std::size_t);
    bool admits(std::uint64_t);
    void take(std::uint64_t);
};
struct guard_that_counts : guard_of_numbers {
    int admits(std::uint64_t);
};
struct guard_that_writes_fleets : guard_of_numbers {
    void begin(blacklist::fleet_view<std::uint64_t>&, std::size_t);
};
struct guard_that_cannot_move : guard_of_numbers {
    guard_that_cannot_move(guard_that_cannot_move&&) = delete;
};
static_assert(blacklist::node_limit<guard_of_numbers> &&
              !blacklist::node_limit<guard_of_numbers, std::string>);
static_assert(!blacklist::node_limit<guard_without_begin> && !blacklist::node_limit<guard_without_admits> &&
              !blacklist::node_limit<guard_without_take> && !blacklist::node_limit<guard_without_name> &&
              !blacklist::node_limit<guard_that_counts> && !blacklist::node_limit<guard_that_writes_fleets> &&
              !blacklist::node_limit<guard_that_cannot_move> &&
              !blacklist::node_limit<blacklist::weakest_level> && !blacklist::node_limit<int>);

static_assert(blacklist::node_limit<blacklist::rate_limit> &&
              blacklist::node_limit<blacklist::rate_limit, minimal_id> &&
              blacklist::node_limit<blacklist::release_on_demand<int (*)()>> &&
              blacklist::node_limit<std::optional<blacklist::release_on_demand<int (*)()>>>);

// --- exclusion_policy
// ---------------------------------------------------------------------------------------
struct sentence_for_life : named { // what the concept asks for, and no more
    void advance(blacklist::exclusion&, blacklist::window_evidence const&, std::int64_t) const {}
};
struct sentence_without_name {
    void advance(blacklist::exclusion&, blacklist::window_evidence const&, std::int64_t) const;
};
struct sentence_with_a_memory : named {
    void advance(blacklist::exclusion&, blacklist::window_evidence const&, std::int64_t);
};
struct sentence_that_answers : named {
    bool advance(blacklist::exclusion&, blacklist::window_evidence const&, std::int64_t) const;
};
struct sentence_for_nothing : named {
    void advance(blacklist::exclusion&, std::int64_t) const;
};
struct sentence_that_changes_evidence : named {
    void advance(blacklist::exclusion&, blacklist::window_evidence&, std::int64_t) const;
};
struct sentence_that_cannot_move : sentence_for_life {
    sentence_that_cannot_move(sentence_that_cannot_move&&) = delete;
};
static_assert(blacklist::exclusion_policy<blacklist::rerank_every_window> &&
              blacklist::exclusion_policy<blacklist::escalating> &&
              blacklist::exclusion_policy<blacklist::probation<>> &&
              blacklist::exclusion_policy<blacklist::hysteresis<>> &&
              blacklist::exclusion_policy<
                  blacklist::probation<blacklist::hysteresis<blacklist::rerank_every_window>>> &&
              blacklist::exclusion_policy<blacklist::hysteresis<blacklist::probation<sentence_for_life>>>);
static_assert(blacklist::exclusion_policy<sentence_for_life>);
static_assert(!blacklist::exclusion_policy<sentence_without_name> &&
              !blacklist::exclusion_policy<sentence_with_a_memory> &&
              !blacklist::exclusion_policy<sentence_that_answers> &&
              !blacklist::exclusion_policy<sentence_for_nothing> &&
              !blacklist::exclusion_policy<sentence_that_changes_evidence> &&
              !blacklist::exclusion_policy<sentence_that_cannot_move> &&
              !blacklist::exclusion_policy<blacklist::weakest_level> && !blacklist::exclusion_policy<int>);
[[maybe_unused]] blacklist_decision<minimal_id> const& keeps_minimal_things(
    rolling_blacklister<minimal_id, minimal_selection, sentence_for_life, minimal_guard>& keeper,
    node_ranking<minimal_id, minimal_id> const& ranking) {
    (void)keeper.restore({}, {});
    (void)keeper.exclusion_of({});
    keeper.forget({});
    keeper.for_each_exclusion([](minimal_id const&, blacklist::exclusion const&) {});
    keeper.decide(ranking, 1);
    return keeper.decide(ranking, 2, std::span<minimal_id const>());
}

// --- slot_demand -------------------------------------------------------------------------------------------
using demand_in_words = decltype([] { return std::string("many"); });
using demand_of_somebody = decltype([](int) { return 1.0; });
using changing_demand = decltype([n = 0]() mutable { return ++n; });
static_assert(blacklist::slot_demand<int (*)()> && blacklist::slot_demand<changing_demand>);
static_assert(!blacklist::slot_demand<demand_in_words> && !blacklist::slot_demand<demand_of_somebody> &&
              !blacklist::slot_demand<int>);

// --- slots_projection --------------------------------------------------------------------------------------
using four_slots = decltype([](auto const&) { return 4; });
using slots_of_text = decltype([](std::string const& s) { return s.size(); });
using slots_in_words = decltype([](auto const&) { return std::string("four"); });
struct changing_slots {
    double operator()(std::uint64_t) { return 1; }
};
static_assert(blacklist::slots_projection<blacklist::one_slot, int> &&
              blacklist::slots_projection<blacklist::one_slot, std::string> &&
              blacklist::slots_projection<four_slots, minimal_id> &&
              blacklist::slots_projection<slots_of_text, std::string>);
static_assert(!blacklist::slots_projection<slots_of_text, int> &&
              !blacklist::slots_projection<slots_in_words, int> &&
              !blacklist::slots_projection<changing_slots, std::uint64_t> &&
              !blacklist::slots_projection<int, int>);

} // namespace
