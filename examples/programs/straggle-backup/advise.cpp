// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "advise.hpp"

#include "../common/detectors.hpp"

#include <straggle/assign/assigner.hpp>
#include <straggle/assign/optimal_assignment.hpp>
#include <straggle/detect/job_progress.hpp>
#include <straggle/papers/riski_2014.hpp>

#include <algorithm>
#include <unordered_map>

namespace straggle_backup {

namespace {

using program::seconds;

time_range range_of(straggle::stats::empirical_view const& times) {
    time_range r{*times.lowest(), *times.quantile(0.5), *times.highest(), times.size()};
    if (auto const inner = times.range(0.8)) {
        r.low = inner->low;
        r.high = inner->high;
    }
    return r;
}

// A task as the detector reads it.
struct detector_row {
    std::uint32_t node;
    std::optional<double> progress;
    moment start;
    std::optional<double> input;
    std::uint32_t copies;
};
constexpr straggle::running_fields detector_fields{.node = &detector_row::node,
                                                   .start = &detector_row::start,
                                                   .progress = &detector_row::progress,
                                                   .input = &detector_row::input,
                                                   .copies = &detector_row::copies};

// A job, and what is known of each of its running tasks.
struct job_state {
    running_job const* job;
    std::vector<std::optional<double>> usual{}; // by task
    std::vector<time_left> left{};              // by task; empty until they are needed
    std::vector<char> is_suspect{};             // by task
    std::vector<char> helped{};                 // a copy of it is counted on
    double waiting = 0;                         // the least time of a waiting task
};

struct straggler {
    job_state* state;
    std::size_t task;         // in the job
    straggle::comparison why; // the detector's
    std::vector<std::uint32_t> runs_on{};
    double next_slowest = 0;

    [[nodiscard]] running_task const& running() const { return state->job->tasks[task]; }
    [[nodiscard]] time_left const& left() const { return state->left[task]; }
};

//! [fields]
constexpr straggle::assign::straggler_fields straggler_members{
    .runs_on = &straggler::runs_on,
    .remaining = [](straggler const& s) { return s.left().times.view(); },
    .attempts = [](straggler const& s) { return s.running().attempts_running(); },
    .next_slowest = &straggler::next_slowest};
constexpr straggle::assign::backup_node_fields node_members{.node = &cluster_node::id,
                                                            .slots = &cluster_node::slots,
                                                            .free = &cluster_node::free,
                                                            .copies = &cluster_node::copies,
                                                            .state = &cluster_node::state};
//! [fields]

class adviser {
  public:
    adviser(options const& o, history const& past, snapshot const& now, cluster& c, time_model& model)
        : o_(o), past_(past), now_(now), cluster_(c), model_(model) {
        for (std::size_t i = 0; i < past.attempts.size(); ++i)
            if (past.attempts[i].job) finished_[*past.attempts[i].job].push_back(i);
    }

    advised run() {
        note_slowdown();
        detect();
        for (straggler const& s : stragglers_) estimate(*s.state);
        if (o_.policy == profit_policy::riski_2014)
            decide(straggle::papers::riski_2014::profit{});
        else
            decide(straggle::assign::expected_gain{.slot_price = o_.slot_price,
                                                   .least_win_probability = o_.least_win});
        return std::move(result_);
    }

  private:
    using job_watch = straggle::detect::job_progress<std::uint32_t, moment>;

    void note_slowdown() {
        std::size_t nodes = 0;
        for (cluster_node const& n : cluster_.nodes) nodes = (std::max)(nodes, n.id + std::size_t{1});
        for (past_attempt const& a : past_.attempts)
            if (a.node) nodes = (std::max)(nodes, *a.node + std::size_t{1});
        slowdown_ = find_slowdown(past_, now_, nodes);
        for (cluster_node& n : cluster_.nodes)
            if (slowdown_[n.id].known) n.slowdown = slowdown_[n.id].factor;
    }

    // Finds the suspects, job by job.
    void detect() {
        std::vector<std::optional<double>> const* usual = nullptr; // of the job it looks at
        auto const usual_time = [&usual](straggle::detect::running_task const& t,
                                         straggle::detect::job_view const&) {
            std::optional<double> const& known = (*usual)[t.row];
            return known ? straggle::outcome<double>(*known)
                         : straggle::outcome<double>(straggle::status::insufficient_evidence);
        };
        auto detector = program::make_contestant(o_.detector, {.warm = true,
                                                               .resolution = o_.resolution,
                                                               .report_interval = o_.report_interval,
                                                               .usual_time_of = usual_time});
        jobs_.reserve(now_.jobs.size());
        for (running_job const& job : now_.jobs) {
            if (job.tasks.empty()) continue;
            job_state& state = jobs_.emplace_back(job_state{.job = &job});
            for (running_task const& t : job.tasks) state.usual.push_back(usual_of(t));
            usual = &state.usual;
            job_watch watch = watch_of(job);
            auto const suspects = detector(watch.view());
            state.is_suspect.assign(job.tasks.size(), 0);
            for (auto const& s : suspects) {
                state.is_suspect[s.row] = 1;
                straggler& late = stragglers_.emplace_back(straggler{&state, s.row, s.why});
                for (running_attempt const& a : late.running().attempts) late.runs_on.push_back(a.node);
            }
            result_.tasks += job.tasks.size() + watch.view().finished.size();
        }
    }

