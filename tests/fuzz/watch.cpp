// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whatever the lines: straggle-watch answers in whole lines, keeps its bounds, and does the same again. What
// it stores is taken back by another one.

#include "examples/programs/straggle-watch/watch.hpp"
#include "fuzzing.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace {

using fuzzing::demand;
using namespace straggle_watch;

watch_options bounds() {
    watch_options o;
    o.keeps_log = true;
    o.most_running = 20;
    o.mitigator.most_nodes = 10;
    o.mitigator.most_jobs = 64;
    o.longest_line = 4096;
    return o;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string text(reinterpret_cast<char const*>(data), size);
    text.resize(size + padding);
    std::string_view const block(text.data(), size);
    watch once(bounds()), again(bounds());
    answers a, b;
    std::uint64_t const lines = once.lines(block, 1, {}, a);
    demand(again.lines(block, 1, {}, b) == lines);
    demand(a.reply == b.reply && a.plans == b.plans && a.log == b.log);
    demand(a.reply.empty() || a.reply.back() == '\n');
    demand(once.told().running().size() <= 20 && once.told().nodes().size() <= 10);
    demand(once.counts().bad_lines() <= 2 * once.counts().lines);
    auto const bytes = once.serialize();
    watch restored(bounds());
    demand(restored.restore(bytes) == straggle::status::ok);
    demand(restored.told().running().size() == once.told().running().size());
    demand(restored.counts().lines == once.counts().lines);
    restored.lines(block, 1, {}, b);

    // The bytes as a state: taken back or refused.
    watch other(bounds());
    static_cast<void>(other.restore({reinterpret_cast<std::byte const*>(data), size}));
    return 0;
}
