// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#pragma once

#include <straggle/base/outcome.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace straggle_test {

// Every truncation of `good` and every flipped bit is noticed by `victim`, and changes nothing; what is whole
// is read.
template <class Stored>
void check_damage(Stored& victim, std::vector<std::byte> const& good) {
    using bytes = std::vector<std::byte>;
    using straggle::status;
    bytes const before = victim.serialize();
    auto const restore = [&](bytes const& from) {
        if constexpr (requires { victim.restore(from); })
            return victim.restore(from);
        else
            return victim.restore(from);
    };
    auto const refused = [&](bytes const& bad) {
        status const s = restore(bad);
        return (s == status::truncated || s == status::corrupt || s == status::wrong_kind ||
                s == status::unknown_version) &&
               victim.serialize() == before;
    };
    for (std::size_t size = 0; size < good.size(); ++size)
        REQUIRE(refused(bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))));
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
        bytes bad = good;
        bad[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
        REQUIRE(refused(bad));
    }
    bytes longer = good;
    longer.push_back(std::byte{0});
    CHECK(refused(longer));
    CHECK(restore(good) == status::ok);
    CHECK(victim.serialize() == good);
}

} // namespace straggle_test
