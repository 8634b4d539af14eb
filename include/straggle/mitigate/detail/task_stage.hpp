// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/speculator.hpp`: goes through the running tasks job by job, finds the late ones,
/// and predicts the time they have left.
#pragma once

#include <straggle/assign/job_goal.hpp>
#include <straggle/base/archive.hpp>
#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/prefetch.hpp>
#include <straggle/base/row_sort.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/base/spread_sort.hpp>
#include <straggle/detect/detector.hpp>
#include <straggle/detect/late_cause.hpp>
#include <straggle/detect/straggler_scan.hpp>
#include <straggle/detect/tail_of_siblings.hpp>
#include <straggle/mitigate/copy_rows.hpp>
#include <straggle/mitigate/detail/copy_candidates.hpp>
#include <straggle/mitigate/detail/job_end.hpp>
#include <straggle/mitigate/detail/job_views.hpp>
#include <straggle/mitigate/detail/node_crowds.hpp>
#include <straggle/mitigate/detail/node_spread.hpp>
#include <straggle/mitigate/detail/place_odds.hpp>
#include <straggle/mitigate/detail/progress_beliefs.hpp>
#include <straggle/mitigate/detail/running_jobs.hpp>
#include <straggle/mitigate/detail/task_book.hpp>
#include <straggle/mitigate/speculator_options.hpp>
#include <straggle/predict/progress_trust.hpp>
#include <straggle/predict/sibling_times.hpp>
#include <straggle/record/attempt_event.hpp>
#include <straggle/record/slowdown.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

struct no_views {
    template <class Self, class Archive>
    static constexpr void fields(Self&, Archive&) noexcept {}
};

template <class Scan = detect::straggler_scan<detect::tail_of_siblings>>
class task_stage {
    using running_row = mitigate::running_row;
    // The default rule is asked task by task with all that is known; custom rules see a job as a `job_view`.
    static constexpr bool by_rows = std::same_as<Scan, detect::straggler_scan<detect::tail_of_siblings>>;
    // A custom predictor needs no times of siblings.
    static constexpr bool by_predictor =
        !std::same_as<std::remove_cvref_t<decltype(std::declval<Scan const&>().predictor())>,
                      detect::by_siblings>;

  public:
    task_stage(mitigate::speculator_options const& options, Scan scan)
        : options_(options),
          scan_(std::move(scan)),
          siblings_(options.times),
          progress_(options.times.most_kinds) {}
    [[nodiscard]] Scan const& scan() const noexcept { return scan_; }

    // A task succeeded or was stopped. False if its time is unusable.
    bool observe(mitigate::ended_row const& e, task_note const* note) {
        double const took = e.end - e.start, slow = slow_of(e.node);
        if (e.how != attempt_status::success)
            return siblings_.observe_censored(e.job, e.kind, took, slow, e.input);
        if (note) progress_.observe_ended(e.kind, note->track, e.end);
        double const crowd = note ? crowds_.mean(e.node, e.start, note->crowd, e.end)
                                  : std::numeric_limits<double>::quiet_NaN();
        if (!siblings_.observe(e.job, e.kind, took, slow, e.input, crowd)) return false;
        ended_ = (std::min)(ended_ + 1, 200.0);
        usual_ += (took - usual_) / ended_;
        return true;
    }

    // A task succeeded, by its first attempt or by a copy: a detector of the caller's sees both, as those of
    // engines do.
    void show_ended(mitigate::ended_row const& e) {
        if constexpr (!by_rows) views_.ended(e.job, e.node, e.end - e.start, e.input);
    }

