// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "timeline.hpp"

#include "../common/failure.hpp"
#include "../common/text.hpp"
#include "attempt_list.hpp"
#include "attempts_by_end.hpp"
#include "past_by_end.hpp"
#include "recommend_window.hpp"

#include <straggle/rank/monitor.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace straggle_rank {

using namespace program;

namespace {

constexpr std::uint64_t most_decisions = 1'000'000;

// Keeps the account of every node, and finds changes.
class bookkeeper {
  public:
    bookkeeper(timeline& t, std::size_t nodes, options const& o) : t_(t), o_(o), last_(nodes), stamp_(nodes) {
        t.nodes.resize(nodes);
    }

    std::vector<change> const& take(ranking const& r, decision const& d, std::int64_t window,
                                    keeper const& k) {
        keeper_ = &k;
        changes_.clear();
        ++now_;
        for (auto const& node : r.nodes()) ++t_.nodes[node.id].windows;
        for (auto const& node : r.unranked()) ++t_.nodes[node.id].windows;
        listed_.swap(listed_before_);
        listed_.clear();
        place(d.blacklisted(), standing::avoided, window);
        place(d.on_probation(), standing::on_probation, window);
        place(d.spared(), standing::spared, window);
        for (std::uint32_t const node : listed_before_) {
            if (stamp_[node] == now_) continue;
            changes_.push_back({node, last_[node].where, standing::in_service, nullptr, 0, 0});
            last_[node] = {};
        }
        return changes_;
    }

    void close(keeper const& k) {
        for (std::uint32_t node = 0; node < last_.size(); ++node) {
            t_.nodes[node].now = last_[node].where;
            t_.nodes[node].strikes = k.strikes_of(node);
            t_.nodes[node].failures = k.failures_of(node);
        }
    }

  private:
    struct position {
        standing where = standing::in_service;
        double since = 0;
        std::size_t stay = 0;
    };

    void place(std::span<verdict const> verdicts, standing where, std::int64_t window) {
        for (verdict const& v : verdicts) {
            position& last = last_[v.id];
            node_account& account = t_.nodes[v.id];
            ++(where == standing::avoided        ? account.avoided
               : where == standing::on_probation ? account.on_probation
                                                 : account.spared);
            bool const anew = where == standing::avoided && last.since != v.since;
            if (last.where != where || anew) {
                changes_.push_back(
                    {v.id, last.where, where, &v, keeper_->window_of(v.since), keeper_->window_of(v.until)});
                if (where == standing::avoided) ++account.exclusions;
                last = {where, v.since, t_.stays.size()};
                t_.stays.push_back({v.id, where, window, window, v.strikes, keeper_->window_of(v.until),
                                    reason(v, o_), std::string(v.spared_by)});
            }
            stay& s = t_.stays[last.stay];
            s.last = window;
            s.until = keeper_->window_of(v.until);
            stamp_[v.id] = now_;
            listed_.push_back(v.id);
        }
    }

    timeline& t_;
    options const& o_;
    keeper const* keeper_ = nullptr;
    std::vector<position> last_;
    std::vector<std::uint64_t> stamp_; // when a node was listed last
    std::uint64_t now_ = 0;
    std::vector<std::uint32_t> listed_, listed_before_;
    std::vector<change> changes_;
};

template <class Time>
class row_of_windows {
  public:
    row_of_windows(bool has_durations, window_calendar const& calendar, options const& o)
        : has_durations_(has_durations), options_(o) {
        if constexpr (std::integral<Time>)
            slide_ = calendar.slide_ticks();
        else
            slide_ = calendar.slide_units();
        window_ = slide_ * static_cast<Time>(calendar.lengths().slides());
    }

    // Successes that count, except that their end is unknown.
    [[nodiscard]] std::uint64_t untimed(std::vector<attempt<Time>> const& attempts) const {
        return static_cast<std::uint64_t>(std::ranges::count_if(
            attempts, [this](attempt<Time> const& a) { return is_usable(a) && !a.end(); }));
    }

