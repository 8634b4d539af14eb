// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whatever the lines, and whatever the clock says when they come: straggle-watch answers in whole lines,
// keeps its bounds, and does the same again. What it stores is taken back by another one. What it stores, but
// for a few bytes, is refused, or makes one that works.

#include "examples/programs/straggle-watch/watch.hpp"
#include "fuzzing.hpp"
#include "small_watch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace {

using fuzzing::demand;
using namespace straggle_watch;

watch_options bounds() {
    watch_options o = fuzzing::small_watch();
    o.keeps_log = true;
    return o;
}

// What the program's own clock says: none, one that goes on, and now and then one that was set.
class wall_clock_of_input {
  public:
    explicit wall_clock_of_input(std::uint64_t seed) : draw_{seed}, is_told_(seed % 3 != 0) {}
    std::optional<double> operator()() {
        if (!is_told_) return std::nullopt;
        static constexpr double odd[] = {0, -1, 0x1p62, -0x1p62, 1e300, 1.7e12};
        std::uint64_t const how = draw_() >> 7;
        if (how % 16 == 0) return odd[how / 16 % std::size(odd)];
        if (how % 16 == 1) return now_ -= 4000;
        return now_ += static_cast<double>(how % 512) / 16;
    }

  private:
    fuzzing::engine draw_;
    bool is_told_;
    double now_ = 1.7e9;
};

// Everything a watch does with lines, a few at a time, and with its timer.
void feed(watch& to, std::string const& padded, std::size_t size, answers& out) {
    std::string_view const text(padded.data(), size);
    wall_clock_of_input wall(straggle::detail::crc64(std::as_bytes(std::span(text))));
    std::uint64_t line = 1;
    for (std::size_t begin = 0, turn = 1; begin < size; ++turn) {
        std::size_t end = text.find('\n', (std::min)(size, begin + size / 5 + 1));
        end = end == text.npos ? size : end + 1;
        arrival const when{.wall = wall(), .is_decider = turn % 4 != 0};
        line += to.lines(text.substr(begin, end - begin), line, when, out);
        if (when.wall) to.decide({.wall = wall()}, out);
        begin = end;
    }
}

void check(watch const& w) {
    demand(w.told().running().size() <= 20 && w.told().nodes().size() <= 10);
    demand(w.gangs_told().size() <= gangs::most);
}

// The state of one that has worked.
std::vector<std::byte> const& worked() {
    static std::vector<std::byte> const stored = [] {
        watch w(bounds());
        std::string text;
        auto const add = [&](char const* event, int task, int node, int now) {
            text += std::string(R"({"event": ")") + event + R"(", "job": "j", "kind": "k", "task": )" +
                    std::to_string(task) + R"(, "node": "n)" + std::to_string(node) + R"(", "start": )" +
                    std::to_string(now - (node == 3 ? 17 : 10)) + R"(, "end": )" + std::to_string(now) +
                    "}\n";
        };
        for (int i = 0; i < 120; ++i) {
            add("start", i, i % 6, 1000 + i);
            if (i >= 8) add("end", i - 8, (i - 8) % 6, 1000 + i - 8);
            if (i % 10 == 9)
                text += R"({"event": "decide", "waiting": 2, "now": )" + std::to_string(1000 + i) + "}\n";
        }
        std::size_t const size = text.size();
        text.resize(size + padding);
        answers out;
        w.lines({text.data(), size}, 1, {}, out);
        demand(w.counts().plans > 0 && w.counts().bad_lines() == 0);
        return w.serialize();
    }();
    return stored;
}

void become(std::span<std::byte const> bytes) {
    watch w(bounds());
    if (w.restore(bytes) != straggle::status::ok) return;
    check(w);
    watch again(bounds());
    demand(again.restore(w.serialize()) == straggle::status::ok);
    std::string text = R"({"event": "start", "job": "j", "task": 1, "node": "n1", "start": 1100}
{"event": "decide", "now": 1101}
{"event": "rank_places", "job": "j"}
{"event": "end", "job": "j", "task": 1, "node": "n1", "end": 1102}
{"event": "decide", "now": 1200, "all": true}
)";
    std::size_t const size = text.size();
    text.resize(size + padding);
    answers out;
    w.lines({text.data(), size}, 1, {}, out);
    demand(out.plans.find("\"plan\"") != std::string::npos ||
           out.reply.find("\"plan\"") != std::string::npos || !w.is_on());
    check(w);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string text(reinterpret_cast<char const*>(data), size);
    text.resize(size + padding);
    watch once(bounds()), again(bounds());
    answers a, b;
    feed(once, text, size, a);
    feed(again, text, size, b);
    demand(once.counts().lines == again.counts().lines);
    demand(a.reply == b.reply && a.plans == b.plans && a.log == b.log);
    demand(a.reply.empty() || a.reply.back() == '\n');
    check(once);
    demand(once.counts().bad_lines() <= 2 * once.counts().lines);
    auto const bytes = once.serialize();
    watch restored(bounds());
    demand(restored.restore(bytes) == straggle::status::ok);
    demand(restored.told().running().size() == once.told().running().size());
    demand(restored.counts().lines == once.counts().lines);
    feed(restored, text, size, b);

    fuzzing::as_is_and_mended(fuzzing::bytes_of(data, size), become);
    become(fuzzing::edited(worked(), data, (std::min)(size, std::size_t{60})));
    return 0;
}
