// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `blacklist/node_stage.hpp`: finds nodes that fail their tasks.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/row_sort.hpp>
#include <straggle/base/size.hpp>
#include <straggle/blacklist/node_verdict.hpp>
#include <straggle/record/attempt_event.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// The failures of a node.
struct node_failures {
    double failed = 0, succeeded = 0; // since the evidence started
    double proven = 0;                // of the failed: tasks that later succeeded elsewhere
    std::uint32_t consecutive = 0;
    double failing_since = 0;                            // start of the first failure of the current run
    double longest = 0;                                  // the longest of them
    std::uint64_t attempts = 0, failures = 0, tasks = 0; // all-time counts
    std::uint32_t trial = 0;                             // number of trials so far
    bool is_suspect = false;                             // recently, it only failed

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.failed, self.succeeded, self.proven, self.consecutive, self.failing_since, self.longest);
        a(self.attempts, self.failures, self.tasks, self.trial, self.is_suspect);
        a.expect(self.failures <= self.attempts && self.tasks <= self.failures &&
                 self.consecutive <= self.failures && self.attempts < std::uint64_t{1} << 48);
        a.expect(are_finite(self.failing_since, self.longest) && self.longest >= 0);
        for (double const x : {self.failed, self.succeeded, self.proven}) a.expect(x >= 0 && x < 1e15);
    }
};
struct failed_on {
    std::uint32_t node = 0, trial = 0;

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.node, self.trial);
    }
};
// A failed task, and where it failed.
struct failed_task {
    std::uint64_t key = 0, job = 0;
    std::array<failed_on, 4> at{}; // later nodes are not remembered
    std::uint8_t nodes = 0;        // how many entries are used; 0: empty slot
    bool withdrawn = false;

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.nodes);
        if (!a.expect(self.nodes <= self.at.size()) || self.nodes == 0) return;
        a(self.key, self.job, self.withdrawn);
        for (std::size_t k = 0; k < self.nodes; ++k) a(self.at[k]);
    }
};

// Successes of a job: in total, and on the first nodes that had one.
struct ended_job {
    struct on_node {
        std::uint32_t node = 0, ended = 0;
    };
    std::uint64_t key = 0, seen = 0; // last seen, counted in attempts; 0: empty slot
    std::uint32_t ended = 0;
    std::array<on_node, 4> at{};

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.seen);
        if (self.seen == 0) return;
        a(self.key, self.ended);
        for (auto& on : self.at) {
            a(on.node, on.ended);
            a.expect(on.ended <= self.ended);
        }
    }
};

// Failure rate of a node that fails half, or nearly all, of its tasks, while others fail at the `usual` rate.
[[nodiscard]] constexpr double failing_rate(std::size_t which, double usual) noexcept {
    return (std::max)(which == 0 ? 0.5 : 0.95, (1 + usual) / 2);
}

