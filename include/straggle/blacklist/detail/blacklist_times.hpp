// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `blacklist/dynamic_blacklist.hpp`: which clock it uses, and stand-ins for record types the
/// caller does not pass.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/projection.hpp>
#include <straggle/blacklist/node_rows.hpp>
#include <straggle/record/record_reader.hpp>
#include <straggle/record/task_reader.hpp>
#include <straggle/record/time_line.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::detail {

// The type of points in time, and where an attempt itself contains one.
template <class Attempt, class AttemptFields, class Running, class RunningFields>
struct blacklist_times {
    static constexpr bool has_own = has_end<AttemptFields> || has_start<AttemptFields>;
    static auto told(AttemptFields const& fields, Attempt const& a) -> decltype(auto)
        requires has_own
    {
        if constexpr (has_end<AttemptFields>)
            return project(fields.end, a);
        else
            return project(fields.start, a);
    }
    static auto pick() {
        if constexpr (has_end<AttemptFields>)
            return std::type_identity<field_value_t<decltype(AttemptFields::end), Attempt>>{};
        else if constexpr (has_start<AttemptFields>)
            return std::type_identity<field_value_t<decltype(AttemptFields::start), Attempt>>{};
        else if constexpr (given<RunningFields>)
            return std::type_identity<typename own_time<RunningFields, Running>::type>{};
        else
            return std::type_identity<double>{};
    }
    using type = typename decltype(pick())::type;

    // Some point in time of an attempt, if it has a valid one.
    static std::optional<type> of(AttemptFields const& fields, Attempt const& a)
        requires has_own
    {
        auto const& field = told(fields, a);
        if (!is_present(field)) return std::nullopt;
        type const t = unwrap(field);
        if constexpr (std::is_floating_point_v<type>)
            if (!is_finite(static_cast<double>(t))) return std::nullopt;
        return t;
    }
};

// The current time: never goes back.
template <class Time>
class blacklist_clock {
  public:
    [[nodiscard]] bool is_set() const noexcept { return line_.is_set(); }
    [[nodiscard]] time_line<Time> const& line() const noexcept { return line_; }
    void tell(Time const& now) {
        if (!line_.is_set()) line_.set_origin(now);
        double const at = line_.at(now);
        if (is_finite(at) && at > now_) now_ = at;
    }
    void tell_origin(Time const& t) {
        if (!line_.is_set()) line_.set_origin(t);
    }
    void adopt_origin(blacklist_clock const& other) noexcept {
        if (!line_.is_set()) line_ = other.line_;
    }
    [[nodiscard]] double last() const noexcept { return now_; }
    // If the attempt contains its end, do not compare it with a clock that may lag.
    [[nodiscard]] double now() const noexcept {
        return is_open ? std::numeric_limits<double>::infinity() : now_;
    }
    // For the record readers; this clock knows no jumps.
    [[nodiscard]] double at(double raw) const noexcept { return raw; }
    [[nodiscard]] bool trusts(double) const noexcept { return true; }
    [[nodiscard]] bool is_ahead(double, std::uint32_t) const noexcept { return false; }
    [[nodiscard]] double slack() const noexcept { return 0; }

    void write(byte_writer& out) const {
        line_.write(out);
        out.real(now_);
    }
    void read(byte_reader& in) {
        line_.read(in);
        now_ = in.real();
        in.expect(is_finite(now_));
    }

    bool is_open = false; // the attempt being read contains its end

  private:
    time_line<Time> line_;
    double now_ = -1e300;
};

// Stands in when running attempts are not passed.
class no_running_reader {
  public:
    no_running_reader(base::no_field, std::uint64_t) noexcept {}
    [[nodiscard]] race_book const& races() const noexcept { return races_; }
    [[nodiscard]] race_book& races() noexcept { return races_; }

  private:
    race_book races_;
};
template <class Running, class Fields>
using running_reader_or_none =
    std::conditional_t<given<Fields>, task_reader<Running, Fields>, no_running_reader>;

// A name and nothing else.
template <class Id>
struct bare_node {
    Id id{};
};
// The nodes of the cluster: those passed, or those seen.
template <class Id, class Node, class Fields>
using node_rows_or_none = std::conditional_t<given<Fields>, node_rows<Node, Fields>,
                                             node_rows<bare_node<Id>, node_fields<Id bare_node<Id>::*>>>;
template <class Id, class Fields>
auto node_fields_or_name(Fields fields) {
    if constexpr (given<Fields>)
        return fields;
    else
        return node_fields<Id bare_node<Id>::*>{.node = &bare_node<Id>::id};
}

template <class Fields>
struct record_or_none_of {
    using type = record_of<Fields>;
};
template <>
struct record_or_none_of<base::no_field> {
    using type = base::no_field;
};
template <class Fields>
using record_or_none = typename record_or_none_of<Fields>::type;

} // namespace straggle::detail
