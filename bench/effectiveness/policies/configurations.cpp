// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The rules of other systems as configurations of the mitigator: its stages, with the library's own parts
/// for each rule. Their independent implementations are in files of their own, and a check compares the
/// decisions.
#include "../cluster/draw.hpp"
#include "configuration.hpp"
#include "library_policy.hpp"
#include "make_policy.hpp"

#include <straggle/assign/assigner.hpp>
#include <straggle/assign/copy_limits.hpp>
#include <straggle/blacklist/node_verdict.hpp>
#include <straggle/detect/cap.hpp>
#include <straggle/detect/flink.hpp>
#include <straggle/detect/job_progress.hpp>
#include <straggle/detect/largest_gain.hpp>
#include <straggle/detect/late_with_caps.hpp>
#include <straggle/detect/over_median.hpp>
#include <straggle/detect/straggler_scan.hpp>
#include <straggle/detect/without_copies.hpp>
#include <straggle/mitigate/stages.hpp>
#include <straggle/stats/order.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace lab {

namespace {

namespace assign = straggle::assign;
namespace blacklist = straggle::blacklist;
namespace detect = straggle::detect;
namespace mitigate = straggle::mitigate;

// What a scheduler's rule can look up besides what its slot passes.
struct lookup {
    cluster_view const* view = nullptr;
    // By job, for a master that looks again a second after a look, and 15 seconds after a copy.
    std::map<std::uint32_t, double> next_look{};
    std::map<std::uint32_t, bool> looks_at{};

    running_attempt const& of(detect::running_task const& t) const { return view->running[t.row]; }
    void begin(cluster_view const& now) {
        view = &now;
        looks_at.clear();
        for (job_view const& j : now.jobs) {
            double& next = next_look[j.job];
            if (now.now < next) continue;
            looks_at[j.job] = true;
            next = now.now + 1;
        }
    }
    void end(decisions const& out) {
        for (copy_request const& c : out.copies) next_look[c.job] = view->now + 15;
    }
};

// The rules of a scheduler in a mitigator, which is passed all data.
template <class Stages>
class configured final : public configuration {
  public:
    configured(parts use, std::shared_ptr<lookup> now, Stages own)
        : now_(std::move(now)), loop_(use, options(), std::move(own)) {
        decisions none;
        decide({}, none); // times count from 0, exactly
    }
    bool is_held_back() const override { return loop_.is_held_back(); }

    void on_task_end(attempt_record const& a, double now) override { loop_.on_task_end(a, now); }
    void on_job_end(std::uint32_t job, double now) override {
        now_->next_look.erase(job);
        loop_.on_job_end(job, now);
    }
    void decide(cluster_view const& view, decisions& out) override {
        now_->begin(view);
        loop_.decide(view, out);
        now_->end(out);
    }

  private:
    // No other system stops because too much is late, or spares a task that had copies.
    static straggle::mitigator_options options() {
        straggle::mitigator_options o;
        o.copies.storm = 1;
        o.copies.copies_per_task = ~std::uint32_t{0};
        return o;
    }

    std::shared_ptr<lookup> now_;
    library<Stages> loop_;
};

template <class Stages>
std::unique_ptr<policy> configure(parts use, std::shared_ptr<lookup> now, Stages own) {
    return std::make_unique<configured<Stages>>(use, std::move(now), std::move(own));
}

// ---- Parts that several rules share ----

// Nodes: none is avoided.
struct all_healthy {
    bool observe(straggle::ended_attempt const&, double) { return true; }
    void decide(double, std::span<straggle::running_attempt const>, std::span<blacklist::node_row const>,
                straggle::cluster_load const&, bool) {}
    std::span<blacklist::node_verdict const> verdicts() const { return {}; }
};

// Detector: waiting tasks of a job go before its copies.
template <class Base>
struct when_all_run {
    static constexpr std::string_view name = Base::name;
    Base base{};

