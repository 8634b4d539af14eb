// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whatever the windows: what was logged is decided again to the bit. Whatever has become of a log: a record
// is refused and nothing has changed, or it is decided on, and a verdict or an exclusion that is not as it
// was is the difference that is found. Numbers are those of windows as they come, any bits, and edits of a
// log. tests/examples/decision_record.cpp replays the corpus.

#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/rolling_blacklister.hpp>
#include <straggle/blacklist/timed_limits.hpp>

#include "../../examples/programs/straggle-rank/decision_record.hpp"
#include "fuzzing.hpp"

#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace fuzz_decision_log {

using fuzzing::demand;
using straggle_rank::decision_difference;
using logged = straggle_rank::decision_record<int>;
using verdicts = std::vector<straggle_rank::logged_verdict<int>>;
using input = straggle::byte_reader; // zeros behind the last byte
constexpr unsigned most_nodes = 24, most_windows = 40;

// Any bits seldom are one of the numbers that matter.
inline double real(input& in) {
    using limits = std::numeric_limits<double>;
    static constexpr double odd[] = {
        0.0,  -0.0, limits::quiet_NaN(), limits::infinity(), -limits::infinity(),
        -1.0, 1.0,  (limits::max)(),     limits::lowest(),   limits::denorm_min()};
    unsigned const which = in.u8();
    return which < std::size(odd) ? odd[which] : which < 128 ? which / 16.0 : in.real();
}

// The i-th node of a window, a byte each: how long its tasks take, and whether there are enough.
inline void add_usual(logged& r, unsigned i, std::uint8_t byte) {
    double const mean = byte % 32 / 8.0;
    if (byte >= 224) {
        r.unranked.push_back({.id = static_cast<int>(i), .n = 1, .mean = mean, .seen = i});
        return;
    }
    double const ratio = 1 + mean;
    r.nodes.push_back({.id = static_cast<int>(i),
                       .n = 2u + byte / 32,
                       .mean = mean,
                       .sd = 0.5,
                       .ci = {mean - 0.25, mean + 0.25},
                       .seen = i,
                       .slow = {ratio, ratio * 0.9, ratio * 1.1, 9}});
}

// Any numbers, at times any places and names.
inline void add_any(logged& r, unsigned i, input& in) {
    unsigned const how = in.u8();
    std::uint32_t const seen = how % 16 == 15 ? in.u32() : i;
    int const id = how % 16 == 14 ? static_cast<int>(in.u8()) : static_cast<int>(i);
    if (how >= 192) {
        r.unranked.push_back({.id = id, .n = in.u64(), .mean = real(in), .seen = seen});
        return;
    }
    add_usual(r, i, in.u8() % 224);
    auto& node = r.nodes.back();
    node.id = id;
    node.seen = seen;
    if ((how & 16) != 0) node.n = in.u64();
    if ((how & 32) != 0) node.mean = real(in);
    if ((how & 64) != 0) node.sd = real(in);
    if ((how & 128) != 0) {
        node.ci = {real(in), real(in)};
        if (in.u8() % 2 == 1) node.slow = {real(in), real(in), real(in), in.u64()};
    }
}

inline logged window(input& in, std::int64_t before) {
    logged r;
    unsigned const how = in.u8(), nodes = in.u8() % most_nodes;
    r.window = how % 64 == 63 ? in.i64() : straggle::detail::windows_after(before, 1 + how % 4);
    r.edges = (how & 64) != 0 ? straggle::rank::edge_rule::open : straggle::rank::edge_rule::closed;
    for (unsigned i = 0; i < nodes; ++i) {
        if ((how & 128) != 0)
            add_any(r, i, in);
        else
            add_usual(r, i, in.u8());
    }
    return r;
}

// Decides on what can be a window and writes it down.
template <class Keeper>
std::vector<logged> log_of(Keeper keeper, input& in, unsigned windows) {
    std::vector<logged> log;
    for (; windows > 0; --windows) {
        logged const r = window(in, log.empty() ? 0 : log.back().window);
        auto const ranking = straggle::rank::ranking_from<int>(r.nodes, r.unranked, r.edges);
        bool const goes_on = log.empty() || r.window > log.back().window;
        if (!ranking || !goes_on || straggle_rank::detail::has_twins(r)) {
            demand(straggle_rank::replay_decision(r, keeper).reason() == straggle::status::out_of_domain);
            continue;
        }
        auto const& decision = keeper.decide(*ranking, r.window);
        demand(decision.window() == r.window && decision.blacklisted().size() <= most_nodes);
        log.push_back(straggle_rank::record_of(*ranking, keeper));
    }
    return log;
}

// Something else in a verdict or an exclusion; where the replay has to find it.
template <class Item, class Change>
std::optional<decision_difference> edit_one(std::string_view list, std::vector<Item>& items,
                                            std::size_t place, Change&& change) {
    if (items.empty()) return std::nullopt;
    place %= items.size();
    Item const before = items[place];
    change(items[place]);
    if (items[place] == before) return std::nullopt;
    return decision_difference{list, place, {}};
}

