// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `blacklist/node_decisions.hpp`: which nodes fail their tasks.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/size.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/base/when_used.hpp>
#include <straggle/blacklist/node_verdict.hpp>
#include <straggle/record/attempt_event.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// What a node has failed.
struct node_failures {
    double failed = 0, succeeded = 0; // since the evidence began
    std::uint32_t consecutive = 0;
    double failing_since = 0;                            // start of the first of these
    double longest = 0;                                  // that one of these took
    std::uint64_t attempts = 0, failures = 0, tasks = 0; // ever
    std::uint32_t trial = 0;                             // how many there were
    bool is_suspect = false;                             // it lately did nothing but fail
};
struct failed_on {
    std::uint32_t node = 0, trial = 0;
};
// A task that failed, and where.
struct failed_task {
    std::uint64_t key = 0, job = 0;
    std::array<failed_on, 4> at{}; // further ones are not remembered
    std::uint8_t nodes = 0;        // how many of these; 0: no task
    bool withdrawn = false;
};

// How often a node fails that fails half, or nearly all, of its tasks, where others fail at the `usual` rate.
[[nodiscard]] constexpr double failing_rate(std::size_t which, double usual) noexcept {
    return (std::max)(which == 0 ? 0.5 : 0.95, (1 + usual) / 2);
}

