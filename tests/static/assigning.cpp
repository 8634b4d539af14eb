// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Truth tables of the concepts about copies: limits, solvers, the fields of stragglers and nodes,
// predictors; and what an assigner is made of.
#include <straggle/assign/assigner.hpp>
#include <straggle/assign/optimal_assignment.hpp>
#include <straggle/papers/riski_2014.hpp>

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace straggle;
using riski_profit = papers::riski_2014::profit;

// --- copy_limit -------------------------------------------------------------------------------------------
struct named {
    static constexpr std::string_view name = "named";
};
struct minimal_budget : named { // what the concept asks for, and no more
    void begin(cluster_load const&, std::size_t) {}
    bool admits(assign::backup_request const&) { return true; }
    void take(assign::backup_request const&) {}
};
struct budget_without_name {
    void begin(cluster_load const&, std::size_t);
    bool admits(assign::backup_request const&);
    void take(assign::backup_request const&);
};
struct budget_with_empty_name : budget_without_name {
    static constexpr std::string_view name = "";
};
struct budget_without_begin : named {
    bool admits(assign::backup_request const&);
    void take(assign::backup_request const&);
};
struct budget_without_admits : named {
    void begin(cluster_load const&, std::size_t);
    void take(assign::backup_request const&);
};
struct budget_without_take : named {
    void begin(cluster_load const&, std::size_t);
    bool admits(assign::backup_request const&);
};
struct budget_that_counts : budget_without_take {
    int admits(assign::backup_request const&);
    void take(assign::backup_request const&);
};
struct budget_that_writes_loads : minimal_budget {
    void begin(cluster_load&, std::size_t);
};
struct budget_that_cannot_move : minimal_budget {
    budget_that_cannot_move(budget_that_cannot_move&&) = delete;
};
static_assert(assign::copy_limit<straggle::record::unlimited> &&
              assign::copy_limit<assign::copies_per_task> && assign::copy_limit<assign::speculative_cap> &&
              assign::copy_limit<assign::retry_budget> && assign::copy_limit<assign::suspect_share_limit> &&
              assign::copy_limit<std::optional<assign::suspect_share_limit>> &&
              assign::copy_limit<minimal_budget>);
static_assert(!assign::copy_limit<budget_without_name> && !assign::copy_limit<budget_with_empty_name> &&
              !assign::copy_limit<budget_without_begin> && !assign::copy_limit<budget_without_admits> &&
              !assign::copy_limit<budget_without_take> && !assign::copy_limit<budget_that_counts> &&
              !assign::copy_limit<budget_that_writes_loads> && !assign::copy_limit<budget_that_cannot_move> &&
              !assign::copy_limit<assign::expected_gain> && !assign::copy_limit<assign::assigner_options> &&
              !assign::copy_limit<int>);

// --- matching ----------------------------------------------------------------------------------------------
struct minimal_matching : named {
    template <class Admit>
    void operator()(assign::assignable_pairs const&, std::span<std::uint32_t const>,
                    std::vector<assign::assigned_pair>&, Admit&&);
};
struct matching_that_asks_no_limit : named {
    void operator()(assign::assignable_pairs const&, std::span<std::uint32_t const>,
                    std::vector<assign::assigned_pair>&);
};
static_assert(assign::matching<assign::assignment_in_turn> && assign::matching<assign::greedy_assignment> &&
              assign::matching<assign::optimal_assignment> && assign::matching<minimal_matching>);
struct matching_that_only_moves : minimal_matching {
    matching_that_only_moves(matching_that_only_moves&&) = default;
};
static_assert(!assign::matching<matching_that_only_moves> && !assign::matching<assign::copies_per_task> &&
              !assign::matching<matching_that_asks_no_limit> && !assign::matching<int>);

// --- fields ------------------------------------------------------------------------------------------------
struct record {
    std::string host;
    std::vector<std::string> hosts;
    std::list<int> numbers;
    std::optional<std::string> maybe;
    double time;
    stats::empirical samples;
    outcome<stats::empirical_view> predicted;
    std::optional<float> perhaps;
    std::int16_t count;
    bool flag;
    std::string_view view;
    unsigned number;
    node_state state;
    std::optional<node_state> maybe_state;
};
static_assert(assign::runs_on_field<std::string record::*, record> &&
              assign::runs_on_field<std::vector<std::string> record::*, record> &&
              assign::runs_on_field<std::list<int> record::*, record> &&
              assign::runs_on_field<std::optional<std::string> record::*, record>);
static_assert(!assign::runs_on_field<bool record::*, record> &&
              !assign::runs_on_field<base::no_field, record>);
static_assert(assign::distributed_time_field<double record::*, record> &&
              assign::distributed_time_field<stats::empirical record::*, record> &&
              assign::distributed_time_field<outcome<stats::empirical_view> record::*, record> &&
              assign::distributed_time_field<std::optional<float> record::*, record> &&
              assign::distributed_time_field<std::int16_t record::*, record>);
