// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/speculator.hpp`: prices copies of late tasks and finds nodes for them.
#pragma once

#include <straggle/assign/backup_fields.hpp>
#include <straggle/assign/backup_plan.hpp>
#include <straggle/assign/copy_worth.hpp>
#include <straggle/assign/race_record.hpp>
#include <straggle/assign/rank_places.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/mitigate/copy_rows.hpp>
#include <straggle/mitigate/detail/place_odds.hpp>
#include <straggle/mitigate/detail/task_book.hpp>
#include <straggle/mitigate/detail/task_stage.hpp>
#include <straggle/mitigate/speculator_options.hpp>
#include <straggle/record/cluster_load.hpp>
#include <straggle/stats/empirical.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Slots available to a round.
struct slot_supply {
    std::uint64_t idle = 0; // healthy slots that no task waits for
    std::uint64_t free = 0; // healthy slots, including those that tasks wait for
    double most_copies = 0; // limit on running copies
    double copies = 0;      // running copies
    double price = 0;
};

class copy_stage {
    using place_row = mitigate::place_row;
    using running_row = mitigate::running_row;

  public:
    explicit copy_stage(mitigate::speculator_options const& options) : options_(options) {}

    // Appends copies, best first, and counts the fate of each candidate.
    template <class Scan, class CanRun>
    void launch(Scan& scan, std::span<running_row const> running, std::span<place_row const> places,
                slot_supply supply, assign::race_record const& races, task_book& book, CanRun& can_run,
                std::vector<mitigate::copy_row>& out, mitigate::copy_notes& notes) {
        auto& candidates = scan.candidates_;
        notes.priced = static_cast<std::uint32_t>(candidates.size());
        if (candidates.empty()) return;
        sort_places(scan, places, running[candidates.front().at].task);
        if (supply.free == 0 || order_.empty()) { // do not price what cannot be launched
            notes.no_place = notes.priced;
            return;
        }
        double const best = free_[order_.front()].slowdown;
        for (copy_candidate& c : candidates) {
            offer const o = price(c, scan.groups_[c.group], best, supply.price, races);
            c.expected = is_worth(o, supply) ? o.gain - o.cost : -1;
            if (c.expected < 0) ++notes.not_worth;
        }
        std::sort(candidates.begin(), candidates.end(), [](copy_candidate const& a, copy_candidate const& b) {
            return a.expected > b.expected || (!(b.expected > a.expected) && a.note < b.note);
        });
        std::size_t first_free = 0;
        for (copy_candidate const& c : candidates) {
            if (!(c.expected >= 0)) break;
            if (!(supply.copies + 1 <= (std::max)(supply.most_copies, 1.0))) {
                ++notes.over_limit;
                continue;
            }
            while (first_free < order_.size() && free_[order_[first_free]].free == 0) ++first_free;
            candidate_group const& group = scan.groups_[c.group];
            running_row const& t = running[c.at];
            bool found = false;
            constexpr int most_tries = 64; // bounds the calls of `can_run` per task
            int tries = 0;
            for (std::size_t i = first_free; i < order_.size() && tries < most_tries; ++i) {
                assign::free_place& f = free_[order_[i]];
                place_row const& p = places[order_[i]];
                if (f.free == 0 || p.node == t.node) continue;
                ++tries;
                if (!can_run(t.row, p.row)) continue;
                offer const o = price(c, group, f.slowdown, supply.price, races);
                if (!is_worth(o, supply)) break; // slower nodes are not worth it either
                --f.free;
                if (supply.idle > 0) --supply.idle;
                supply.copies += 1;
                if (!options_.moves) advise(c, group, o, book);
                out.push_back({t.row, p.row, range_of(c.left, 1),
                               range_of(group.fresh, c.input_factor * f.slowdown), o.win, o.gain, o.cost,
                               c.why, c.cause, false});
                // Rotate among equal nodes, so that the next copy goes to a different one.
                auto const at = order_.begin() + static_cast<std::ptrdiff_t>(i);
                std::rotate(at, at + 1, order_.begin() + static_cast<std::ptrdiff_t>(equal_from(i)));
                found = true;
                break;
            }
            if (!found) ++notes.no_place;
        }
    }

