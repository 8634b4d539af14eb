// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Limits: how much may be done at once, regardless of the benefit of each action. One concept for taking
/// nodes out of service (`blacklist::node_limit`) and for starting copies (`assign::copy_limit`).
///
/// Limits compose: an action is taken only if all of them admit it, and a refusal names the limit. A
/// `std::optional` of a limit is also a limit: an empty one admits everything.
#pragma once

#include <straggle/base/config.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::detail {

// Calls a limit, which may be an empty optional.
template <class Limit>
struct limit_access {
    static constexpr std::string_view name = Limit::name;
    static constexpr bool newcomers_only = requires { requires bool(Limit::newcomers_only); };

    template <class Context>
    static constexpr void begin(Limit& limit, Context const& context, std::size_t candidates) {
        limit.begin(context, candidates);
    }
    template <class Request>
    static constexpr bool admits(Limit& limit, Request const& request) {
        return limit.admits(request);
    }
    template <class Request>
    static constexpr void take(Limit& limit, Request const& request) {
        limit.take(request);
    }
};
template <class Limit>
struct limit_access<std::optional<Limit>> {
    using access = limit_access<Limit>;
    static constexpr std::string_view name = access::name;
    static constexpr bool newcomers_only = access::newcomers_only;

    template <class Context>
    static constexpr void begin(std::optional<Limit>& limit, Context const& context, std::size_t candidates) {
        if (limit) access::begin(*limit, context, candidates);
    }
    template <class Request>
    static constexpr bool admits(std::optional<Limit>& limit, Request const& request) {
        return !limit || access::admits(*limit, request);
    }
    template <class Request>
    static constexpr void take(std::optional<Limit>& limit, Request const& request) {
        if (limit) access::take(*limit, request);
    }
};

template <class Limit>
inline constexpr bool is_optional_limit = false;
template <class Limit>
inline constexpr bool is_optional_limit<std::optional<Limit>> = true;

template <class Limit, class Context, class Request>
concept plain_limit = requires(Limit& limit, Context const& context, Request const& request) {
    limit.begin(context, std::size_t{});
    { limit.admits(request) } -> std::same_as<bool>;
    limit.take(request);
    { Limit::name } -> std::convertible_to<std::string_view>;
    requires !std::string_view(Limit::name).empty(); // an empty name means "not refused"
};

template <class Limit, class Context, class Request>
concept optional_limit =
    is_optional_limit<Limit> && plain_limit<typename Limit::value_type, Context, Request>;

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::record {

/// A limit on requests, which sees its surroundings as a `Context`.
///
/// For each decision, `begin(context, candidates)` is called once with the number of candidates; then
/// `admits(request)`, possibly more than once per request, and `take(request)` for each granted request.
/// `take` must not make room: a refused request stays refused until the next decision. `name` appears in
/// reports. A limit with `static constexpr bool newcomers_only = true` is not asked about requests granted in
/// an earlier decision.
template <class Limit, class Context, class Request>
concept limit = std::move_constructible<Limit> && (detail::optional_limit<Limit, Context, Request> ||
                                                   detail::plain_limit<Limit, Context, Request>);

/// Admits everything: states explicitly that there is no limit.
struct unlimited {
    static constexpr std::string_view name = "unlimited";
    template <class Context>
    constexpr void begin(Context const&, std::size_t) noexcept {}
    template <class Request>
    [[nodiscard]] constexpr bool admits(Request const&) const noexcept {
        return true;
    }
    template <class Request>
    constexpr void take(Request const&) noexcept {}
};

} // namespace straggle::record

namespace straggle::inline STRAGGLE_ABI::detail {

// Says in one line what a type lacks; the concept would take dozens.
template <class Limit>
consteval bool explain_limit_name() {
    static_assert(std::is_class_v<Limit>, "a limit is an object, such as at_most{3}, not a number");
    static_assert(
        !std::is_class_v<Limit> || is_optional_limit<Limit> ||
            requires {
                { Limit::name } -> std::convertible_to<std::string_view>;
            },
        "a limit needs a name (a lambda has none: write a struct): add static constexpr std::string_view "
        "name = \"...\"");
    return true;
}
template <class Limit, class Context, class Request>
consteval bool explain_limit() {
    static_assert(std::is_class_v<Limit>, "a limit is an object, such as at_most{3}, not a number");
    if constexpr (std::is_class_v<Limit> && !record::limit<Limit, Context, Request> &&
                  !is_optional_limit<Limit>) {
        explain_limit_name<Limit>();
        static_assert(
            requires(Limit& l, Context const& c) { l.begin(c, std::size_t{}); },
            "a limit needs begin(context, std::size_t candidates)");
        constexpr bool admits = requires(Limit& l, Request const& r) { l.admits(r); };
        static_assert(admits, "a limit needs bool admits(request)");
        static_assert(
            !admits || requires(Limit& l, Request const& r) {
                { l.admits(r) } -> std::same_as<bool>;
            }, "admits of a limit has to return bool");
        static_assert(
            requires(Limit& l, Request const& r) { l.take(r); },
            "a limit needs take(request): it receives what was granted");
    }
    static_assert(!std::is_class_v<Limit> || record::limit<Limit, Context, Request>,
                  "this is no record::limit");
    return true;
}

// Combines several limits.
template <class... Limits>
class limit_row {
  public:
    static constexpr std::size_t none = sizeof...(Limits); // no limit refused
    static constexpr std::array<std::string_view, sizeof...(Limits)> names{limit_access<Limits>::name...};

    constexpr limit_row()
        requires(std::default_initializable<Limits> && ...)
    = default;
    explicit constexpr limit_row(Limits... limits)
        requires(sizeof...(Limits) > 0)
        : limits_(std::move(limits)...) {}

    template <class Context>
    constexpr void begin(Context const& context, std::size_t candidates) {
        each([&]<class Limit>(Limit& limit) { limit_access<Limit>::begin(limit, context, candidates); });
    }
    // Index of the first limit that does not admit the request.
    template <class Request>
    [[nodiscard]] constexpr std::size_t objection(Request const& request, bool newcomer = true) {
        std::size_t by = none, index = 0;
        each([&]<class Limit>(Limit& limit) {
            using access = limit_access<Limit>;
            if (by == none && (newcomer || !access::newcomers_only) && !access::admits(limit, request))
                by = index;
            ++index;
        });
        return by;
    }
    template <class Request>
    constexpr void take(Request const& request, bool newcomer = true) {
        each([&]<class Limit>(Limit& limit) {
            if (newcomer || !limit_access<Limit>::newcomers_only) limit_access<Limit>::take(limit, request);
        });
    }
    // Takes the request if all admit it; otherwise returns the name of the first limit that does not.
    template <class Request>
    [[nodiscard]] constexpr std::string_view grant(Request const& request, bool newcomer) {
        std::size_t const by = objection(request, newcomer);
        if (by != none) return names[by];
        take(request, newcomer);
        return {};
    }
    template <std::size_t Place>
    [[nodiscard]] constexpr auto const& get() const noexcept {
        return std::get<Place>(limits_);
    }

  private:
    template <class Visit>
    constexpr void each(Visit&& visit) {
        std::apply([&](auto&... limit) { (visit(limit), ...); }, limits_);
    }
    [[no_unique_address]] std::tuple<Limits...> limits_;
};

} // namespace straggle::detail
