// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/mitigator.hpp`: one decision round on plain numbers. The parts propose; only
/// what is safe, allowed and not known to be useless enters the plan.
#pragma once

#include <straggle/base/archive.hpp>
#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/row_sort.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/blacklist/node_stage.hpp>
#include <straggle/gang/end_watch.hpp>
#include <straggle/mitigate/detail/job_log.hpp>
#include <straggle/mitigate/detail/loop_guard.hpp>
#include <straggle/mitigate/detail/loop_handle.hpp>
#include <straggle/mitigate/detail/node_memory.hpp>
#include <straggle/mitigate/detail/round_facts.hpp>
#include <straggle/mitigate/effect_meter.hpp>
#include <straggle/mitigate/mitigator_options.hpp>
#include <straggle/mitigate/plan.hpp>
#include <straggle/mitigate/speculator.hpp>
#include <straggle/record/record_reader.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class NodePart, class CopyPart>
class mitigation_loop {
  public:
    explicit mitigation_loop(mitigator_options const& options)
        : options_(options),
          nodes_(options.nodes),
          copies_(options.copies),
          effects_(options.effects),
          jobs_(options.most_jobs) {}
    mitigation_loop(mitigator_options const& options, NodePart node_part, CopyPart copy_part)
        : options_(options),
          nodes_(std::move(node_part)),
          copies_(std::move(copy_part)),
          effects_(options.effects),
          jobs_(options.most_jobs) {}

    [[nodiscard]] mitigator_options const& options() const noexcept { return options_; }
    [[nodiscard]] loop_guard& guard() noexcept { return guard_; }
    [[nodiscard]] loop_guard const& guard() const noexcept { return guard_; }
    [[nodiscard]] mitigate::effect_meter& effects() noexcept { return effects_; }
    [[nodiscard]] auto const& effects() const noexcept { return effects_; }
    [[nodiscard]] NodePart const& nodes() const noexcept { return nodes_; }
    [[nodiscard]] CopyPart const& copies() const noexcept { return copies_; }
    // Of a job's tasks so far; null if the job is not known.
    [[nodiscard]] std::uint32_t const* kind_of(std::uint64_t job) const {
        auto const* const entry = jobs_.find(job);
        return entry == nullptr ? nullptr : &entry->kind;
    }
    [[nodiscard]] std::uint64_t actions() const noexcept { return meter_.total(); }
    // Whether a job is left alone; see `job_log::sweep` for how long.
    [[nodiscard]] bool is_left_alone(std::uint64_t job) const {
        if (!effects_.is_left_alone(job)) return false;
        auto const* const entry = jobs_.find(job);
        return entry == nullptr || entry->left_alone;
    }
    // What the last plan says of a node, for placement.
    [[nodiscard]] node_memory const* shown(std::uint32_t node) const noexcept {
        return node < memory_.size() && memory_[node].is_shown() ? &memory_[node] : nullptr;
    }

    // Completes a node for placement with its entry in the last plan, if it has one.
    void describe(mitigate::place_row& place) const noexcept {
        node_memory const* const said = place.node == no_index ? nullptr : shown(place.node);
        if (said == nullptr) return;
        place.state = said->state;
        place.slow = said->slow;
        place.probe_slots = said->probe_slots;
        place.hung = blacklist::has(said->causes, blacklist::cause::hung);
        place.fails = only_fails(nodes_, place.node);
    }

    bool ended(ended_attempt const& attempt, std::uint32_t kind) {
        bool const is_alone = is_left_alone(attempt.job);
        bool const used = nodes_.observe(attempt, guard_.now());
        ends_.observe(attempt);
        copies_.observe_ended({.job = attempt.job,
                               .task = attempt.task,
                               .kind = kind,
                               .node = attempt.node,
                               .start = attempt.start,
                               .end = attempt.end,
                               .input = attempt.input > 0 ? attempt.input : unknown,
                               .how = attempt.as,
                               .is_copy = attempt.copy});
        guard_.ended(attempt.end - attempt.start);
        if (!has_met_)
            if (auto const* const known = jobs_.find(attempt.job)) has_met_ = known->runs;
        if (auto* const job = jobs_.touch(attempt.job, attempt.end, is_alone, kind))
            attempt.as == attempt_status::success ? job_log::ended(*job, attempt.start, attempt.end)
                                                  : job_log::ran(*job, attempt.start, attempt.end);
        if (attempt.as == attempt_status::success && attempt.task != no_task)
            jobs_.task_ended(attempt.task, attempt.end, effects_);
        return used;
    }
    void finish(std::uint64_t job) {
        jobs_.finish(job, effects_);
        if constexpr (requires { nodes_.finish_job(job); }) nodes_.finish_job(job);
        copies_.finish_job(job);
    }
    void forget_node(std::uint32_t node) {
        if constexpr (requires { nodes_.forget_node(node); }) nodes_.forget_node(node);
        if constexpr (requires { copies_.forget_node(node); }) copies_.forget_node(node);
        if (node < memory_.size()) memory_[node] = {};
    }
    void enable(bool is_enabled) noexcept { options_.is_enabled = is_enabled; }