    detect::detection_note detect(detect::job_view const& job, detect::detector_scratch& scratch,
                                  std::vector<detect::finding>& out) {
        if (job.finished.size() + job.running.size() < job.tasks) return detect::detection_note::too_early;
        return base.detect(job, scratch, out);
    }
};
template <class Base>
when_all_run(Base) -> when_all_run<Base>;

// Profit: whatever the rule names is copied.
struct always {
    static constexpr std::string_view name = "always";
    straggle::outcome<assign::backup_value> value(assign::backup_case const&) const {
        return assign::backup_value{.profit = 1, .gain = 1, .cost = 0, .win_probability = 1};
    }
    bool accepts(assign::backup_value const&) const { return true; }
};

// Matching: each task in turn takes any node with a free slot, all equally likely. Draws as `free_slots`
// does, so that the same seed gives the same nodes: also for a task that none of them can take, but not at
// the cap.
struct any_free {
    static constexpr std::string_view name = "any_free";
    draw random;
    std::shared_ptr<lookup> now;
    double cap = 1; // copies as a share of the slots

    template <class Admit>
    void operator()(assign::assignable_pairs const& pairs, std::span<std::uint32_t const> room,
                    std::vector<assign::assigned_pair>& out, Admit&& admit) {
        out.clear();
        double copies = 0, most = 1e-9;
        for (node_view const& n : now->view->nodes) {
            copies += n.copies;
            most += n.away ? 0 : cap * n.slots;
        }
        std::vector<std::uint32_t> left(room.begin(), room.end()), free;
        for (std::uint32_t n = 0; n < left.size(); ++n)
            if (left[n] > 0) free.push_back(n);
        for (std::uint32_t row = 0; row < pairs.rows() && !free.empty(); ++row) {
            auto const fits = pairs.column.subspan(pairs.first[row], pairs.first[row + 1] - pairs.first[row]);
            auto const pair_of = [&](std::uint32_t n) {
                return std::lower_bound(fits.begin(), fits.end(), n);
            };
            auto const is_pair = [&](std::uint32_t n) {
                return pair_of(n) != fits.end() && *pair_of(n) == n;
            };
            if (copies + 1 > most) return;
            if (std::any_of(free.begin(), free.end(), is_pair) && !admit(row)) return;
            std::rotate(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(random.below(free.size())),
                        free.end());
            auto const taken = std::find_if(free.begin(), free.end(), is_pair);
            if (taken != free.end()) {
                out.push_back(
                    {row, pairs.first[row] + static_cast<std::uint32_t>(pair_of(*taken) - fits.begin())});
                copies += 1;
                if (--left[*taken] == 0) free.erase(taken);
            }
            std::sort(free.begin(), free.end());
        }
    }
};
static_assert(assign::matching<any_free>);

// ---- LATE ----

// Predictor: jobs in order of arrival, in each the task that will end last first.
struct latest_end_first {
    std::shared_ptr<lookup> now;

    straggle::outcome<double> remaining(detect::running_task const& t, detect::job_view const&) const {
        double const left = (1 - t.progress) / std::max(t.progress / t.elapsed, 1e-9);
        auto const& jobs = now->view->jobs;
        auto const job = std::upper_bound(jobs.begin(), jobs.end(), t.row,
                                          [](std::uint32_t row, job_view const& j) { return row < j.first; });
        return static_cast<double>(jobs.end() - job) + left / (1 + left);
    }
    straggle::outcome<double> replacement(detect::running_task const&, detect::job_view const&) const {
        return 1.0;
    }
};

// Nodes: those whose tasks, finished and running, have made the least progress in total get no copies. A
// weighing sees no progress: this one looks it up.
class least_progress {
  public:
    least_progress(std::shared_ptr<lookup> now, std::size_t nodes) : now_(std::move(now)), done_(nodes) {}

    bool observe(straggle::ended_attempt const& a, double) {
        if (a.as == straggle::attempt_status::success && a.node < done_.size()) done_[a.node] += 1;
        return true;
    }
    void decide(double, std::span<straggle::running_attempt const>, std::span<blacklist::node_row const> rows,
                straggle::cluster_load const&, bool) {
        std::vector<double> progress(rows.size());
        for (std::size_t n = 0; n < rows.size(); ++n) progress[n] = done_[rows[n].node];
        for (running_attempt const& a : now_->view->running) progress[a.node] += a.progress.value_or(0);
        std::vector<double> sorted = progress;
        double const slow = straggle::stats::quantile_in_place(sorted, 0.25).value_or(0);
        verdicts_.clear();
        for (std::size_t n = 0; n < rows.size(); ++n)
            if (progress[n] < slow)
                verdicts_.push_back({.node = rows[n].node, .state = straggle::node_state::last_resort});
    }
    std::span<blacklist::node_verdict const> verdicts() const { return verdicts_; }