    // `goals`: by job.
    void look(double now, std::span<running_row const> running, std::span<mitigate::place_row const> places,
              std::span<running_goal const> goals, task_book& book) {
        begin(places);
        crowds_.advance(now, places, most_nodes);
        places_ = places;
        sort_tasks(running);
        reserve_for(probes_, running.size());
        book.begin();
        goals_ = goals;
        for (std::size_t first = 0; first < order_.size();) {
            std::size_t last = first + 1;
            while (last < order_.size() && order_[last].job == order_[first].job)
                prefetch_row(running.data(), order_[last++].at);
            look_at_job(now, running, std::span(order_).subspan(first, last - first), book);
            first = last;
        }
        book.end();
        jobs_.finish_idle(now, usual_, [this](std::uint64_t job) { forget(job); });
        sort_rows(late_, [](mitigate::late_task const& a, mitigate::late_task const& b) {
            double const x = a.left.middle, y = b.left.middle;
            return x > y || (!(y > x) && a.row < b.row);
        });
    }
    // The number of tasks per job comes from ended tasks and finished jobs.
    void count_task() noexcept { jobs_.count_task(); }
    void finish(std::uint64_t job) {
        forget(job);
        jobs_.finish(job);
    }
    [[nodiscard]] double tasks_per_job() const noexcept { return jobs_.tasks_per_job(); }
    // The usual time of a task on this cluster; 0: not known.
    [[nodiscard]] double usual() const noexcept { return usual_; }
    // The usual time of a task of this job on a usual node.
    [[nodiscard]] double usual_of(std::uint64_t job, std::uint32_t kind, double input) {
        if (!siblings_.outlook(job, kind, {}, outlook_)) return usual_;
        return outlook_.usual() * siblings_.factor(job, kind, {0, 1, input});
    }
    // The slowdown of a node that is believed, and how likely it is slower right now.
    [[nodiscard]] double slow_of(std::uint32_t node) const noexcept {
        return node < nodes_.size() ? nodes_[node].slow : 1.0;
    }
    [[nodiscard]] place_odds odds_of(std::uint32_t node) const noexcept {
        return node < nodes_.size() && nodes_[node].now.chance > 0
                   ? place_odds(nodes_[node].now, nodes_[node].slow)
                   : place_odds();
    }
    // Expected slowdown of a new task there, relative to a usual node.
    [[nodiscard]] double expected_slowdown(std::uint32_t node) const noexcept {
        return slow_of(node) * odds_of(node).mean();
    }
    [[nodiscard]] predict::sibling_times& siblings() noexcept { return siblings_; }
    [[nodiscard]] predict::sibling_times const& siblings() const noexcept { return siblings_; }