    // One round; `can_run` gets indices into `running` and `nodes`.
    void decide(round_facts const& facts, mitigation_plan& plan, can_run_ref can_run) {
        plan_writer out(plan);
        out.clear();
        bool const is_fit = look(facts, out);
        learn(facts);
        constexpr std::uint64_t many = 16; // ends without a match, enough to suspect the names
        if (!has_met_ && guard_.ends() >= many && guard_.now() - oldest_ > guard_.longest())
            out.note(mitigate::plan_note::names_disagree);
        std::uint64_t left = actions_left();
        if (left == 0) out.note(mitigate::plan_note::action_limit);
        nodes_.decide(guard_.now(), attempts_, facts.nodes, facts.load,
                      is_fit && left != 0 && !effects_.is_stopped(mitigate::action_kind::exclusion));
        write_nodes(facts, is_fit, left, out);
        make_places(facts);
        auto const may_run = [&](std::uint32_t task, std::uint32_t node) -> bool {
            // A task that failed on a node fails there again.
            return !has_failed(nodes_, rows_[task].job, rows_[task].task, places_[node].node) &&
                   can_run(task, node);
        };
        if constexpr (reads_goals<CopyPart>) {
            copies_.plan(guard_.now(), rows_, places_, facts.load, may_run, facts.goals);
            write_jobs(facts, out);
        } else {
            copies_.plan(guard_.now(), rows_, places_, facts.load, may_run);
        }
        if constexpr (requires { copies_.suspects(); }) write_suspects(facts, out);
        write_copies(facts, is_fit, left, out);
        judge(out);
        last_round_ = guard_.now();
        jobs_.sweep(guard_.now(), 20 * guard_.longest(), effects_);
    }

    // Notes that a task is about to be placed. Whether its job is left alone.
    bool is_placed_alone(mitigate::new_task const& task) {
        bool const is_alone = is_left_alone(task.job);
        if (options_.effects.left_alone > 0)
            if (auto* const entry = jobs_.touch(task.job, guard_.now(), is_alone, task.kind))
                job_log::expose(*entry, mitigate::action_kind::placement);
        return is_alone;
    }
    // Places for a new task, best first.
    void rank(mitigate::new_task const& task, bool is_alone, std::vector<mitigate::place_row>& places,
              cluster_load const& load, std::vector<mitigate::planned_place>& out) {
        leave_out_failed(task, places);
        if (is_alone)
            draw(span_of(places), placed_);
        else if (places_by_time())
            copies_.rank_places(task, span_of(places), load, placed_);
        else
            list(span_of(places), placed_);
        answer(out);
    }
    // For several tasks, one after the other: a place for each; uses up `places`.
    void fill(mitigate::new_task const& task, bool is_alone, std::vector<mitigate::place_row>& places,
              cluster_load const& load, std::size_t tasks, std::vector<mitigate::planned_place>& out) {
        placed_.clear();
        if (is_alone) {
            draw_each(span_of(places), tasks, placed_);
        } else if (!places_by_time()) {
            fill_in_turn(places, tasks, placed_);
        } else {
            auto const is_full = [](mitigate::place_row const& p) { return p.free == 0; };
            while (fill_some(task, places, load, tasks - placed_.size(), placed_) > 0 &&
                   placed_.size() < tasks)
                if (!task.only_here)
                    places.erase(std::remove_if(places.begin(), places.end(), is_full), places.end());
        }
        answer(out);
    }

    // `later`: this loop's time minus the other's at the same moment.
    void merge(mitigation_loop const& other, std::span<std::uint32_t const> node_map, double later) {
        if constexpr (requires { nodes_.merge(other.nodes_, node_map, later); })
            nodes_.merge(other.nodes_, node_map, later);
        else if constexpr (merging_part<NodePart>)
            nodes_.merge(other.nodes_, node_map);
        if constexpr (merging_part<CopyPart>) copies_.merge(other.copies_, node_map);
        effects_.merge(other.effects_);
    }

