// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What the tests of the monitor have in common: histories, random and real, and a comparison of two rankings
/// that says where they differ.
#pragma once

#include "../../examples/programs/common/csv.hpp"
#include "shared_data.hpp"

#include <doctest/doctest.h>
#include <straggle/rank/monitor.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace straggle_test {

/// An attempt with numbers for names.
struct attempt {
    int job = 0;
    int node = 0;
    std::int64_t took = 0;
    std::int64_t end = 0;
    straggle::attempt_status status = straggle::attempt_status::success;
    [[nodiscard]] double seconds() const { return static_cast<double>(took) / 7; }
};
inline constexpr straggle::attempt_fields ticks{.job = &attempt::job,
                                                .node = &attempt::node,
                                                .end = &attempt::end,
                                                .duration = &attempt::took,
                                                .status = &attempt::status};
inline constexpr straggle::attempt_fields reals{.job = &attempt::job,
                                                .node = &attempt::node,
                                                .end = &attempt::end,
                                                .duration = &attempt::seconds,
                                                .status = &attempt::status};

using tick_monitor = straggle::monitor<attempt, std::remove_const_t<decltype(ticks)>>;
using real_monitor = straggle::monitor<attempt, std::remove_const_t<decltype(reals)>>;

/// Jobs of any length, some too small, some without spread, many with several attempts on a node; nodes of
/// any speed, some hardly used; ends that go up, with gaps and ties.
inline std::vector<attempt> random_history(std::mt19937_64& draw, std::size_t attempts) {
    auto const up_to = [&](std::uint64_t most) { return static_cast<int>(draw() % most); };
    int const jobs = 1 + up_to(1 + attempts / 8), nodes = 1 + up_to(20);
    bool const grid = draw() % 4 == 0; // coarse durations: ties and jobs without spread
    std::vector<attempt> history;
    std::int64_t now = up_to(1000) - 500;
    for (std::size_t i = 0; i < attempts; ++i) {
        now += draw() % 3 == 0 ? up_to(40) : 0;
        attempt a{
            up_to(static_cast<std::uint64_t>(jobs)),
            (std::min)(up_to(static_cast<std::uint64_t>(nodes)), up_to(static_cast<std::uint64_t>(nodes)))};
        std::int64_t const usual = std::int64_t{100} << (a.job % 20);
        a.took = usual + static_cast<std::int64_t>(draw() % 64) * (usual / 64) + a.node * usual / 50;
        if (grid) a.took = usual + static_cast<std::int64_t>(draw() % 2) * usual;
        a.end = now;
        history.push_back(a);
    }
    return history;
}

/// A row of a real history.
struct real_attempt {
    std::string job, task, node;
    std::optional<std::int64_t> start, end;
    straggle::attempt_status status = straggle::attempt_status::success;
    [[nodiscard]] std::optional<double> seconds() const {
        if (!start || !end) return std::nullopt;
        return static_cast<double>(*end - *start) / 1000;
    }
};
inline constexpr straggle::attempt_fields real_fields{.job = &real_attempt::job,
                                                      .node = &real_attempt::node,
                                                      .start = &real_attempt::start,
                                                      .end = &real_attempt::end,
                                                      .status = &real_attempt::status};

/// A real history, or nothing where it is absent.
inline std::vector<real_attempt> real_history(std::string const& name) {
    std::vector<real_attempt> rows;
    auto const path = shared_file("data/" + name + ".csv");
    if (!path) return rows;
    std::ifstream file(*path, std::ios::binary);
    std::string const text((std::istreambuf_iterator<char>(file)), {});
    csv::reader reader{csv::text_source(text)};
    auto const column = [&](std::string_view wanted) {
        auto const header = reader.header();
        return static_cast<std::size_t>(std::find(header.begin(), header.end(), wanted) - header.begin());
    };
    std::size_t const job = column("job"), task = column("task"), node = column("node"),
                      start = column("start_ms"), end = column("end_ms"), status = column("status");
    auto const number = [](std::string_view s) {
        std::int64_t value = 0;
        bool const known = std::from_chars(s.data(), s.data() + s.size(), value).ec == std::errc{};
        return known ? std::optional(value) : std::nullopt;
    };
    while (reader.next()) {
        auto const f = reader.fields();
        rows.push_back({std::string(f[job]), std::string(f[task]), std::string(f[node]), number(f[start]),
                        number(f[end]),
                        f[status] == "success"  ? straggle::attempt_status::success
                        : f[status] == "killed" ? straggle::attempt_status::killed
                                                : straggle::attempt_status::failed});
    }
    return rows;
}

