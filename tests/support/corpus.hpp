// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What a fuzzer has found worth keeping, once more: each file of its corpus through its target.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace straggle_test {

/// Shows every file of tests/fuzz/corpus/`name` to a fuzz target; there have to be ten at least.
/// @param test `__FILE__` of a test that lies in a folder of tests/
inline void replay_corpus(std::string_view test, std::string_view name,
                          int (*target)(std::uint8_t const*, std::size_t)) {
    auto const corpus = std::filesystem::path(test).parent_path() / "../fuzz/corpus" / name;
    std::size_t files = 0;
    for (auto const& entry : std::filesystem::directory_iterator(corpus)) {
        std::ifstream in(entry.path(), std::ios::binary);
        std::string const text((std::istreambuf_iterator<char>(in)), {});
        target(reinterpret_cast<std::uint8_t const*>(text.data()), text.size());
        ++files;
    }
    CHECK(files >= 10);
}

} // namespace straggle_test