    void write(byte_writer& out) const {
        base::write_fields(out, *this);
        out.flag(storing_part<NodePart>);
        if constexpr (storing_part<NodePart>) nodes_.write(out);
        out.flag(storing_part<CopyPart>);
        if constexpr (storing_part<CopyPart>) copies_.write(out);
    }
    // @pre this loop is new
    status read(byte_reader& in) {
        base::read_fields(in, *this);
        if (!in.expect(in.flag() == storing_part<NodePart>, status::wrong_kind)) return in.reason();
        if constexpr (storing_part<NodePart>)
            if (status const s = nodes_.read(in); s != status::ok) return s;
        if (!in.expect(in.flag() == storing_part<CopyPart>, status::wrong_kind)) return in.reason();
        if constexpr (storing_part<CopyPart>)
            if (status const s = copies_.read(in); s != status::ok) return s;
        is_restored_ = true;
        return in.finish();
    }
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.guard_, self.meter_, self.effects_, self.jobs_, self.last_round_, self.draws_, self.has_met_);
        a.code(self.quiet_why_, mitigate::plan_note_count);
        a.items(self.memory_, 18);
        a.varint(self.excluded_);
        a.expect(is_finite(self.last_round_) && self.excluded_ <= self.memory_.size());
    }

  private:
    [[nodiscard]] static bool is_in_service(mitigate::place_row const& p) noexcept {
        return !p.hung && (p.state == node_state::healthy || p.state == node_state::last_resort);
    }
    struct slot_count {
        double free = 0, slots = 0;
    };
    [[nodiscard]] static slot_count in_service(std::span<mitigate::place_row const> places) noexcept {
        slot_count all;
        for (mitigate::place_row const& p : places) {
            if (!is_in_service(p)) continue;
            all.free += p.free;
            all.slots += p.slots;
        }
        return all;
    }
    // Uniform in (0, 1).
    [[nodiscard]] static double unit_from(std::uint64_t bits) noexcept {
        return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
    }
    // Whether the node is out of service only because it is slow.
    [[nodiscard]] bool is_only_slow(std::uint32_t node) const noexcept {
        node_memory const* const said = shown(node);
        return said != nullptr && said->causes == static_cast<std::uint8_t>(blacklist::cause::slow);
    }
    [[nodiscard]] bool places_by_time() const noexcept {
        return options_.is_enabled && !effects_.is_stopped(mitigate::action_kind::placement);
    }
    // A task returns to a node where it failed only if no other is free.
    void leave_out_failed(mitigate::new_task const& task, std::vector<mitigate::place_row>& places) const {
        auto const fails = [&](mitigate::place_row const& p) {
            return p.node != no_index && has_failed(nodes_, task.job, task.task, p.node);
        };
        if (std::any_of(places.begin(), places.end(), [&](mitigate::place_row const& p) {
                return p.free > 0 && p.state != node_state::excluded && !fails(p);
            }))
            places.erase(std::remove_if(places.begin(), places.end(), fails), places.end());
    }
    void answer(std::vector<mitigate::planned_place>& out) const {
        out.clear();
        for (assign::ranked_place const& p : placed_) out.push_back({p.row, p.end});
    }

    // Nodes in service, in the caller's order.
    void list(std::span<mitigate::place_row const> places, std::vector<assign::ranked_place>& out) const {
        out.clear();
        for (bool const fails : {false, true})
            for (mitigate::place_row const& p : places)
                if (p.free > 0 && p.fails == fails && is_in_service(p)) out.push_back({p.row, 0});
    }
    // Places for several tasks, as far as nodes of the best state go: appends a place for each, and reduces
    // `free`. Returns how many were placed.
    std::size_t fill_some(mitigate::new_task const& task, std::vector<mitigate::place_row>& places,
                          cluster_load const& load, std::size_t tasks,
                          std::vector<assign::ranked_place>& out) {
        if constexpr (requires { copies_.fill_places(task, places, load, tasks, out); }) {
            return copies_.fill_places(task, places, load, tasks, out);
        } else {
            copies_.rank_places(task, places, load, one_);
            if (one_.empty() || tasks == 0) return 0;
            out.push_back(one_.front());
            for (mitigate::place_row& p : places)
                if (p.row == one_.front().row) --p.free;
            return 1;
        }
    }
    // The same in the caller's order.
    std::size_t fill_in_turn(std::vector<mitigate::place_row>& places, std::size_t tasks,
                             std::vector<assign::ranked_place>& out) const {
        std::size_t placed = 0;
        for (bool const fails : {false, true})
            for (mitigate::place_row& p : places)
                for (; placed < tasks && p.free > 0 && p.fails == fails && is_in_service(p); ++placed) {
                    out.push_back({p.row, 0});
                    --p.free;
                }
        return placed;
    }
    // For a job left alone: draws nodes at random, as if none were known to be slow. Idle slots of nodes
    // excluded for being slow count only as far as slots are free elsewhere: in service, these nodes would be
    // as busy as the others.
    void draw(std::span<mitigate::place_row const> places, std::vector<assign::ranked_place>& out) {
        out.clear();
        auto const [free, slots] = in_service(places);
        ++draws_;
        for (mitigate::place_row const& p : places) {
            double const share = is_in_service(p)       ? 1.0
                                 : is_only_slow(p.node) ? (slots > 0 ? free / slots : 1.0)
                                                        : 0.0;
            double const weight = share * p.free;
            if (!(weight > 0)) continue;
            // Exponential clocks: each node comes first with probability proportional to its weight.
            out.push_back(
                {p.row, -std::log(unit_from(mixed(p.row, draws_))) / weight + (p.fails ? 1e300 : 0.0)});
        }
        sort_rows(out, [](assign::ranked_place const& a, assign::ranked_place const& b) {
            return a.end < b.end || (!(b.end < a.end) && a.row < b.row);
        });
        for (assign::ranked_place& p : out) p.end = 0;
    }
    // The same for several tasks, one after the other: appends the row of a free slot drawn for each. Each
    // slot is a lot, in service or only slow.
    void draw_each(std::span<mitigate::place_row const> places, std::size_t tasks,
                   std::vector<assign::ranked_place>& out) {
        auto [free, slots] = in_service(places);
        ++draws_;
        for (bool const fails : {false, true}) {
            for (auto& lot : lots_) lot.clear();
            for (mitigate::place_row const& p : places) {
                if (p.fails != fails || !(is_in_service(p) || is_only_slow(p.node))) continue;
                auto& lot = lots_[is_in_service(p) ? 0 : 1];
                lot.insert(lot.end(), p.free, p.row);
            }
            while (out.size() < tasks) {
                double const share = slots > 0 ? free / slots : 1.0;
                auto const here = static_cast<double>(lots_[0].size());
                double const all = here + share * static_cast<double>(lots_[1].size());
                if (!(all > 0)) break;
                std::uint64_t const bits = mixed(out.size(), draws_);
                bool const is_slow = lots_[0].empty() || (unit_from(bits) * all > here && !lots_[1].empty());
                auto& lot = lots_[is_slow ? 1 : 0];
                std::size_t const at = mixed(bits, draws_) % lot.size();
                out.push_back({lot[at], 0});
                lot[at] = lot.back();
                lot.pop_back();
                if (!is_slow) free -= 1;
            }
        }
    }
    [[nodiscard]] std::uint64_t actions_left() const noexcept {
        if (options_.actions.most == 0 || !(options_.actions.period > 0)) return ~std::uint64_t{0};
        std::uint64_t const done = meter_.total();
        return done < options_.actions.most ? options_.actions.most - done : 0;
    }

    // Whether the input may be acted on; adds a note if not.
    bool look(round_facts const& facts, plan_writer& out) {
        guard_.runs(facts.running.size());
        meter_.advance(guard_.now(), options_.actions.period);
        if (facts.step == clock_step::back) quiet_why_ = mitigate::plan_note::clock_went_back;
        if (facts.step == clock_step::forward) quiet_why_ = mitigate::plan_note::clock_jumped;
        if (is_restored_) {
            is_restored_ = false;
            double const age = guard_.now() - last_round_;
            if (facts.step == clock_step::forward || (age > 3 * guard_.longest() && guard_.longest() > 0)) {
                quiet_why_ = mitigate::plan_note::old_state;
                guard_.keep_quiet();
                if (age > 20 * guard_.longest()) withdraw();
            }
        }
        if (guard_.take_ahead()) out.note(mitigate::plan_note::node_clock_ahead);
        if (ends_.looks_like_gangs()) out.note(mitigate::plan_note::ends_coincide);
        bool is_fit = true;
        auto const unfit = [&](bool holds, mitigate::plan_note why) {
            if (!holds) return;
            out.note(why);
            is_fit = false;
        };
        std::uint64_t slots = 0;
        for (auto const& n : facts.nodes) slots += n.slots;
        unfit(!options_.is_enabled, mitigate::plan_note::switched_off);
        unfit(!facts.may_decide, mitigate::plan_note::not_the_decider);
        unfit(slots == 0, mitigate::plan_note::empty_fleet);
        unfit(guard_.is_quiet(), quiet_why_);
        unfit(guard_.is_stale(), mitigate::plan_note::stale_feed);
        if (guard_.is_void() || !options_.is_enabled || !facts.may_decide) withdraw();
        return is_fit;
    }
    // Drops all earlier decisions.
    void withdraw() noexcept {
        for (node_memory& m : memory_) m.is_allowed = m.is_charged = false;
    }

    // Passes the running rows to the parts, and sees which advice was followed.
    void learn(round_facts const& facts) {
        reserve_for(attempts_, facts.running.size());
        reserve_for(rows_, facts.running.size());
        attempts_.resize(facts.running.size());
        rows_.resize(facts.running.size());
        std::size_t nodes = memory_.size();
        for (auto const& n : facts.nodes)
            if (n.node >= nodes) nodes = n.node + std::size_t{1};
        for (auto const& r : facts.running)
            if (r.node >= nodes) nodes = r.node + std::size_t{1};
        memory_.resize(nodes);
        std::uint64_t new_copies = 0;
        bool const is_first =
            last_round_ <= -1e300; // attempts from before the first round were not started by our advice
        double newest = -1e300;
        oldest_ = guard_.now();
        std::uint64_t touched = 0;
        job_log::job_entry* job = nullptr;
        for (std::uint32_t i = 0; i < facts.running.size(); ++i) {
            read_running_row const& r = facts.running[i];
            attempts_[i] = r.attempt();
            rows_[i] = {.row = i,
                        .job = r.job,
                        .task = r.task,
                        .kind = r.kind,
                        .node = r.node,
                        .start = r.start,
                        .progress = r.progress,
                        .reported = r.reported,
                        .input = r.input,
                        .attempts = r.attempts,
                        .is_copy = r.is_copy,
                        .may_copy = r.may_copy,
                        .record = r.row};
            node_memory& m = memory_[r.node];
            if (r.start >= last_round_ &&
                r.start < guard_.now()) { // began since the last round; counted once
                if (r.is_copy && !is_first) ++new_copies;
                guard_.news();
            }
            if (!r.is_copy && r.start > m.newest_start) m.newest_start = r.start;
            if (r.start > newest) newest = r.start;
            if (r.start < oldest_) oldest_ = r.start;
            if (!is_nan(r.reported) && r.reported > last_round_) guard_.news();
            if (r.job != touched || job == nullptr) // rows of a job are often adjacent
                job = jobs_.touch(touched = r.job, guard_.now(), r.left_alone, r.kind);
            if (job != nullptr) {
                job->kind = r.kind;
                job->runs = true;
                has_met_ = has_met_ || job->ended != 0;
                job_log::ran(*job, r.start, guard_.now());
                if (excluded_ != 0) job_log::expose(*job, mitigate::action_kind::exclusion);
            }
            if (r.task != no_task) jobs_.task_runs(r.task, guard_.now());
        }
        for (node_memory& m : memory_)
            if (m.is_allowed && !m.is_charged && m.newest_start <= m.since && newest > m.since) {
                m.is_charged = true;
                ++new_copies;
            }
        meter_.charge(new_copies);
    }

    void write_nodes(round_facts const& facts, bool is_fit, std::uint64_t& left, plan_writer& out) {
        auto& planned = out.nodes();
        planned.resize(facts.user_nodes);
        for (std::size_t i = 0; i < planned.size(); ++i) planned[i] = mitigate::planned_node{.row = i};
        for (node_memory& m : memory_) m.row = node_memory::not_shown;
        for (std::size_t i = 0; i < facts.nodes.size(); ++i) {
            mitigate::planned_node& n = planned[facts.user_rows[i]];
            memory_[facts.nodes[i].node].row = facts.user_rows[i];
            n.slow = slowdown_of(nodes_, facts.nodes[i].node);
            n.probe_slots = facts.nodes[i].slots;
            // What the operator says holds, whatever weighs the nodes.
            record::condition const word = facts.nodes[i].word;
            if (word != record::condition::away && word != record::condition::denied) continue;
            n.probe_slots = 0;
            n.state = node_state::away;
            if (word == record::condition::away) continue;
            n.state = node_state::excluded;
            n.causes = static_cast<std::uint8_t>(blacklist::cause::denied);
            n.why = {0, 0, 0, "denied"};
        }
        bool const obeys =
            options_.is_enabled && facts.may_decide && !effects_.is_stopped(mitigate::action_kind::exclusion);
        excluded_ = 0;
        ++verdicts_;
        for (auto const& v : nodes_.verdicts()) {
            if (v.node >= memory_.size() || !memory_[v.node].is_shown()) continue;
            node_memory& m = memory_[v.node];
            m.verdict = verdicts_;
            mitigate::planned_node& n = planned[m.row];
            n.slow = v.slow;
            node_state state = v.state;
            bool const is_told = state == node_state::away ||
                                 (v.causes & static_cast<std::uint8_t>(blacklist::cause::denied)) != 0;
            if (!is_told && n.state != node_state::healthy) continue; // the operator's word is written
            if (v.spared_by == blacklist::spared::by_fail_open) out.note(mitigate::plan_note::fail_open);
            if (!is_told) {
                if (!obeys) state = node_state::healthy;
                if (state == node_state::excluded && !m.is_allowed) {
                    if (is_fit && left > 0) {
                        m.is_allowed = true;
                        m.is_charged = false;
                        m.since = guard_.now();
                        if (left != ~std::uint64_t{0}) --left;
                    } else {
                        state = node_state::healthy;
                    }
                }
                if (state == node_state::on_probation && !m.is_allowed) state = node_state::healthy;
                if (state == node_state::excluded || state == node_state::on_probation) ++excluded_;
            }
            n.state = state;
            n.spared_by = v.spared_by;
            if (state == node_state::healthy && v.spared_by == blacklist::spared::no) continue;
            n.why = v.why;
            if (state == node_state::healthy) continue;
            n.causes = v.causes;
            n.strikes = v.strikes;
            n.probe_slots = state == node_state::on_probation  ? v.probe_slots
                            : state == node_state::last_resort ? n.probe_slots
                                                               : 0;
            n.lasted = guard_.now() - v.since;
            n.left = v.until > guard_.now() ? v.until - guard_.now() : 0;
        }
        for (node_memory& m : memory_) {
            if (m.verdict != verdicts_) m.is_allowed = m.is_charged = false;
            if (!m.is_shown()) continue;
            mitigate::planned_node const& n = planned[m.row];
            m.slow = n.slow;
            m.probe_slots = n.probe_slots;
            m.state = n.state;
            m.causes = n.causes;
        }
    }

    void make_places(round_facts const& facts) {
        places_.clear();
        for (std::uint32_t i = 0; i < facts.nodes.size(); ++i) {
            auto const& n = facts.nodes[i];
            node_memory const& said = memory_[n.node];
            mitigate::place_row& p = places_.emplace_back();
            p = {.row = i,
                 .node = n.node,
                 .slots = n.slots,
                 .free = n.slots > n.busy ? n.slots - n.busy : 0,
                 .state = said.state,
                 .slow = said.slow,
                 .probe_slots = said.probe_slots,
                 .hung = (said.causes & static_cast<std::uint8_t>(blacklist::cause::hung)) != 0,
                 .slow_now = slow_now(nodes_, n.node),
                 .fails = only_fails(nodes_, n.node)};
            // Its own state, even where the plan does not act on it.
            if constexpr (requires { nodes_.state(n.node), nodes_.probe_slots(n.node); }) {
                p.state = nodes_.state(n.node);
                p.probe_slots = nodes_.probe_slots(n.node);
            }
        }
    }

    void write_suspects(round_facts const& facts, plan_writer& out) {
        for (mitigate::late_task const& s : copies_.suspects())
            out.suspects().push_back({facts.running[s.row].row, s.left, s.why, s.cause});
    }
    void write_jobs(round_facts const& facts, plan_writer& out) {
        for (mitigate::job_row const& j : copies_.jobs())
            out.jobs().push_back({.row = facts.running[j.row].row,
                                  .end = j.end,
                                  .deadline = j.deadline,
                                  .weight = j.weight,
                                  .miss_probability = j.miss_probability,
                                  .least_probability = j.least_probability,
                                  .copies = j.copies,
                                  .is_known = j.is_known});
    }
    // Counts a copy of this plan for its job, if that has a deadline.
    void count_for_job(std::uint64_t job, plan_writer& out) const {
        if constexpr (reads_goals<CopyPart>) {
            auto const jobs = copies_.jobs();
            auto const at =
                std::lower_bound(jobs.begin(), jobs.end(), job,
                                 [](mitigate::job_row const& j, std::uint64_t id) { return j.job < id; });
            if (at != jobs.end() && at->job == job)
                ++out.jobs()[static_cast<std::size_t>(at - jobs.begin())].planned;
        }
    }

    void write_copies(round_facts const& facts, bool is_fit, std::uint64_t left, plan_writer& out) {
        auto const& notes = copies_.notes();
        if (notes.storm) out.note(mitigate::plan_note::storm);
        if (!is_fit) return;
        bool const is_stopped = effects_.is_stopped(mitigate::action_kind::copy);
        for (auto const& c : copies_.copies()) {
            read_running_row const& r = facts.running[c.task_row];
            if (options_.effects.left_alone > 0 && !c.probe && !is_stopped)
                jobs_.plan_copy(r.task, r.kind, r.left_alone, guard_.now(), c.left.middle);
            if (r.left_alone || is_stopped || left == 0) continue;
            if (left != ~std::uint64_t{0}) --left;
            if (!c.probe) count_for_job(r.job, out);
            if (options_.copies.moves) {
                out.moves().push_back({r.row, facts.user_rows[c.node_row], c.left, c.there, c.win_probability,
                                       c.gain, c.cause});
                continue;
            }
            out.copies().push_back({.row = r.row,
                                    .node_row = facts.user_rows[c.node_row],
                                    .left = c.left,
                                    .there = c.there,
                                    .win_probability = c.win_probability,
                                    .gain = c.gain,
                                    .cost = c.cost,
                                    .why = c.why,
                                    .cause = c.cause,
                                    .is_probe = c.probe});
        }
        if (is_stopped) return;
        for (auto const& k : copies_.kills())
            if (!facts.running[k.task_row].left_alone) out.kills().push_back({facts.running[k.task_row].row});
    }

    // Stops kinds of action that do not help.
    void judge(plan_writer& out) {
        constexpr std::array notes{mitigate::plan_note::exclusion_stopped, mitigate::plan_note::copy_stopped,
                                   mitigate::plan_note::placement_stopped};
        for (std::size_t k = 0; k < mitigate::action_kind_count; ++k) {
            effects_.judge(static_cast<mitigate::action_kind>(k));
            if (effects_.is_stopped(static_cast<mitigate::action_kind>(k))) out.note(notes[k]);
        }
    }

    mitigator_options options_;
    loop_guard guard_;
    NodePart nodes_;
    CopyPart copies_;
    mitigate::effect_meter effects_;
    job_log jobs_;
    gang::end_watch ends_; // not stored: a few jobs say it again
    action_meter meter_;
    std::vector<node_memory> memory_; // by index of the node
    double last_round_ = -1e300;
    std::uint64_t verdicts_ = 0, draws_ = 0;
    std::size_t excluded_ = 0;
    mitigate::plan_note quiet_why_ = mitigate::plan_note::clock_jumped;
    bool is_restored_ = false;
    bool has_met_ = false; // a job name was seen both running and ended
    double oldest_ = 0;    // earliest start among running attempts

    std::vector<running_attempt> attempts_;
    std::vector<mitigate::running_row> rows_;
    std::vector<mitigate::place_row> places_;
    std::vector<assign::ranked_place> placed_, one_; // scratch
    std::array<std::vector<std::uint32_t>, 2> lots_; // scratch: rows of free slots
};

