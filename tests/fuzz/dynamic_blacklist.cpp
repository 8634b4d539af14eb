// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whatever the bytes: a dynamic blacklist either says why it cannot become what they describe and stays as it
// was, or it works: it observes at any time, decides within its limits, merges, and what it stores reads back
// as the same bytes. Bytes are shown as they are, with a mended frame, as edits of what a real one stores,
// and as the times at which attempts end.

#include <straggle/blacklist/dynamic_blacklist.hpp>

#include "fuzzing.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace {

struct fuzz_attempt {
    std::string job;
    int node = 0;
    std::int64_t start = 0, end = 0;
    int task = 0;
    straggle::attempt_status status = straggle::attempt_status::success;
};
constexpr straggle::attempt_fields columns{.job = &fuzz_attempt::job,
                                           .task = &fuzz_attempt::task,
                                           .node = &fuzz_attempt::node,
                                           .start = &fuzz_attempt::start,
                                           .end = &fuzz_attempt::end,
                                           .status = &fuzz_attempt::status};
constexpr int nodes = 8;

auto make() {
    straggle::dynamic_blacklist_options options;
    options.decisions.evidence.max_attempts = 1 << 15; // so that its bounds are met
    options.decisions.evidence.max_jobs = 64;
    return straggle::dynamic_blacklist<fuzz_attempt, std::remove_const_t<decltype(columns)>>(columns,
                                                                                             options);
}

using fuzzing::demand;

template <class Blacklist>
void check(Blacklist const& b, straggle::blacklist_decision<int> const& decision) {
    demand(decision.blacklisted().size() <= nodes);
    for (auto const& v : decision.blacklisted()) demand(b.state(v.id) != straggle::node_state::healthy);
    for (int n = 0; n < nodes; ++n)
        if (auto const s = b.slowdown_of(n); s.is_known()) demand(s.low <= s.value && s.value <= s.high);
}

template <class Blacklist>
void work(Blacklist& b, std::int64_t since) {
    for (std::int64_t t = 0; t < 60; ++t) {
        int const n = static_cast<int>(t % nodes);
        auto const how = t % 13 == 0 ? straggle::attempt_status::failed : straggle::attempt_status::success;
        b.observe({"job " + std::to_string(t / 16), n, since + t - (n == 3 ? 30 : 10), since + t,
                   static_cast<int>(t), how});
        if (t % 10 == 9) check(b, b.decide(since + t));
    }
}

void become(std::span<std::byte const> bytes) {
    fuzzing::become(
        bytes, make, [](auto& b) { b.observe({"before", 1, 5, 9, 1}); }, [](auto& b) { work(b, 100); });
}

// What one that has worked stores, but for a few bytes.
std::vector<std::byte> edited(std::uint8_t const* data, std::size_t size) {
    static std::vector<std::byte> const stored = [] {
        auto b = make();
        work(b, 0);
        return b.serialize();
    }();
    return fuzzing::edited(stored, data, size);
}

// Each byte is an attempt; the largest are clocks that say anything.
void live(std::span<std::uint8_t const> bytes) {
    auto b = make();
    std::int64_t now = 1000;
    std::size_t i = 0;
    for (std::uint8_t const byte : bytes) {
        std::int64_t end = now += byte % 16;
        if (byte == 255) end = 0;
        if (byte == 254) end = std::int64_t{1} << 62;
        if (byte == 253) end = now - 900;
        if (byte == 252) now += std::int64_t{1} << 40;
        b.observe({"job " + std::to_string(i / 20), byte % nodes, end - byte / 4, end, static_cast<int>(i)});
        if (++i % 8 == 0) check(b, b.decide(byte == 251 ? 0 : now));
    }
    auto again = make();
    demand(again.restore(b.serialize()) == straggle::status::ok);
    demand(again.serialize() == b.serialize());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzzing::as_is_and_mended(fuzzing::bytes_of(data, size), become);
    become(edited(data, size));
    live({data, size});
    return 0;
}