    template <class Fields>
    void follow(attempts_by_end<Time>& attempts, Fields const& fields, timeline& t, keeper& k,
                bookkeeper& books, std::span<window_sink* const> sinks,
                past_by_end<attempts_by_end<Time>>* past, std::span<unended_attempt const> unended) {
        std::vector<bool> const arrives = arrivals_among(attempts);
        std::size_t const size = attempts.size();
        // Failed and killed attempts count as well, if attempts decide.
        auto const counts = [&](std::size_t which) {
            attempt<Time> const& a = attempts[which];
            return arrives[which] || (past != nullptr && a.job() && a.node());
        };
        auto const next_from = [&](std::size_t i) {
            while (i < size && !counts(i)) ++i;
            return i;
        };
        std::size_t i = next_from(0);
        if (i == size)
            throw failure(exit_status::bad_input,
                          "no successful attempt with a known end: there are no windows");
        using monitor = straggle::monitor<attempt<Time>, Fields, decltype(how()), Time>;
        std::size_t const most = size + 1;
        monitor watch(fields, {.window = window_,
                               .slide = slide_,
                               .ranking = how(),
                               // Each window by itself, so that it can be recomputed from its rows.
                               .baseline = straggle::score_baseline::window,
                               .max_pairs = most,
                               .max_jobs = most,
                               .max_nodes = most});
        std::int64_t const reach = t.calendar.lengths().slides() - 1;
        auto const step = [&](std::size_t which) { return step_of(*attempts[which].end()); };
        t.first = step(i);
        std::size_t last = size - 1;
        while (!counts(last)) --last;
        t.last = step(last);
        std::int64_t number = t.first, heard = t.first;
        std::vector<past_attempt> ended; // since the last window
        Time const origin = past == nullptr ? Time{} : past->origin();
        for (; i < size; ++number) {
            if (number > heard + reach && k.remembers_nothing()) {
                note_gap(t, number, step(i) - 1);
                number = step(i);
            }
            ended.clear();
            bool has_ended = false;
            auto const tell_until = [&](double now) {
                if (past != nullptr)
                    past->up_to(now, [&](past_attempt const& p) {
                        k.observe(p);
                        has_ended = true;
                        if (!options_.log.empty()) ended.push_back(p);
                    });
                attempts.forget_before(past == nullptr ? i : (std::min)(i, past->done()));
            };
            for (; i < size && step(i) == number; i = next_from(i + 1)) {
                if (arrives[i]) watch.observe(attempts[i]);
                heard = number;
                // A window may hold nearly all of them: they are freed while it is read.
                if (i % 1024 == 0) tell_until(static_cast<double>(*attempts[i].end() - origin));
            }
            if (++t.decisions > most_decisions)
                throw failure(exit_status::usage, "--window: more than " + grouped(most_decisions) +
                                                      " windows to decide on; choose a longer --slide");
            Time const end = static_cast<Time>(number + 1) * slide_;
            ranking const& r = watch.rank(end);
            auto const now = static_cast<double>(end - origin);
            tell_until(now);
            std::span<running_attempt const> running;
            if (past != nullptr) running = past->running_at(now, unended);
            decision const& d = k.decide(r, number, now, running);
            if (r.fleet_size() == 0) note_gap(t, number, number);
            decided_window const window{number, r,       d,         k,  books.take(r, d, number, k),
                                        ended,  running, has_ended, now};
            for (window_sink* sink : sinks) sink->take(window);
        }
        books.close(k);
    }

  private:
    [[nodiscard]] auto how() const {
        straggle::stats::confidence_level const level =
            *straggle::stats::confidence_level::from(options_.confidence);
        return straggle::rank_options<straggle::rank::z_score>{
            .normalizer = straggle::rank::z_score{options_.min_tasks},
            .estimator = {straggle::stats::t_interval(level, options_.deviation)},
            .ranker = straggle::rank::p_cores(options_.edge),
            .counted = options_.counted};
    }

    // Steps are counted as the monitor counts them.
    [[nodiscard]] std::int64_t step_of(Time end) const {
        // The clock of the file must resolve the edges of windows.
        Time most;
        if constexpr (std::integral<Time>)
            most = (std::numeric_limits<Time>::max)() - 256 * slide_;
        else
            most = slide_ * 1e12;
        if (end > most || end < -most)
            throw failure(exit_status::bad_input,
                          "an attempt ends at a time too far out for windows of this length");
        if constexpr (std::integral<Time>)
            return end / slide_ - static_cast<std::int64_t>(end % slide_ < 0);
        else
            return static_cast<std::int64_t>(std::floor(end / slide_));
    }

    // As the library judges.
    [[nodiscard]] bool is_usable(attempt<Time> const& a) const {
        if (a.status() != straggle::attempt_status::success || !a.job() || !a.node()) return false;
        if (has_durations_) return a.duration() && *a.duration() >= 0;
        return a.start() && a.end() && *a.start() <= *a.end();
    }

    // Which of the attempts are successes that count.
    std::vector<bool> arrivals_among(attempts_by_end<Time> const& attempts) const {
        std::vector<bool> arrives(attempts.size());
        bool const once = options_.counted == straggle::completions::first_of_task;
        straggle::interner<std::uint64_t> done;
        for (std::size_t i = 0; i < attempts.size(); ++i) {
            attempt<Time> const& a = attempts[i];
            if (a.end()) static_cast<void>(step_of(*a.end())); // fails now rather than halfway
            if (!is_usable(a)) continue;
            if (once && a.task()) {
                std::size_t const before = done.size();
                done.insert((std::uint64_t{*a.job()} << 32) | *a.task());
                if (done.size() == before) continue; // superseded
            }
            arrives[i] = true;
        }
        return arrives;
    }

