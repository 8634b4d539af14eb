// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whatever has become of a plan log: straggle-report counts its lines and shows a page of them, always the
// same one and no larger than it may be, whose numbers are numbers.

#include "examples/programs/straggle-report/summary.hpp"
#include "fuzzing.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using fuzzing::demand;

std::string page_of(std::string_view text) {
    simdjson::dom::parser parser;
    straggle_report::summary all;
    std::uint64_t bad = 0, lines = 0;
    while (!text.empty()) {
        std::size_t const end = (std::min)(text.find('\n'), text.size());
        simdjson::dom::element whole;
        if (parser.parse(text.data(), end).get(whole) != simdjson::SUCCESS || !all.add(whole)) ++bad;
        ++lines;
        text.remove_prefix((std::min)(end + 1, text.size()));
    }
    demand(all.plans() + bad <= lines);
    return all.data("page", bad).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text(reinterpret_cast<char const*>(data), size);
    std::string const page = page_of(text);
    demand(page == page_of(text));
    // Text is escaped to six bytes a byte at most, and a line shows in few places.
    demand(page.size() <= 4096 + 64 * size);
    auto const parsed = nlohmann::json::parse(page, nullptr, false);
    demand(parsed.is_object());
    return 0;
}
