// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `gang/step_watch.hpp`: the algorithm on plain numbers.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/gang/detail/gang_model.hpp>
#include <straggle/gang/detail/rank_evidence.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Sums over closed steps, in seconds of the reports' clock.
struct gang_sums {
    double steps = 0, seconds = 0, ideal = 0;
    std::vector<double> rank, section, stage; // part of seconds - ideal explained by each
};

class gang_core {
  public:
    static constexpr std::int64_t open_steps = 4; // a step is closed by the fourth one after it
    static constexpr std::size_t most_open = 8;   // with those that few ranks have reached
    static constexpr std::size_t max_sections = 8;
    static constexpr std::int64_t no_step = std::numeric_limits<std::int64_t>::lowest();
    static constexpr double remembered_steps = 4096; // beyond these, replacements fade

    gang_core(double least_slowdown, double steps_per_error, bool by_arrival)
        : least_(std::log(least_slowdown)), steps_per_error_(steps_per_error), by_arrival_(by_arrival) {}

    // Where a rank runs; ranks of a stage do the same work.
    struct place {
        std::uint32_t rank, node, stage;
    };

    // False if the step is closed.
    bool report(std::int64_t step, place const& from, std::uint32_t section, double took, double waited) {
        if (step <= closed_ || is_far_before(step, reached_)) return false;
        if (from.rank >= ranks_.size()) {
            ranks_.resize(from.rank + std::size_t{1});
            sums_.rank.resize(ranks_.size());
        }
        open_step* const s = &open(step);
        set_place(from);
        if (section >= sections_) {
            sections_ = section + std::size_t{1};
            sums_.section.resize(sections_);
        }
        std::size_t const at = from.rank * max_sections + section;
        if (at >= s->cells.size()) s->cells.resize((std::max)(at + 1, ranks_.size() * max_sections));
        bool const is_first = !has_reported(*s, from.rank);
        cell& c = s->cells[at];
        if (by_arrival_) {
            c.work = took; // the arrival time, until the step is closed
            c.reports = 1;
        } else {
            c.work += took - waited;
            c.waited += waited;
            c.reports += 1;
        }
        s->reports += 1;
        if (is_first) {
            ++s->ranks;
            reach(*s);
        }
        return true;
    }

    // All reports of steps up to this one have arrived.
    void close_to(std::int64_t step) {
        while (!steps_.empty() && steps_.front().step <= step) close_first();
    }
    // The gang returned to a checkpoint: drops open steps and restarts the numbering.
    void restart() {
        for (open_step& s : steps_) recycle(s);
        steps_.clear();
        closed_ = reached_ = no_step;
        enough_ = 2;
        released_ = std::numeric_limits<double>::quiet_NaN();
    }

