// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/record/running.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

using namespace straggle;

namespace {

struct task {
    std::string host;
    double done;
    std::chrono::steady_clock::time_point began;
    std::uint64_t bytes;
    int copies;
    bool speculative;
    std::optional<float> reported;
    [[nodiscard]] double share() const { return done; }
};

// With everything a detector needs but one field.
template <class Progress, class Input = base::no_field, class Copies = base::no_field>
constexpr bool reads(Progress progress, Input input = {}, Copies copies = {}) {
    running_fields const fields{
        .node = &task::host, .start = &task::began, .progress = progress, .input = input, .copies = copies};
    return record::running_fields_for<decltype(fields), task>;
}

} // namespace

TEST_CASE("running fields: members, functions and optionals of the user's type") {
    CHECK(reads(&task::done));
    CHECK(reads(&task::share));
    CHECK(reads(&task::reported));
    CHECK(reads([](task const& t) { return t.done / 2; }));
    CHECK(reads(base::no_field{}));
    CHECK(reads(&task::done, &task::bytes, &task::copies));
    auto const only_needed = running_fields{.node = &task::host, .start = &task::began};
    CHECK(record::running_fields_for<decltype(only_needed), task>);
}

TEST_CASE("running fields: a deadline is a point in time, a weight a number") {
    auto const of = [](auto deadline, auto weight) {
        running_fields const fields{.job = &task::host,
                                    .node = &task::host,
                                    .start = &task::began,
                                    .deadline = deadline,
                                    .weight = weight};
        return record::running_attempt_fields_for<decltype(fields), task>;
    };
    CHECK(of(base::no_field{}, base::no_field{}));
    CHECK(of(&task::began, &task::done));
    CHECK(of([](task const& t) { return std::optional(t.began); }, &task::reported));
    CHECK(of(&task::began, &task::copies));
    CHECK_FALSE(of(&task::host, base::no_field{}));
    CHECK_FALSE(of(base::no_field{}, &task::host));
    CHECK_FALSE(of(base::no_field{}, &task::speculative));
}

TEST_CASE("running fields: what does not fit is refused") {
    CHECK_FALSE(reads(&task::bytes)); // a count is no share
    CHECK_FALSE(reads(&task::host));
    CHECK_FALSE(reads(&task::done, &task::host));
    CHECK_FALSE(reads(&task::done, base::no_field{}, &task::speculative)); // whether is not how many
    CHECK_FALSE(reads(&task::done, base::no_field{}, &task::done));
    auto const no_node = running_fields{.start = &task::began, .progress = &task::done};
    CHECK_FALSE(record::running_fields_for<decltype(no_node), task>);
    auto const no_start = running_fields{.node = &task::host, .progress = &task::done};
    CHECK_FALSE(record::running_fields_for<decltype(no_start), task>);
    CHECK_FALSE(record::running_fields_for<int, task>);
}

TEST_CASE("running counts: by reason, and all told") {
    record::running_counts counts;
    counts.rejected[record::running_rejection::not_started] = 2;
    counts.rejected[record::running_rejection::bad_progress] = 3;
    CHECK(counts[record::running_rejection::not_started] == 2);
    CHECK(counts[record::running_rejection::missing_node] == 0);
    CHECK(counts.total_rejected() == 5);
    CHECK(to_string(record::running_rejection::missing_node) == "missing_node");
    CHECK(to_string(record::running_rejection::missing_start) == "missing_start");
    CHECK(to_string(record::running_rejection::not_started) == "not_started");
    CHECK(to_string(record::running_rejection::bad_progress) == "bad_progress");
}
