// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A yardstick for copies where no progress is reported, not a rival. It sees what a scheduler sees: when
/// attempts begin and end. It also knows what no scheduler does: how long tasks of a kind take, the
/// distribution of luck, and that nodes have episodes of 10 to 40 minutes at a third of their speed, a tenth
/// of their time. It infers the present state of each node by Bayes' rule: a filter per node goes through all
/// times at which its last episode may have begun or ended. It only makes copies, chosen as the oracle does.
#include "free_slots.hpp"
#include "make_policy.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace lab {

namespace {

// Of the fault `episodes`.
constexpr double factor = 3, shortest = 600, longest = 2400, onset = 0.1 / (0.9 * 1500);

// A possible state of a node: slow or healthy, since a time.
struct state {
    double since = -1e300;
    double weight = 1;
    bool slow = false;

    [[nodiscard]] double done(double begins, double now) const {
        if (!(now > begins)) return 0;
        double const before = std::clamp(since - begins, 0.0, now - begins), after = now - begins - before;
        return slow ? before + after / factor : before / factor + after;
    }
    // How long this much work takes from now on, if the episode lasts as long as expected.
    [[nodiscard]] double time_of(double work, double now) const {
        if (!slow) return work;
        double const old = now - since;
        double const rest = old < shortest ? (shortest + longest) / 2 - old : (longest - old) / 2;
        return work * factor > rest ? rest + work - rest / factor : work * factor;
    }
};

// All that is known about the work of an attempt: pairs of its whole work and its task's part, sorted, to be
// scaled.
struct law {
    struct pair {
        double all, of_task;
    };
    std::vector<pair> pairs;

    [[nodiscard]] std::size_t above(double work) const {
        auto const at = std::upper_bound(pairs.begin(), pairs.end(), work,
                                         [](double x, pair const& p) { return x < p.all; });
        return static_cast<std::size_t>(at - pairs.begin());
    }
    [[nodiscard]] double longer(double work) const {
        return (static_cast<double>(pairs.size() - above(work)) + 1e-3) / static_cast<double>(pairs.size());
    }
};

class believer final : public policy {
  public:
    explicit believer(setup const& where) : launch_(where.launch), random_(where.seed, 31) {}

    void on_start(truth const& knows) override { truth_ = &knows; }
    void on_task_end(attempt_record const& a, double) override { ended_.push_back(a); }

    void decide(cluster_view const& view, decisions& out) override {
        see_new_jobs(view);
        nodes_.resize(view.nodes.size(), {state{}});
        slow_.resize(nodes_.size());
        believe(view);
        then_ = view.now;
        ended_.clear();
        free_.look(view, [](std::uint32_t) { return true; });
        double busy = 0, slots = 0;
        for (node_view const& n : view.nodes) {
            busy += n.busy;
            slots += n.slots;
        }
        double const price = view.waiting > 0 ? 1.5 : 0.05 + 0.5 * busy / std::max(slots, 1.0);
        for (running_attempt const& a : view.running) {
            if (free_.none()) return;
            if (a.attempts > 1) continue;
            std::uint32_t to = policy::wait;
            for (std::uint32_t const n : free_.nodes())
                if (n != a.node && (to == policy::wait || slow_[n] < slow_[to])) to = n;
            if (to == policy::wait || !pays(a, view.now, 1 + (factor - 1) * slow_[to], price)) continue;
            out.copies.push_back({a.job, a.task, to});
            free_.use(to);
        }
    }

  private:
    // What is known about an attempt's work, and the factor that scales it.
    struct known_work {
        law const& of;
        double scale;
    };
    known_work work_of(std::uint32_t job, std::uint32_t task, std::uint32_t kind, double input) {
        if (input > 0) return {luck_, truth_->work(job, task)};
        return {kinds_[kind].all, 1};
    }
    void see_new_jobs(cluster_view const& view) {
        for (job_view const& job : view.jobs) {
            if (!seen_.insert(job.job).second) continue;
            auto const luck = truth_->luck(job.job);
            if (luck_.pairs.empty())
                for (double const l : luck) luck_.pairs.push_back({l, 1});
            kind_law& k = kinds_[job.kind];
            for (std::uint32_t t = 0; t < job.tasks; ++t) k.works.push_back(truth_->work(job.job, t));
            k.all.pairs.clear();
            for (std::size_t i = 0; i < 4096; ++i) {
                double const work = k.works[random_.below(k.works.size())];
                k.all.pairs.push_back({work * luck[random_.below(luck.size())], work});
            }
            std::sort(k.all.pairs.begin(), k.all.pairs.end(),
                      [](law::pair const& a, law::pair const& b) { return a.all < b.all; });
        }
    }