// ---- The handle ----

template <class NodePart, class CopyPart>
struct loop_handle<NodePart, CopyPart>::state {
    explicit state(mitigator_options const& options)
        : blank_nodes(options.nodes), blank_copies(options.copies), loop(options) {}
    state(mitigator_options const& options, NodePart&& node_part, CopyPart&& copy_part)
        : blank_nodes(std::move(node_part)),
          blank_copies(std::move(copy_part)),
          loop(options, blank_nodes, blank_copies) {}
    NodePart blank_nodes; // without any observation
    CopyPart blank_copies;
    mitigation_loop<NodePart, CopyPart> loop;
};

template <class N, class C>
loop_handle<N, C>::loop_handle(mitigator_options const& options)
    : state_(new state(options)), guard_(&state_->loop.guard()) {}
template <class N, class C>
loop_handle<N, C>::loop_handle(mitigator_options const& options, N&& node_part, C&& copy_part)
    : state_(new state(options, std::move(node_part), std::move(copy_part))), guard_(&state_->loop.guard()) {}
template <class N, class C>
loop_handle<N, C>::~loop_handle() {
    delete state_;
}

template <class N, class C>
N const& loop_handle<N, C>::nodes() const noexcept {
    return state_->loop.nodes();
}
template <class N, class C>
C const& loop_handle<N, C>::copies() const noexcept {
    return state_->loop.copies();
}
template <class N, class C>
bool loop_handle<N, C>::is_left_alone(std::uint64_t job) const {
    return state_->loop.is_left_alone(job);
}
template <class N, class C>
std::uint32_t const* loop_handle<N, C>::kind_of(std::uint64_t job) const {
    return state_->loop.kind_of(job);
}
template <class N, class C>
node_state loop_handle<N, C>::shown(std::uint32_t node) const noexcept {
    node_memory const* const said = state_->loop.shown(node);
    return said == nullptr ? node_state::healthy : said->state;
}
template <class N, class C>
slowdown loop_handle<N, C>::slowdown_of(std::uint32_t node) const noexcept {
    return detail::slowdown_of(state_->loop.nodes(), node);
}
template <class N, class C>
void loop_handle<N, C>::describe(mitigate::place_row& place) const noexcept {
    state_->loop.describe(place);
}

