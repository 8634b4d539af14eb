// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whatever the bytes: the reader of JSON lines either reads objects or throws an error with a line of the
// file, and it makes no difference in what pieces the bytes arrive.

#include "../../examples/programs/common/json_lines.hpp"
#include "../../examples/programs/common/csv.hpp"

#include "fuzzing.hpp"

#include <cstdint>

namespace {

using fuzzing::demand;

std::string read_in_pieces(std::string_view text, std::size_t piece) {
    std::string seen;
    try {
        csv::text_source whole(text);
        json_lines::reader reader(
            [&](char* to, std::size_t size) { return whole(to, (std::min)(size, piece)); },
            {"job", "node", "elapsed"});
        while (reader.next()) {
            seen += std::to_string(reader.line());
            for (json_lines::member const& m : reader.members())
                (seen += static_cast<char>('0' + static_cast<int>(m.is))) += m.text;
        }
    } catch (json_lines::error const& e) {
        demand(e.line() >= 1);
        seen += std::to_string(e.line()) + e.what();
    }
    return seen;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text(reinterpret_cast<char const*>(data), size);
    std::string const whole = read_in_pieces(text, size + 1);
    for (std::size_t const piece : {1u, 7u}) demand(read_in_pieces(text, piece) == whole);
    return 0;
}
