// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/detect/suspect_list.hpp>

#include "jobs.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <string>
#include <type_traits>
#include <vector>

using namespace straggle;

namespace {

struct record_of_user {
    std::string host;
    int number;
};
using by_place = detect::suspect_list<>;
using by_record = detect::suspect_list<record_of_user>;
using by_const_record = detect::suspect_list<record_of_user const>;

static_assert(std::forward_iterator<by_place::iterator>);
static_assert(std::forward_iterator<by_record::iterator>);
static_assert(std::ranges::forward_range<by_place const>);
static_assert(std::ranges::sized_range<by_record const>);
static_assert(std::is_same_v<by_place::value_type, suspect<std::uint32_t, outcome<double>>>);
static_assert(std::is_same_v<by_record::value_type, suspect<record_of_user*, outcome<double>>>);
static_assert(std::is_same_v<by_const_record::value_type, suspect<record_of_user const*, outcome<double>>>);

// Three findings of a job of which the second record could not be used.
struct looked_at {
    std::vector<record_of_user> users{{"a", 0}, {"b", 1}, {"c", 2}, {"d", 3}};
    std::vector<detect::running_task> running{{.progress = 0.25, .elapsed = 30, .row = 0},
                                              {.progress = 0, .elapsed = 40, .row = 2},
                                              {.progress = 0.5, .elapsed = 7, .row = 3}};
    std::vector<detect::finding> found{{2, 3, 2, 1}, {0, 2.5, 2, 1}, {1, 2.25, 2, 1}};
    [[nodiscard]] detect::job_view view() const {
        detect::job_view v;
        v.running = running;
        return v;
    }
};

} // namespace

TEST_CASE("suspect_list: rows are places in the user's range, and what is left stands beside") {
    looked_at const job;
    by_place const list(job.found, job.view(), "a_rule");
    REQUIRE(list.size() == 3);
    CHECK_FALSE(list.empty());
    CHECK(list[0] == by_place::value_type{3, 7.0, {3, 2, 1, "a_rule"}});
    CHECK(list[1] == by_place::value_type{0, 90.0, {2.5, 2, 1, "a_rule"}});
    CHECK(list[2].row == 2);
    CHECK(list[2].left.reason() == status::insufficient_evidence);
}

TEST_CASE("suspect_list: rows are pointers to the user's records, const where they are") {
    looked_at job;
    std::string hosts;
    for (auto const& [row, left, why] : by_const_record(job.found, job.view(), "a_rule", job.users.data()))
        hosts += row->host;
    CHECK(hosts == "dac");
    for (auto const& s : by_record(job.found, job.view(), "a_rule", job.users.data())) s.row->number += 10;
    CHECK(job.users[0].number == 10);
    CHECK(job.users[1].number == 1);
    CHECK(job.users[2].number == 12);
    CHECK(job.users[3].number == 13);
}

TEST_CASE("suspect_list: an index and steps lead to the same suspects") {
    looked_at const job;
    by_place const list(job.found, job.view(), "a_rule");
    std::vector<by_place::value_type> const all(list.begin(), list.end());
    for (std::size_t i = 0; i < 3; ++i) CHECK(list[i] == all[i]);
    by_place::iterator at = list.begin();
    CHECK(*at++ == all[0]);
    CHECK(*at == all[1]);
    CHECK(*++at == all[2]);
    CHECK(++at == list.end());
    CHECK(std::ranges::count_if(list, [](auto const& s) { return s.why.value > 2.25; }) == 2);
}

TEST_CASE("suspect_list: none") {
    CHECK(by_place().empty());
    CHECK(by_place().begin() == by_place().end());
    CHECK(by_record({}, detect::job_view(), "a_rule").size() == 0);
}