inline std::optional<decision_difference> edit_verdict(logged& r, input& in) {
    static constexpr std::pair<std::string_view, verdicts logged::*> lists[] = {
        {"blacklisted", &logged::blacklisted},
        {"on_probation", &logged::on_probation},
        {"spared", &logged::spared}};
    auto const& [name, list] = lists[in.u8() % 3];
    return edit_one(name, r.*list, in.u8(), [&in](auto& v) {
        switch (in.u8() % 19) {
        case 0:
            v.id = in.u8();
            break;
        case 1:
            v.state = static_cast<straggle::node_state>(in.u8() % 5);
            break;
        case 2:
            v.slow.value = real(in);
            break;
        case 3:
            v.slow.tasks = in.u64();
            break;
        case 4:
            v.causes = in.u8();
            break;
        case 5:
            v.n = in.u64();
            break;
        case 6:
            v.mean = real(in);
            break;
        case 7:
            v.sd = real(in);
            break;
        case 8:
            v.ci.low = real(in);
            break;
        case 9:
            v.level = in.u32();
            break;
        case 10:
            v.provably_faster = in.u8();
            break;
        case 11:
            v.provably_slower = in.u8();
            break;
        case 12:
            v.value = real(in);
            break;
        case 13:
            v.threshold = real(in);
            break;
        case 14:
            v.rule = std::string(in.u8() % 40, 'r');
            break;
        case 15:
            v.spared_by = std::string(in.u8() % 40, 's');
            break;
        case 16:
            v.strikes = in.u32();
            break;
        case 17:
            v.since = real(in);
            break;
        default:
            v.probe_slots = in.u32();
            break;
        }
    });
}

inline std::optional<decision_difference> edit_exclusion(logged& r, input& in) {
    return edit_one("exclusions", *r.exclusions, in.u8(), [&in](auto& e) {
        switch (in.u8() % 9) {
        case 0:
            e.id = in.u8();
            break;
        case 1:
            e.state.state = static_cast<straggle::node_state>(in.u8() % 5);
            break;
        case 2:
            e.state.strikes = in.u32();
            break;
        case 3:
            e.state.since = in.i64();
            break;
        case 4:
            e.state.until = in.i64();
            break;
        case 5:
            e.state.weak_streak = in.u32();
            break;
        case 6:
            e.state.good_streak = in.u32();
            break;
        case 7:
            e.state.probes = in.u64();
            break;
        default:
            e.state.probe_sum = real(in);
            break;
        }
    });
}

template <class Keeper>
void replay(std::span<logged const> log, Keeper& keeper) {
    for (logged const& r : log) {
        auto const difference = straggle_rank::replay_decision(r, keeper);
        demand(difference.has_value() && !difference->has_value());
    }
}

template <class Keeper>
void check(Keeper const& fresh, input in) {
    std::vector<logged> const log = log_of(fresh, in, in.u8() % most_windows);
    Keeper keeper = fresh;
    replay(log, keeper);
    if (log.empty()) return;

    // One record becomes another.
    std::size_t const at = in.u8() % log.size();
    Keeper then = fresh;
    replay(std::span(log).first(at), then);
    logged changed = log[at];
    unsigned const what = in.u8();
    if (what % 4 == 3) { // what it was decided on
        logged const other = window(in, changed.window);
        if ((what & 4) != 0) changed.nodes = other.nodes;
        if ((what & 8) != 0) changed.unranked = other.unranked;
        if ((what & 16) != 0) changed.window = other.window;
        if (straggle_rank::replay_decision(changed, then)) {
            for (logged const& r : std::span(log).subspan(at + 1))
                static_cast<void>(straggle_rank::replay_decision(r, then));
            return;
        }
    } else {
        auto const expected = what % 4 == 2 ? edit_exclusion(changed, in) : edit_verdict(changed, in);
        Keeper now = then;
        auto const found = straggle_rank::replay_decision(changed, now);
        demand(found.has_value() && found->has_value() == expected.has_value());
        if (expected) demand((*found)->list == expected->list && (*found)->place == expected->place);
    }
    replay(std::span(log).subspan(at), then); // nothing has changed
}

} // namespace fuzz_decision_log

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace straggle::blacklist;
    std::vector<std::byte> const bytes = fuzzing::bytes_of(data, size);
    straggle::byte_reader in(bytes);
    switch (in.u8() % 3) {
    case 0:
        fuzz_decision_log::check(straggle::rolling_blacklister<int>(), in);
        break;
    case 1:
        fuzz_decision_log::check(straggle::rolling_blacklister_of<int>(dominated{}, hysteresis<>{},
                                                                       at_most(2), rate_limit(0.5, 1),
                                                                       at_most_slot_fraction<>(0.5)),
                                 in);
        break;
    default:
        fuzz_decision_log::check(
            straggle::rolling_blacklister_of<int>(slower_by{}, rerank_every_window{}, at_most(3)), in);
        break;
    }
    return 0;
}