    static void note_gap(timeline& t, std::int64_t first, std::int64_t last) {
        if (first > last) return;
        t.idle += static_cast<std::uint64_t>(last - first) + 1;
        if (!t.gaps.empty() && t.gaps.back().last == first - 1)
            t.gaps.back().last = last;
        else
            t.gaps.push_back({first, last});
    }

    bool has_durations_;
    options const& options_;
    Time slide_{}, window_{};
};

} // namespace

std::string_view to_string(standing s) {
    constexpr std::array<std::string_view, 4> names{"in_service", "avoided", "on_probation", "spared"};
    return names[static_cast<std::size_t>(s)];
}

namespace {

time_unit unit_of(history const& h, options const& o) {
    if (h.end_column.empty())
        throw failure(exit_status::bad_input,
                      "--window: " + h.file + " does not say when attempts ended (see --columns end=NAME)");
    std::optional<time_unit> const unit = o.unit ? o.unit : unit_of_column(h.end_column);
    if (!unit)
        throw failure(exit_status::usage, "--window: the unit of the column '" + h.end_column +
                                              "' is not known; say --time-unit ns, us, ms or s");
    return *unit;
}
window_recommendation recommendation(history const& h) {
    return with_attempts(
        h, [](auto const& attempts, auto const& fields) { return recommend_window(attempts, fields); });
}
// Milliseconds in a unit of the records.
double milliseconds_per_step(history const& h, options const& o) {
    double const unit = 1000 / static_cast<double>(per_second(unit_of(h, o)));
    return h.attempts.index() == 0 ? unit * std::pow(10.0, -h.places) : unit;
}

} // namespace

window_calendar calendar_of(history const& h, options const& o) {
    return {h, *o.windows, unit_of(h, o)};
}

window_lengths recommended_lengths(history const& h, options const& o) {
    double const slide = recommendation(h).slide * milliseconds_per_step(h, o);
    if (!(slide > 0))
        throw failure(
            exit_status::bad_input,
            "--window auto: no attempt in " + h.file +
                " has succeeded, so that none says how long a window should be; choose a length, as "
                "in --window 1h");
    // Round lengths, never shorter.
    constexpr std::int64_t s = 1000, m = 60 * s, hour = 60 * m, day = 24 * hour;
    std::int64_t chosen = 0;
    for (std::int64_t const step : {std::int64_t{1},
                                    std::int64_t{10},
                                    std::int64_t{100},
                                    s,
                                    2 * s,
                                    5 * s,
                                    10 * s,
                                    15 * s,
                                    30 * s,
                                    m,
                                    2 * m,
                                    5 * m,
                                    10 * m,
                                    15 * m,
                                    30 * m,
                                    hour,
                                    2 * hour,
                                    3 * hour,
                                    6 * hour,
                                    12 * hour}) {
        chosen = step;
        if (static_cast<double>(step) >= slide) break;
    }
    if (static_cast<double>(chosen) < slide)
        chosen =
            day * static_cast<std::int64_t>(std::ceil((std::min)(slide / static_cast<double>(day), 1e5)));
    return {4 * chosen, chosen};
}

std::string complaint(history const& h, options const& o) {
    double const window = static_cast<double>(o.windows->window_ms) / milliseconds_per_step(h, o);
    auto const fit = judge_window(recommendation(h), window);
    // Without attempts there are no windows, which is reported elsewhere.
    return fit == window_fit::unknown ? std::string() : std::string(message(fit));
}

timeline follow(history& h, options const& o, fleet const& f, window_calendar const& calendar,
                std::span<window_sink* const> sinks, bool last_use) {
    timeline t;
    t.calendar = calendar;
    bookkeeper books(t, h.nodes.size(), o);
    with_attempts(h, [&]<class Time>(std::vector<attempt<Time>>& all, auto const& fields) {
        double slide = calendar.slide_units();
        if constexpr (std::integral<Time>) slide = static_cast<double>(calendar.slide_ticks());
        row_of_windows<Time> windows(h.has_durations, calendar, o);
        t.untimed = windows.untimed(all);
        attempts_by_end<Time> attempts(all, last_use);
        std::optional<past_by_end<attempts_by_end<Time>>> past;
        if (o.decides_by_slowdown()) past.emplace(attempts, fields.input).watch_starts();
        double const origin = past ? static_cast<double>(past->origin()) : 0;
        std::unique_ptr<keeper> const k = make_keeper(f, o, attempts.size(), slide, origin / slide);
        windows.follow(attempts, fields, t, *k, books, sinks, past ? &*past : nullptr, h.running);
    });
    return t;
}

} // namespace straggle_rank
