// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Types that can do what a concept asks for and nothing else, and for each requirement a near miss that
/// lacks it. Nothing here has a definition worth running: compiling is the test.
#pragma once

#include <straggle/blacklist/blacklister.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace straggle_test {

// --- identifiers
// ---------------------------------------------------------------------------------------------

/// Can be made, copied, compared for equality and hashed.
struct minimal_id {
    friend bool operator==(minimal_id const&, minimal_id const&) { return true; }
};
struct id_without_hash {
    friend bool operator==(id_without_hash const&, id_without_hash const&) = default;
};
struct id_without_equality {};
struct id_without_copy {
    id_without_copy() = default;
    id_without_copy(id_without_copy&&) = default;
    id_without_copy& operator=(id_without_copy&&) = default;
    friend bool operator==(id_without_copy const&, id_without_copy const&) = default;
};
struct id_without_assignment {
    int const fixed = 0;
    friend bool operator==(id_without_assignment const&, id_without_assignment const&) = default;
};
struct id_without_default {
    explicit id_without_default(int) {}
    friend bool operator==(id_without_default const&, id_without_default const&) = default;
};
struct id_with_odd_hash {
    friend bool operator==(id_with_odd_hash const&, id_with_odd_hash const&) = default;
};
/// Text, and no more than that.
struct minimal_text {
    operator std::string_view() const { return {}; }
};
struct text_only_if_asked {
    explicit operator std::string_view() const { return {}; }
};

// --- durations and times
// -------------------------------------------------------------------------------------

/// A length of time without any arithmetic.
struct minimal_duration {
    using rep = long;
    using period = int;
    [[nodiscard]] rep count() const { return 0; }
};
struct duration_without_period {
    using rep = long;
    [[nodiscard]] rep count() const { return 0; }
};
struct duration_without_rep {
    using period = int;
    [[nodiscard]] long count() const { return 0; }
};
struct duration_without_count {
    using rep = long;
    using period = int;
};
struct duration_without_const_count {
    using rep = long;
    using period = int;
    [[nodiscard]] rep count() { return 0; }
};
struct duration_of_text {
    using rep = minimal_text;
    using period = int;
    [[nodiscard]] rep count() const { return {}; }
};
struct duration_counting_text {
    using rep = long;
    using period = int;
    [[nodiscard]] minimal_text count() const { return {}; }
};

/// A point in time: ordered, copyable, and the difference is a duration.
struct minimal_time {
    friend auto operator<=>(minimal_time const&, minimal_time const&) = default;
    friend minimal_duration operator-(minimal_time const&, minimal_time const&) { return {}; }
};
struct time_without_difference {
    friend auto operator<=>(time_without_difference const&, time_without_difference const&) = default;
};
struct time_without_order {
    friend bool operator==(time_without_order const&, time_without_order const&) = default;
    friend minimal_duration operator-(time_without_order const&, time_without_order const&) { return {}; }
};
struct time_with_odd_difference {
    friend auto operator<=>(time_with_odd_difference const&, time_with_odd_difference const&) = default;
    friend minimal_text operator-(time_with_odd_difference const&, time_with_odd_difference const&) {
        return {};
    }
};
struct time_without_copy {
    time_without_copy() = default;
    time_without_copy(time_without_copy&&) = default;
    time_without_copy& operator=(time_without_copy&&) = default;
    friend auto operator<=>(time_without_copy const&, time_without_copy const&) = default;
    friend minimal_duration operator-(time_without_copy const&, time_without_copy const&) { return {}; }
};

/// Something like std::optional.
template <class T>
struct minimal_optional {
    T value{};
    [[nodiscard]] bool has_value() const { return true; }
    T const& operator*() const { return value; }
};

// --- normalizers, interval rules
// -----------------------------------------------------------------------------

struct minimal_moment_normalizer {
    straggle::outcome<straggle::rank::affine_scale<std::int64_t>>
    fit(straggle::stats::tick_moments const&) const {
        return straggle::rank::affine_scale<std::int64_t>{};
    }
    straggle::outcome<straggle::rank::affine_scale<double>> fit(straggle::stats::moments const&) const {
        return straggle::rank::affine_scale<double>{};
    }
};
struct minimal_sibling_normalizer {
    straggle::status normalize(std::span<double>, std::span<double>) const { return straggle::status::ok; }
};
template <class Base>
struct minimal_input_normalizer {
    [[nodiscard]] Base per_input() const { return {}; }
};
struct minimal_estimator {
    straggle::outcome<straggle::rank::node_performance> estimate(straggle::rank::node_sample const&) const {
        return straggle::rank::node_performance{};
    }
};
struct minimal_ranker {
    straggle::outcome<std::size_t> levels(std::span<double const>, std::span<double const>,
                                          std::span<std::uint32_t> level) {
        for (std::uint32_t& l : level) l = 0;
        return std::size_t{1};
    }
};
struct minimal_interval_rule {
    straggle::outcome<straggle::stats::interval> operator()(std::uint64_t, double, double) const noexcept {
        return straggle::stats::interval{};
    }
    straggle::stats::deviation_kind deviation() const noexcept {
        return straggle::stats::deviation_kind::sample;
    }
};

// --- policies and limits
// -------------------------------------------------------------------------------------

struct minimal_selection {
    static constexpr char const* name = "minimal_selection";
    template <class Node>
    straggle::blacklist::selection_note select(std::span<Node const>, straggle::blacklist::selection_scratch&,
                                               std::vector<straggle::blacklist::candidate>&) {
        return {};
    }
};
struct minimal_guard {
    static constexpr char const* name = "minimal_guard";
    template <class Ranking>
    void begin(Ranking const&, std::size_t) {}
    template <class NodeId>
    bool admits(NodeId const&) {
        return true;
    }
    template <class NodeId>
    void take(NodeId const&) {}
};

} // namespace straggle_test

template <>
struct std::hash<straggle_test::minimal_id> {
    std::size_t operator()(straggle_test::minimal_id const&) const { return 0; }
};
template <>
struct std::hash<straggle_test::id_without_equality> {
    std::size_t operator()(straggle_test::id_without_equality const&) const { return 0; }
};
template <>
struct std::hash<straggle_test::id_without_copy> {
    std::size_t operator()(straggle_test::id_without_copy const&) const { return 0; }
};
template <>
struct std::hash<straggle_test::id_without_assignment> {
    std::size_t operator()(straggle_test::id_without_assignment const&) const { return 0; }
};
template <>
struct std::hash<straggle_test::id_without_default> {
    std::size_t operator()(straggle_test::id_without_default const&) const { return 0; }
};
template <>
struct std::hash<straggle_test::id_with_odd_hash> {
    straggle_test::minimal_text operator()(straggle_test::id_with_odd_hash const&) const { return {}; }
};