    // Weighs the possible states of each node by what began and ended there since the last round.
    void believe(cluster_view const& view) {
        double const now = view.now, passed = then_ > 0 ? now - then_ : 0.0;
        if (now >= next_) {
            next_ = now + 10;
            may_change_ = true;
        }
        for (auto& states : nodes_) move(states, now, passed);
        may_change_ = false;
        for (running_attempt const& a : view.running) {
            known_work const w = work_of(a.job, a.task, a.kind, a.input);
            double const begins = a.start + launch_;
            for (state& s : nodes_[a.node])
                s.weight *=
                    w.of.longer(s.done(begins, now) / w.scale) / w.of.longer(s.done(begins, then_) / w.scale);
        }
        for (attempt_record const& a : ended_) {
            known_work const w = work_of(a.job, a.task, a.kind, a.input);
            double const begins = a.start + launch_;
            for (state& s : nodes_[a.node]) {
                double const done = s.done(begins, a.end) / w.scale,
                             before = s.done(begins, std::min(then_, a.end)) / w.scale;
                bool const finished = a.how == ending::finished;
                double const seen = finished ? (w.of.longer(done * 0.97) - w.of.longer(done * 1.03)) /
                                                       (0.06 * done) / (s.slow ? factor : 1.0) +
                                                   1e-6
                                             : w.of.longer(done);
                s.weight *= seen / w.of.longer(before);
            }
        }
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            double all = 0, slow = 0;
            for (state const& s : nodes_[n]) all += s.weight;
            for (state& s : nodes_[n]) {
                s.weight /= all;
                slow += s.slow ? s.weight : 0;
            }
            slow_[n] = slow;
            std::erase_if(nodes_[n], [](state const& s) { return s.weight < 1e-7; });
        }
    }
    // Lets episodes begin and end.
    void move(std::vector<state>& states, double now, double passed) {
        double begun = 0, over = 0;
        for (state& s : states) {
            double share = 0;
            if (!s.slow) {
                share = onset * passed;
                begun += s.weight * share;
            } else if (double const left = longest - (now - s.since); now - s.since > shortest) {
                share = left > passed ? passed / left : 1.0;
                over += s.weight * share;
            }
            s.weight *= 1 - share;
        }
        // Times of change are distinguished to 10 seconds.
        auto const add = [&](bool slow, double weight) {
            for (state& s : states)
                if (s.slow == slow && s.since > now - 10 && !may_change_) {
                    s.weight += weight;
                    return;
                }
            if (weight > 0) states.push_back({now, weight, slow});
        };
        add(true, begun);
        add(false, over);
    }

    // Whether a copy shortens the task by more than it costs, over all possible states.
    bool pays(running_attempt const& a, double now, double there, double price) {
        known_work const w = work_of(a.job, a.task, a.kind, a.input);
        double const begins = a.start + launch_;
        if (slow_[a.node] < 0.03 && w.of.longer((now - begins) / w.scale) > 0.5) return false;
        double most[2] = {0, 0}, all = 0, rest = 0, first = 0;
        for (state const& s : nodes_[a.node]) most[s.slow] = std::max(most[s.slow], s.weight);
        constexpr std::size_t parts = 16;
        for (state const& s : nodes_[a.node]) {
            if (s.weight < 0.1 * most[s.slow]) continue;
            all += s.weight;
            double const done = s.done(begins, now) / w.scale;
            std::size_t const size = w.of.pairs.size(), from = std::min(w.of.above(done), size - 1);
            for (std::size_t i = 0; i < parts; ++i) {
                law::pair const& p = w.of.pairs[from + (2 * i + 1) * (size - from) / (2 * parts)];
                double const r = s.time_of(std::max(p.all - done, 0.0) * w.scale, now);
                rest += s.weight * r / parts;
                for (std::size_t k = 0; k < parts; ++k)
                    first +=
                        s.weight *
                        std::min(r, launch_ +
                                        there * p.of_task * w.scale *
                                            luck_.pairs[(2 * k + 1) * luck_.pairs.size() / (2 * parts)].all) /
                        (parts * parts);
            }
        }
        return all > 0 && rest - first > price * first;
    }

    struct kind_law {
        std::vector<double> works;
        law all;
    };
    double launch_;
    draw random_;
    truth const* truth_ = nullptr;
    law luck_;
    std::map<std::uint32_t, kind_law> kinds_;
    std::vector<std::vector<state>> nodes_;
    std::vector<double> slow_; // probabilities
    std::vector<attempt_record> ended_;
    free_slots free_;
    std::set<std::uint32_t> seen_; // jobs
    double then_ = 0, next_ = 0;
    bool may_change_ = false;
};

add_policy const
    added({"believer_copies_only",
           "knows what luck and episodes are like, sees no progress; copies alone; a yardstick", false,
           [](setup const& s) -> std::unique_ptr<policy> { return std::make_unique<believer>(s); }, true});

} // namespace

} // namespace lab
