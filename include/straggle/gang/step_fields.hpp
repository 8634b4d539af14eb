// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Defines the reports of a gang's ranks: which of the user's members hold the step, the rank, its node and
/// the time, and why a report could not be used.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/projection.hpp>
#include <straggle/record/field.hpp>
#include <straggle/record/reason_counts.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::gang {

/// Maps the members of a report to their meaning. An aggregate for designated initializers.
///
/// A rank reports a step once, or once for each section and microbatch of it. Either pass a `duration`, and
/// how much of it the rank `waited` for others; or pass when the rank `arrived` at a barrier, from which its
/// work follows: the time from the release of the previous barrier, which is the last arrival there, to its
/// own arrival.
///
/// @par Example
/// `step_fields{.step = &report::step, .rank = &report::rank, .node = &report::host,
/// .duration = &report::seconds, .waited = &report::in_all_reduce}`
///
/// Any projection may yield a `std::optional`: an empty one means unknown.
template <class Step = base::no_field, class Rank = base::no_field, class Node = base::no_field,
          class Section = base::no_field, class Stage = base::no_field, class Duration = base::no_field,
          class Waited = base::no_field, class Arrived = base::no_field>
struct step_fields {
    [[no_unique_address]] Step step{}; ///< a whole number that increases from step to step
    [[no_unique_address]] Rank rank{}; ///< identifier: one worker of the gang
    [[no_unique_address]] Node node{}; ///< `node_field`; if absent, each rank is its own node
    [[no_unique_address]] Section
        section{}; ///< `label_field`: forward, data, ...; if absent, there is one section
    [[no_unique_address]] Stage stage{}; ///< `label_field`: ranks with the same work; if absent, all ranks
    [[no_unique_address]] Duration duration{}; ///< `duration_field`: of the section, including waits
    [[no_unique_address]] Waited
        waited{}; ///< `duration_field`: part of it spent waiting for other ranks; if absent, 0
    [[no_unique_address]] Arrived arrived{}; ///< `time_field`: at the barrier that ends the section
};

/// Fields with which a `Report` can be read: with a duration or an arrival, not both.
template <class Fields, class Report>
concept step_fields_for =
    base::projection_of<decltype(Fields::step), Report> &&
    std::integral<detail::field_value_t<decltype(Fields::step), Report>> &&
    record::label_field<decltype(Fields::rank), Report> &&
    (!detail::given<decltype(Fields::node)> || record::node_field<decltype(Fields::node), Report>) &&
    (!detail::given<decltype(Fields::section)> || record::label_field<decltype(Fields::section), Report>) &&
    (!detail::given<decltype(Fields::stage)> || record::label_field<decltype(Fields::stage), Report>) &&
    (detail::given<decltype(Fields::arrived)>
         ? record::time_field<decltype(Fields::arrived), Report> &&
               !detail::given<decltype(Fields::duration)> && !detail::given<decltype(Fields::waited)>
         : record::duration_field<decltype(Fields::duration), Report> &&
               (!detail::given<decltype(Fields::waited)> ||
                record::duration_field<decltype(Fields::waited), Report>));

/// Why a report could not be used.
enum class step_rejection : std::uint8_t {
    missing_field, ///< the step, the rank or the time is an empty optional
    bad_time,      ///< not finite, negative, or waited longer than it took
    late,          ///< its step is closed
    ahead,         ///< its step is one that most ranks did not reach
    no_room,       ///< a rank, section, stage or node beyond the limits of the options
};
/// Number of reasons, for `record::reason_counts`.
[[nodiscard]] constexpr std::size_t reason_count(step_rejection) noexcept {
    return 5;
}
/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(step_rejection r) noexcept {
    constexpr std::array<std::string_view, 5> names{"missing_field", "bad_time", "late", "ahead", "no_room"};
    return names[static_cast<std::size_t>(r)];
}

/// What became of the reports.
/// @par Guarantees
/// `seen == used + rejected.total()`
struct step_counts {
    std::uint64_t seen = 0;                           ///< reports
    std::uint64_t used = 0;                           ///< reports whose time was used
    std::uint64_t steps = 0;                          ///< steps closed
    record::reason_counts<step_rejection> rejected{}; ///< why the others were rejected
    friend constexpr bool operator==(step_counts const&, step_counts const&) = default;
};

} // namespace straggle::gang
