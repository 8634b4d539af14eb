// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Truth tables of the concepts about blacklists: selection policies, capacity guards, slots.
#include "../support/archetypes.hpp"

#include <straggle/blacklist/outlier_rules.hpp>
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
    void begin(node_ranking<std::uint64_t> const&, std::size_t);
    void take(std::uint64_t);
};
struct guard_without_take : named {
    void begin(node_ranking<std::uint64_t> const&, std::size_t);
    bool admits(std::uint64_t);
};
struct guard_without_name {
    void begin(node_ranking<std::uint64_t> const&, std::size_t);
    bool admits(std::uint64_t);
    void take(std::uint64_t);
};
struct guard_of_numbers : named {
    void begin(node_ranking<std::uint64_t> const&, std::size_t);
    bool admits(std::uint64_t);
    void take(std::uint64_t);
};
struct guard_that_counts : guard_of_numbers {
    int admits(std::uint64_t);
};
struct guard_that_writes_rankings : guard_of_numbers {
    void begin(node_ranking<std::uint64_t>&, std::size_t);
};
struct guard_that_cannot_move : guard_of_numbers {
    guard_that_cannot_move(guard_that_cannot_move&&) = delete;
};
static_assert(capacity_guard<guard_of_numbers> && !capacity_guard<guard_of_numbers, std::string>);
static_assert(!capacity_guard<guard_without_begin> && !capacity_guard<guard_without_admits> &&
              !capacity_guard<guard_without_take> && !capacity_guard<guard_without_name> &&
              !capacity_guard<guard_that_counts> && !capacity_guard<guard_that_writes_rankings> &&
              !capacity_guard<guard_that_cannot_move> && !capacity_guard<weakest_level> &&
              !capacity_guard<int>);

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
