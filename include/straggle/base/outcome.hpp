// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A value, or the reason why there is none. A missing value is never a sentinel such as -1, NaN or infinity.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace straggle::inline STRAGGLE_ABI {

/// Why a computation has, or does not have, a value.
enum class status : std::uint8_t {
    ok,                    ///< there is a value
    out_of_domain,         ///< an argument is NaN or outside the mathematical domain
    out_of_range,          ///< the true result exists, but no finite number of the type can represent it
    insufficient_evidence, ///< too few observations for a result
    no_spread,             ///< all observations are equal where a spread is required
    truncated,             ///< stored bytes end prematurely
    corrupt,               ///< stored bytes are damaged: the checksum or the content is invalid
    unknown_version,       ///< stored bytes were written by a newer version of the library
    wrong_kind,            ///< stored bytes of another kind, or with other types of identifiers or durations
};

/// The name of the enumerator, for logs.
[[nodiscard]] constexpr std::string_view to_string(status s) noexcept {
    switch (s) {
    case status::ok:
        return "ok";
    case status::out_of_domain:
        return "out_of_domain";
    case status::out_of_range:
        return "out_of_range";
    case status::insufficient_evidence:
        return "insufficient_evidence";
    case status::no_spread:
        return "no_spread";
    case status::truncated:
        return "truncated";
    case status::corrupt:
        return "corrupt";
    case status::unknown_version:
        return "unknown_version";
    case status::wrong_kind:
        return "wrong_kind";
    }
    return "unknown";
}

/// A value of type `T` or a `status` that is not `ok`.
/// @tparam T a trivially copyable or otherwise cheap value; default constructible
/// @par Guarantees
/// never throws or allocates by itself; usable in constant expressions
/// @par Cost
/// `sizeof(T)` and one byte (before padding); returned in registers for `double`
template <class T>
class [[nodiscard]] outcome {
  public:
    using value_type = T;

    /// Creates an outcome with a value.
    constexpr outcome(T value) noexcept(std::is_nothrow_move_constructible_v<T>) : value_(std::move(value)) {}

    /// Creates an outcome without a value.
    /// @pre `reason != status::ok`
    constexpr outcome(status reason) : reason_(reason) { STRAGGLE_EXPECTS(reason != status::ok); }

    /// True when there is a value.
    [[nodiscard]] constexpr bool has_value() const noexcept { return reason_ == status::ok; }
    /// True when there is a value.
    constexpr explicit operator bool() const noexcept { return has_value(); }
    /// `status::ok`, or why there is no value.
    [[nodiscard]] constexpr status reason() const noexcept { return reason_; }

    /// The value. @pre there is one
    [[nodiscard]] constexpr T const& value() const {
        STRAGGLE_EXPECTS(has_value());
        return value_;
    }
    /// The value. @pre there is one
    [[nodiscard]] constexpr T const& operator*() const { return value(); }
    /// Access to a member of the value. @pre there is one
    [[nodiscard]] constexpr T const* operator->() const { return &value(); }

    /// The value, or `fallback` if there is none.
    [[nodiscard]] constexpr T value_or(T fallback) const { return has_value() ? value_ : fallback; }

    friend constexpr bool operator==(outcome const&, outcome const&) = default;

  private:
    T value_{};
    status reason_ = status::ok;
};

} // namespace straggle