// Counts failures by distinct tasks. A task that failed on two nodes is a bad task: its failures are
// withdrawn. If it succeeds after all, the nodes were at fault, and it counts for each of them.
//
// A node that recently only failed is a suspect. As long as suspects are few, their failures do not enter the
// usual rate, and a task that failed on a suspect is not suspected itself: otherwise several such nodes would
// excuse one another.
class failure_watch {
  public:
    // The evidence is the likelihood ratio of failing half, or nearly all, of one's tasks against failing
    // twice as often as others, at least 1 in 20; it restarts when it would fall below 1.
    void observe(ended_attempt const& a) {
        if (record::was_stopped(a.as)) return;
        if (a.node >= nodes_.size()) nodes_.resize(std::size_t{a.node} + 1);
        if (ended_.empty()) ended_.resize(max_jobs);
        node_failures& n = nodes_[a.node];
        ++n.attempts;
        ++all_attempts_;
        if (n.consecutive == 0) learn_rate(a.as == attempt_status::failed);
        if (a.as == attempt_status::success) {
            n.succeeded += 1;
            // Attempts that began before the failures say nothing about the node now.
            if (n.consecutive == 0 || !(a.start < n.failing_since)) {
                n.consecutive = 0;
                suspect(n, false);
            }
            all_succeeded_ += 1;
            count_ended(a.job, a.node);
            resolve(a);
        } else {
            if (n.consecutive == 0) {
                n.failing_since = a.start;
                n.longest = 0;
            }
            n.longest = (std::max)(n.longest, a.end - a.start);
            ++n.consecutive;
            ++n.failures;
            ++all_failures_;
            bool const is_charged = this->is_charged(a);
            n.tasks += is_charged || !is_known_ ? 1u : 0u;
            if (is_charged) {
                n.failed += 1;
                (n.is_suspect ? apart_ : all_failed_) += 1;
            }
            if (!n.is_suspect && is_unlikely(n.consecutive)) {
                suspect(n, true);
                reconsider();
            }
        }
        if (n.failed > 0 && !(evidence(a.node) > 0)) {
            if (n.is_suspect) apart_ = (std::max)(0.0, apart_ - n.failed);
            n.failed = n.succeeded = n.proven = 0;
            ++n.trial;
        }
        if (n.failed == 0) n.succeeded = 0;
        if (all_failed_ + bad_ + all_succeeded_ > 4096) {
            all_failed_ /= 2;
            bad_ /= 2;
            all_succeeded_ /= 2;
        }
    }
    // Sets how many nodes exist, including those where nothing has ended.
    void know(std::size_t nodes) noexcept { known_ = nodes; }
    // More than the number of any node here, or known to the caller.
    [[nodiscard]] std::size_t node_bound() const noexcept { return (std::max)(known_, nodes_.size()); }
    [[nodiscard]] double evidence(std::uint32_t node) const noexcept {
        if (node >= nodes_.size() || !(nodes_[node].failed > 0)) return 0;
        node_failures const& n = nodes_[node];
        double const usual = usual_rate(n);
        double best = -1e300, sum = 0;
        std::array<double, 2> logs{};
        for (std::size_t k = 0; k < logs.size(); ++k) {
            double const rate = failing_rate(k, usual);
            logs[k] = n.failed * std::log(rate / usual) + n.succeeded * std::log((1 - rate) / (1 - usual));
            best = (std::max)(best, logs[k]);
        }
        for (double const l : logs) sum += std::exp(l - best);
        return best + std::log(sum / static_cast<double>(logs.size()));
    }
    // Whether a node has long done nothing but fail, even if the same few tasks keep coming back because it
    // is free again at once. Repeated failures of a task are no evidence by themselves, but such a node does
    // no work that would be lost, and elsewhere the tasks show whether they or the node is at fault. So use
    // this only where decisions can be revised. One task is never enough.
    [[nodiscard]] bool does_nothing_else(std::uint32_t node) const noexcept {
        if (node >= nodes_.size() || !nodes_[node].is_suspect) return false;
        std::size_t const nodes = node_bound();
        return nodes_[node].consecutive >= long_run && nodes_[node].failed >= 2 &&
               (are_few_suspects() || (suspects_ == 1 && nodes >= 2));
    }
    // The evidence against a node on trial that fails a few tasks again and again.
    [[nodiscard]] double evidence_of_run(std::uint32_t node) const noexcept {
        if (consecutive(node) < long_run) return 0;
        return nodes_[node].failed * std::log(0.95 / rare_rate(0));
    }
    // Share of attempts that fail on the node, and elsewhere.
    [[nodiscard]] double rate(std::uint32_t node) const noexcept {
        if (node >= nodes_.size()) return 0;
        node_failures const& n = nodes_[node];
        return n.failed > 0 ? n.failed / (n.failed + n.succeeded) : 0.0;
    }
    [[nodiscard]] double usual_rate() const noexcept { return usual_rate(node_failures{}); }
    // The rate of the other nodes, bad tasks included: the next bad task has to fail somewhere first, too.
    [[nodiscard]] double usual_rate_but(std::uint32_t node) const noexcept {
        return usual_rate(nodes_[node], bad_);
    }
    // The same without the safety margin, with `more` further attempts that have not failed.
    [[nodiscard]] double rare_rate(double more) const noexcept {
        double const failed = all_failed_ + bad_;
        return (failed + 0.2) / (failed + all_succeeded_ + more + 10);
    }
    // Remembered successes of a job; and those on other nodes.
    [[nodiscard]] std::uint32_t ended_well(std::uint64_t job) const noexcept {
        ended_job const* const j = find_job(job);
        return j == nullptr ? 0 : j->ended;
    }
    [[nodiscard]] std::uint32_t ended_elsewhere(std::uint64_t job, std::uint32_t node) const noexcept {
        ended_job const* const j = find_job(job);
        if (j == nullptr) return 0;
        for (ended_job::on_node const& on : j->at)
            if (on.node == node && on.ended != 0) return j->ended - on.ended;
        return j->ended;
    }
    // Successes on other nodes.
    [[nodiscard]] double succeeded_but(std::uint32_t node) const noexcept {
        node_failures const& n = nodes_[node];
        return static_cast<double>(all_attempts_ - all_failures_ - (n.attempts - n.failures));
    }
    // Whether a task that has not succeeded since has failed on a node. O(1)
    [[nodiscard]] bool has_failed(std::uint64_t job, std::uint64_t task, std::uint32_t node) const noexcept {
        failed_task const* const t = find(job, task);
        return t != nullptr && std::any_of(t->at.begin(), t->at.begin() + t->nodes,
                                           [node](failed_on const& f) { return f.node == node; });
    }
    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    [[nodiscard]] node_failures const& operator[](std::uint32_t node) const noexcept { return nodes_[node]; }
    [[nodiscard]] std::span<failed_task const> tasks() const noexcept { return tasks_; }
    // Whether the node's failures are kept out of the usual rate.
    [[nodiscard]] bool is_apart(std::uint32_t node) const noexcept {
        return node < nodes_.size() && nodes_[node].is_suspect && are_few_suspects();
    }
    // Whether the node has had no trial since.
    [[nodiscard]] bool is_current(failed_on const& f) const noexcept {
        return nodes_[f.node].trial == f.trial;
    }
    [[nodiscard]] std::uint32_t consecutive(std::uint32_t node) const noexcept {
        return node < nodes_.size() ? nodes_[node].consecutive : 0;
    }
    [[nodiscard]] double distinct(std::uint32_t node) const noexcept {
        return node < nodes_.size() ? nodes_[node].failed : 0;
    }
    // A trial begins: earlier evidence no longer counts.
    void restart(std::uint32_t node) noexcept {
        if (node >= nodes_.size()) return;
        node_failures& n = nodes_[node];
        suspect(n, false);
        n.failed = n.succeeded = n.proven = 0;
        n.consecutive = 0;
        ++n.trial;
    }
    void forget(std::uint32_t node) noexcept {
        if (node >= nodes_.size()) return;
        suspect(nodes_[node], false);
        all_attempts_ -= nodes_[node].attempts;
        all_failures_ -= nodes_[node].failures;
        nodes_[node] = {.trial = nodes_[node].trial + 1};
    }
    // Jobs with more failed tasks than successes, most failures first.
    void failing_jobs(std::vector<blacklist::failing_job>& out) const {
        out.clear();
        std::vector<failed_task> tasks;
        for (failed_task const& t : tasks_)
            if (t.nodes != 0) tasks.push_back(t);
        sort_rows(tasks, [](failed_task const& a, failed_task const& b) {
            return a.job != b.job ? a.job < b.job : a.key < b.key;
        });
        std::vector<std::uint32_t> nodes;
        for (auto t = tasks.begin(); t != tasks.end();) {
            blacklist::failing_job job{.job = t->job};
            nodes.clear();
            for (; t != tasks.end() && t->job == job.job; ++t, ++job.failed)
                for (std::size_t k = 0; k < t->nodes; ++k) nodes.push_back(t->at[k].node);
            job.ended_well = ended_well(job.job);
            std::sort(nodes.begin(), nodes.end());
            job.nodes = static_cast<std::size_t>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
            if (job.failed > job.ended_well) out.push_back(job);
        }
        sort_rows(out, [](auto const& a, auto const& b) {
            return a.failed != b.failed ? a.failed > b.failed : a.job < b.job;
        });
    }
    // All-time counts, for reports.
    [[nodiscard]] blacklist::failure_rate totals(std::uint32_t node) const noexcept {
        if (node >= nodes_.size()) return {};
        node_failures const& n = nodes_[node];
        blacklist::failure_rate r{
            .attempts = n.attempts, .failed = n.failures, .tasks = n.tasks, .consecutive = n.consecutive};
        r.others = all_attempts_ - n.attempts;
        if (r.others != 0)
            r.elsewhere = static_cast<double>(all_failures_ - n.failures) / static_cast<double>(r.others);
        if (n.attempts == 0) return r;
        constexpr double z = 1.959963984540054, zz = z * z;
        auto const all = static_cast<double>(n.attempts);
        r.value = static_cast<double>(n.failures) / all;
        double const middle = (r.value + zz / (2 * all)) / (1 + zz / all);
        double const half =
            z / (1 + zz / all) * std::sqrt(r.value * (1 - r.value) / all + zz / (4 * all * all));
        r.low = (std::max)(0.0, middle - half);
        r.high = (std::min)(1.0, middle + half);
        return r;
    }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.all_failed_, self.all_succeeded_, self.bad_, self.lately_failed_, self.lately_);
        a.varint(self.known_);
        a.expect(self.all_failed_ >= 0 && self.all_succeeded_ >= 0 && self.bad_ >= 0 &&
                 self.all_failed_ + self.all_succeeded_ + self.bad_ < 1e5);
        a.expect(self.lately_failed_ >= 0 && self.lately_ >= self.lately_failed_ && self.lately_ < 1e5);
        a.items(self.nodes_, 5 * 8 + 3 * 8 + 2 * 4 + 1);
        a.items(self.ended_, 8);
        a.items(self.tasks_, 1);
        a.expect((self.ended_.empty() || self.ended_.size() == max_jobs) &&
                 (self.tasks_.empty() || self.tasks_.size() == max_tasks));
        if constexpr (Archive::reads)
            if (a.ok()) self.add_up(a);
    }

  private:
    static constexpr std::size_t max_tasks = 4096, max_jobs = 1024;
    static constexpr std::uint32_t long_run = 5; // failures: one more than engines try a task

    // What follows from the fields that were read.
    template <class Archive>
    void add_up(Archive& a) noexcept {
        for (node_failures const& n : nodes_) {
            all_attempts_ += n.attempts;
            all_failures_ += n.failures;
            if (!n.is_suspect) continue;
            ++suspects_;
            apart_ += n.failed;
        }
        for (failed_task const& t : tasks_)
            for (std::size_t k = 0; k < t.nodes; ++k) a.expect(t.at[k].node < nodes_.size());
    }

    [[nodiscard]] double usual_rate(node_failures const& apart, double bad = 0) const noexcept {
        double failed = all_failed_ - (apart.is_suspect ? 0.0 : apart.failed);
        if (!are_few_suspects()) failed += apart_ - (apart.is_suspect ? apart.failed : 0.0);
        failed = (std::max)(0.0, failed) + bad;
        double const all = failed + (std::max)(0.0, all_succeeded_ - apart.succeeded);
        return std::clamp(2 * (failed + 0.2) / (all + 10), 0.05, 0.9);
    }
    // If more than a quarter of the nodes only fail, the work is at fault.
    [[nodiscard]] bool are_few_suspects() const noexcept { return 4 * suspects_ <= node_bound(); }
    // Rate of failures right after a success, anywhere: a node that only fails adds one failure.
    void learn_rate(bool failed) noexcept {
        lately_failed_ += failed ? 1 : 0;
        lately_ += 1;
        if (lately_ <= 4096) return;
        lately_failed_ /= 2;
        lately_ /= 2;
    }
    // Whether that many failures in a row are unlikely at that rate.
    [[nodiscard]] bool is_unlikely(std::uint32_t failures) const noexcept {
        double const rate = (lately_failed_ + 0.2) / (lately_ + 20);
        return failures >= 2 && failures * std::log(rate) < -5.3;
    }
    void suspect(node_failures& n, bool is_suspect) noexcept {
        if (n.is_suspect == is_suspect) return;
        n.is_suspect = is_suspect;
        double const moved = is_suspect ? n.failed : -n.failed;
        suspects_ = is_suspect ? suspects_ + 1 : suspects_ - 1;
        apart_ = (std::max)(0.0, apart_ + moved);
        all_failed_ = (std::max)(0.0, all_failed_ - moved);
    }
    static std::uint64_t key_of(std::uint64_t job, std::uint64_t task) noexcept {
        return spread(spread(job) ^ task);
    }
    // Two slots per key; the older failure is replaced.
    static std::array<std::size_t, 2> places(std::uint64_t key) noexcept {
        return {detail::to_size(key % max_tasks), detail::to_size((key >> 32) % max_tasks)};
    }
    [[nodiscard]] failed_task const* find(std::uint64_t job, std::uint64_t task) const noexcept {
        if (task == no_task || tasks_.empty()) return nullptr;
        std::uint64_t const key = key_of(job, task);
        for (std::size_t const at : places(key))
            if (tasks_[at].nodes != 0 && tasks_[at].key == key) return &tasks_[at];
        return nullptr;
    }
    [[nodiscard]] failed_task* find(std::uint64_t job, std::uint64_t task) noexcept {
        return const_cast<failed_task*>(std::as_const(*this).find(job, task)); // NOLINT: what is ours
    }
    // Whether a failure counts against its node.
    bool is_charged(ended_attempt const& a) {
        is_known_ = false;
        if (tasks_.empty()) tasks_.resize(max_tasks);
        failed_on const here{a.node, nodes_[a.node].trial};
        failed_task* const t = find(a.job, a.task);
        if (t == nullptr) {
            // Attempts without a task id are remembered by job.
            std::uint64_t const key =
                a.task == no_task ? spread(spread(a.job) + all_failures_) : key_of(a.job, a.task);
            auto const [first, second] = places(key);
            tasks_[tasks_[first].nodes != 0 && tasks_[second].nodes == 0 ? second : first] = {
                key, a.job, {here}, 1, false};
            return true;
        }
        for (std::size_t k = 0; k < t->nodes; ++k)
            if (t->at[k].node == a.node) { // the same task again
                is_known_ = true;
                return false;
            }
        bool const tells = !are_few_suspects() ||
                           std::any_of(t->at.begin(), t->at.begin() + t->nodes,
                                       [this](failed_on const& f) { return !nodes_[f.node].is_suspect; });
        if (tells && !t->withdrawn)
            for (std::size_t k = 0; k < t->nodes; ++k)
                if (charge(t->at[k], -1)) {
                    double& sum = nodes_[t->at[k].node].is_suspect ? apart_ : all_failed_;
                    sum = (std::max)(0.0, sum - 1);
                }
        if (tells && !t->withdrawn) {
            t->withdrawn = true;
            bad_ += 1;
        }
        bool const is_remembered = t->nodes < t->at.size();
        if (is_remembered) t->at[t->nodes++] = here;
        return !t->withdrawn && is_remembered;
    }
    [[nodiscard]] ended_job const* find_job(std::uint64_t key) const noexcept {
        if (ended_.empty()) return nullptr;
        for (std::size_t const at : places(spread(key)))
            if (ended_[at % max_jobs].seen != 0 && ended_[at % max_jobs].key == key)
                return &ended_[at % max_jobs];
        return nullptr;
    }
    void count_ended(std::uint64_t key, std::uint32_t node) {
        auto const [i, k] = places(spread(key));
        ended_job &first = ended_[i % max_jobs], &second = ended_[k % max_jobs];
        bool const is_second = second.key == key || (first.key != key && second.seen < first.seen);
        ended_job& job = is_second ? second : first;
        if (job.key != key) job = {.key = key};
        job.seen = all_attempts_;
        if (job.ended != ~std::uint32_t{0}) ++job.ended;
        for (ended_job::on_node& on : job.at) {
            if (on.ended != 0 && on.node != node) continue;
            on.node = node;
            if (on.ended != ~std::uint32_t{0}) ++on.ended;
            break;
        }
    }
    // A new suspect: a task that failed on suspects only may not be a bad task.
    void reconsider() noexcept {
        if (!are_few_suspects()) return;
        for (failed_task& t : tasks_) {
            auto const end = t.at.begin() + t.nodes;
            if (!t.withdrawn || std::any_of(t.at.begin(), end, [this](failed_on const& f) {
                    return !nodes_[f.node].is_suspect;
                }))
                continue;
            for (std::size_t k = 0; k < t.nodes; ++k) (void)charge(t.at[k], 1);
            t.withdrawn = false;
            bad_ = (std::max)(0.0, bad_ - 1);
        }
    }
    // A task succeeded, so it is not a bad one. Its failures do not enter the usual rate, or nodes that fail
    // the same tasks would excuse one another.
    void resolve(ended_attempt const& a) noexcept {
        failed_task* const t = find(a.job, a.task);
        if (t == nullptr) return;
        if (t->withdrawn) {
            for (std::size_t k = 0; k < t->nodes; ++k) (void)charge(t->at[k], 1);
            bad_ = (std::max)(0.0, bad_ - 1);
        }
        for (std::size_t k = 0; k < t->nodes; ++k)
            if (is_current(t->at[k])) nodes_[t->at[k].node].proven += 1;
        *t = {};
    }
    bool charge(failed_on const& f, double times) noexcept {
        node_failures& n = nodes_[f.node];
        if (n.trial != f.trial) return false;
        n.failed = (std::max)(0.0, n.failed + times);
        if (times > 0 && n.is_suspect) apart_ += times;
        return true;
    }

    std::vector<node_failures> nodes_;
    std::vector<failed_task> tasks_;
    std::vector<ended_job> ended_;              // by key: two slots each, as for tasks
    double all_failed_ = 0, all_succeeded_ = 0; // for the usual rate
    double bad_ = 0;                            // tasks that failed on two nodes and have not succeeded
    double apart_ = 0;                          // failures of suspects
    double lately_failed_ = 0, lately_ = 0;     // attempts right after a success
    std::size_t suspects_ = 0, known_ = 0;
    std::uint64_t all_attempts_ = 0, all_failures_ = 0; // all-time
    bool is_known_ = false; // the last failure repeats one of the same task on the same node
};