  private:
    std::shared_ptr<lookup> now_;
    std::vector<double> done_; // tasks, by index of the node
    std::vector<blacklist::node_verdict> verdicts_;
};

std::unique_ptr<policy> make_late(setup const& where) {
    auto const now = std::make_shared<lookup>();
    return configure(
        {.excludes = false, .places = false}, now,
        mitigate::stages{
            .nodes = least_progress{now, where.nodes},
            .tasks = detect::straggler_scan{when_all_run{detect::late_with_caps{.cap_of_running = 1,
                                                                                .cap_of_slots = 1}},
                                            latest_end_first{now}},
            .copies = assign::assigner{always{}, any_free{draw(where.seed, 102), now, 0.1},
                                       assign::copies_per_task{}, assign::speculative_cap{0.1}}});
}

add_policy const late({"late_configured", "LATE, as a configuration of the mitigator", false, make_late,
                       true});

// ---- Spark ----

// Predictor: in the order of the scheduler's records, job by job.
struct in_their_order {
    straggle::outcome<double> remaining(detect::running_task const& t, detect::job_view const&) const {
        return 1e9 - t.row;
    }
    straggle::outcome<double> replacement(detect::running_task const&, detect::job_view const&) const {
        return 1.0;
    }
};

// Detector: spares nothing that works fast where inputs are not known, as Spark without counts of records. A
// `job_view` does not tell: its inputs are 1 then.
struct over_median {
    static constexpr std::string_view name = "over_median";
    std::shared_ptr<lookup> now;
    detect::over_median rule{};

    detect::detection_note detect(detect::job_view const& job, detect::detector_scratch& scratch,
                                  std::vector<detect::finding>& out) const {
        detect::over_median here = rule;
        here.efficiency = rule.efficiency && now->of(job.running.front()).input > 0;
        return here.detect(job, scratch, out);
    }
};

std::unique_ptr<policy> make_spark(setup const& where, detect::over_median rule) {
    auto const now = std::make_shared<lookup>();
    return configure(
        {.excludes = false, .places = false}, now,
        mitigate::stages{
            .nodes = all_healthy{},
            .tasks = detect::straggler_scan{when_all_run{detect::without_copies{over_median{now, rule}}},
                                            in_their_order{}},
            .copies =
                assign::assigner{always{}, any_free{draw(where.seed, 101), now}, assign::copies_per_task{}}});
}
std::unique_ptr<policy> make_spark_3(setup const& where) {
    return make_spark(where, {});
}
std::unique_ptr<policy> make_spark_4(setup const& where) {
    return make_spark(where, detect::over_median::spark_4());
}

add_policy const spark_3({"spark_configured", "Spark 3, as a configuration of the mitigator", false,
                          make_spark_3, true});
add_policy const spark_4({"spark4_configured", "Spark 4, as a configuration of the mitigator", false,
                          make_spark_4, true});

// ---- Hadoop ----

// Remaining time: as of the last report, at the mean rate until then.
struct as_reported {
    std::shared_ptr<lookup> now;
    straggle::outcome<double> operator()(detect::running_task const& t, detect::job_view const&) const {
        running_attempt const& a = now->of(t);
        if (!a.progress || !(a.reported > a.start)) return straggle::status::insufficient_evidence;
        return a.start + (a.reported - a.start) / std::max(*a.progress, 1e-4) - now->view->now;
    }
};

// Detector: looks at a job a second after the last look, and 15 seconds after a copy of one of its tasks.
template <class Base>
struct now_and_then {
    static constexpr std::string_view name = Base::name;
    std::shared_ptr<lookup> now;
    Base base{};

