// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Truth tables of the concepts about numbers: normalizers, interval rules, random engines.
#include "../support/archetypes.hpp"

#include <straggle/base/random.hpp>
#include <straggle/rank/sibling_normalizers.hpp>

#include <chrono>
#include <cstdint>
#include <random>

namespace {

using namespace straggle;
using namespace straggle_test;

using tick_scale = outcome<rank::affine_scale<std::int64_t>>;
using real_scale = outcome<rank::affine_scale<double>>;

// --- moment_normalizer -------------------------------------------------------------------------------------
struct only_ticks {
    tick_scale fit(stats::tick_moments const&) const;
};
struct only_reals {
    real_scale fit(stats::moments const&) const;
};
struct changing_fit {
    tick_scale fit(stats::tick_moments const&);
    real_scale fit(stats::moments const&);
};
struct bare_scale { // no way to say that there is none
    rank::affine_scale<std::int64_t> fit(stats::tick_moments const&) const;
    rank::affine_scale<double> fit(stats::moments const&) const;
};
struct real_scale_for_ticks {
    real_scale fit(stats::tick_moments const&) const;
    real_scale fit(stats::moments const&) const;
};
struct move_only_fit {
    move_only_fit(move_only_fit&&) = default;
    tick_scale fit(stats::tick_moments const&) const;
    real_scale fit(stats::moments const&) const;
};
static_assert(rank::moment_normalizer<rank::z_score> && rank::moment_normalizer<minimal_moment_normalizer>);
static_assert(!rank::moment_normalizer<only_ticks> && !rank::moment_normalizer<only_reals> &&
              !rank::moment_normalizer<changing_fit> && !rank::moment_normalizer<bare_scale> &&
              !rank::moment_normalizer<real_scale_for_ticks> && !rank::moment_normalizer<move_only_fit>);
static_assert(!rank::moment_normalizer<rank::robust_z> && !rank::moment_normalizer<rank::work_rate<>> &&
              !rank::moment_normalizer<int>);

// --- duration_like, clock_time: what is wider than 64 bits would be cut -----------------------------------
#if defined(__SIZEOF_INT128__)
__extension__ typedef __int128 wide_integer;
static_assert(!base::duration_like<wide_integer> && !base::clock_time<wide_integer>);
static_assert(!base::duration_like<std::chrono::duration<wide_integer>>);
static_assert(!base::clock_time<std::chrono::sys_time<std::chrono::duration<wide_integer>>>);
#endif
static_assert(base::duration_like<std::uint64_t> && base::duration_like<long double> &&
              base::duration_like<std::chrono::duration<std::int64_t>> && !base::duration_like<bool>);
static_assert(base::clock_time<std::uint64_t> && base::clock_time<std::chrono::sys_seconds>);

// --- sibling_normalizer ------------------------------------------------------------------------------------
struct changing_normalize {
    status normalize(std::span<double>, std::span<double>);
};
struct silent_normalize {
    void normalize(std::span<double>, std::span<double>) const;
};
struct true_or_false_normalize {
    bool normalize(std::span<double>, std::span<double>) const;
};
struct without_scratch {
    status normalize(std::span<double>) const;
};
struct single_precision {
    status normalize(std::span<float>, std::span<float>) const;
};
struct move_only_normalize {
    move_only_normalize(move_only_normalize&&) = default;
    status normalize(std::span<double>, std::span<double>) const;
};
static_assert(rank::sibling_normalizer<rank::robust_z> && rank::sibling_normalizer<rank::ratio_to_median> &&
              rank::sibling_normalizer<rank::leave_one_out_z> &&
              rank::sibling_normalizer<minimal_sibling_normalizer>);
static_assert(!rank::sibling_normalizer<changing_normalize> && !rank::sibling_normalizer<silent_normalize> &&
              !rank::sibling_normalizer<true_or_false_normalize> &&
              !rank::sibling_normalizer<without_scratch> && !rank::sibling_normalizer<single_precision> &&
              !rank::sibling_normalizer<move_only_normalize>);
static_assert(!rank::sibling_normalizer<rank::z_score> &&
              !rank::sibling_normalizer<rank::work_rate<rank::robust_z>>);

// --- input_normalizer, normalizer --------------------------------------------------------------------------
struct changing_per_input {
    rank::z_score per_input();
};
static_assert(rank::input_normalizer<rank::work_rate<>> &&
              rank::input_normalizer<rank::work_rate<rank::robust_z>>);
static_assert(rank::input_normalizer<minimal_input_normalizer<minimal_moment_normalizer>> &&
              rank::input_normalizer<minimal_input_normalizer<minimal_sibling_normalizer>>);
static_assert(!rank::input_normalizer<minimal_input_normalizer<int>> &&
              !rank::input_normalizer<changing_per_input> &&
              !rank::input_normalizer<minimal_input_normalizer<only_ticks>>);
static_assert(!rank::input_normalizer<minimal_input_normalizer<rank::work_rate<>>>,
              "input is divided by once");
static_assert(!rank::input_normalizer<rank::z_score> && !rank::input_normalizer<rank::robust_z>);

static_assert(rank::normalizer<rank::z_score> && rank::normalizer<rank::robust_z> &&
              rank::normalizer<rank::ratio_to_median> && rank::normalizer<rank::leave_one_out_z> &&
              rank::normalizer<rank::work_rate<>>);
static_assert(rank::normalizer<minimal_moment_normalizer> && rank::normalizer<minimal_sibling_normalizer> &&
              rank::normalizer<minimal_input_normalizer<minimal_sibling_normalizer>>);
static_assert(!rank::normalizer<only_ticks> && !rank::normalizer<without_scratch> &&
              !rank::normalizer<changing_per_input> && !rank::normalizer<int> &&
              !rank::normalizer<stats::t_interval>);

// --- interval_rule -----------------------------------------------------------------------------------------
struct rule_that_throws : minimal_interval_rule {
    outcome<stats::interval> operator()(std::uint64_t, double, double) const;
};
struct rule_without_deviation {
    outcome<stats::interval> operator()(std::uint64_t, double, double) const noexcept;
};
struct rule_with_throwing_deviation : minimal_interval_rule {
    stats::deviation_kind deviation() const;
};
struct rule_that_always_answers : minimal_interval_rule {
    stats::interval operator()(std::uint64_t, double, double) const noexcept;
};
struct rule_that_changes : minimal_interval_rule {
    outcome<stats::interval> operator()(std::uint64_t, double, double) noexcept;
};
struct rule_without_count : minimal_interval_rule {
    outcome<stats::interval> operator()(double, double) const noexcept;
};
struct rule_with_odd_deviation : minimal_interval_rule {
    int deviation() const noexcept;
};
struct rule_that_only_moves : minimal_interval_rule {
    rule_that_only_moves(rule_that_only_moves&&) = default;
};
static_assert(stats::interval_rule<stats::t_interval> && stats::interval_rule<minimal_interval_rule>);
static_assert(!stats::interval_rule<rule_that_throws> && !stats::interval_rule<rule_without_deviation> &&
              !stats::interval_rule<rule_with_throwing_deviation> &&
              !stats::interval_rule<rule_that_always_answers> && !stats::interval_rule<rule_that_changes> &&
              !stats::interval_rule<rule_without_count> && !stats::interval_rule<rule_with_odd_deviation> &&
              !stats::interval_rule<rule_that_only_moves> && !stats::interval_rule<int>);

// --- interval_estimator and ranker
// --------------------------------------------------------------------------
struct estimator_that_always_answers {
    rank::node_performance estimate(rank::node_sample const&) const;
};
struct estimator_that_changes {
    outcome<rank::node_performance> estimate(rank::node_sample const&);
};
struct estimator_of_moments {
    outcome<rank::node_performance> estimate(rank::score_moments const&) const;
};
static_assert(rank::interval_estimator<rank::mean_interval<>> &&
              rank::interval_estimator<rank::mean_interval<minimal_interval_rule>> &&
              rank::interval_estimator<rank::slowdown_interval> &&
              rank::interval_estimator<minimal_estimator>);
static_assert(!rank::interval_estimator<estimator_that_always_answers> &&
              !rank::interval_estimator<estimator_that_changes> &&
              !rank::interval_estimator<estimator_of_moments> &&
              !rank::interval_estimator<stats::t_interval> && !rank::interval_estimator<int>);

struct ranker_without_status {
    std::size_t levels(std::span<double const>, std::span<double const>, std::span<std::uint32_t>);
};
struct ranker_of_wide_levels {
    outcome<std::size_t> levels(std::span<double const>, std::span<double const>, std::span<std::uint64_t>);
};
struct ranker_that_only_moves : minimal_ranker {
    ranker_that_only_moves(ranker_that_only_moves&&) = default;
};
static_assert(rank::ranker<rank::p_cores> && rank::ranker<minimal_ranker>);
static_assert(!rank::ranker<ranker_without_status> && !rank::ranker<ranker_of_wide_levels> &&
              !rank::ranker<ranker_that_only_moves> && !rank::ranker<rank::edge_rule>);

// --- random_engine -----------------------------------------------------------------------------------------
template <class Word, Word Min, Word Max>
struct engine {
    static constexpr Word min() { return Min; }
    static constexpr Word max() { return Max; }
    Word operator()() { return Min; }
};
struct engine_with_run_time_range {
    std::uint32_t min() const;
    std::uint32_t max() const;
    std::uint32_t operator()();
};
struct engine_that_only_works_const : engine<std::uint32_t, 0, 1> {
    std::uint32_t operator()(int) const;
};
static_assert(base::random_engine<std::mt19937> && base::random_engine<std::mt19937_64> &&
              base::random_engine<std::random_device> && base::random_engine<std::ranlux24_base> &&
              base::random_engine<std::ranlux48>);
static_assert(base::random_engine<engine<std::uint64_t, 0, ~std::uint64_t{0}>> &&
              base::random_engine<engine<std::uint8_t, 0, 255>> &&
              base::random_engine<engine<std::uint32_t, 0, 1>>);
static_assert(!base::random_engine<std::minstd_rand> && !base::random_engine<std::knuth_b>,
              "their ranges are not whole bits");
static_assert(!base::random_engine<engine<std::uint32_t, 1, 4>> &&
              !base::random_engine<engine<std::uint32_t, 1, 0xffffffff>> &&
              !base::random_engine<engine<std::uint32_t, 0, 2>> &&
              !base::random_engine<engine<std::uint32_t, 0, 0>>);
static_assert(!base::random_engine<engine<int, 0, 1>> &&
                  !base::random_engine<engine<std::int64_t, 0, 0x7fffffff>>,
              "signed");
static_assert(!base::random_engine<engine_with_run_time_range> && !base::random_engine<int> &&
              !base::random_engine<int (*)()>);
static_assert(!base::random_engine<std::mt19937 const>, "drawing changes it");
static_assert(!base::random_engine<engine_that_only_works_const>);

} // namespace