static_assert(!assign::distributed_time_field<bool record::*, record> &&
              !assign::distributed_time_field<std::string record::*, record>);
static_assert(straggle::record::count_field<std::int16_t record::*, record> &&
              !straggle::record::count_field<bool record::*, record> &&
              !straggle::record::count_field<double record::*, record>);
static_assert(assign::node_state_field<node_state record::*, record> &&
              assign::node_state_field<std::optional<node_state> record::*, record> &&
              !assign::node_state_field<bool record::*, record> &&
              !assign::node_state_field<std::int16_t record::*, record>);

template <class RunsOn, class Node>
constexpr bool comparable(RunsOn runs_on, Node node) {
    assign::straggler_fields const s{.runs_on = runs_on, .remaining = &record::time};
    assign::backup_node_fields const n{.node = node, .free = &record::count};
    return detail::backup_fields_for<decltype(s), record, decltype(n), record>;
}
static_assert(comparable(&record::host, &record::host) && comparable(&record::hosts, &record::view) &&
              comparable(&record::maybe, &record::maybe) && comparable(&record::number, &record::number));
static_assert(!comparable(&record::numbers, &record::number)); // signed against unsigned
static_assert(!comparable(&record::host, &record::number) && !comparable(&record::host, &record::time));

// --- backup_predictor --------------------------------------------------------------------------------------
using by_number = decltype([](record const&, int) { return 3; });
using by_view = decltype([](record const&, int) { return stats::empirical_view(); });
using by_outcome = decltype([](record const&, int) {
    return outcome<stats::empirical_view>(status::insufficient_evidence);
});
using with_memory = decltype([n = 0](record const&, int) mutable { return ++n; });
using in_words = decltype([](record const&, int) { return std::string("soon"); });
using of_node_only = decltype([](int) { return 3.0; });
using writes_records = decltype([](record&, int) { return 3.0; });
static_assert(assign::backup_predictor<by_number, record, int> &&
              assign::backup_predictor<by_view, record, int> &&
              assign::backup_predictor<by_outcome, record, int> &&
              assign::backup_predictor<with_memory, record, int> &&
              assign::backup_predictor<double (*)(record const&, int), record, int>);
static_assert(!assign::backup_predictor<in_words, record, int> &&
              !assign::backup_predictor<of_node_only, record, int> &&
              !assign::backup_predictor<writes_records, record, int> &&
              !assign::backup_predictor<by_number, int, int>);

// --- assigner ----------------------------------------------------------------------------------------------
static_assert(std::same_as<decltype(assign::assigner()), assign::assigner<assign::expected_gain>>);
static_assert(std::same_as<decltype(assign::assigner(riski_profit{})), assign::assigner<riski_profit>>);
static_assert(std::same_as<decltype(assign::assigner(riski_profit{}, assign::assigner_options{})),
                           assign::assigner<riski_profit>>);
static_assert(
    std::same_as<decltype(assign::assigner(riski_profit{}, straggle::record::unlimited{})),
                 assign::assigner<riski_profit, assign::greedy_assignment, straggle::record::unlimited>>);
static_assert(std::same_as<decltype(assign::assigner(riski_profit{}, assign::assigner_options{},
                                                     assign::suspect_share_limit{}, assign::retry_budget{})),
                           assign::assigner<riski_profit, assign::greedy_assignment,
                                            assign::suspect_share_limit, assign::retry_budget>>);
static_assert(std::same_as<decltype(assign::assigner(riski_profit{}, minimal_matching{})),
                           assign::assigner<riski_profit, minimal_matching>>);
static_assert(std::same_as<decltype(assign::assigner(riski_profit{}, assign::optimal_assignment{},
                                                     assign::assigner_options{}, assign::retry_budget{})),
                           assign::assigner<riski_profit, assign::optimal_assignment, assign::retry_budget>>);
static_assert(std::copyable<assign::assigner<assign::expected_gain, assign::greedy_assignment,
                                             assign::copies_per_task>> &&
              std::movable<assign::assigner<riski_profit, assign::greedy_assignment, minimal_budget>> &&
              std::default_initializable<assign::assigner<>>);
[[maybe_unused]] assign::backup_plan const&
reads_plain_numbers(assign::assigner<riski_profit, assign::greedy_assignment, minimal_budget>& a,
                    std::vector<int> const& numbers) {
    assign::straggler_fields const stragglers{.runs_on = [](int n) { return n; },
                                              .remaining = [](int n) { return n; }};
    assign::backup_node_fields const nodes{.node = [](int n) { return n; }, .free = [](int) { return 1; }};
    return a.choose(numbers, stragglers, numbers, nodes, [](int, int n) { return 2.0 * n; });
}

} // namespace
