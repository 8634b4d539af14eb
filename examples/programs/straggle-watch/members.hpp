// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The members of a line of the protocol: each looked up once, and read as what it has to be.
#pragma once

#include "fault.hpp"

#include <simdjson.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace straggle_watch {

/// All members that an event may have.
enum class member : std::uint8_t {
    event,
    now,
    job,
    task,
    node,
    attempt,
    start,
    end,
    duration,
    status,
    kind,
    input,
    copy,
    outrun,
    may_copy,
    attempts,
    progress,
    reported,
    slots,
    busy,
    machine_class,
    domain,
    condition,
    waiting,
    all,
    more,
    nodes,
    running,
    on,
    action,
    most,
    request,
    protocol,
    name,
    plans,
};
inline constexpr std::size_t member_count = 35;

inline constexpr std::array<std::string_view, member_count> member_words{
    "event",   "now",  "job",    "task",   "node",      "attempt",  "start",    "end",      "duration",
    "status",  "kind", "input",  "copy",   "outrun",    "may_copy", "attempts", "progress", "reported",
    "slots",   "busy", "class",  "domain", "condition", "waiting",  "all",      "more",     "nodes",
    "running", "on",   "action", "most",   "request",   "protocol", "name",     "plans"};
[[nodiscard]] constexpr std::string_view to_string(member m) noexcept {
    return member_words[static_cast<std::size_t>(m)];
}

/// Longest name, in bytes.
inline constexpr std::size_t longest_name = 1024;

/// The members of one object. The first fault sticks; what is read after it is nothing.
///
/// @par Guarantees views live until the next line is parsed, and those of names that were numbers until the
/// next object is read
class members {
  public:
    void read(simdjson::dom::object object);
    /// Reads a line that is a flat object of plain values: printable ASCII without escapes, and numbers
    /// without an exponent. Nearly all lines are such, and a parser that can read everything takes twice as
    /// long. @param line with `plain_padding` readable bytes behind it
    /// @return false where it is anything else, JSON or not; then it is for the parser to say what
    [[nodiscard]] bool read_plain(std::string_view line);
    static constexpr std::size_t plain_padding = 32;

    [[nodiscard]] line_fault const& what() const { return fault_; }
    [[nodiscard]] bool ok() const { return fault_.what == fault::none; }
    void fail(fault f, member m) { fail(f, to_string(m)); }
    void fail(fault f, std::string_view detail) {
        if (ok()) fault_ = {f, detail};
    }

    [[nodiscard]] bool has(member m) const { return (present_ >> static_cast<unsigned>(m) & 1u) != 0; }
    [[nodiscard]] std::optional<std::string_view> name(member m);
    [[nodiscard]] std::optional<double> number(member m);
    [[nodiscard]] std::optional<std::int64_t> count(member m); ///< from 0 to 2^53
    [[nodiscard]] std::optional<bool> flag(member m);
    [[nodiscard]] std::optional<std::string_view> text(member m);
    [[nodiscard]] std::optional<simdjson::dom::array> array(member m);
    /// One of some words; `otherwise` where it is missing.
    template <class T, std::size_t N>
    [[nodiscard]] T word(member m, std::array<std::string_view, N> const& words, T otherwise) {
        auto const told = text(m);
        if (!told) return otherwise;
        for (std::size_t i = 0; i < N; ++i)
            if (words[i] == *told) return static_cast<T>(i);
        fail(fault::bad_value, m);
        return otherwise;
    }

    /// The same where it has to be there.
    [[nodiscard]] std::string_view needed_name(member m) { return needed(m, name(m)); }
    [[nodiscard]] double needed_number(member m) { return needed(m, number(m)); }

    /// The name in an element that is no member, such as of an array; nothing, and no fault, for what is
    /// none.
    [[nodiscard]] std::optional<std::string_view> name_of(simdjson::dom::element from, std::size_t place);

  private:
    template <class T>
    T needed(member m, std::optional<T> const& told) {
        if (!told) fail(fault::missing_member, m);
        return told.value_or(T{});
    }

    enum class kind : std::uint8_t { text, whole, real, yes, no, array, other };
    struct value {
        std::string_view text{}; // or the digits of a whole number
        double number = 0;
        kind is = kind::other;
    };
    friend class plain_line;

    [[nodiscard]] value const& operator[](member m) const { return values_[static_cast<std::size_t>(m)]; }
    void keep(std::size_t m, simdjson::dom::element from);

    std::uint64_t present_ = 0;
    line_fault fault_{};
    std::array<value, member_count> values_;
    std::array<simdjson::dom::element, member_count> arrays_;
    std::array<std::array<char, 24>, member_count> digits_; // of whole numbers that were parsed
};

} // namespace straggle_watch
