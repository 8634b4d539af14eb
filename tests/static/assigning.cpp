// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Truth tables of the concepts about copies: budgets, solvers, the fields of stragglers and nodes,
// predictors; and what an assigner is made of.
#include <straggle/assign/assigner.hpp>

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace straggle;

// --- copy_budget -------------------------------------------------------------------------------------------
struct named {
    static constexpr std::string_view name = "named";
};
struct minimal_budget : named { // what the concept asks for, and no more
    void begin(cluster_load const&, std::size_t) {}
    bool admits(backup_request const&) { return true; }
    void take(backup_request const&) {}
};
struct budget_without_name {
    void begin(cluster_load const&, std::size_t);
    bool admits(backup_request const&);
    void take(backup_request const&);
};
struct budget_with_empty_name : budget_without_name {
    static constexpr std::string_view name = "";
};
struct budget_without_begin : named {
    bool admits(backup_request const&);
    void take(backup_request const&);
};
struct budget_without_admits : named {
    void begin(cluster_load const&, std::size_t);
    void take(backup_request const&);
};
struct budget_without_take : named {
    void begin(cluster_load const&, std::size_t);
    bool admits(backup_request const&);
};
struct budget_that_counts : budget_without_take {
    int admits(backup_request const&);
    void take(backup_request const&);
};
struct budget_that_writes_loads : minimal_budget {
    void begin(cluster_load&, std::size_t);
};
struct budget_that_cannot_move : minimal_budget {
    budget_that_cannot_move(budget_that_cannot_move&&) = delete;
};
static_assert(copy_budget<no_budget> && copy_budget<copies_per_task> && copy_budget<share_of_slots> &&
              copy_budget<extra_load> && copy_budget<storm_guard> &&
              copy_budget<optional_budget<storm_guard>> && copy_budget<minimal_budget>);
static_assert(!copy_budget<budget_without_name> && !copy_budget<budget_with_empty_name> &&
              !copy_budget<budget_without_begin> && !copy_budget<budget_without_admits> &&
              !copy_budget<budget_without_take> && !copy_budget<budget_that_counts> &&
              !copy_budget<budget_that_writes_loads> && !copy_budget<budget_that_cannot_move> &&
              !copy_budget<expected_gain> && !copy_budget<assigner_options> && !copy_budget<int>);

// --- assignment_solver -------------------------------------------------------------------------------------
struct minimal_solver : named {
    template <class Admit>
    void operator()(assignable_pairs const&, std::span<std::uint32_t const>, std::vector<assigned_pair>&,
                    Admit&&);
};
struct solver_that_asks_nobody : named {
    void operator()(assignable_pairs const&, std::span<std::uint32_t const>, std::vector<assigned_pair>&);
};
static_assert(assignment_solver<assignment_in_turn> && assignment_solver<greedy_assignment> &&
              assignment_solver<optimal_assignment> && assignment_solver<minimal_solver>);
static_assert(!assignment_solver<solver_that_asks_nobody> && !assignment_solver<int>);

// --- fields ------------------------------------------------------------------------------------------------
struct record {
    std::string host;
    std::vector<std::string> hosts;
    std::list<int> numbers;
    std::optional<std::string> maybe;
    double time;
    empirical samples;
    outcome<empirical_view> predicted;
    std::optional<float> perhaps;
    std::int16_t count;
    bool flag;
    std::string_view view;
    unsigned number;
    node_state state;
    std::optional<node_state> maybe_state;
};
static_assert(runs_on_field<std::string record::*, record> &&
              runs_on_field<std::vector<std::string> record::*, record> &&
              runs_on_field<std::list<int> record::*, record> &&
              runs_on_field<std::optional<std::string> record::*, record>);
static_assert(!runs_on_field<bool record::*, record> && !runs_on_field<no_field, record>);
static_assert(distributed_time_field<double record::*, record> &&
              distributed_time_field<empirical record::*, record> &&
              distributed_time_field<outcome<empirical_view> record::*, record> &&
              distributed_time_field<std::optional<float> record::*, record> &&
              distributed_time_field<std::int16_t record::*, record>);
static_assert(!distributed_time_field<bool record::*, record> &&
              !distributed_time_field<std::string record::*, record>);
static_assert(count_field<std::int16_t record::*, record> && !count_field<bool record::*, record> &&
              !count_field<double record::*, record>);
static_assert(node_state_field<node_state record::*, record> &&
              node_state_field<std::optional<node_state> record::*, record> &&
              !node_state_field<bool record::*, record> && !node_state_field<std::int16_t record::*, record>);

template <class RunsOn, class Node>
constexpr bool comparable(RunsOn runs_on, Node node) {
    straggler_fields const s{.runs_on = runs_on, .remaining = &record::time};
    backup_node_fields const n{.node = node, .free = &record::count};
    return detail::backup_fields_for<decltype(s), record, decltype(n), record>;
}
static_assert(comparable(&record::host, &record::host) && comparable(&record::hosts, &record::view) &&
              comparable(&record::maybe, &record::maybe) && comparable(&record::number, &record::number));
static_assert(!comparable(&record::numbers, &record::number)); // signed against unsigned
static_assert(!comparable(&record::host, &record::number) && !comparable(&record::host, &record::time));

// --- backup_predictor --------------------------------------------------------------------------------------
using by_number = decltype([](record const&, int) { return 3; });
using by_view = decltype([](record const&, int) { return empirical_view(); });
using by_outcome =
    decltype([](record const&, int) { return outcome<empirical_view>(status::insufficient_evidence); });
using with_memory = decltype([n = 0](record const&, int) mutable { return ++n; });
using in_words = decltype([](record const&, int) { return std::string("soon"); });
using of_node_only = decltype([](int) { return 3.0; });
using writes_records = decltype([](record&, int) { return 3.0; });
static_assert(backup_predictor<by_number, record, int> && backup_predictor<by_view, record, int> &&
              backup_predictor<by_outcome, record, int> && backup_predictor<with_memory, record, int> &&
              backup_predictor<double (*)(record const&, int), record, int>);
static_assert(!backup_predictor<in_words, record, int> && !backup_predictor<of_node_only, record, int> &&
              !backup_predictor<writes_records, record, int> && !backup_predictor<by_number, int, int>);

// --- assigner ----------------------------------------------------------------------------------------------
static_assert(std::same_as<decltype(assigner()), assigner<expected_gain>>);
static_assert(std::same_as<decltype(assigner(riski_2014{})), assigner<riski_2014>>);
static_assert(std::same_as<decltype(assigner(riski_2014{}, assigner_options{})), assigner<riski_2014>>);
static_assert(std::same_as<decltype(assigner(riski_2014{}, no_budget{})), assigner<riski_2014, no_budget>>);
static_assert(std::same_as<decltype(assigner(riski_2014{}, assigner_options{}, storm_guard{}, extra_load{})),
                           assigner<riski_2014, storm_guard, extra_load>>);
static_assert(std::copyable<assigner<expected_gain, copies_per_task>> &&
              std::movable<assigner<riski_2014, minimal_budget>> && std::default_initializable<assigner<>>);
[[maybe_unused]] backup_plan const& reads_plain_numbers(assigner<riski_2014, minimal_budget>& a,
                                                        std::vector<int> const& numbers) {
    straggler_fields const stragglers{.runs_on = [](int n) { return n; },
                                      .remaining = [](int n) { return n; }};
    backup_node_fields const nodes{.node = [](int n) { return n; }, .free = [](int) { return 1; }};
    return a.choose(numbers, stragglers, numbers, nodes, [](int, int n) { return 2.0 * n; });
}

} // namespace
