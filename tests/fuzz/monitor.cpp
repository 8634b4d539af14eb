// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whatever the bytes: a monitor either says why it cannot become what they describe and stays as it was, or
// it works: it ranks, observes, merges and finishes, and what it stores reads back as the same bytes.
// tests/rank/monitor_bytes.cpp replays the corpus.

#include <straggle/base/bytes.hpp>
#include <straggle/rank/monitor.hpp>

#include "fuzzing.hpp"

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace {

struct fuzz_record {
    std::string job;
    int node = 0;
    std::int64_t took = 0;
    std::int64_t end = 0;
    double seconds() const { return static_cast<double>(took) / 8; }
};
inline constexpr straggle::attempt_fields fuzz_ticks{.job = &fuzz_record::job,
                                                     .node = &fuzz_record::node,
                                                     .end = &fuzz_record::end,
                                                     .duration = &fuzz_record::took};
inline constexpr straggle::attempt_fields fuzz_reals{.job = &fuzz_record::job,
                                                     .node = &fuzz_record::node,
                                                     .end = &fuzz_record::end,
                                                     .duration = &fuzz_record::seconds};

template <class Fields>
straggle::monitor<fuzz_record, Fields> fuzz_monitor(Fields const& fields, bool windows) {
    if (windows) return straggle::monitor<fuzz_record, Fields>(fields, {.window = 30, .slide = 10});
    return straggle::monitor<fuzz_record, Fields>(fields);
}

using fuzzing::demand;

template <class Monitor>
void check_ranking(Monitor& m) {
    auto const& ranking = m.rank();
    demand(ranking.fleet_size() <= m.nodes());
    for (auto const& n : ranking.nodes()) demand(std::isfinite(n.mean) && n.sd >= 0 && n.ci.low <= n.ci.high);
}

template <class Monitor>
void become(Monitor m, std::span<std::byte const> bytes) {
    Monitor const fresh = m;
    m.observe({"before", 1, 5, 5});
    std::vector<std::byte> const before = m.serialize();
    if (m.restore(bytes) != straggle::status::ok) {
        demand(m.serialize() == before);
        return;
    }
    std::vector<std::byte> const stored = m.serialize();
    Monitor again = fresh;
    demand(again.restore(stored) == straggle::status::ok && again.serialize() == stored);
    check_ranking(m);
    check_ranking(again);
    Monitor twice = m;
    twice.merge(again);
    check_ranking(twice);
    for (std::int64_t i = 0; i < 12; ++i)
        m.observe({i % 2 == 0 ? "j0" : "late comer", static_cast<int>(i), i, 7 * i});
    check_ranking(m);
    for (char const* const job : {"j0", "j1", "late comer", ""}) m.finish(job);
    check_ranking(m);
    std::vector<std::byte> const last = m.serialize();
    demand(again.restore(last) == straggle::status::ok && again.serialize() == last);
    m.merge(twice);
    check_ranking(m);
    (void)m.rank(1000);
    m.clear();
    demand(m.pairs() + m.jobs() + m.nodes() == 0);
}

// A valid monitor, for the tests and to begin from.
[[maybe_unused]] inline std::vector<std::byte> sample_monitor(std::uint64_t kind, std::uint64_t attempts) {
    auto const filled = [&](auto m) {
        for (std::uint64_t i = 0; i < attempts; ++i)
            m.observe({"j" + std::to_string(i % 3), static_cast<int>(i % 4) - 1,
                       static_cast<std::int64_t>(100 + i * i), static_cast<std::int64_t>(2 * i)});
        if (attempts % 2 == 0) m.finish("j1");
        return m.serialize();
    };
    return kind % 2 == 0 ? filled(fuzz_monitor(fuzz_ticks, kind >= 2))
                         : filled(fuzz_monitor(fuzz_reals, kind >= 2));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzzing::as_is_and_mended(fuzzing::bytes_of(data, size), [](std::span<std::byte const> bytes) {
        for (bool const windows : {false, true}) {
            become(fuzz_monitor(fuzz_ticks, windows), bytes);
            become(fuzz_monitor(fuzz_reals, windows), bytes);
        }
    });
    return 0;
}
