// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whatever has become of a log: `straggle-rank --replay` makes its decisions again, always the same way, and
// says in one printable line what differs, or which line is none of a log. Logs are changed as what they are:
// numbers, times, members, lines. tests/examples/straggle_rank_replay_test.py replays the corpus.

#include "examples/programs/straggle-rank/replay_log.hpp"
#include "examples/programs/common/failure.hpp"
#include "examples/programs/common/text.hpp"
#include "fuzzing.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using fuzzing::demand;
using nlohmann::ordered_json;

struct outcome_of_replay {
    straggle_rank::replay_result result;
    std::string refused;
};

outcome_of_replay replayed(std::string const& text) {
    std::istringstream in(text);
    outcome_of_replay o;
    try {
        o.result = straggle_rank::replay_log(in, "log");
    } catch (program::failure const& e) {
        o.refused = e.what();
        demand(e.status() == program::exit_status::bad_input && o.refused.starts_with("log:"));
    }
    return o;
}

// Every value of a document.
void collect(ordered_json& from, std::vector<ordered_json*>& to) {
    to.push_back(&from);
    if (from.is_structured())
        for (ordered_json& inner : from) collect(inner, to);
}

ordered_json odd_value(std::minstd_rand& draw) {
    using i64 = std::numeric_limits<std::int64_t>;
    using real = std::numeric_limits<double>;
    static ordered_json const odd = {0,
                                     1,
                                     -1,
                                     2,
                                     255,
                                     256,
                                     4294967295U,
                                     4294967296U,
                                     std::int64_t{1} << 53,
                                     std::int64_t{1} << 62,
                                     i64::max(),
                                     i64::min(),
                                     ~std::uint64_t{0},
                                     0.5,
                                     -0.0,
                                     real::max(),
                                     real::lowest(),
                                     real::denorm_min(),
                                     1e15,
                                     nullptr,
                                     true,
                                     "",
                                     "n2",
                                     "healthy",
                                     "excluded",
                                     "dominated:0.5",
                                     "slower_by:1.1",
                                     "slowdown:1.1",
                                     "top_k:2:7",
                                     "hysteresis:2:3",
                                     "escalating:1:1000000000",
                                     "rerank",
                                     "254ms",
                                     ordered_json::array(),
                                     ordered_json::object()};
    return odd[draw() % odd.size()];
}

// One value becomes another, goes, or comes twice.
void change(ordered_json& line, std::minstd_rand& draw) {
    std::vector<ordered_json*> all;
    collect(line, all);
    ordered_json& at = *all[draw() % all.size()];
    unsigned const how = static_cast<unsigned>(draw()) % 6;
    if (how == 0 && at.is_number_integer())
        at = static_cast<std::int64_t>(at.get<std::uint64_t>() + draw() % 5 - 2);
    else if (how == 1 && at.is_array() && !at.empty())
        at.erase(draw() % at.size());
    else if (how == 2 && at.is_array() && !at.empty())
        at.push_back(ordered_json(at[draw() % at.size()]));
    else if (how == 3 && at.is_object() && !at.empty())
        at.erase(std::next(at.begin(), static_cast<std::ptrdiff_t>(draw() % at.size())));
    else if (how == 4)
        at = ordered_json(*all[draw() % all.size()]);
    else
        at = odd_value(draw);
}

std::string changed(std::string_view text, unsigned seed) {
    std::minstd_rand draw(seed);
    std::vector<std::string> lines;
    std::istringstream in{std::string(text)};
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    if (lines.empty()) return {};
    for (unsigned changes = 1 + static_cast<unsigned>(draw()) % 3; changes > 0; --changes) {
        std::size_t const i = draw() % lines.size(), j = draw() % lines.size();
        switch (draw() % 12) {
        case 0:
            std::swap(lines[i], lines[j]);
            break;
        case 1:
            lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(i), std::string(lines[j]));
            break;
        case 2:
            if (i > 0) lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
            break;
        default:
            ordered_json line = ordered_json::parse(lines[i], nullptr, false);
            if (line.is_discarded()) break;
            change(line, draw);
            lines[i] = line.dump();
            break;
        }
    }
    std::string out;
    for (std::string const& line : lines) (out += line) += '\n';
    return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string const text(reinterpret_cast<char const*>(data), size);
    outcome_of_replay const once = replayed(text), again = replayed(text);
    straggle_rank::replay_result const &a = once.result, &b = again.result;
    demand(once.refused == again.refused && a.first == b.first);
    demand(a.decisions == b.decisions && a.different == b.different);
    demand(a.different <= a.decisions && (a.different == 0) == a.first.empty());
    demand(program::printable(a.first) == a.first && program::printable(once.refused) == once.refused);
    return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t room);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t room,
                                               unsigned seed);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t room,
                                               unsigned seed) {
    if (seed % 8 == 0) return LLVMFuzzerMutate(data, size, room);
    std::string const text = changed({reinterpret_cast<char const*>(data), size}, seed);
    if (text.empty() || text.size() > room) return LLVMFuzzerMutate(data, size, room);
    std::copy(text.begin(), text.end(), data);
    return text.size();
}
