// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/base/projection.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>

using namespace straggle;

namespace {

struct task {
    std::string host;
    std::optional<int> size;
    [[nodiscard]] int twice() const { return 2 * size.value_or(0); }
};

} // namespace

TEST_CASE("projection: members, functions, callables, also behind pointers") {
    task const t{"n1", 21};
    CHECK(detail::project(&task::host, t) == "n1");
    CHECK(detail::project(&task::twice, t) == 42);
    CHECK(detail::project([](task const& x) { return x.host.size(); }, t) == 2);
    auto const owned = std::make_unique<task>(t);
    CHECK(detail::project(&task::host, owned) == "n1");
    CHECK(detail::project(&task::twice, owned) == 42);
}

TEST_CASE("projection: an empty optional is a field that is not there") {
    task const t{"n1", std::nullopt};
    CHECK_FALSE(detail::is_present(detail::project(&task::size, t)));
    CHECK(detail::is_present(detail::project(&task::host, t)));
    static_assert(base::projection_of<int (task::*)() const, task>);
    static_assert(!base::projection_of<int std::string::*, task>);
}
