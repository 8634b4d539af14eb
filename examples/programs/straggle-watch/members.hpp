// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The members of a line of the protocol: each looked up once, and read with its required type.
#pragma once

#include "fault.hpp"
#include "sent_name.hpp"
#include "word_table.hpp"

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
    waited,
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
    deadline,
    weight,
    stage,
    restart_cost,
    arrived,
    step,
    steps_left,
    rank,
    section,
    restarts,
    since_checkpoint,
};
inline constexpr std::size_t member_count = 47;

inline constexpr word_table member_names(std::array<std::string_view, member_count>{
    "event",    "now",      "job",        "task",  "node",     "attempt",  "start",           "end",
    "duration", "status",   "kind",       "input", "waited",   "copy",     "outrun",          "may_copy",
    "attempts", "progress", "reported",   "slots", "busy",     "class",    "domain",          "condition",
    "waiting",  "all",      "more",       "nodes", "running",  "on",       "action",          "most",
    "request",  "protocol", "name",       "plans", "deadline", "weight",   "stage",           "restart_cost",
    "arrived",  "step",     "steps_left", "rank",  "section",  "restarts", "since_checkpoint"});

[[nodiscard]] constexpr std::string_view to_string(member m) noexcept {
    return member_names[static_cast<std::size_t>(m)];
}

/// Longest name, in bytes.
inline constexpr std::size_t longest_name = 1024;

/// The members of one object. The first fault sticks; everything read after it is empty.
///
/// @par Guarantees views live until the next line is parsed, and those of names that were numbers until the
/// next object is read
class members {
  public:
    void read(simdjson::dom::object object);

    [[nodiscard]] line_fault const& what() const { return fault_; }
    [[nodiscard]] bool ok() const { return fault_.what == fault::none; }
    void fail(fault f, member m) { fail(f, to_string(m)); }
    void fail(fault f, std::string_view detail) {
        if (ok()) fault_ = {f, detail};
    }

    [[nodiscard]] bool has(member m) const { return (present_ >> static_cast<unsigned>(m) & 1u) != 0; }
    /// As sent: see `plain`.
    [[nodiscard]] std::optional<std::string_view> sent_name(member m) {
        if (!has(m)) return std::nullopt;
        std::string_view const found = name_of(value(m), static_cast<std::size_t>(m));
        if (!found.empty()) return found;
        fail(fault::bad_value, m);
        return std::nullopt;
    }
    [[nodiscard]] std::optional<std::string_view> name(member m) {
        auto const sent = sent_name(m);
        return sent ? std::optional(plain(*sent)) : sent;
    }
    /// A double from any kind of number; simdjson has no infinity and no NaN.
    [[nodiscard]] std::optional<double> number(member m) { return get<double>(m); }
    [[nodiscard]] std::optional<double> time(member m);        ///< between -2^63 and 2^63
    [[nodiscard]] std::optional<std::int64_t> count(member m); ///< from 0 to 2^53
    [[nodiscard]] std::optional<bool> flag(member m) { return get<bool>(m); }
    [[nodiscard]] std::optional<std::string_view> text(member m) { return get<std::string_view>(m); }
    [[nodiscard]] std::optional<simdjson::dom::array> array(member m) {
        if (!has(m)) fail(fault::missing_member, m);
        return get<simdjson::dom::array>(m);
    }
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

    /// The same for a required member.
    [[nodiscard]] std::string_view needed_name(member m) { return needed(m, sent_name(m)); }
    [[nodiscard]] double needed_number(member m) { return needed(m, number(m)); }

    /// The name in an element as sent, for example of an array; empty, without a fault, if it is not one.
    [[nodiscard]] std::string_view name_of(simdjson::dom::element value, std::size_t place);

  private:
    [[nodiscard]] simdjson::dom::element const& value(member m) const {
        return values_[static_cast<std::size_t>(m)];
    }
    // Returning an optional would pass it through memory, byte by byte.
    template <class T>
    bool read(member m, T& told);
    template <class T>
    std::optional<T> get(member m) {
        T told{};
        return read(m, told) ? std::optional<T>(told) : std::nullopt;
    }
    template <class T>
    T needed(member m, std::optional<T> const& value) {
        if (!value) fail(fault::missing_member, m);
        return value.value_or(T{});
    }

    std::uint64_t present_ = 0;
    line_fault fault_{};
    std::array<simdjson::dom::element, member_count> values_;
    std::array<std::array<char, 24>, member_count> digits_; // of names that are numbers, after their mark
};

} // namespace straggle_watch