    std::optional<double> usual_of(work const& w) {
        straggle::outcome<double> const u = model_.usual(w);
        return u && *u > 0 ? std::optional(*u) : std::nullopt;
    }

    job_watch watch_of(running_job const& job) {
        job_watch watch;
        std::optional<moment> begin;
        auto const begins = [&begin](moment t) { begin = begin ? (std::min)(*begin, t) : t; };
        std::uint64_t finished = 0;
        for (std::size_t const row : finished_[job.job]) {
            past_attempt const& a = past_.attempts[row];
            if (a.start) begins(*a.start);
            if (a.status != straggle::attempt_status::success || !a.node || !a.took) continue;
            double const input = a.input.value_or(1), usual = usual_of(a).value_or(0);
            if (watch.observe(*a.node, *a.took, input, usual)) ++finished;
        }
        std::vector<detector_row> rows;
        for (running_task const& t : job.tasks) {
            running_attempt const& a = t.best();
            rows.push_back({a.node, a.progress, a.start, t.input, t.attempts_running()});
            for (running_attempt const& any : t.attempts) begins(any.start);
            if (a.node < slowdown_.size() && slowdown_[a.node].known)
                watch.set_slowdown(a.node, slowdown_[a.node].factor);
        }
        watch.set_tasks(finished + job.tasks.size() + job.waiting.size());
        watch.set_slots(cluster_.slots);
        if (begin) watch.set_begin(*begin);
        watch.running(rows, detector_fields, now_.now);
        return watch;
    }

    // How much longer every task of a job takes where it runs.
    void estimate(job_state& state) {
        if (!state.left.empty()) return;
        running_job const& job = *state.job;
        // If no task has reported anything, silence means nothing.
        bool const reports = std::ranges::any_of(
            job.tasks, [](running_task const& t) { return t.best().progress.value_or(0) > 0; });
        for (std::size_t i = 0; i < job.tasks.size(); ++i) {
            running_attempt const& a = job.tasks[i].best();
            std::optional<progress_report> report;
            if (reports && a.progress) {
                moment const at = std::clamp(a.reported.value_or(now_.now), a.start, now_.now);
                double const heartbeat =
                    o_.report_interval > 0 ? o_.report_interval : state.usual[i].value_or(0) / 20;
                report = {seconds(at - a.start), *a.progress, a.reported ? 0 : heartbeat};
            }
            auto const similar = model_.times(job.tasks[i], a.node);
            state.left.push_back(find_time_left(similar ? *similar : straggle::stats::empirical_view{},
                                                seconds(now_.now - a.start), report,
                                                {.resolution = o_.resolution, .drift = o_.drift}));
        }
        for (work const& w : job.waiting) state.waiting = (std::max)(state.waiting, usual_of(w).value_or(0));
        state.helped = state.is_suspect;
    }

    // When the job would end without this task. Stragglers that get a copy are not waited for.
    static double next_slowest(straggler const& s) {
        job_state const& state = *s.state;
        double latest = state.waiting;
        for (std::size_t i = 0; i < state.left.size(); ++i)
            if (i != s.task && !state.helped[i])
                latest = (std::max)(latest, state.left[i].times.view().quantile(0.5).value_or(0));
        return latest;
    }

    [[nodiscard]] straggle::cluster_load load() const {
        return {.now = seconds(now_.now),
                .started = 0,
                .running = result_.tasks,
                .suspects = stragglers_.size(),
                .slots = cluster_.slots,
                .copies = now_.copies,
                .waiting = 1}; // as far as is known
    }

