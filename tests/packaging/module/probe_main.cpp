// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <string_view>
#include <vector>

import probe;

static_assert(probe::number<int> && !probe::number<void*>);

int main() {
    std::vector<short> const given{3, 1, 2};
    auto const sums = probe::read(given, {.scale = 2});
    probe::count const n = sums.values().size();
    bool const right = n == probe::answer && sums.values()[0] == 2 &&
                       probe::sums(std::vector{1.5}).values()[0] > 1 &&
                       probe::to_string(probe::order::descending) == "descending" &&
                       probe::to_string(probe::fields{}) == "fields" && probe::fields{} == probe::fields{};
    return right ? 0 : 1;
}
