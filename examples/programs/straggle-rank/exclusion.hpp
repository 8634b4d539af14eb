// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How long a node is avoided, as given on the command line.
#pragma once

#include <straggle/blacklist/exclusion.hpp>

#include <string>
#include <variant>

namespace straggle_rank {

/// Any composition of the library's exclusion policies.
class excluding {
    using plain = straggle::blacklist::rerank_every_window;
    using longer = straggle::blacklist::escalating;
    template <class Inner>
    using trial = straggle::blacklist::probation<Inner>;
    template <class Inner>
    using patient = straggle::blacklist::hysteresis<Inner>;

  public:
    static constexpr std::string_view name = "exclusions";

    using policy = std::variant<plain, longer, trial<plain>, trial<longer>, patient<plain>, patient<longer>,
                                patient<trial<plain>>, patient<trial<longer>>>;

    explicit excluding(policy rule = trial<longer>{}) : rule_(rule) {}

    void advance(straggle::blacklist::exclusion& s, straggle::blacklist::window_evidence const& evidence,
                 std::int64_t window) const {
        std::visit([&](auto const& rule) { rule.advance(s, evidence, window); }, rule_);
    }

    /// With all its numbers, as `parse_exclusions` reads it.
    [[nodiscard]] std::string text() const;

  private:
    policy rule_;
};

/// Reads `probation:3:1+escalating:1:16` and so on; a `failure` says what is wrong.
[[nodiscard]] excluding parse_exclusions(std::string_view specification);

} // namespace straggle_rank
