// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/base/archive.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

using namespace straggle;

namespace {

struct inner {
    std::uint32_t number = 0;
    bool is_set = false;

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.number, self.is_set);
    }
    friend bool operator==(inner const&, inner const&) = default;
};

struct outer {
    std::array<inner, 2> pair{};
    double share = 0;
    std::uint64_t large = 0, small = 0;
    std::int64_t below = 0;
    std::uint8_t byte = 0;

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.pair, self.share, self.large);
        a.varint(self.small);
        a(self.below, self.byte);
        a.expect(self.share >= 0 && self.share <= 1);
    }
    friend bool operator==(outer const&, outer const&) = default;
};

outer const example{{inner{7, true}, inner{0xffffffff, false}}, 0.25, ~std::uint64_t{0}, 300, -5, 200};

} // namespace

TEST_CASE("archive: what is written is read, each field in its own width") {
    byte_writer out;
    base::write_fields(out, example);
    CHECK(out.payload().size() == 2 * (4 + 1) + 8 + 8 + 2 + 8 + 1);
    byte_reader in(out.payload());
    outer back;
    base::read_fields(in, back);
    CHECK(in.at_end());
    CHECK(back == example);
}

TEST_CASE("archive: no prefix is taken for all of it, nor what makes no sense") {
    byte_writer out;
    base::write_fields(out, example);
    for (std::size_t n = 0; n < out.payload().size(); ++n) {
        byte_reader in(out.payload().first(n));
        outer back;
        base::read_fields(in, back);
        CHECK(in.reason() == status::truncated);
    }
    outer wrong = example;
    wrong.share = 1.5;
    byte_writer other;
    base::write_fields(other, wrong);
    byte_reader in(other.payload());
    base::read_fields(in, wrong);
    CHECK(in.reason() == status::corrupt);
}
