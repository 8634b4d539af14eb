// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/gang/step_fields.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace {

namespace gang = straggle::gang;

struct report {
    long step;
    std::string rank;
    std::optional<std::chrono::microseconds> took;
    double waited;
    std::chrono::steady_clock::time_point at;
};
template <class Fields>
constexpr bool fits(Fields) {
    return gang::step_fields_for<Fields, report>;
}

TEST_CASE("step_fields: a duration or an arrival, not both and not neither") {
    using r = report;
    CHECK(fits(gang::step_fields{.step = &r::step, .rank = &r::rank, .duration = &r::took}));
    CHECK(fits(
        gang::step_fields{.step = &r::step, .rank = &r::rank, .duration = &r::took, .waited = &r::waited}));
    CHECK(fits(gang::step_fields{.step = &r::step, .rank = &r::rank, .arrived = &r::at}));
    CHECK_FALSE(fits(gang::step_fields{.step = &r::step, .rank = &r::rank}));
    CHECK_FALSE(
        fits(gang::step_fields{.step = &r::step, .rank = &r::rank, .duration = &r::took, .arrived = &r::at}));
    CHECK_FALSE(
        fits(gang::step_fields{.step = &r::step, .rank = &r::rank, .waited = &r::waited, .arrived = &r::at}));
    CHECK_FALSE(fits(gang::step_fields{.step = &r::rank, .rank = &r::rank, .duration = &r::took}));
    CHECK_FALSE(fits(gang::step_fields{.rank = &r::rank, .duration = &r::took}));
}

TEST_CASE("step_rejection: each has a name of its own") {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < reason_count(gang::step_rejection{}); ++i)
        names.insert(to_string(static_cast<gang::step_rejection>(i)));
    CHECK(names.size() == reason_count(gang::step_rejection{}));
}

} // namespace
