// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Truth tables of the concepts about records of tasks whose time is predicted.
#include "../support/archetypes.hpp"

#include <straggle/predict/similar_tasks.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace straggle_test::predictors {

using namespace straggle;

enum class flavour { plain };
struct task {
    int number;
    bool flag;
    std::string text;
    double real;
    std::chrono::milliseconds took;
    std::chrono::system_clock::time_point at;
    std::optional<int> maybe;
    std::optional<bool> maybe_flag;
    std::optional<attempt_status> status;
    flavour kind;
    minimal_id id;
    id_without_hash no_hash;

    [[nodiscard]] int reads() const;
    int writes();
};
struct other {
    int number;
};

template <auto Member>
using member = decltype(Member);
template <class T>
using gives = T (*)(task const&);

// --- numeric_field -----------------------------------------------------------------------------------------
static_assert(predict::numeric_field<member<&task::number>, task> &&
              predict::numeric_field<member<&task::real>, task> &&
              predict::numeric_field<member<&task::took>, task> &&
              predict::numeric_field<member<&task::maybe>, task> &&
              predict::numeric_field<member<&task::reads>, task> &&
              predict::numeric_field<gives<minimal_duration>, task> &&
              predict::numeric_field<gives<minimal_optional<long double>>, task>);
static_assert(!predict::numeric_field<member<&task::flag>, task>, "a flag is one of two, not an amount");
static_assert(!predict::numeric_field<member<&task::text>, task> &&
              !predict::numeric_field<member<&task::kind>, task> &&
              !predict::numeric_field<member<&task::id>, task> &&
              !predict::numeric_field<member<&task::maybe_flag>, task>);
static_assert(!predict::numeric_field<member<&task::at>, task>,
              "a point in time; take a span or an hour of the day");
static_assert(!predict::numeric_field<member<&task::writes>, task> &&
              !predict::numeric_field<member<&other::number>, task> && !predict::numeric_field<int, task> &&
              !predict::numeric_field<base::no_field, task>);

// --- categorical_field -------------------------------------------------------------------------------------
static_assert(predict::categorical_field<member<&task::number>, task> &&
              predict::categorical_field<member<&task::text>, task> &&
              predict::categorical_field<member<&task::kind>, task> &&
              predict::categorical_field<member<&task::id>, task> &&
              predict::categorical_field<member<&task::maybe>, task> &&
              predict::categorical_field<gives<std::string_view>, task>);
static_assert(predict::categorical_field<member<&task::flag>, task> &&
              predict::categorical_field<member<&task::maybe_flag>, task>);
static_assert(!predict::categorical_field<member<&task::no_hash>, task> &&
              !predict::categorical_field<member<&task::took>, task> &&
              !predict::categorical_field<member<&other::number>, task> &&
              !predict::categorical_field<base::no_field, task>);

// --- factors_for -------------------------------------------------------------------------------------------
template <class... Factors>
using list = predict::factor_list<Factors...>;
using amount = predict::numeric_factor<member<&task::number>>;
using name = predict::categorical_factor<member<&task::text>>;
static_assert(predict::factors_for<list<>, task> && predict::factors_for<list<amount>, task> &&
              predict::factors_for<list<amount, name, amount>, task>);
static_assert(!predict::factors_for<list<amount, predict::numeric_factor<member<&task::text>>>, task> &&
              !predict::factors_for<list<predict::categorical_factor<member<&task::no_hash>>, name>, task> &&
              !predict::factors_for<list<amount>, other> && !predict::factors_for<list<int>, task> &&
              !predict::factors_for<amount, task> && !predict::factors_for<base::no_field, task>);

// --- task_profile_for --------------------------------------------------------------------------------------
using node = member<&task::text>;
using time = member<&task::took>;
static_assert(
    predict::task_profile_for<predict::task_profile<node, time>, task> &&
    predict::task_profile_for<predict::task_profile<node, time, base::no_field, list<amount, name>>, task> &&
    predict::task_profile_for<predict::task_profile<node, time, member<&task::status>, list<amount>>, task> &&
    predict::task_profile_for<predict::task_profile<node, time, member<&task::flag>, list<amount>>, task>);
static_assert(!predict::task_profile_for<predict::task_profile<base::no_field, time>, task>,
              "where did it run?");
static_assert(!predict::task_profile_for<predict::task_profile<node>, task>, "how long did it take?");
static_assert(!predict::task_profile_for<predict::task_profile<node, member<&task::at>>, task> &&
              !predict::task_profile_for<predict::task_profile<member<&task::no_hash>, time>, task> &&
              !predict::task_profile_for<predict::task_profile<node, time, member<&task::number>>, task> &&
              !predict::task_profile_for<predict::task_profile<node, time, base::no_field, amount>, task> &&
              !predict::task_profile_for<predict::task_profile<node, time>, other> &&
              !predict::task_profile_for<base::no_field, task>);

// What cannot be turned into bytes is not asked to.
template <class Predictor>
concept can_be_stored = requires(Predictor const& p) { p.serialize(); };
static_assert(
    can_be_stored<
        predict::similar_tasks<task, predict::task_profile<node, time, base::no_field, list<amount, name>>>>);
static_assert(!can_be_stored<predict::similar_tasks<
                  task, predict::task_profile<node, time, base::no_field,
                                              list<predict::categorical_factor<member<&task::id>>>>>>);
static_assert(!can_be_stored<predict::similar_tasks<task, predict::task_profile<member<&task::id>, time>>>);

} // namespace straggle_test::predictors
