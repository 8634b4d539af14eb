// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The attempts of a history as the library reads them.
#pragma once

#include "history.hpp"

namespace straggle_rank {

/// How much an attempt of a list had to read, if sizes are used.
template <class Attempt>
struct input_of {
    Attempt const* first = nullptr;
    double const* inputs = nullptr;
    std::optional<double> operator()(Attempt const& a) const {
        if (inputs == nullptr || std::isnan(inputs[&a - first])) return std::nullopt;
        return inputs[&a - first];
    }
};

/// The number of attempts.
[[nodiscard]] inline std::size_t attempts_of(history const& h) {
    return std::visit([](auto const& attempts) { return attempts.size(); }, h.attempts);
}

/// Calls visit(attempts, fields).
/// @param h history, const or not
template <class History, class Visit>
auto with_attempts(History& h, Visit&& visit) {
    return std::visit(
        [&](auto& attempts) {
            using record = typename std::remove_cvref_t<decltype(attempts)>::value_type;
            input_of<record> const input{attempts.data(), h.inputs.empty() ? nullptr : h.inputs.data()};
            if (h.has_durations)
                return visit(attempts, straggle::attempt_fields{.job = &record::job,
                                                                .task = &record::task,
                                                                .node = &record::node,
                                                                .end = &record::end,
                                                                .duration = &record::duration,
                                                                .status = &record::status,
                                                                .input = input});
            return visit(attempts, straggle::attempt_fields{.job = &record::job,
                                                            .task = &record::task,
                                                            .node = &record::node,
                                                            .start = &record::start,
                                                            .end = &record::end,
                                                            .status = &record::status,
                                                            .input = input});
        },
        h.attempts);
}

} // namespace straggle_rank
