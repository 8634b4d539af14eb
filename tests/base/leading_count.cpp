// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/base/leading_count.hpp>

#include <doctest/doctest.h>

#include <cstddef>

using namespace straggle;

TEST_CASE("leading_count: wherever it ends to hold, found in so many questions as there are halves") {
    for (std::size_t rows = 0; rows <= 70; ++rows)
        for (std::size_t holding = 0; holding <= rows; ++holding) {
            std::size_t asked = 0, beyond = 0;
            auto const holds = [&](std::size_t row) {
                ++asked;
                beyond += row >= rows ? 1 : 0;
                return row < holding;
            };
            CHECK(detail::leading_count(rows, holds) == holding);
            CHECK(beyond == 0);
            CHECK((std::size_t{1} << asked) <= 4 * rows + 1);
        }
}
