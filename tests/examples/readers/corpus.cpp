// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../../fuzz/readers.cpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

TEST_CASE("readers: the fuzzer's corpus") {
    auto const corpus = std::filesystem::path(__FILE__).parent_path() / "../../fuzz/corpus/readers";
    std::size_t files = 0;
    for (auto const& entry : std::filesystem::directory_iterator(corpus)) {
        CAPTURE(entry.path().string());
        std::ifstream in(entry.path(), std::ios::binary);
        std::string const text((std::istreambuf_iterator<char>(in)), {});
        readers_fuzzing::look_at(text);
        ++files;
    }
    CHECK(files >= 15);
}