    static constexpr std::uint32_t nowhere = (std::numeric_limits<std::uint32_t>::max)();
    struct rank_row {
        rank_evidence evidence;
        double last = 0, best = std::numeric_limits<double>::infinity(), usual = 0; // log work
        std::uint32_t node = nowhere, stage = 0;
        bool has_last = false;
        std::array<double, max_sections> excess{}; // per section, fading: seconds above the median rank
    };
    [[nodiscard]] std::vector<rank_row> const& ranks() const noexcept { return ranks_; }
    // Reports of steps that the gang did not reach.
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
    [[nodiscard]] std::size_t nodes() const noexcept { return nodes_; }
    [[nodiscard]] gang_sums const& sums() const noexcept { return sums_; }
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_closed_; }
    // Seconds that the gang waited for ranks before they moved to a different node; they fade.
    [[nodiscard]] double replaced() const noexcept { return replaced_; }
    // One-sided level such that an interval is wrong once in `steps_per_error` windows of the whole gang.
    [[nodiscard]] double tail() const noexcept {
        return 0.5 / (steps_per_error_ * (std::max)(1.0, static_cast<double>(ranks_.size())));
    }
    [[nodiscard]] double deviation() const noexcept { return std::sqrt(variance_.mean); }
    [[nodiscard]] slowdown slow(std::uint32_t rank) const noexcept {
        return ranks_[rank].evidence.slow(tail(), deviation());
    }
    [[nodiscard]] bool is_slow(std::uint32_t rank) const noexcept {
        rank_evidence const& e = ranks_[rank].evidence;
        return e.mean() > least_ && std::log(slow(rank).low) > least_;
    }

  private:
    struct cell {
        double work = 0, waited = 0, reports = 0;
    };
    struct open_step {
        std::int64_t step = 0;
        std::size_t ranks = 0; // that reported
        std::uint64_t reports = 0;
        std::vector<cell> cells; // by rank, then section
    };

    void set_place(place const& from) {
        if (from.stage >= stages_) stages_ = from.stage + std::size_t{1};
        rank_row& r = ranks_[from.rank];
        r.stage = from.stage;
        if (r.node == from.node) return;
        if (from.node >= ranks_on_.size()) ranks_on_.resize(from.node + std::size_t{1});
        if (r.node != nowhere) {
            replaced_ += r.evidence.move();
            if (--ranks_on_[r.node] == 0) --nodes_;
        }
        if (++ranks_on_[from.node] == 1) ++nodes_;
        r.node = from.node;
    }

    static bool is_far_before(std::int64_t step, std::int64_t later) noexcept {
        return later >= no_step + open_steps && step <= later - open_steps;
    }
    open_step& open(std::int64_t step) {
        auto const is_before = [step](open_step const& s) { return s.step < step; };
        auto at = std::find_if_not(steps_.begin(), steps_.end(), is_before);
        if (at != steps_.end() && at->step == step) return *at;
        if (steps_.size() == most_open) {
            make_way();
            at = std::find_if_not(steps_.begin(), steps_.end(), is_before);
        }
        at = steps_.insert(at, open_step{});
        at->step = step;
        if (!spare_.empty()) {
            at->cells.swap(spare_.back());
            spare_.pop_back();
        }
        return *at;
    }
    [[nodiscard]] static bool has_reported(open_step const& s, std::uint32_t rank) noexcept {
        auto const first = s.cells.begin() + static_cast<std::ptrdiff_t>(rank * max_sections);
        return std::any_of(first, first + max_sections, [](cell const& c) { return c.reports > 0; });
    }
    // A gang has reached a step once most ranks report it: a wrong step number of one rank closes nothing.
    bool reach(open_step const& s) {
        if (s.ranks < enough_ || s.step <= reached_) return false;
        std::int64_t const step = s.step;
        while (is_far_before(steps_.front().step, step)) close_first();
        reached_ = step;
        return true;
    }
    // Too many steps are open that the gang has not reached. Most ranks may be gone, so fewer suffice; else
    // the step of the fewest ranks is wrong.
    void make_way() {
        if (enough_ > fewest()) --enough_;
        for (std::size_t i = steps_.size(); i > 0; --i)
            if (reach(steps_[i - 1]) && steps_.size() < most_open) return;
        auto worst = steps_.end() - 1;
        for (auto s = worst; s != steps_.begin() && (s - 1)->step > reached_; --s)
            if ((s - 1)->ranks < worst->ranks) worst = s - 1;
        dropped_ += worst->reports;
        spare_.reserve(most_open);
        recycle(*worst);
        steps_.erase(worst);
    }
    [[nodiscard]] std::size_t fewest() const noexcept { return (std::min)(ranks_.size(), std::size_t{2}); }
    void recycle(open_step& s) {
        std::fill(s.cells.begin(), s.cells.end(), cell{});
        spare_.push_back(std::move(s.cells));
    }

    void close_first() {
        open_step& s = steps_.front();
        make_room(); // nothing below throws
        if (by_arrival_) work_from_arrivals(s);
        weigh(s);
        closed_ = s.step;
        enough_ = (std::max)(s.ranks / 2 + 1, fewest());
        replaced_ *= 1 - 1 / remembered_steps;
        ++steps_closed_;
        recycle(s);
        steps_.erase(steps_.begin());
    }

    void make_room() {
        spare_.reserve(most_open);
        group_.reserve(ranks_.size());
        work_.resize(ranks_.size());
        order_.reserve(max_sections);
        model_.reset(stages_);
        sums_.stage.resize(stages_);
        by_stage_.resize(stages_);
        members_.assign(stages_, 0);
        for (rank_row const& r : ranks_) ++members_[r.stage];
        for (std::size_t g = 0; g < stages_; ++g) by_stage_[g].reserve(members_[g]);
    }

    // A barrier opens when the last rank arrives; until the next one, ranks work independently.
    void work_from_arrivals(open_step& s) {
        order_.clear();
        for (std::size_t c = 0; c < sections_; ++c) {
            double last = -std::numeric_limits<double>::infinity();
            for (std::size_t r = 0; r * max_sections + c < s.cells.size(); ++r)
                if (cell const& x = s.cells[r * max_sections + c]; x.reports > 0)
                    last = (std::max)(last, x.work);
            if (last > -std::numeric_limits<double>::infinity()) order_.push_back({last, c});
        }
        std::sort(order_.begin(), order_.end());
        for (auto const& [release, c] : order_) {
            for (std::size_t r = 0; r * max_sections + c < s.cells.size(); ++r) {
                cell& x = s.cells[r * max_sections + c];
                if (!(x.reports > 0)) continue;
                double const arrived = x.work;
                if (arrived > released_) {
                    x.work = arrived - released_;
                    x.waited = release - arrived;
                } else { // the work before the first barrier is unknown
                    x = cell{};
                }
            }
            released_ = release;
        }
    }

    void weigh(open_step const& s) {
        read_work(s);
        double passed = 0;
        for (std::size_t g = 0; g < stages_; ++g) {
            group_.clear();
            gang_model::stage& stage = model_[g];
            for (std::uint32_t const r : by_stage_[g]) {
                group_.push_back(work_[r].total);
                stage.longest = (std::max)(stage.longest, work_[r].total);
                stage.sum += work_[r].total;
                stage.ranks += 1;
                stage.microbatches = (std::max)(stage.microbatches, work_[r].reports);
                passed = (std::max)(passed, work_[r].total + work_[r].waited);
            }
            stage.usual = median(group_);
        }
        model_.solve();
        // Time that no work explains, such as the exchange itself, stays unchanged.
        double const rest = (std::max)(passed - model_.seconds(), 0.0);
        sums_.steps += 1;
        sums_.seconds += (std::max)(passed, model_.seconds());
        sums_.ideal += model_.ideal() + rest;
        for (std::size_t g = 0; g < stages_; ++g) weigh_stage(s, g);
    }

    struct rank_work {
        double total = 0, waited = 0, reports = 0;
    };
    void read_work(open_step const& s) {
        std::fill(work_.begin(), work_.end(), rank_work{});
        for (auto& g : by_stage_) g.clear();
        for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
            for (std::size_t c = 0; c < sections_ && r * max_sections + c < s.cells.size(); ++c) {
                cell const& x = s.cells[r * max_sections + c];
                work_[r].total += x.work;
                work_[r].waited += x.waited;
                work_[r].reports = (std::max)(work_[r].reports, x.reports);
            }
            if (work_[r].total > 0) by_stage_[ranks_[r].stage].push_back(r);
        }
    }

    void weigh_stage(open_step const& s, std::size_t g) {
        std::vector<std::uint32_t> const& members = by_stage_[g];
        if (members.size() < 2) return;
        gang_model::stage const& stage = model_[g];
        double const floor = deviation();
        double slowest = 0;
        for (std::uint32_t const r : members) {
            double const work = work_[r].total;
            // The median of two ranks lies between them, so compare each with the other.
            double const usual = members.size() > 2 ? stage.usual : stage.sum - work;
            if (!(usual > 0)) continue;
            double const gap = std::log(work / usual);
            rank_row& row = ranks_[r];
            // Use differences between steps: neither a slow rank nor a change of speed then makes the gang
            // look unsteady.
            if (row.has_last) variance_.add((gap - row.last) * (gap - row.last) / 2);
            row.last = gap;
            row.has_last = true;
            row.evidence.add(gap, least_, floor, s.step);
            double const seconds = model_.only(g, work) - model_.ideal();
            row.evidence.save(seconds);
            sums_.rank[r] += seconds;
            slowest = (std::max)(slowest, seconds);
            constexpr double share = 1.0 / 16; // weight of the latest step in the usual work
            row.usual = row.usual > 0 ? row.usual + share * (work - row.usual) : work;
            row.best = (std::min)(row.best, row.usual);
        }
        sums_.stage[g] += slowest;
        for (std::size_t c = 0; c < sections_; ++c) weigh_section(s, g, c);
    }

    // The loss due to the section alone: each rank's own time in it, usual times otherwise.
    void weigh_section(open_step const& s, std::size_t g, std::size_t c) {
        group_.clear();
        for (std::uint32_t const r : by_stage_[g]) group_.push_back(at(s, r, c));
        double const usual = median(group_);
        double most = 0;
        for (std::uint32_t const r : by_stage_[g]) {
            double const more = at(s, r, c) - usual;
            most = (std::max)(most, more);
            rank_row& row = ranks_[r];
            row.excess[c] += (more - row.excess[c]) / 16;
        }
        if (most > 0) sums_.section[c] += model_.only(g, model_[g].usual + most) - model_.ideal();
    }
    [[nodiscard]] static double at(open_step const& s, std::uint32_t r, std::size_t c) noexcept {
        std::size_t const i = r * max_sections + c;
        return i < s.cells.size() ? s.cells[i].work : 0.0;
    }
    [[nodiscard]] static double median(std::vector<double>& x) {
        if (x.empty()) return 0;
        auto const middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
        std::nth_element(x.begin(), middle, x.end());
        if (x.size() % 2 == 1) return *middle;
        return (*middle + *std::max_element(x.begin(), middle)) / 2;
    }

    double least_, steps_per_error_;
    bool by_arrival_;
    double replaced_ = 0;
    std::vector<rank_row> ranks_;
    std::size_t stages_ = 0, sections_ = 0;
    std::vector<open_step> steps_; // in order
    std::vector<std::vector<cell>> spare_;
    std::int64_t closed_ = no_step, reached_ = no_step;
    std::size_t enough_ = 2;              // ranks that reach a step
    std::vector<std::uint32_t> ranks_on_; // by node
    std::size_t nodes_ = 0;               // with ranks
    std::uint64_t steps_closed_ = 0, dropped_ = 0;
    double released_ = std::numeric_limits<double>::quiet_NaN();
    fading_moments variance_{1, 0.0025, 0}; // of a gap; 5 % until something is known
    gang_sums sums_;

    std::vector<rank_work> work_;
    std::vector<std::vector<std::uint32_t>> by_stage_;
    std::vector<double> group_;
    std::vector<std::size_t> members_;
    struct barrier {
        double release;
        std::size_t section;
        friend bool operator<(barrier const& a, barrier const& b) noexcept { return a.release < b.release; }
    };
    std::vector<barrier> order_;
    gang_model model_;
};

} // namespace straggle::detail
