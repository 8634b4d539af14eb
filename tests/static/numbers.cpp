// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Truth tables of the concepts about numbers: normalisers, interval rules, random engines.
#include "../support/archetypes.hpp"

#include <straggle/core/random.hpp>
#include <straggle/node/sibling_normalizers.hpp>

#include <cstdint>
#include <random>

namespace {

using namespace straggle;
using namespace straggle_test;

using tick_scale = outcome<affine_scale<std::int64_t>>;
using real_scale = outcome<affine_scale<double>>;

// --- moment_normalizer -------------------------------------------------------------------------------------
struct only_ticks {
    tick_scale fit(tick_moments const&) const;
};
struct only_reals {
    real_scale fit(moments const&) const;
};
struct changing_fit {
    tick_scale fit(tick_moments const&);
    real_scale fit(moments const&);
};
struct bare_scale { // no way to say that there is none
    affine_scale<std::int64_t> fit(tick_moments const&) const;
    affine_scale<double> fit(moments const&) const;
};
struct real_scale_for_ticks {
    real_scale fit(tick_moments const&) const;
    real_scale fit(moments const&) const;
};
struct move_only_fit {
    move_only_fit(move_only_fit&&) = default;
    tick_scale fit(tick_moments const&) const;
    real_scale fit(moments const&) const;
};
static_assert(moment_normalizer<z_score> && moment_normalizer<minimal_moment_normalizer>);
static_assert(!moment_normalizer<only_ticks> && !moment_normalizer<only_reals> &&
              !moment_normalizer<changing_fit> && !moment_normalizer<bare_scale> &&
              !moment_normalizer<real_scale_for_ticks> && !moment_normalizer<move_only_fit>);
static_assert(!moment_normalizer<robust_z> && !moment_normalizer<work_rate<>> && !moment_normalizer<int>);

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
static_assert(sibling_normalizer<robust_z> && sibling_normalizer<ratio_to_median> &&
              sibling_normalizer<leave_one_out_z> && sibling_normalizer<minimal_sibling_normalizer>);
static_assert(!sibling_normalizer<changing_normalize> && !sibling_normalizer<silent_normalize> &&
              !sibling_normalizer<true_or_false_normalize> && !sibling_normalizer<without_scratch> &&
              !sibling_normalizer<single_precision> && !sibling_normalizer<move_only_normalize>);
static_assert(!sibling_normalizer<z_score> && !sibling_normalizer<work_rate<robust_z>>);

// --- input_normalizer, normalizer --------------------------------------------------------------------------
struct changing_per_input {
    z_score per_input();
};
static_assert(input_normalizer<work_rate<>> && input_normalizer<work_rate<robust_z>>);
static_assert(input_normalizer<minimal_input_normalizer<minimal_moment_normalizer>> &&
              input_normalizer<minimal_input_normalizer<minimal_sibling_normalizer>>);
static_assert(!input_normalizer<minimal_input_normalizer<int>> && !input_normalizer<changing_per_input> &&
              !input_normalizer<minimal_input_normalizer<only_ticks>>);
static_assert(!input_normalizer<minimal_input_normalizer<work_rate<>>>, "input is divided by once");
static_assert(!input_normalizer<z_score> && !input_normalizer<robust_z>);

static_assert(normalizer<z_score> && normalizer<robust_z> && normalizer<ratio_to_median> &&
              normalizer<leave_one_out_z> && normalizer<work_rate<>>);
static_assert(normalizer<minimal_moment_normalizer> && normalizer<minimal_sibling_normalizer> &&
              normalizer<minimal_input_normalizer<minimal_sibling_normalizer>>);
static_assert(!normalizer<only_ticks> && !normalizer<without_scratch> && !normalizer<changing_per_input> &&
              !normalizer<int> && !normalizer<t_interval>);

// --- interval_rule -----------------------------------------------------------------------------------------
struct rule_that_throws : minimal_interval_rule {
    outcome<interval> operator()(std::uint64_t, double, double) const;
};
struct rule_without_deviation {
    outcome<interval> operator()(std::uint64_t, double, double) const noexcept;
};
struct rule_with_throwing_deviation : minimal_interval_rule {
    deviation_kind deviation() const;
};
struct rule_that_always_answers : minimal_interval_rule {
    interval operator()(std::uint64_t, double, double) const noexcept;
};
struct rule_that_changes : minimal_interval_rule {
    outcome<interval> operator()(std::uint64_t, double, double) noexcept;
};
struct rule_without_count : minimal_interval_rule {
    outcome<interval> operator()(double, double) const noexcept;
};
struct rule_with_odd_deviation : minimal_interval_rule {
    int deviation() const noexcept;
};
struct rule_that_only_moves : minimal_interval_rule {
    rule_that_only_moves(rule_that_only_moves&&) = default;
};
static_assert(interval_rule<t_interval> && interval_rule<minimal_interval_rule>);
static_assert(!interval_rule<rule_that_throws> && !interval_rule<rule_without_deviation> &&
              !interval_rule<rule_with_throwing_deviation> && !interval_rule<rule_that_always_answers> &&
              !interval_rule<rule_that_changes> && !interval_rule<rule_without_count> &&
              !interval_rule<rule_with_odd_deviation> && !interval_rule<rule_that_only_moves> &&
              !interval_rule<int>);

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
static_assert(random_engine<std::mt19937> && random_engine<std::mt19937_64> &&
              random_engine<std::random_device> && random_engine<std::ranlux24_base> &&
              random_engine<std::ranlux48>);
static_assert(random_engine<engine<std::uint64_t, 0, ~std::uint64_t{0}>> &&
              random_engine<engine<std::uint8_t, 0, 255>> && random_engine<engine<std::uint32_t, 0, 1>>);
static_assert(!random_engine<std::minstd_rand> && !random_engine<std::knuth_b>,
              "their ranges are not whole bits");
static_assert(!random_engine<engine<std::uint32_t, 1, 4>> &&
              !random_engine<engine<std::uint32_t, 1, 0xffffffff>> &&
              !random_engine<engine<std::uint32_t, 0, 2>> && !random_engine<engine<std::uint32_t, 0, 0>>);
static_assert(!random_engine<engine<int, 0, 1>> && !random_engine<engine<std::int64_t, 0, 0x7fffffff>>,
              "signed");
static_assert(!random_engine<engine_with_run_time_range> && !random_engine<int> && !random_engine<int (*)()>);
static_assert(!random_engine<std::mt19937 const>, "drawing changes it");
static_assert(!random_engine<engine_that_only_works_const>);

} // namespace