// Compares failures of nodes within jobs, as times are compared. A failure counts against its node only as
// far as attempts elsewhere clear the job: siblings that succeeded there, or have run there for longer than
// the failures took. If nothing is known about a job elsewhere, all its failures count as one, since a bad
// job fails all its tasks; but no node gets bad jobs only, so several such jobs add up.
class failure_audit {
  public:
    // Computes the evidence against the nodes for which `seems` is true, using all running attempts.
    template <class Seems>
    void look(double now, std::span<running_attempt const> running, failure_watch const& watch,
              Seems&& seems) {
        nodes_.clear();
        for (std::uint32_t n = 0; n < watch.size(); ++n)
            if (seems(n))
                nodes_.push_back({.node = n, .since = watch[n].failing_since, .took = watch[n].longest});
        if (nodes_.empty()) return;
        read_tasks(watch);
        read_running(now, running);
        for (node_facts& n : nodes_) weigh(n, watch);
    }
    // Log evidence that a node fails its tasks; 0 for a node that was not examined.
    [[nodiscard]] double evidence(std::uint32_t node) const noexcept {
        node_facts const* const n = find(nodes_, node);
        return n ? n->evidence : 0.0;
    }
    // The same from failures alone, for a node that only fails.
    [[nodiscard]] double evidence_of_all(std::uint32_t node) const noexcept {
        node_facts const* const n = find(nodes_, node);
        return n ? n->evidence_of_all : 0.0;
    }

