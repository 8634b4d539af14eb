// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whatever the tasks: a history of them stores all it knows, and what is read again answers and learns alike.
// Whatever the bytes: a history either says why it cannot become what they describe and stays as it was, or
// it works. An input is a stored history, or else tasks, and edits of the history that has learned from them.
// tests/property/similar_tasks_bytes.cpp replays the corpus.

#include <straggle/base/bytes.hpp>
#include <straggle/predict/similar_tasks.hpp>

#include "fuzzing.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fuzz_similar_tasks {

using fuzzing::demand;
using fuzzing::engine;
using input = straggle::byte_reader; // zeros behind the last byte

struct task {
    std::string job, host;
    std::optional<double> size;
    bool is_map = false;
    double took = 0;
};
inline constexpr straggle::predict::task_profile profile{
    .node = &task::host,
    .time = &task::took,
    .factors = straggle::predict::factors(straggle::predict::numeric(&task::size),
                                          straggle::predict::categorical(&task::job),
                                          straggle::predict::categorical(&task::is_map))};
using history = straggle::predict::similar_tasks<task, std::remove_const_t<decltype(profile)>>;

constexpr std::size_t most_tasks = 40, most_neighbors = 5, most_nodes = 6;

inline history new_history() {
    return history(profile,
                   {.neighbors = most_neighbors,
                    .capacity = most_tasks,
                    .weights = {.fit = {.memory = 64}, .node_memory = 16, .most_nodes = most_nodes}});
}

// Any bits seldom are one of the numbers that matter.
inline double real(input& in) {
    using limits = std::numeric_limits<double>;
    static constexpr double odd[] = {0.0,
                                     -0.0,
                                     limits::quiet_NaN(),
                                     limits::infinity(),
                                     -1.0,
                                     (limits::max)(),
                                     limits::lowest(),
                                     limits::denorm_min(),
                                     0x1p62,
                                     1e300};
    unsigned const which = in.u8();
    return which < std::size(odd) ? odd[which] : which < 240 ? which / 16.0 : in.real();
}

inline task any_task(input& in) {
    unsigned const names = in.u8();
    task t;
    t.job = std::string(1 + names % 4, 'j');
    t.host = "n" + std::to_string(names / 4 % 8);
    t.is_map = names >= 128;
    if (double const size = real(in); size != 1.0) t.size = size;
    t.took = real(in);
    return t;
}

inline void check(history& h) {
    demand(h.size() <= most_tasks && h.capacity() == most_tasks);
    for (char const* const node : {"n0", "n1", "n7", "", "nobody has seen it"}) {
        double sum = 0;
        for (double const w : h.weights_of(node)) {
            demand(w >= 0 && w <= 1);
            sum += w;
        }
        demand(std::fabs(sum - 1) < 1e-9);
        for (double const size : {0.0, 3.0, 1e300}) {
            task const t{"jj", "", size, false, 0};
            auto const times = h.predict(t, node);
            // Sizes that are many orders of magnitude apart are no distance that a double has.
            demand(times.has_value() ? h.size() > 0
                                     : times.reason() == straggle::status::insufficient_evidence);
            if (!times) continue;
            demand(!times->empty() && times->size() <= (std::min)(h.size(), most_neighbors));
            for (std::size_t i = 0; i < times->size(); ++i)
                demand(std::isfinite((*times)[i]) && (*times)[i] >= (i == 0 ? 0 : (*times)[i - 1]));
            auto const left = h.remaining(t, node, 2.5);
            if (left)
                for (std::size_t i = 0; i < left->size(); ++i) demand((*left)[i] >= 0);
            auto const usual = h.usual_time(t);
            demand(!usual || (std::isfinite(*usual) && *usual >= 0));
        }
    }
}

// The frame of the tasks within the frame of the history gets a checksum that lets the rest of it be seen.
inline void mend_inner(std::vector<std::byte>& bytes) {
    using namespace straggle::detail;
    constexpr std::size_t around = frame_head_size + frame_tail_size;
    if (bytes.size() < 2 * around) return;
    std::size_t const end = bytes.size() - frame_tail_size;
    auto const inner =
        std::search(bytes.begin() + frame_head_size, bytes.end(), frame_magic.begin(), frame_magic.end());
    auto const at = static_cast<std::size_t>(inner - bytes.begin());
    if (at + around > end) return;
    std::size_t const inner_end = end - frame_tail_size;
    store_little(bytes.data() + inner_end,
                 crc64(std::span<std::byte const>(bytes).first(inner_end).subspan(at)));
}

// The rest of a life, twice the same.
inline void live_on(history& one, history& other) {
    engine draws, same;
    for (unsigned i = 0; i < 60; ++i) { // until all that were read are gone
        task const t{.job = std::string(1 + i % 3, 'j'),
                     .host = "n" + std::to_string(i % 9),
                     .size = i % 5 == 0 ? std::nullopt : std::optional<double>(i),
                     .is_map = i % 7 == 0,
                     .took = i / 4.0};
        demand(i % 2 == 0 ? one.observe(t) && other.observe(t)
                          : one.observe(t, draws) && other.observe(t, same));
    }
    demand(one.size() == most_tasks && one.serialize() == other.serialize());
    check(one);
    one.clear();
    demand(one.size() == 0);
    check(one);
}

inline void become(std::span<std::byte const> bytes) {
    fuzzing::restore(
        bytes, new_history, [](history& one) { demand(one.observe({"before", "n1", 1.0, true, 2.0})); },
        [](history& one, history& again) {
            check(one);
            live_on(one, again);
        });
}

// A history of what tasks the bytes tell of; the first byte is how many.
inline history history_of(input& in) {
    history h = new_history();
    engine draws;
    for (unsigned tasks = in.u8() % 96; tasks > 0; --tasks) {
        task const t = any_task(in);
        bool const used = tasks % 2 == 0 ? h.observe(t) : h.observe(t, draws);
        demand(used == (std::isfinite(t.took) && t.took >= 0));
    }
    check(h);
    return h;
}

} // namespace fuzz_similar_tasks

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace fuzz_similar_tasks;
    std::vector<std::byte> bytes = fuzzing::bytes_of(data, size);
    if (size != 0 && bytes.front() == straggle::detail::frame_magic.front()) {
        mend_inner(bytes);
        fuzzing::as_is_and_mended(bytes, [](std::span<std::byte const> stored) { become(stored); });
        return 0;
    }
    input in(bytes);
    std::vector<std::byte> stored = history_of(in).serialize();
    become(stored);
    std::size_t const behind = (std::min)(size, in.left());
    stored = fuzzing::edited(stored, data + (size - behind), behind);
    mend_inner(stored);
    become(fuzzing::edited(stored, data, 0));
    return 0;
}