    // The same with the caller's assigner, which decides what to launch and what to stop.
    template <class Scan, class Assigner, class CanRun>
    void launch_by(Assigner& assigner, Scan& scan, std::span<running_row const> running,
                   std::span<place_row const> places, cluster_load load, task_book& book, CanRun& can_run,
                   std::vector<mitigate::copy_row>& out, mitigate::copy_notes& notes) {
        auto& candidates = scan.candidates_;
        notes.priced = static_cast<std::uint32_t>(candidates.size());
        std::sort(candidates.begin(), candidates.end(), [](copy_candidate const& a, copy_candidate const& b) {
            double const x = a.left.quantile(0.5), y = b.left.quantile(0.5);
            return x > y || (!(y > x) && a.at < b.at);
        });
        load.running = scan.tasks_;
        load.suspects = scan.late_.size();
        load.copies = scan.copies_running_;
        auto const runs_on = [&](copy_candidate const& c) { return running[c.at].node; };
        auto const attempts = [&](copy_candidate const& c) { return running[c.at].attempts; };
        auto const may_run = [&](copy_candidate const& c, place_row const& p) -> bool {
            return can_run(running[c.at].row, p.row);
        };
        auto const left = [&](copy_candidate const& c) {
            left_.assign(c.left.at);
            return left_.view();
        };
        auto const fresh = [&](copy_candidate const& c, place_row const& p) {
            predict::time_points times = scan.groups_[c.group].fresh;
            double const factor = c.input_factor * scan.expected_slowdown(p.node);
            for (double& x : times.at) x *= factor;
            return times;
        };
        auto const predict = [&](copy_candidate const& c, place_row const& p) {
            copy_.assign(fresh(c, p).at);
            return copy_.view();
        };
        auto const goal = [&](copy_candidate const& c) { return scan.groups_[c.group].goal; };
        auto const free = [](place_row const& p) { return is_open(p) ? p.free : 0u; };
        assign::backup_plan const& plan = assigner.choose(
            candidates,
            assign::straggler_fields{.runs_on = runs_on,
                                     .remaining = left,
                                     .attempts = attempts,
                                     .can_run = may_run,
                                     .goal = goal},
            places,
            assign::backup_node_fields{.node = &place_row::node, .free = free, .state = &place_row::state},
            predict, load);
        std::size_t const first = out.size();
        for (assign::backup_choice const& choice : plan.choices) {
            copy_candidate const& c = candidates[choice.straggler];
            running_row const& t = running[c.at];
            if (!choice.copy) {
                using enum assign::backup_refusal;
                ++(choice.reason == over_limit                                           ? notes.over_limit
                   : choice.reason == not_profitable || choice.reason == unlikely_to_win ? notes.not_worth
                                                                                         : notes.no_place);
                continue;
            }
            place_row const& p = places[choice.copy->node];
            assign::backup_value const& v = choice.copy->value;
            assign::copy_worth worth;
            worth.relative = scan.expected_slowdown(p.node) / c.slow;
            worth.win_probability = worth.by_place = worth.by_task = v.win_probability;
            advise(c, scan.groups_[c.group], {v.gain, v.cost, v.win_probability, worth}, book);
            out.push_back({t.row, p.row, range_of(c.left, 1), range_of(fresh(c, p), 1), v.win_probability,
                           v.gain, v.cost, c.why, c.cause, false});
            if (choice.copy->kill) scan.kills_.push_back({t.row});
        }
        std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                  [](mitigate::copy_row const& a, mitigate::copy_row const& b) {
                      double const x = a.gain - a.cost, y = b.gain - b.cost;
                      return x > y || (!(y > x) && a.task_row < b.task_row);
                  });
    }

    // Tasks that have just begun try the nodes on probation.
    template <class CanRun>
    void probe(std::vector<probe_candidate>& tasks, double young, std::span<running_row const> running,
               std::span<place_row const> places, CanRun& can_run, std::vector<mitigate::copy_row>& out) {
        order_.clear();
        for (std::uint32_t i = 0; i < places.size(); ++i)
            if (places[i].state == node_state::on_probation && !places[i].hung) order_.push_back(i);
        std::sort(order_.begin(), order_.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return places[a].node < places[b].node; });
        std::size_t next = 0;
        bool sorted = false;
        for (std::uint32_t const at : order_) {
            place_row const& p = places[at];
            std::uint32_t const busy = p.slots > p.free ? p.slots - p.free : 0;
            std::uint32_t room = p.probe_slots > busy ? (std::min)(p.probe_slots - busy, p.free) : 0;
            if (room > 0 && !sorted) {
                std::sort(tasks.begin(), tasks.end(),
                          [&](probe_candidate const& a, probe_candidate const& b) {
                              if (a.age < b.age || b.age < a.age) return a.age < b.age;
                              running_row const &x = running[a.at], &y = running[b.at];
                              return x.job != y.job ? x.job < y.job : x.task < y.task;
                          });
                sorted = true;
            }
            for (; room > 0 && next < tasks.size() && !(tasks[next].age > young); ++next) {
                running_row const& t = running[tasks[next].at];
                if (t.node == p.node || !can_run(t.row, p.row)) continue;
                out.push_back({.task_row = t.row, .node_row = p.row, .probe = true});
                --room;
            }
        }
    }

  private:
    struct offer {
        double gain, cost, win;
        assign::copy_worth worth;
        bool is_urgent = false; // worth its slot time even where tasks wait for it
        bool is_plain = false;  // a whole run there is shorter than what is left, nine times in ten
    };

    [[nodiscard]] offer price(copy_candidate const& c, candidate_group const& group, double slow, double slot,
                              assign::race_record const& races) const noexcept {
        predict::time_points there = group.fresh;
        for (double& x : there.at) x *= c.input_factor * slow;
        assign::copy_case const about{.left = c.left.at,
                                      .there = there.at,
                                      .age = c.age,
                                      .relative = slow / c.slow,
                                      .of_task = races.of_task(group.kind) * (1 - c.of_node),
                                      .apart = races.apart()};
        assign::copy_worth const w = assign::worth_of(about);
        double const win = races.corrected(w.win_probability);
        double const trust = w.win_probability > 0 ? (std::min)(win / w.win_probability, 1.0) : 0.0;
        double const net = w.taken - w.saved_there() * trust;
        offer out{w.saved * trust, slot * net, win, w};
        if (group.goal.has_deadline()) {
            assign::deadline_gain const g = assign::gain_of(about, group.goal, c.others);
            out.gain = (c.is_late ? g.in_time + g.after : g.in_time) * trust;
            out.is_urgent = out.gain > net;
        } else {
            out.gain *= group.goal.weight;
        }
        if (options_.moves) restart(c, there, about, group.goal.weight, out);
        return out;
    }
    // The original is given up: a run there that takes longer is time lost.
    static void restart(copy_candidate const& c, predict::time_points const& there,
                        assign::copy_case const& about, double weight, offer& out) noexcept {
        double const left = c.left.mean(), again = (left + c.age) * about.relative;
        double const whole = (1 - about.of_task) * there.mean() + about.of_task * again;
        out.gain = (std::min)(out.gain, weight * (left - whole));
        out.is_plain = out.win >= 0.9 && there.quantile(0.9) < c.left.quantile(0.1);
    }
    // While tasks wait, a copy must save more slot time than it takes, or a deadline that is worth that time.
    [[nodiscard]] bool is_worth(offer const& o, slot_supply const& supply) const noexcept {
        return o.win >= options_.least_win && o.gain > o.cost && (!options_.moves || o.is_plain) &&
               (supply.idle > 0 || o.worth.saves() || o.is_urgent);
    }

    template <class Scan>
    void sort_places(Scan const& scan, std::span<place_row const> places, std::uint64_t task) {
        free_.clear();
        for (std::size_t i = 0; i < places.size(); ++i) {
            place_row const& p = places[i];
            free_.push_back({.row = static_cast<std::uint32_t>(i),
                             .free = is_open(p) ? p.free : 0,
                             .slots = p.slots,
                             .state = p.state,
                             .slowdown = scan.expected_slowdown(p.node),
                             .fails = p.fails,
                             .number = p.node});
        }
        assign::rank_places(span_of(free_), 1, 0, task, ranked_);
        order_.clear();
        for (assign::ranked_place const& r : ranked_) order_.push_back(r.row);
    }
    // One past the last place that is as fast as this one.
    [[nodiscard]] std::size_t equal_from(std::size_t i) const noexcept {
        constexpr std::size_t most = 64;
        double const slowest = free_[order_[i]].slowdown * 1.03;
        std::size_t end = i + 1;
        while (end < order_.size() && end < i + most && free_[order_[end]].slowdown <= slowest) ++end;
        return end;
    }
    static void advise(copy_candidate const& c, candidate_group const& group, offer const& o,
                       task_book& book) {
        if (c.note == no_note) return;
        predict::time_points there = group.fresh;
        double const relative = o.worth.relative;
        for (double& x : there.at) x *= c.input_factor * relative * c.slow;
        book.advise(book[c.note], assign::claim_of({c.left.at, there.at, c.age, relative}, o.worth));
    }

    mitigate::speculator_options options_;
    stats::empirical left_, copy_; // of the pair being priced
    std::vector<assign::free_place> free_{};
    std::vector<assign::ranked_place> ranked_{};
    std::vector<std::uint32_t> order_{}; // free places, best first
};

} // namespace straggle::detail