enum class order_of_nodes { same, any };

/// Where two rankings differ; empty if nowhere. Without a tolerance all bits have to be the same; with one,
/// levels are left out where intervals all but touch, because they may then fall either way.
template <class A, class B>
std::string difference(A const& a, B const& b, order_of_nodes order = order_of_nodes::same,
                       double tolerance = 0) {
    std::ostringstream out;
    out.precision(17);
    auto const say = [&](char const* what, auto const& x, auto const& y) {
        if (!(x == y)) out << what << ' ' << x << " != " << y << "; ";
    };
    auto const close = [&](char const* what, double x, double y, double times = 1) {
        // A double of its own size has no more digits than that.
        if (!(std::fabs(x - y) <= tolerance * times * (std::max)(1.0, std::fabs(x)))) say(what, x, y);
    };
    say("ranked", a.nodes().size(), b.nodes().size());
    say("unranked", a.unranked().size(), b.unranked().size());
    say("degenerate", a.degenerate_jobs().size(), b.degenerate_jobs().size());
    say("scored", a.scored_attempts(), b.scored_attempts());
    say("usable", a.usable_jobs(), b.usable_jobs());
    say("seen", a.attempts().seen, b.attempts().seen);
    say("used", a.attempts().used, b.attempts().used);
    if (!(a.attempts() == b.attempts())) out << "counts; ";
    if (!out.str().empty()) return out.str();

    bool near_tie = false;
    if (tolerance > 0)
        for (auto const& x : a.nodes())
            for (auto const& y : a.nodes())
                near_tie = near_tie || (&x != &y && std::fabs(x.ci.high - y.ci.low) < 1e-9);
    if (!near_tie) say("levels", a.levels(), b.levels());
    auto const sorted = [&](auto const& items) {
        std::vector<std::remove_reference_t<decltype(items[0])>*> all;
        for (auto const& i : items) all.push_back(&i);
        if (order == order_of_nodes::any || near_tie)
            std::sort(all.begin(), all.end(), [](auto const* x, auto const* y) { return x->id < y->id; });
        return all;
    };
    auto const an = sorted(a.nodes()), bn = sorted(b.nodes());
    for (std::size_t i = 0; i < an.size(); ++i) {
        auto const &x = *an[i], &y = *bn[i];
        say("node", x.id, y.id);
        say("n", x.n, y.n);
        close("mean", x.mean, y.mean);
        close("sd", x.sd, y.sd);
        // With n - 1 degrees of freedom the half width is so many deviations.
        double const widths = x.n == 2 ? 9.0 : x.n == 3 ? 2.5 : 1.6;
        close("low", x.ci.low, y.ci.low, 1 + widths);
        close("high", x.ci.high, y.ci.high, 1 + widths);
        if (!near_tie) say("level", x.level, y.level);
        if (order == order_of_nodes::same) say("place", x.seen, y.seen);
    }
    auto const au = sorted(a.unranked()), bu = sorted(b.unranked());
    for (std::size_t i = 0; i < au.size(); ++i) {
        say("node", au[i]->id, bu[i]->id);
        say("n", au[i]->n, bu[i]->n);
        close("mean", au[i]->mean, bu[i]->mean);
        if (order == order_of_nodes::same) say("place", au[i]->seen, bu[i]->seen);
    }
    auto const aj = sorted(a.degenerate_jobs()), bj = sorted(b.degenerate_jobs());
    for (std::size_t i = 0; i < aj.size(); ++i) {
        say("job", aj[i]->id, bj[i]->id);
        say("attempts", aj[i]->attempts, bj[i]->attempts);
        say("reason", to_string(aj[i]->reason), to_string(bj[i]->reason));
    }
    return out.str();
}

/// What a monitor promises of its counts.
inline bool adds_up(straggle::monitor_counts const& c) {
    return c.attempts.seen == c.attempts.used + c.attempts.failed + c.attempts.killed +
                                  c.attempts.superseded + c.attempts.total_rejected() + c.too_old + c.early +
                                  c.over_capacity;
}

} // namespace straggle_test