    void write(byte_writer& out) const {
        siblings_.write(out);
        progress_.write(out);
        base::write_fields(out, *this);
    }
    void read(byte_reader& in) {
        siblings_.read(in);
        progress_.read(in);
        base::read_fields(in, *this);
    }
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.jobs_, self.views_, self.usual_, self.ended_, self.crowds_);
        a.expect(self.usual_ >= 0 && is_finite(self.usual_) && self.ended_ >= 0 && self.ended_ <= 200);
        a.items(self.nodes_, 8);
    }
    void merge(task_stage const& other) {
        siblings_.merge(other.siblings_);
        progress_.merge(other.progress_);
        double const all = ended_ + other.ended_;
        if (all > 0) usual_ = (usual_ * ended_ + other.usual_ * other.ended_) / all;
        ended_ = (std::min)(all, 200.0);
    }

    // Results of the last round.
    std::vector<mitigate::late_task> late_{};
    std::vector<mitigate::kill_row> kills_{};
    std::vector<copy_candidate> candidates_{};
    std::vector<candidate_group> groups_{};
    std::vector<mitigate::job_row> due_{}; // jobs with a deadline, by job
    std::vector<probe_candidate> probes_{};
    std::uint32_t tasks_ = 0, no_estimate_ = 0, hung_ = 0;
    std::uint32_t late_nodes_ = 0; // nodes with late tasks, hung nodes excluded
    std::size_t copies_running_ = 0;

  private:
    // A larger number of a node is a mistake, not a reason to allocate.
    static constexpr std::uint32_t most_nodes = 0xffffff;

    void forget(std::uint64_t job) {
        siblings_.finish(job);
        if constexpr (!by_rows) views_.finish(job);
    }
    [[nodiscard]] bool is_late(double chance) const noexcept {
        if constexpr (by_rows)
            return scan_.detector().is_late(chance);
        else
            return finding_ != nullptr;
    }
    struct sorted_row {
        std::uint64_t job, task;
        std::uint32_t at; // index among the running rows
        bool is_copy;
    };
    struct node_note {
        double slow = 1;
        double factor = 1; // of a task of unknown input there
        slowdown seen{};   // which both are believed from
        std::uint32_t place = no_index;
        record::slow_guess now{};
        bool hung = false, late = false;

        // For tasks that end before the next round.
        template <class Self, class Archive>
        static void fields(Self& self, Archive& a) {
            a(self.slow);
            a.expect(self.slow > 0 && is_finite(self.slow));
        }
    };

    // As `sibling_times::factor`.
    [[nodiscard]] double factor_of(running_row const& t, double age, double slow) const noexcept {
        if (t.input > 0) return siblings_.factor(t.job, t.kind, {age, slow, t.input});
        return t.node < nodes_.size() ? nodes_[t.node].factor : 1.0;
    }
    [[nodiscard]] std::array<detect::node_case, 2> cases_of(std::uint32_t node) const noexcept {
        return spread_.cases(node < nodes_.size() ? nodes_[node].seen : slowdown{});
    }
    [[nodiscard]] bool hangs(std::uint32_t node) const noexcept {
        return node < nodes_.size() && nodes_[node].hung;
    }
    void begin(std::span<mitigate::place_row const> places) {
        late_.clear();
        kills_.clear();
        candidates_.clear();
        groups_.clear();
        due_.clear();
        probes_.clear();
        tasks_ = no_estimate_ = hung_ = late_nodes_ = 0;
        copies_running_ = 0;
        slots_ = 0;
        read_nodes(places);
        beliefs_.clear();
    }
    // What follows from the slowdown of a node is worked out when that changes.
    void read_nodes(std::span<mitigate::place_row const> places) {
        bool is_as_before = places.size() == nodes_read_;
        nodes_read_ = places.size();
        for (std::uint32_t i = 0; i < places.size(); ++i) {
            mitigate::place_row const& p = places[i];
            if (p.node >= most_nodes) {
                is_as_before = false;
                continue;
            }
            if (p.node >= nodes_.size()) nodes_.resize(p.node + std::size_t{1});
            slots_ += p.slots;
            node_note& n = nodes_[p.node];
            if (n.place != i || n.seen != p.slow) {
                is_as_before = false;
                double const slow = believed(p.slow);
                n = {.slow = slow,
                     .factor = siblings_.factor(0, 0, {.slowdown = slow}),
                     .seen = p.slow,
                     .place = i};
            }
            n.now = p.slow_now;
            n.hung = p.hung;
            n.late = false;
        }
        if (is_as_before) return;
        for (std::uint32_t node = 0; node < nodes_.size(); ++node) // those that are gone
            if (std::uint32_t const at = nodes_[node].place; at >= places.size() || places[at].node != node)
                nodes_[node] = {};
        is_spread_fit_ = false;
    }
    void fit_spread() noexcept {
        if (!is_spread_fit_) spread_.fit(places_);
        is_spread_fit_ = true;
    }

    void sort_tasks(std::span<running_row const> running) {
        reserve_for(order_, running.size());
        order_.resize(running.size());
        for (std::size_t i = 0; i < running.size(); ++i)
            order_[i] = {running[i].job, running[i].task, static_cast<std::uint32_t>(i), running[i].is_copy};
        spread_sort(
            order_, dealt_, [](sorted_row const& r) { return r.job; },
            [](sorted_row const& r) { return r.task; },
            [](sorted_row const& a, sorted_row const& b) {
                if (a.job != b.job) return a.job < b.job;
                if (a.task != b.task) return a.task < b.task;
                return a.is_copy != b.is_copy ? b.is_copy : a.at < b.at;
            });
    }

    // What the job is to achieve, if anything was passed. Call in ascending order of jobs.
    [[nodiscard]] running_goal const* goal_of(std::uint64_t job) noexcept {
        while (!goals_.empty() && goals_.front().job < job) goals_ = goals_.subspan(1);
        return !goals_.empty() && goals_.front().job == job ? &goals_.front() : nullptr;
    }

    // Checks all tasks of one job.
    void look_at_job(double now, std::span<running_row const> running, std::span<sorted_row const> rows,
                     task_book& book) {
        running_row const& any = running[rows.front().at];
        sized_.clear();
        double longest = 0;
        for (sorted_row const& r : rows) {
            running_row const& t = running[r.at];
            longest = (std::max)(longest, now - t.start);
            if (r.is_copy || hangs(t.node)) continue;
            sized_.push_back({now - t.start, slow_of(t.node), t.input});
        }
        jobs_.seen(any.job, now, longest);
        bool const known = siblings_.outlook(any.job, any.kind, span_of(sized_), outlook_);
        running_goal const* const passed = goal_of(any.job);
        std::size_t const first = candidates_.size();
        double threshold = 0;
        if constexpr (by_rows) {
            if (known) threshold = scan_.detector().limit(outlook_);
        } else {
            ask_detector(now, running, rows, passed != nullptr ? passed->tasks : 0);
            if (known) threshold = detect::tail_of_siblings{}.limit(outlook_);
        }
        assign::job_goal goal;
        if (passed != nullptr) {
            goal.weight = passed->weight;
            goal.deadline = passed->deadline - now;
            if (known && goal.has_deadline()) goal.missed = options_.missed * outlook_.usual();
        }
        std::optional<job_end> end_of_job;
        if (goal.has_deadline()) {
            fit_spread();
            end_of_job.emplace(goal.deadline, known ? outlook_.usual() : 1.0);
        }
        find_early(rows.size(), known, threshold);
        end_ = end_of_job ? &*end_of_job : nullptr;
        due_in_ = goal.deadline;
        std::size_t const copies_before = copies_running_;
        for (std::uint32_t i = 0; i < rows.size();) {
            std::uint32_t const end = end_of_task(rows, i);
            finding_ = by_rows || named_[i] == 0 ? nullptr : &scan_.findings()[named_[i] - 1];
            look_at_task(now, running, rows.subspan(i, end - i), known, threshold, book);
            i = end;
        }
        if (end_ != nullptr) write_due(any, goal, known && !by_predictor, copies_running_ - copies_before);
        if (candidates_.size() == first) return;
        predict::time_points fresh;
        if constexpr (by_predictor)
            fresh.at.fill(1); // the time of a copy is each candidate's `input_factor`
        else
            fresh = outlook_.times_after(0);
        groups_.push_back({first, candidates_.size(), fresh, any.kind, goal});
        for (std::size_t c = first; c < candidates_.size(); ++c) {
            candidates_[c].group = groups_.size() - 1;
            if (end_ != nullptr) candidates_[c].others = end_->others_in_time(candidates_[c].others);
        }
    }

    void write_due(running_row const& any, assign::job_goal const& goal, bool known, std::size_t copies) {
        mitigate::job_row& out = due_.emplace_back();
        out.job = any.job;
        out.row = any.row;
        out.is_known = known;
        out.copies = static_cast<std::uint32_t>(copies);
        out.deadline = goal.deadline;
        out.weight = goal.weight;
        if (known) {
            out.end = end_->range();
            out.miss_probability = end_->miss_probability();
            out.least_probability = end_->least_probability();
        } else if (!(goal.deadline > 0)) {
            out.miss_probability = out.least_probability = 1;
        }
    }
    // Adds a task to the end of its job; returns whether it may make it miss its deadline.
    bool add_to_end(double now, std::span<running_row const> running, std::span<sorted_row const> rows,
                    double age, double factor, place_odds const& odds, promised_tail const* promise) {
        running_row const& t = running[rows.front().at];
        bool const hung = hangs(t.node);
        // A node of which little is known may be one of the slow ones.
        auto const cases = cases_of(t.node);
        std::array<double, 2> of_case{}, weight{};
        double all = 0;
        for (std::size_t k = 0; k < 2; ++k) {
            of_case[k] = factor / slow_of(t.node) * std::exp(cases[k].slowdown.mean);
            all += weight[k] = cases[k].chance * outlook_.survival(age / of_case[k]);
        }
        for (double& w : weight) w = all > 0 ? w / all : 0.5;
        double const anew = due_in_ > 0 ? 1 - outlook_.survival(due_in_ * slow_of(t.node) / factor) : 0.0;
        auto const later = [&](double time) {
            double chance = hung ? 1.0
                            : promise != nullptr
                                ? (*promise)(time)
                                : odds.mean_of([&](double times) {
                                      double sum = 0;
                                      for (std::size_t k = 0; k < 2; ++k) {
                                          double const f = of_case[k] * times;
                                          sum +=
                                              weight[k] * outlook_.survival_after(age / f, (age + time) / f);
                                      }
                                      return sum;
                                  });
            for (sorted_row const& r : rows.subspan(1)) {
                running_row const& copy = running[r.at];
                if (hangs(copy.node)) continue;
                double const f = factor / slow_of(t.node) * slow_of(copy.node);
                double const its_age = (std::max)(now - copy.start, 0.0);
                chance *= outlook_.survival_after(its_age / f, (its_age + time) / f);
            }
            return chance;
        };
        auto const misses = end_->add(later, anew);
        least_ = misses.with_copy;
        constexpr double unlikely = 0.25;
        return due_in_ > 0 && misses.as_it_runs > unlikely;
    }

    // One past the last attempt of the task that begins there.
    [[nodiscard]] static std::uint32_t end_of_task(std::span<sorted_row const> rows,
                                                   std::uint32_t i) noexcept {
        std::uint32_t end = i + 1;
        while (end < rows.size() && rows[end].task == rows[i].task && rows[i].task != no_task) ++end;
        return end;
    }
    // The attempt of a task that has done most, as an index among the running rows.
    [[nodiscard]] static std::uint32_t furthest(std::span<running_row const> running,
                                                std::span<sorted_row const> attempts) noexcept {
        std::uint32_t best = attempts.front().at;
        double most = 0;
        for (sorted_row const& r : attempts)
            if (running[r.at].progress > most) most = running[best = r.at].progress;
        return best;
    }
    // For each task that the detector names, stores the index of its finding plus one.
    void ask_detector(double now, std::span<running_row const> running, std::span<sorted_row const> rows,
                      std::uint32_t tasks)
        requires(!by_rows)
    {
        views_.begin(rows.front().job, slots_, tasks);
        named_.assign(rows.size(), 0);
        seen_.clear();
        for (std::uint32_t i = 0; i < rows.size(); i = end_of_task(rows, i)) seen_.push_back(i);
        // As in the caller's records, not by key.
        std::sort(seen_.begin(), seen_.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return rows[a].at < rows[b].at; });
        for (std::uint32_t const i : seen_) {
            auto const attempts = rows.subspan(i, end_of_task(rows, i) - i);
            running_row const& t = running[furthest(running, attempts)];
            views_.add(t, now, slow_of(t.node), static_cast<std::uint32_t>(attempts.size()));
        }
        view_ = views_.view(now);
        (void)scan_(view_);
        for (std::uint32_t k = 0; k < scan_.findings().size(); ++k)
            named_[seen_[scan_.findings()[k].task]] = k + 1;
    }

    // A chance to be late below which the costly predictions are skipped.
    static constexpr double hardly_late = 0.1;
    // The slowdowns for which one bound holds.
    static constexpr std::array<double, 2> bounded_slow{1, 1.2};

    // For a job of many tasks: the ages, relative to their factors, up to which its tasks are unlikely to be
    // late and need no survival of their own.
    void find_early(std::size_t tasks, bool known, double threshold) noexcept {
        early_ = {};
        constexpr std::size_t worth_it = 8;
        if (!known || tasks < worth_it) return;
        double chance = hardly_late;
        if constexpr (by_rows) chance = (std::min)(chance, scan_.detector().chance);
        for (std::size_t i = 0; i < early_.size(); ++i)
            early_[i] = outlook_.early_for(threshold / bounded_slow[i], chance);
    }
    // Whether the chance to be late is certainly below both that and the detector's. The limit is at
    // `threshold / slow` on the scale of the outlook.
    [[nodiscard]] bool is_early(double age, double factor, double slow,
                                place_odds const& odds) const noexcept {
        std::size_t const bound = slow <= bounded_slow[0] ? 0 : 1;
        return slow <= bounded_slow[bound] && age < factor * early_[bound] && !(odds.any() > 0);
    }
    // Checks one task: its original, if that still runs, and its copies.
    void look_at_task(double now, std::span<running_row const> running, std::span<sorted_row const> rows,
                      bool known, double threshold, task_book& book) {
        running_row const& t = running[rows.front().at];
        std::size_t const copies = rows.size() - (rows.front().is_copy ? 0 : 1);
        copies_running_ += copies;
        ++tasks_;
        task_note* note = nullptr;
        if (t.task != no_task) {
            note = &book.turn_to(t.job, t.task);
            read_note(*note, now, t, running, rows);
        }
        double const age = (std::max)(now - t.start, 0.0), slow = slow_of(t.node);
        bool const one = rows.size() == 1 && t.attempts <= 1;
        if constexpr (by_predictor) {
            if (finding_ != nullptr)
                look_by_predictor(now, running, rows, note, book, known);
            else if (one && t.may_copy && !t.is_copy)
                probes_.push_back({age, rows.front().at});
            return;
        }
        if (!known) {
            ++no_estimate_;
            if (one && t.may_copy && !t.is_copy) probes_.push_back({age, rows.front().at});
            return;
        }
        double const factor = factor_of(t, age, slow);
        double const limit = threshold * factor / slow, usual = outlook_.usual() * factor / slow;
        bool const hung = hangs(t.node);
        progress_beliefs::belief const* progress = nullptr;
        if (options_.use_progress && !hung && note && note->track.promise() > 0)
            progress = &beliefs_.of(progress_, t.kind, note->track.reached);
        bool by_progress = progress != nullptr && progress->worth.tasks >= 3;
        place_odds const odds = // progress already reflects the node's speed
            hung || by_progress ? place_odds() : odds_of(t.node).given(outlook_, age / factor);
        double chance = 1;
        if (!hung && age < limit)
            chance = is_early(age, factor, slow, odds) ? 0.0 : odds.most_of([&](double times) {
                return outlook_.survival_after(age / (factor * times), limit / (factor * times));
            });
        bool at_risk = false;
        if (end_ != nullptr) {
            std::optional<promised_tail> promise;
            if (by_progress) promise.emplace(outlook_, factor, age, note->track, now, progress->worth);
            at_risk = add_to_end(now, running, rows, age, factor, odds,
                                 promise && !promise->is_void() ? &*promise : nullptr);
        }
        if (by_progress) {
            double const stale = note->track.since_promise(now);
            double const promised = note->track.promise() * progress->shrunk;
            // Most tasks are far from late; skip the costly prediction for them.
            if (!at_risk && chance < hardly_late && age - stale + promised * progress->stretched < limit)
                by_progress = false;
        }
        if (!at_risk && (by_progress ? age < limit && finding_ == nullptr &&
                                           predict::is_soon_by_both(outlook_, factor, age, note->track, now,
                                                                    progress->worth, limit - age)
                                     : !is_late(chance))) {
            if (one && t.may_copy && !t.is_copy) probes_.push_back({age, rows.front().at});
            return;
        }
        predict::time_points left;
        if (by_progress) {
            left = predict::left_by_both(outlook_, factor, age, note->track, now, progress->worth);
            if (age < limit) {
                double later = 0;
                for (double const l : left.at) later += age + l > limit ? 1 : 0;
                chance = later / static_cast<double>(predict::time_points::count);
            }
        }
        bool const late = is_late(chance);
        if (!late) {
            if (one && t.may_copy && !t.is_copy) probes_.push_back({age, rows.front().at});
            if (!at_risk) return;
        }
        if (hung) {
            ++hung_;
            left.at.fill(100 * outlook_.usual() * factor + age); // practically never
        } else if (!by_progress) {
            left = left_after(outlook_, age, factor, odds);
        }
        comparison const why =
            finding_ != nullptr ? named()
                                : comparison{age + left.quantile(0.5), limit, usual, "late for its siblings"};
        detect::late_cause cause;
        if (late) {
            fit_spread();
            cause = cause_of(now, t, note, age, factor, by_progress ? &left : nullptr);
            late_.push_back({t.row, range_of(left, 1), why, cause});
        }
        copy_candidate const c{.left = left,
                               .note = note ? book.last() : no_note,
                               .age = age,
                               .input_factor = factor / slow,
                               .slow = slow,
                               .of_node = odds.any(),
                               .why = why,
                               .cause = cause,
                               .at = rows.front().at,
                               .is_late = late,
                               .others = end_ != nullptr ? least_ : 1.0};
        propose(c, now, running, rows, note, usual);
    }
    // A task that is late or puts a deadline at risk may get a copy.
    void propose(copy_candidate const& c, double now, std::span<running_row const> running,
                 std::span<sorted_row const> rows, task_note const* note, double usual) {
        running_row const& t = running[c.at];
        bool const hung = hangs(t.node);
        if (c.is_late && !hung && t.node < nodes_.size() && !nodes_[t.node].late) {
            nodes_[t.node].late = true;
            ++late_nodes_;
        }
        // Copies get lost too, with their nodes or through their own faults. Each further copy waits twice as
        // long as the one before, so a task that never ends gets few.
        bool const again = note && note->launched >= options_.copies_per_task &&
                           now - note->copy_start <
                               usual * std::exp2((std::min)(note->launched - options_.copies_per_task, 40u));
        bool const is_one = rows.size() == 1 && t.attempts <= 1;
        // A copy whose original is gone is an attempt like any other to a rule of the caller's.
        if (is_one && t.may_copy && (!by_rows || !t.is_copy) && !again)
            candidates_.push_back(c);
        else if (rows.size() > 1 && options_.kill_hung && hung && !t.is_copy &&
                 !hangs(running[rows.back().at].node))
            kills_.push_back({t.row});
    }
    // What the detector compared.
    [[nodiscard]] comparison named() const noexcept {
        return {finding_->value, finding_->threshold, finding_->usual, Scan::name()};
    }
    // Predicts the times of a task that the detector named, with the caller's predictor.
    void look_by_predictor(double now, std::span<running_row const> running, std::span<sorted_row const> rows,
                           task_note* note, task_book const& book, bool known)
        requires by_predictor
    {
        running_row const& t = running[rows.front().at];
        detect::running_task const& task = view_.running[finding_->task];
        outcome<double> left = scan_.predictor().remaining(task, view_);
        if (!left && left.reason() == status::out_of_range) left = 100 * task.elapsed; // it stands still
        outcome<double> const anew = scan_.predictor().replacement(task, view_);
        if (!left) {
            ++no_estimate_;
            return;
        }
        predict::time_points points;
        points.at.fill(*left);
        detect::late_cause cause;
        double const slow = slow_of(t.node);
        fit_spread();
        if (known)
            cause = cause_of(now, t, note, task.elapsed,
                             siblings_.factor(t.job, t.kind, {task.elapsed, slow, t.input}), nullptr);
        late_.push_back({t.row, range_of(points, 1), named(), cause});
        if (!anew) {
            ++no_estimate_;
            return;
        }
        propose({.left = points,
                 .note = note ? book.last() : no_note,
                 .age = task.elapsed,
                 .input_factor = *anew,
                 .slow = slow,
                 .of_node = 0,
                 .why = named(),
                 .cause = cause,
                 .at = rows.front().at,
                 .is_late = true,
                 .others = 1},
                now, running, rows, note, *anew);
    }
    // Why a task is late. `promised`: time left by its progress.
    [[nodiscard]] detect::late_cause cause_of(double now, running_row const& t, task_note const* note,
                                              double age, double factor,
                                              predict::time_points const* promised) const {
        auto const cases = cases_of(t.node);
        std::array<detect::node_case, 2> now_cases{};
        if (hangs(t.node)) {
            // Nine in ten, before it is seen how long this task has run.
            double const hangs = 0.9, runs = (1 - hangs) * outlook_.survival(age / factor);
            now_cases[0] = {hangs / (hangs + runs), {std::log(100.0), 0}};
            now_cases[1].chance = 0;
        } else {
            place_odds const odds = odds_of(t.node).given(outlook_, age / factor);
            double const known = std::log(slow_of(t.node));
            for (std::size_t i = 0; i < odds.slow.size(); ++i)
                now_cases[i] = {odds.chance[i], {known + std::log(odds.slow[i]), 0}};
        }
        double const crowd =
            note ? crowds_.mean(t.node, t.start, note->crowd, now) : std::numeric_limits<double>::quiet_NaN();
        predict::time_parts const parts =
            siblings_.parts(t.job, t.kind, {.input = t.input, .crowd = crowd}, outlook_);
        detect::late_facts facts{.low = age,
                                 .usual = parts.usual,
                                 .node = cases,
                                 .node_now = now_cases,
                                 .input = parts.input,
                                 .crowd = parts.crowd,
                                 .kind = parts.kind};
        if (promised != nullptr) {
            facts.low += promised->quantile(0.1);
            facts.high = age + promised->quantile(0.9);
        }
        return detect::cause_of(outlook_, facts);
    }
    void read_note(task_note& n, double now, running_row const& t, std::span<running_row const> running,
                   std::span<sorted_row const> rows) {
        if (!rows.front().is_copy &&
            (n.start < t.start || t.start < n.start)) { // a different attempt, or the first
            if (options_.moves && n.start > 0) count_launch(n, t.start);
            n.track = {};
            n.start = t.start;
            n.crowd = crowds_.sum(t.node, t.start);
        }
        n.kind = t.kind;
        if (options_.use_progress && !t.is_copy)
            n.track.observe(t.progress, t.reported <= now ? t.reported : now);
        n.racing = rows.size() > 1 && n.advised;
        if (rows.back().is_copy) count_launch(n, running[rows.back().at].start);
    }
    static void count_launch(task_note& n, double began) noexcept {
        if (n.launched == 0 || n.copy_start < began || began < n.copy_start) ++n.launched;
        n.copy_start = began;
    }

    mitigate::speculator_options options_;
    Scan scan_;
    [[no_unique_address]] std::conditional_t<by_rows, no_views, job_views> views_{};
    std::vector<std::uint32_t> named_{};       // by row within the job
    std::vector<std::uint32_t> seen_{};        // by task that the detector sees: its row within the job
    detect::finding const* finding_ = nullptr; // of the current task
    detect::job_view view_{};                  // of the current job, for a custom detector
    double slots_ = 0;
    predict::sibling_times siblings_;
    predict::progress_trust progress_;
    double usual_ = 0, ended_ = 0; // usual time of a task, and how many ended
    predict::time_outlook outlook_{};
    std::span<running_goal const> goals_{}; // of the jobs that follow
    job_end* end_ = nullptr;                // of the current job, if it has a deadline,
    double due_in_ = 0, least_ = 0;         // which is so far away; and what `add` returned for its last task
    std::vector<node_note> nodes_{};
    std::size_t nodes_read_ = 0; // in the last round
    progress_beliefs beliefs_{};
    std::array<double, bounded_slow.size()> early_{};
    node_crowds crowds_{};
    node_spread spread_{};
    bool is_spread_fit_ = false;                    // to the places
    std::span<mitigate::place_row const> places_{}; // of this round
    std::vector<sorted_row> order_{};
    spread_sort_scratch<sorted_row> dealt_{};
    std::vector<predict::sized_task> sized_{};
    running_jobs jobs_{};
};

} // namespace straggle::detail