// Counts failures by distinct tasks. A task that failed on two nodes is a bad task: what it counted for is
// withdrawn. Should it succeed after all, it was the nodes, and it counts for each.
//
// A node that lately did nothing but fail is a suspect. As long as suspects are few, what they do is no part
// of what is usual, and that a task failed on them says nothing against the task: else several such nodes
// would excuse one another.
template <class Void = void>
class basic_failure_watch {
  public:
    // The evidence is the likelihood ratio of failing half, or nearly all, of one's tasks against failing
    // twice as often as others, at least one in twenty; it starts anew where it would fall below 1.
    void observe(ended_attempt const& a) {
        if (record::was_stopped(a.as)) return;
        if (a.node >= nodes_.size()) nodes_.resize(std::size_t{a.node} + 1);
        node_failures& n = nodes_[a.node];
        ++n.attempts;
        ++all_attempts_;
        if (n.consecutive == 0) learn_rate(a.as == attempt_status::failed);
        if (a.as == attempt_status::success) {
            n.succeeded += 1;
            // What began before the failures did says nothing of the node as it is now.
            if (n.consecutive == 0 || !(a.start < n.failing_since)) {
                n.consecutive = 0;
                suspect(n, false);
            }
            all_succeeded_ += 1;
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
            n.failed = n.succeeded = 0;
            ++n.trial;
        }
        if (n.failed == 0) n.succeeded = 0;
        if (all_failed_ + bad_ + all_succeeded_ > 4096) {
            all_failed_ /= 2;
            bad_ /= 2;
            all_succeeded_ /= 2;
        }
    }
    // How many nodes there are, those that nothing ended on too.
    void know(std::size_t nodes) noexcept { known_ = nodes; }
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
    // Whether a node does nothing but fail, and long enough: the same few tasks, which come back to it as it
    // is free again at once. That they fail there once more is no evidence by itself; but nothing is lost
    // without such a node, and elsewhere they show which of the two it was. One task is never enough.
    [[nodiscard]] bool does_nothing_else(std::uint32_t node) const noexcept {
        if (node >= nodes_.size() || !nodes_[node].is_suspect) return false;
        std::size_t const nodes = (std::max)(known_, nodes_.size());
        return nodes_[node].consecutive >= long_run && nodes_[node].failed >= 2 &&
               (are_few_suspects() || (suspects_ == 1 && nodes >= 2));
    }
    // The evidence against a node on trial that fails few tasks, which come back again and again.
    [[nodiscard]] double evidence_of_run(std::uint32_t node) const noexcept {
        if (consecutive(node) < long_run) return 0;
        return nodes_[node].failed * std::log(0.95 / rare_rate(0));
    }
    // Share of attempts that fail here and elsewhere.
    [[nodiscard]] double rate(std::uint32_t node) const noexcept {
        if (node >= nodes_.size()) return 0;
        node_failures const& n = nodes_[node];
        return n.failed > 0 ? n.failed / (n.failed + n.succeeded) : 0.0;
    }
    [[nodiscard]] double usual_rate() const noexcept { return usual_rate(node_failures{}); }
    // That of the others, bad tasks included: the next one fails somewhere first, too.
    [[nodiscard]] double usual_rate_but(std::uint32_t node) const noexcept {
        return usual_rate(nodes_[node], bad_);
    }
    // The same without the doubt, at that many attempts more that have not failed.
    [[nodiscard]] double rare_rate(double more) const noexcept {
        double const failed = all_failed_ + bad_;
        return (failed + 0.2) / (failed + all_succeeded_ + more + 10);
    }
    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    [[nodiscard]] node_failures const& operator[](std::uint32_t node) const noexcept { return nodes_[node]; }
    [[nodiscard]] std::span<failed_task const> tasks() const noexcept { return span_of(tasks_); }
    // Whether what the node does is no part of what is usual.
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
    // A trial begins: what was before counts no more.
    void restart(std::uint32_t node) noexcept {
        if (node >= nodes_.size()) return;
        node_failures& n = nodes_[node];
        suspect(n, false);
        n.failed = n.succeeded = 0;
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
    // All that was ever seen, for reports.
    [[nodiscard]] blacklist::failure_rate totals(std::uint32_t node) const noexcept {
        if (node >= nodes_.size()) return {};
        node_failures const& n = nodes_[node];
        blacklist::failure_rate r{
            .attempts = n.attempts, .failed = n.failures, .tasks = n.tasks, .consecutive = n.consecutive};
        if (std::uint64_t const others = all_attempts_ - n.attempts; others != 0)
            r.elsewhere = static_cast<double>(all_failures_ - n.failures) / static_cast<double>(others);
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

    void write(byte_writer& out) const;
    status read(byte_reader& in, std::uint32_t max_nodes);

  private:
    static constexpr std::size_t max_tasks = 4096;
    static constexpr std::uint32_t long_run = 5; // failures: one more than engines try a task

    [[nodiscard]] double usual_rate(node_failures const& apart, double bad = 0) const noexcept {
        double failed = all_failed_ - (apart.is_suspect ? 0.0 : apart.failed);
        if (!are_few_suspects()) failed += apart_ - (apart.is_suspect ? apart.failed : 0.0);
        failed = (std::max)(0.0, failed) + bad;
        double const all = failed + (std::max)(0.0, all_succeeded_ - apart.succeeded);
        return std::clamp(2 * (failed + 0.2) / (all + 10), 0.05, 0.9);
    }
    // Where more nodes than a quarter do nothing but fail, it is the work.
    [[nodiscard]] bool are_few_suspects() const noexcept {
        return 4 * suspects_ <= (std::max)(known_, nodes_.size());
    }
    // How often an attempt fails after one that did not, anywhere: a node that fails all adds one failure.
    void learn_rate(bool failed) noexcept {
        lately_failed_ += failed ? 1 : 0;
        lately_ += 1;
        if (lately_ <= 4096) return;
        lately_failed_ /= 2;
        lately_ /= 2;
    }
    // Whether attempts fail so often in a row at that rate.
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
    static std::uint64_t key_of(ended_attempt const& a) noexcept { return spread(spread(a.job) ^ a.task); }
    // Two places each; the older failure gives way.
    static std::array<std::size_t, 2> places(std::uint64_t key) noexcept {
        return {detail::to_size(key % max_tasks), detail::to_size((key >> 32) % max_tasks)};
    }
    [[nodiscard]] failed_task* find(ended_attempt const& a) noexcept {
        if (a.task == no_task || tasks_.empty()) return nullptr;
        std::uint64_t const key = key_of(a);
        for (std::size_t const at : places(key))
            if (tasks_[at].nodes != 0 && tasks_[at].key == key) return &tasks_[at];
        return nullptr;
    }
    // Whether a failure counts for its node.
    bool is_charged(ended_attempt const& a) {
        is_known_ = false;
        if (a.task == no_task) return true;
        if (tasks_.empty()) tasks_.resize(max_tasks);
        failed_on const here{a.node, nodes_[a.node].trial};
        failed_task* const t = find(a);
        if (t == nullptr) {
            auto const [first, second] = places(key_of(a));
            tasks_[tasks_[first].nodes != 0 && tasks_[second].nodes == 0 ? second : first] = {
                key_of(a), a.job, {here}, 1, false};
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
    // Another node is a suspect: what failed on suspects only may be no bad task.
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
    // A task has succeeded: it is not a bad one. What it adds is no part of what is usual, or nodes that fail
    // the same tasks would excuse one another.
    void resolve(ended_attempt const& a) noexcept {
        failed_task* const t = find(a);
        if (t == nullptr) return;
        if (t->withdrawn) {
            for (std::size_t k = 0; k < t->nodes; ++k) (void)charge(t->at[k], 1);
            bad_ = (std::max)(0.0, bad_ - 1);
        }
        *t = {};
    }
    bool charge(failed_on const& f, double times) noexcept {
        node_failures& n = nodes_[f.node];
        if (n.trial != f.trial) return false;
        n.failed = (std::max)(0.0, n.failed + times);
        if (times > 0 && n.is_suspect) apart_ += times;
        return true;
    }

    when_used<Void, std::vector<node_failures>> nodes_;
    when_used<Void, std::vector<failed_task>> tasks_;
    double all_failed_ = 0, all_succeeded_ = 0; // what is usual
    double bad_ = 0;                            // tasks that failed on two nodes, and ended on none
    double apart_ = 0;                          // failures of suspects
    double lately_failed_ = 0, lately_ = 0;     // attempts after a success
    std::size_t suspects_ = 0, known_ = 0;
    std::uint64_t all_attempts_ = 0, all_failures_ = 0; // ever
    bool is_known_ = false;                             // the last failure was of a task that failed there
};

using failure_watch = basic_failure_watch<>;

} // namespace straggle::detail