    template <class Profit>
    void decide(Profit const& profit) {
        if (o_.rule == assignment_rule::greedy)
            decide(profit, straggle::assign::greedy_assignment{});
        else
            decide(profit, straggle::assign::optimal_assignment{});
    }
    template <class Profit, class Matching>
    void decide(Profit const& profit, Matching const& matching) {
        using slot_budget = std::optional<straggle::assign::speculative_cap>;
        using limit = std::optional<straggle::assign::suspect_share_limit>;
        constexpr std::size_t few = 2; // this few suspects are not a storm
        // One copy is always within the share, however small the cluster is.
        double const one = cluster_.slots > 0 ? 1 / static_cast<double>(cluster_.slots) : 0.0;
        double const share = o_.most_copies > 0 ? (std::max)(o_.most_copies, (std::min)(one, 1.0)) : 0.0;
        result_.copy_limit = std::floor(share * static_cast<double>(cluster_.slots) + 1e-9);
        bool const stormy = stragglers_.size() > few && static_cast<double>(stragglers_.size()) >
                                                            o_.storm * static_cast<double>(result_.tasks);
        straggle::assign::assigner assigner(
            profit, matching,
            straggle::assign::assigner_options{
                .slots = o_.reserve > 0 ? straggle::assign::reservation(1 - o_.reserve)
                                        : straggle::assign::reservation::shared(),
                .launch = o_.launch,
                .price_over_budget = !stormy}, // a task without a copy need not be priced
            straggle::assign::copies_per_task(o_.copies_per_task),
            stragglers_.size() > few ? limit(straggle::assign::suspect_share_limit(o_.storm)) : limit(),
            slot_budget(straggle::assign::speculative_cap(share)));
        straggle::assign::backup_plan const& plan = settle(assigner);

        result_.copies = plan.copies;
        result_.profit = plan.profit;
        result_.limits = plan.limits;
        result_.nodes = plan.nodes;
        for (straggle::assign::limit_refusals const& b : plan.limits)
            result_.storm =
                result_.storm || (b.limit == straggle::assign::suspect_share_limit::name && b.refused > 0);
        for (straggle::assign::backup_choice const& choice : plan.choices)
            result_.suspects.push_back(advice_of(stragglers_[choice.straggler], choice));
        sort();
    }

    // A copy gains nothing while the job waits for another task, and whether that task gets a copy is decided
    // at the same time. So the first round assumes that all stragglers do; those that do not are waited for,
    // and it decides again, until nothing changes.
    template <class Assigner>
    straggle::assign::backup_plan const& settle(Assigner& assigner) {
        for (;;) {
            for (straggler& s : stragglers_) s.next_slowest = o_.gain == gain_of::job ? next_slowest(s) : 0.0;
            //! [choose]
            auto const predict = [this](straggler const& s, cluster_node const& n) {
                return model_.times(s.running(), n.id);
            };
            auto const& plan = assigner.choose(stragglers_, straggler_members, cluster_.nodes, node_members,
                                               predict, load());
            //! [choose]
            ++result_.rounds;
            bool changed = false;
            for (straggle::assign::backup_choice const& choice : plan.choices) {
                straggler const& s = stragglers_[choice.straggler];
                if (choice.copy || !s.state->helped[s.task]) continue;
                s.state->helped[s.task] = 0;
                changed = true;
            }
            constexpr std::size_t most = 20; // rounds; three are rare
            bool const settled = !changed || plan.copies == 0 || o_.gain == gain_of::task;
            if (settled || result_.rounds == most) return plan;
        }
    }

    advice advice_of(straggler const& s, straggle::assign::backup_choice const& choice) {
        running_task const& task = s.running();
        advice a{.job = s.state->job->job, .task = &task};
        a.elapsed = seconds(now_.now - task.best().start);
        a.usual = s.state->usual[s.task];
        a.why = s.why;
        if (s.left().times.size() > 0) a.left = range_of(s.left().times.view());
        a.from = s.left().from;
        a.next_slowest = s.next_slowest;
        a.launch = choice.copy.has_value();
        a.reason = choice.reason;
        a.refused_by = choice.refused_by;
        a.best = candidate_of(task, choice.copy ? choice.copy : choice.runner_up);
        if (choice.copy) a.runner_up = candidate_of(task, choice.runner_up);
        a.nodes = choice.nodes;
        return a;
    }
    std::optional<candidate> candidate_of(running_task const& task,
                                          std::optional<straggle::assign::backup_option> const& option) {
        if (!option) return std::nullopt;
        auto const times = model_.times(task, cluster_.nodes[option->node].id);
        return candidate{option->node, range_of(*times), option->value, option->refusal};
    }

    void sort() {
        auto const rank = [](advice const& a) {
            return std::pair(!a.launch, a.launch ? -a.best->value.profit : -(a.left ? a.left->median : 0));
        };
        std::vector<std::pair<decltype(rank(advice{})), std::size_t>> order;
        for (std::size_t i = 0; i < result_.suspects.size(); ++i)
            order.emplace_back(rank(result_.suspects[i]), i);
        std::ranges::sort(order);
        std::vector<advice> sorted;
        for (auto const& [by, i] : order) sorted.push_back(result_.suspects[i]);
        result_.suspects = std::move(sorted);
    }

    options const& o_;
    history const& past_;
    snapshot const& now_;
    cluster& cluster_;
    time_model& model_;
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> finished_; // rows of the history, by job
    std::vector<node_slowdown> slowdown_;
    std::vector<job_state> jobs_;
    std::vector<straggler> stragglers_;
    advised result_;
};

} // namespace

advised advise(options const& o, history const& past, snapshot const& now, cluster& c, time_model& model) {
    return adviser(o, past, now, c, model).run();
}

} // namespace straggle_backup