    detect::detection_note detect(detect::job_view const& job, detect::detector_scratch& scratch,
                                  std::vector<detect::finding>& out) {
        if (!now->looks_at[now->of(job.running.front()).job]) return detect::detection_note::too_early;
        return base.detect(job, scratch, out);
    }
};
template <class Base>
now_and_then(std::shared_ptr<lookup>, Base) -> now_and_then<Base>;

std::unique_ptr<policy> make_hadoop(setup const& where) {
    auto const now = std::make_shared<lookup>();
    return configure(
        {.excludes = false, .places = false}, now,
        mitigate::stages{
            .nodes = all_healthy{},
            .tasks = detect::straggler_scan{now_and_then{now, when_all_run{detect::cap{
                                                                  detect::largest_gain{as_reported{now}}}}},
                                            in_their_order{}},
            .copies =
                assign::assigner{always{}, any_free{draw(where.seed, 103), now}, assign::copies_per_task{}}});
}

add_policy const hadoop({"hadoop_configured", "Hadoop MRv2, as a configuration of the mitigator", false,
                         make_hadoop, true});

// ---- Flink ----

// Nodes: those of slow attempts are blocked for a minute. The nodes are weighed before the tasks, so this
// stage detects for itself.
class blocks_slow {
  public:
    blocks_slow(std::shared_ptr<lookup> now, std::size_t nodes) : now_(std::move(now)), until_(nodes) {}

    bool observe(straggle::ended_attempt const& a, double) {
        if (a.as != straggle::attempt_status::success) return true;
        return jobs_[a.job].observe(a.node, a.end - a.start, a.input);
    }
    void finish_job(std::uint64_t job) { jobs_.erase(job); }
    void decide(double time, std::span<straggle::running_attempt const> running,
                std::span<blacklist::node_row const> rows, straggle::cluster_load const&, bool) {
        for (job_view const& j : now_->view->jobs) {
            if (j.count == 0) continue;
            auto& job = jobs_[running[j.first].job];
            job.set_tasks(j.tasks);
            // The rule judges attempts: a view has one of each task at a time.
            auto const all = running.subspan(j.first, j.count);
            for (std::size_t nth = 0;; ++nth) {
                attempts_.clear();
                for (std::size_t a = nth; a < all.size(); ++a)
                    if (all[a - nth].task == all[a].task &&
                        (a == nth || all[a - nth - 1].task != all[a].task))
                        attempts_.push_back(all[a]);
                if (attempts_.empty()) break;
                job.running(attempts_, fields, time);
                for (auto const& s : scan_(job.view(), attempts_)) until_[s.row->node] = time + 60;
            }
        }
        verdicts_.clear();
        for (blacklist::node_row const& n : rows)
            if (until_[n.node] > time)
                verdicts_.push_back({.node = n.node,
                                     .state = straggle::node_state::excluded,
                                     .causes = static_cast<std::uint8_t>(blacklist::cause::slow),
                                     .until = until_[n.node]});
    }
    std::span<blacklist::node_verdict const> verdicts() const { return verdicts_; }

  private:
    static constexpr straggle::running_fields fields{.node = &straggle::running_attempt::node,
                                                     .start = &straggle::running_attempt::start,
                                                     .input = &straggle::running_attempt::input};

    std::shared_ptr<lookup> now_;
    std::map<std::uint64_t, detect::job_progress<std::uint32_t, double>> jobs_;
    std::vector<double> until_; // by node
    detect::straggler_scan<detect::flink> scan_;
    std::vector<straggle::running_attempt> attempts_;
    std::vector<blacklist::node_verdict> verdicts_;
};

std::unique_ptr<policy> make_flink(setup const& where) {
    auto const now = std::make_shared<lookup>();
    return configure(
        {.places = false}, now,
        mitigate::stages{
            .nodes = blocks_slow{now, where.nodes},
            .tasks = detect::straggler_scan{detect::without_copies{detect::flink{}}, in_their_order{}},
            .copies =
                assign::assigner{always{}, any_free{draw(where.seed, 104), now}, assign::copies_per_task{}}});
}

add_policy const flink({"flink_configured", "Flink, as a configuration of the mitigator", false, make_flink,
                        true});

} // namespace

} // namespace lab
