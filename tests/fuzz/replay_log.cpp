// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whatever has become of a log: `straggle-rank --replay` makes its decisions again, always the same way, and
// says in one printable line what differs, or which line does not belong to a log. line_mutator.cpp changes
// logs as what they are: numbers, times, members, lines. tests/examples/straggle_rank_replay_test.py replays
// the corpus.

#include "examples/programs/straggle-rank/replay_log.hpp"
#include "examples/programs/common/failure.hpp"
#include "examples/programs/common/text.hpp"
#include "fuzzing.hpp"

#include <cstdint>
#include <sstream>
#include <string>

namespace {

using fuzzing::demand;

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
