// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../../examples/programs/common/marks.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

TEST_CASE("marks: commas, quotes and control characters, wherever a text begins and ends") {
    std::string text;
    for (int round = 0; round < 3; ++round)
        for (int c = 0; c < 256; ++c)
            text += std::string(static_cast<std::size_t>(c % 5), 'x') + static_cast<char>(c);
    std::size_t const size = text.size();
    text.append(csv::marks_padding, ','); // is not looked at
    for (std::size_t first = 0; first < 200; ++first) {
        for (std::size_t const last : {first, first + 1, first + 63, first + 64, first + 65, size}) {
            std::vector<std::uint32_t> expected, found(last - first + csv::marks_padding);
            for (std::size_t i = first; i < last; ++i)
                if (std::string_view(",\"\0\1\2\3\4\5\6\7\10\11\12\13\14\15", 16).find(text[i]) !=
                    std::string_view::npos)
                    expected.push_back(static_cast<std::uint32_t>(i));
            auto const n = csv::find_marks(text.data(), first, last, found.data()) - found.data();
            found.resize(static_cast<std::size_t>(n));
            REQUIRE(found == expected);
        }
    }
}

TEST_CASE("marks: sixteen at a time are what one at a time are") {
    std::string text;
    for (int c = 0; c < 256; ++c) text += static_cast<char>(c);
    for (std::size_t at = 0; at + 64 <= text.size(); ++at)
        CHECK(csv::detail::marks_among(text.data() + at) == csv::detail::marks_plainly(text.data() + at));
}

TEST_CASE("marks: nothing but marks") {
    std::string const text(300 + csv::marks_padding, ',');
    std::vector<std::uint32_t> found(text.size());
    REQUIRE(csv::find_marks(text.data(), 0, 300, found.data()) == found.data() + 300);
    for (std::uint32_t i = 0; i < 300; ++i) CHECK(found[i] == i);
}
