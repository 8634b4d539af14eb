// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whatever the clocks say: attempts that start at 0 or at 2^62, end before they start or in the future, a
// clock that goes back, NaN. A monitor ranks and a mitigator decides within its limits all the same, in whole
// ticks and in seconds, and what they store reads back as the same bytes. tests/mitigate and tests/monitor
// have the cases that were found as unit tests.

#include <straggle/mitigate/mitigator.hpp>
#include <straggle/rank/monitor.hpp>

#include "fuzzing.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using fuzzing::demand;

template <class Time>
struct fuzz_attempt {
    std::string job;
    int node = 0;
    Time start{}, end{};
    int task = 0;
    straggle::attempt_status status = straggle::attempt_status::success;
};
template <class Time>
struct fuzz_running {
    std::string job;
    int node = 0;
    Time start{};
    int task = 0;
};
struct fuzz_node {
    int id = 0, slots = 2;
};
constexpr straggle::node_fields node_columns{.node = &fuzz_node::id, .slots = &fuzz_node::slots};

// One byte after the other; zeros behind the last.
class input {
  public:
    explicit input(std::span<std::uint8_t const> bytes) : rest_(bytes) {}
    [[nodiscard]] bool empty() const { return rest_.empty(); }
    unsigned take() {
        if (rest_.empty()) return 0;
        unsigned const b = rest_.front();
        rest_ = rest_.subspan(1);
        return b;
    }

  private:
    std::span<std::uint8_t const> rest_;
};

// Most of the time a little later than before, and else anything that a broken clock may say.
template <class Time>
Time next_time(input& in, Time& usual) {
    using limits = std::numeric_limits<Time>;
    unsigned const b = in.take();
    switch (b) {
    case 240:
        return Time{};
    case 241:
        return static_cast<Time>(std::int64_t{1} << 62);
    case 242:
        return static_cast<Time>(-(std::int64_t{1} << 62));
    case 243:
        return (limits::max)();
    case 244:
        return limits::lowest();
    case 245:
        if constexpr (std::is_floating_point_v<Time>) return limits::quiet_NaN();
        return Time{-1};
    case 246:
        if constexpr (std::is_floating_point_v<Time>) return limits::infinity();
        return Time{1};
    case 247: // milliseconds where seconds were meant
        return usual < Time{1'000'000'000} ? usual * Time{1000} : usual;
    default:
        break;
    }
    Time const step = static_cast<Time>(b % 60);
    if (b >= 248 && usual > Time{600}) return usual - step * Time{10};
    return usual += b >= 180 ? step * Time{50} : step;
}

template <class Time>
void watch(std::span<std::uint8_t const> bytes) {
    using attempt = fuzz_attempt<Time>;
    using running = fuzz_running<Time>;
    constexpr straggle::attempt_fields ended{.job = &attempt::job,
                                             .task = &attempt::task,
                                             .node = &attempt::node,
                                             .start = &attempt::start,
                                             .end = &attempt::end,
                                             .status = &attempt::status};
    auto const make = [&] {
        return straggle::mitigator_of<attempt, running, fuzz_node>(
            ended,
            straggle::running_fields{.job = &running::job,
                                     .task = &running::task,
                                     .node = &running::node,
                                     .start = &running::start},
            node_columns);
    };
    auto m = make();
    straggle::monitor<attempt, decltype(ended)> seen(ended, {.window = Time{300}, .slide = Time{60}});
    std::vector<fuzz_node> nodes;
    for (int n = 0; n < 8; ++n) nodes.push_back({n});
    std::vector<running> now_running;

    input in(bytes);
    Time usual{}, now{};
    for (int steps = 0; !in.empty() && steps < 400; ++steps) {
        unsigned const what = in.take();
        std::string const job(1, static_cast<char>('a' + what / 8 % 3));
        int const node = static_cast<int>(what % 8), task = static_cast<int>(what / 64);
        switch (in.take() % 5) {
        case 0:
        case 1: {
            attempt a{job, node, next_time(in, usual), next_time(in, usual), task};
            a.status = static_cast<straggle::attempt_status>(what % 3);
            m.observe(a, now);
            seen.observe(a);
            break;
        }
        case 2:
            if (now_running.size() < 12) now_running.push_back({job, node, next_time(in, usual), task});
            break;
        case 3:
            if (!now_running.empty()) now_running.pop_back();
            break;
        default: {
            now = next_time(in, usual);
            auto const& plan = m.decide(now, now_running, nodes, {.waiting = what % 9});
            demand(plan.nodes().size() == nodes.size());
            for (auto const& c : plan.copies())
                demand(c.row < now_running.size() && c.node_row < nodes.size());
            for (auto const& k : plan.kills()) demand(k.row < now_running.size());
            for (auto const& p : m.rank_places(job, nodes)) demand(p.row < nodes.size());
            for (auto const& n : seen.rank().nodes()) demand(std::isfinite(n.mean) && n.sd >= 0);
            break;
        }
        }
    }
    std::vector<std::byte> const stored = m.serialize(), seen_bytes = seen.serialize();
    auto again = make();
    demand(again.restore(stored) == straggle::status::ok && again.serialize() == stored);
    straggle::monitor<attempt, decltype(ended)> seen_again(ended, {.window = Time{300}, .slide = Time{60}});
    demand(seen_again.restore(seen_bytes) == straggle::status::ok && seen_again.serialize() == seen_bytes);
    again.merge(m);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    watch<std::int64_t>({data, size});
    watch<double>({data, size});
    return 0;
}