  private:
    struct node_facts {
        std::uint32_t node = 0;
        double since = 0, took = 0; // start and longest duration of its current failures
        double survivors = 0;       // attempts that began later and have outlived all of them
        bool is_apart = false;      // its failures do not excuse other nodes
        double evidence = 0, evidence_of_all = 0;
    };
    struct job_facts {
        std::uint64_t job = 0;
        std::size_t first = 0, last = 0; // among the failures
        double took = 0;                 // longest failure on an examined node
        double failed = 0;               // attempts on nodes that are not set apart
        double not_suspect = 0;          // attempts on nodes that are not suspects
        double runs_well = 0;            // attempts on other nodes that have run for longer than `took`
    };
    struct failure {
        std::uint64_t job = 0;
        std::uint32_t node = 0;
        bool is_charged = false;
    };

    template <class Nodes>
    [[nodiscard]] static auto find(Nodes& nodes, std::uint32_t node) noexcept -> decltype(nodes.data()) {
        auto const at = std::lower_bound(nodes.begin(), nodes.end(), node,
                                         [](node_facts const& f, std::uint32_t n) { return f.node < n; });
        return at != nodes.end() && at->node == node ? &*at : nullptr;
    }
    [[nodiscard]] job_facts* job_of(std::uint64_t key) noexcept {
        auto const at = std::lower_bound(jobs_.begin(), jobs_.end(), key,
                                         [](job_facts const& f, std::uint64_t k) { return f.job < k; });
        return at != jobs_.end() && at->job == key ? &*at : nullptr;
    }

