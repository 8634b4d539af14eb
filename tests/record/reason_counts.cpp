// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/record/attempt.hpp>
#include <straggle/record/reason_counts.hpp>
#include <straggle/record/running.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace users {

enum class excuse : std::uint8_t { rain, dog, none };
constexpr std::size_t reason_count(excuse) noexcept {
    return 3;
}
enum class nobody_counts { these };

} // namespace users

using straggle::record::countable_reason;
using straggle::record::reason_counts;
using users::excuse;

static_assert(countable_reason<excuse> && countable_reason<straggle::rejection> &&
              countable_reason<straggle::record::running_rejection>);
static_assert(!countable_reason<users::nobody_counts> && !countable_reason<int>);
static_assert(reason_counts<straggle::rejection>::reasons == straggle::record::rejection_count);
static_assert(sizeof(reason_counts<excuse, std::uint32_t>) == 12);
static_assert(std::is_trivially_copyable_v<reason_counts<excuse>>);

constexpr reason_counts<excuse> some(std::uint64_t rain, std::uint64_t dog) {
    reason_counts<excuse> c;
    c[excuse::rain] = rain;
    c[excuse::dog] += dog;
    return c;
}

TEST_CASE("reason counts: by reason, in all, together") {
    static_assert(some(2, 5).total() == 7);
    reason_counts<excuse> c = some(2, 5);
    CHECK(c[excuse::rain] == 2);
    CHECK(c[excuse::dog] == 5);
    CHECK(c[excuse::none] == 0);
    CHECK(c[std::size_t{1}] == 5);
    c += some(1, 0);
    ++c[excuse::none];
    CHECK(c == [] {
        auto want = some(3, 5);
        want[std::size_t{2}] = 1;
        return want;
    }());
    CHECK(c != some(3, 5));
    CHECK(c.size() == 3);
    CHECK(std::count(c.begin(), c.end(), 5U) == 1);
}