template <class N, class C>
bool loop_handle<N, C>::ended(ended_attempt const& attempt, std::uint32_t kind) {
    return state_->loop.ended(attempt, kind);
}
template <class N, class C>
void loop_handle<N, C>::finish(std::uint64_t job) {
    state_->loop.finish(job);
}
template <class N, class C>
void loop_handle<N, C>::forget_node(std::uint32_t node) {
    state_->loop.forget_node(node);
}
template <class N, class C>
void loop_handle<N, C>::decide(round_facts const& facts, mitigation_plan& plan, can_run_ref can_run) {
    state_->loop.decide(facts, plan, can_run);
}

template <class N, class C>
bool loop_handle<N, C>::is_placed_alone(mitigate::new_task const& task) {
    return state_->loop.is_placed_alone(task);
}
template <class N, class C>
void loop_handle<N, C>::rank(mitigate::new_task const& task, bool is_alone,
                             std::vector<mitigate::place_row>& places, cluster_load const& load,
                             std::vector<mitigate::planned_place>& out) {
    state_->loop.rank(task, is_alone, places, load, out);
}
template <class N, class C>
void loop_handle<N, C>::fill(mitigate::new_task const& task, bool is_alone,
                             std::vector<mitigate::place_row>& places, cluster_load const& load,
                             std::size_t tasks, std::vector<mitigate::planned_place>& out) {
    state_->loop.fill(task, is_alone, places, load, tasks, out);
}

template <class N, class C>
mitigate::effect loop_handle<N, C>::effect_of(mitigate::action_kind kind) const noexcept {
    return state_->loop.effects().effect_of(kind);
}
template <class N, class C>
void loop_handle<N, C>::resume(mitigate::action_kind kind) noexcept {
    state_->loop.effects().resume(kind);
}
template <class N, class C>
void loop_handle<N, C>::enable(bool is_enabled) noexcept {
    state_->loop.enable(is_enabled);
}
template <class N, class C>
std::uint64_t loop_handle<N, C>::actions() const noexcept {
    return state_->loop.actions();
}

template <class N, class C>
void loop_handle<N, C>::merge(loop_handle const& other, std::span<std::uint32_t const> node_map,
                              double later) {
    state_->loop.merge(other.state_->loop, node_map, later);
}
template <class N, class C>
void loop_handle<N, C>::write(byte_writer& out) const {
    state_->loop.write(out);
}
template <class N, class C>
status loop_handle<N, C>::read(byte_reader& in) {
    mitigation_loop<N, C> loop(state_->loop.options(), state_->blank_nodes, state_->blank_copies);
    status const s = loop.read(in);
    if (s == status::ok) state_->loop = std::move(loop);
    return s;
}

} // namespace straggle::detail
