// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The fields of a record, one concept each, so that a diagnostic names the field that does not fit.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/projection.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::record {

/// The group of sibling tasks an attempt belongs to, which are all expected to take equally long.
template <class Field, class Record>
concept job_field =
    base::projection_of<Field, Record> && base::identifier<detail::field_value_t<Field, Record>>;

/// The node the attempt ran on.
template <class Field, class Record>
concept node_field =
    base::projection_of<Field, Record> && base::identifier<detail::field_value_t<Field, Record>>;

/// The task that the attempt executes, unique within its job.
template <class Field, class Record>
concept task_field =
    base::projection_of<Field, Record> && base::identifier<detail::field_value_t<Field, Record>>;

/// How long the attempt ran; may be optional.
template <class Field, class Record>
concept duration_field =
    base::projection_of<Field, Record> && base::duration_like<detail::field_value_t<Field, Record>>;

/// When the attempt started or ended; may be optional.
template <class Field, class Record>
concept time_field =
    base::projection_of<Field, Record> && base::time_like<detail::field_value_t<Field, Record>>;

/// How much the attempt read, in any unit of work; may be optional.
template <class Field, class Record>
concept input_field =
    base::projection_of<Field, Record> && std::is_arithmetic_v<detail::field_value_t<Field, Record>> &&
    !std::same_as<detail::field_value_t<Field, Record>, bool>;

/// A label whose spelling does not matter, such as a kind of job, a machine class or a rack; may be optional.
template <class Field, class Record>
concept label_field =
    base::projection_of<Field, Record> && base::identifier<detail::field_value_t<Field, Record>>;

/// Yes or no; may be optional: an empty one counts as a missing field.
template <class Field, class Record>
concept flag_field =
    base::projection_of<Field, Record> && std::same_as<detail::field_value_t<Field, Record>, bool>;

/// A count: a whole number; may be optional. Negative and unknown values count as 0.
template <class Field, class Record>
concept count_field =
    base::projection_of<Field, Record> && std::integral<detail::field_value_t<Field, Record>> &&
    !std::same_as<detail::field_value_t<Field, Record>, bool>;

} // namespace straggle::record

namespace straggle::inline STRAGGLE_ABI::detail {

// The user's flag, or `otherwise` if unknown.
template <class Projection, class Record>
bool read_flag(Projection const& projection, Record const& record, bool otherwise) {
    auto const& field = project(projection, record);
    return is_present(field) ? static_cast<bool>(unwrap(field)) : otherwise;
}

// The user's count, or `otherwise` if unknown.
template <class T>
constexpr std::uint32_t read_count(T const& field, std::uint32_t otherwise = 0) noexcept {
    if (!is_present(field)) return otherwise;
    auto const n = unwrap(field);
    if constexpr (std::is_signed_v<decltype(n)>)
        if (n < 0) return 0;
    constexpr std::uint64_t most = (std::numeric_limits<std::uint32_t>::max)();
    auto const count = static_cast<std::uint64_t>(n);
    return static_cast<std::uint32_t>(count < most ? count : most);
}

} // namespace straggle::detail