    void read_tasks(failure_watch const& watch) {
        failures_.clear();
        jobs_.clear();
        for (failed_task const& t : watch.tasks())
            for (std::size_t k = 0; k < t.nodes; ++k)
                failures_.push_back({t.job, t.at[k].node, !t.withdrawn && watch.is_current(t.at[k])});
        sort_rows(failures_, [](failure const& a, failure const& b) {
            return a.node != b.node ? a.node < b.node : a.job < b.job;
        });
        // Set a suspect apart once it has failed tasks of two jobs (until then the job may be at fault), or
        // while it only fails.
        for (node_facts& n : nodes_) n.is_apart = watch.does_nothing_else(n.node);
        for (std::size_t i = 1; i < failures_.size(); ++i)
            if (failures_[i].node == failures_[i - 1].node && failures_[i].job != failures_[i - 1].job)
                if (node_facts* const n = find(nodes_, failures_[i].node))
                    n->is_apart = n->is_apart || watch.is_apart(n->node);
        sort_rows(failures_, [](failure const& a, failure const& b) {
            return a.job != b.job ? a.job < b.job : a.node < b.node;
        });
        for (std::size_t i = 0; i < failures_.size(); ++i) {
            failure const& f = failures_[i];
            if (jobs_.empty() || jobs_.back().job != f.job) jobs_.push_back({.job = f.job, .first = i});
            job_facts& j = jobs_.back();
            j.last = i + 1;
            node_facts const* const n = find(nodes_, f.node);
            if (n == nullptr || !n->is_apart) j.failed += 1;
            if (!watch.is_apart(f.node)) j.not_suspect += 1;
            if (n != nullptr) j.took = (std::max)(j.took, n->took);
        }
    }
    void read_running(double now, std::span<running_attempt const> running) {
        double took = 0;
        for (node_facts const& n : nodes_) took = (std::max)(took, n.took);
        elsewhere_ = 0;
        for (running_attempt const& a : running) {
            double const age = now - a.start;
            if (node_facts* const n = find(nodes_, a.node)) {
                if (age > n->took && !(a.start < n->since)) n->survivors += 1;
                continue;
            }
            if (age > took) elsewhere_ += 1;
            if (job_facts* const j = job_of(a.job); j && age > j->took) j->runs_well += 1;
        }
    }
    void weigh(node_facts& n, failure_watch const& watch) const {
        node_failures const& f = watch[n.node];
        // Without any success elsewhere there is nothing to compare with.
        if (!(watch.succeeded_but(n.node) + elsewhere_ > 0)) return;
        double const usual = watch.usual_rate_but(n.node);
        double const rare = watch.rare_rate(elsewhere_);
        // Tasks that succeeded elsewhere failed here because of the node, or by chance.
        std::array<double, 2> logs{};
        for (std::size_t k = 0; k < logs.size(); ++k)
            logs[k] = f.proven * std::log(failing_rate(k, usual) / usual);
        double all = f.proven * std::log(0.95 / rare);
        for (job_facts const& j : jobs_) {
            auto const [first, last] = of_node(j, n.node);
            double here = 0;
            for (std::size_t i = first; i < last; ++i) here += failures_[i].is_charged ? 1 : 0;
            if (!(here > 0)) continue;
            auto const own = static_cast<double>(last - first);
            double const failed = n.is_apart ? j.failed : (std::max)(0.0, j.failed - own);
            double const well = j.runs_well + watch.ended_elsewhere(j.job, n.node);
            double const as_usual = blame_job(here, failed, well, usual, usual);
            for (std::size_t k = 0; k < logs.size(); ++k)
                logs[k] += here * std::log(failing_rate(k, usual)) - as_usual;
            // Rare until the job has failed elsewhere.
            double const others =
                watch.is_apart(n.node) ? j.not_suspect : (std::max)(0.0, j.not_suspect - own);
            double const rate = (0.025 + others) / (1 + others + well);
            all += std::log(0.95 / rare) + (here - 1) * std::log(0.95 / (std::max)(rare, rate));
        }
        double best = -1e300, sum = 0;
        for (std::size_t k = 0; k < logs.size(); ++k) {
            logs[k] += (f.succeeded + n.survivors) * std::log((1 - failing_rate(k, usual)) / (1 - usual));
            best = (std::max)(best, logs[k]);
        }
        for (double const l : logs) sum += std::exp(l - best);
        n.evidence = best + std::log(sum / static_cast<double>(logs.size()));
        n.evidence_of_all = n.survivors > 0 ? 0.0 : all;
    }
    // Log probability that `here` tasks of a job fail on an ordinary node, given that `failed` tasks failed
    // elsewhere and `well` succeeded. Most jobs fail at the usual rate; a share `bad` does not: half of these
    // fail nearly always, half at a uniformly random rate.
    static double blame_job(double here, double failed, double well, double usual, double bad) noexcept {
        return (std::min)(0.0, job_log(failed + here, well, usual, bad) - job_log(failed, well, usual, bad));
    }
    static double job_log(double failed, double well, double usual, double bad) noexcept {
        double const good = std::log(1 - bad) + failed * std::log(usual) + well * std::log(1 - usual);
        double const always = std::log(bad / 2) + failed * std::log(0.95) + well * std::log(0.05);
        // The beta function: failed! well! / (failed + well + 1)!
        double any = std::log(bad / 2) - std::log1p(well);
        for (double i = 1; i <= failed; ++i) any += std::log(i / (well + 1 + i));
        double const best = (std::max)({good, always, any});
        return best + std::log(std::exp(good - best) + std::exp(always - best) + std::exp(any - best));
    }
    [[nodiscard]] std::array<std::size_t, 2> of_node(job_facts const& j, std::uint32_t node) const {
        auto const begin = failures_.begin() + static_cast<std::ptrdiff_t>(j.first),
                   end = failures_.begin() + static_cast<std::ptrdiff_t>(j.last);
        auto const at =
            std::lower_bound(begin, end, node, [](failure const& f, std::uint32_t n) { return f.node < n; });
        auto behind = at;
        while (behind != end && behind->node == node) ++behind;
        return {static_cast<std::size_t>(at - failures_.begin()),
                static_cast<std::size_t>(behind - failures_.begin())};
    }

    std::vector<node_facts> nodes_; // examined nodes
    std::vector<job_facts> jobs_;   // jobs with failures
    std::vector<failure> failures_; // by job and node
    double elsewhere_ = 0;          // running attempts on other nodes, longer than any of the failures
};

} // namespace straggle::detail
