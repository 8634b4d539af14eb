// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// `node_aware` as a scheduler would write it from its description: tasks grouped by host in a
/// std::unordered_map, the evidence of a task's siblings summed up over them, each formula where it is
/// needed. For jobs without predictions, node models and waiting tasks, with the rule's defaults. It checks
/// nothing.
#pragma once

#include "plain_rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace straggle_bench::plain {

/// What a scheduler keeps of a host: the logarithms of the times of finished tasks over their input.
struct host_history {
    double log_mean = 0;
    double tasks = 0;
};
using histories = std::unordered_map<std::uint32_t, host_history>;

inline histories history_of(scheduler_job const& job) {
    histories all;
    for (done_task const& d : job.done) {
        host_history& h = all[d.host];
        h.tasks += 1;
        h.log_mean += (std::log(d.took / d.input) - h.log_mean) / h.tasks;
    }
    return all;
}

class node_aware_rule {
  public:
    node_aware_rule(scheduler_job const& job, histories const& past) : job_(job), past_(past) {}

    stragglers operator()() {
        for (std::size_t i = 0; i < job_.running.size(); ++i) hosts_[job_.running[i].host].push_back(i);
        rough_ = rough_usual_time();
        variance_ = spread_of_siblings();
        find_usual_time();
        stragglers list;
        for (std::size_t i = 0; i < job_.running.size(); ++i) judge(i, list);
        std::sort(list.begin(), list.end(), [&](found const& a, found const& b) {
            double const x = a.value - elapsed(a.task), y = b.value - elapsed(b.task);
            return x != y ? x > y : a.task < b.task;
        });
        return list;
    }

  private:
    static constexpr double slowdown = 1.2, sureness = 0.3, spread = 0.15, drift = 0.1, resolution = 0.02,
                            fast_share = 0.2, sharing = 0.75, good = 0.8, good_sd = 0.08, slow_log = 0.6,
                            slow_sd = 0.5;

    struct sums {
        double done = 0, time = 0, time2 = 0, usual2 = 0, stale = 0;
    };
    struct estimate {
        double log = 0, precision = 0;
        void add(double other, double weight) {
            precision += weight;
            log += (other - log) * (weight / precision);
        }
    };

    [[nodiscard]] double elapsed(std::size_t i) const { return job_.now - job_.running[i].started; }
    [[nodiscard]] double usual(std::size_t i) const { return job_.running[i].input; }
    [[nodiscard]] double age(std::size_t i) const { return 0.05 * rough_ * usual(i); }
    [[nodiscard]] double worked(std::size_t i) const {
        double const t = elapsed(i), h = age(i);
        return t < h ? t * t / h / 2 : t - h / 2;
    }
    [[nodiscard]] double progress(std::size_t i) const {
        return std::max(job_.running[i].progress, resolution);
    }

    [[nodiscard]] static double fast_one(std::vector<double> values) {
        std::size_t const at = std::min(
            static_cast<std::size_t>(fast_share * static_cast<double>(values.size())), values.size() - 1);
        std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
        return values[at];
    }

    [[nodiscard]] double rough_usual_time() const {
        std::unordered_map<std::uint32_t, std::pair<double, double>> by_host; // done, time
        for (std::size_t i = 0; i < job_.running.size(); ++i) {
            auto& [done, time] = by_host[job_.running[i].host];
            done += job_.running[i].progress * usual(i);
            time += elapsed(i);
        }
        for (auto const& [host, h] : past_) {
            auto& [done, time] = by_host[host];
            done += h.tasks;
            time += h.tasks * std::exp(h.log_mean);
        }
        std::vector<double> times;
        for (auto const& [host, sum] : by_host)
            if (sum.first > 0) times.push_back(sum.second / sum.first);
        return fast_one(times);
    }

    // All on a host but one.
    [[nodiscard]] sums sum_of(std::vector<std::size_t> const& tasks, std::size_t but) const {
        sums s;
        for (std::size_t const i : tasks) {
            if (i == but) continue;
            double const w = worked(i), u = usual(i);
            s.done += job_.running[i].progress * u;
            s.time += w;
            s.time2 += w * w;
            s.usual2 += u * u;
            s.stale += std::min(age(i), elapsed(i)) / std::sqrt(12.0);
        }
        return s;
    }
    [[nodiscard]] static double done_at_least(sums const& s) {
        return std::max(s.done, resolution * std::sqrt(s.usual2));
    }
    [[nodiscard]] static double variance_of(sums const& s, double variance) {
        double const reading = resolution / done_at_least(s);
        return reading * reading * s.usual2 + (variance * s.time2 + s.stale * s.stale) / (s.time * s.time);
    }
    [[nodiscard]] double doubt(std::size_t i) const {
        double const p = progress(i), rest = drift * (1 - p), stale = age(i) / std::sqrt(12.0) / worked(i);
        return resolution / p * (resolution / p) + rest * rest + stale * stale;
    }
    [[nodiscard]] double own(std::size_t i) const { return std::log(worked(i) / (progress(i) * usual(i))); }

    [[nodiscard]] double spread_of_siblings() const {
        double const assumed = spread * spread;
        double squares = 10 * assumed, freedom = 10;
        for (std::size_t i = 0; i < job_.running.size(); ++i) {
            sums const rest = sum_of(hosts_.at(job_.running[i].host), i);
            if (!(elapsed(i) > age(i)) || !(rest.time > 0)) continue;
            double const blur = doubt(i) + variance_of(rest, assumed);
            double const apart = own(i) - std::log(rest.time / done_at_least(rest));
            double const share = assumed / (assumed + blur);
            squares += share * share * (std::min(apart * apart, 9 * (assumed + blur)) - blur);
            freedom += share * share;
        }
        return std::max(squares / freedom, assumed / 25);
    }

    void find_usual_time() {
        std::vector<estimate> hosts;
        std::vector<double> logs;
        auto const look_at = [&](std::uint32_t host, std::vector<std::size_t> const& tasks) {
            estimate e;
            sums const s = sum_of(tasks, job_.running.size());
            if (s.time > 0) e.add(std::log(s.time / done_at_least(s)), 1 / variance_of(s, variance_));
            if (auto const h = past_.find(host); h != past_.end())
                e.add(h->second.log_mean, h->second.tasks / variance_);
            if (!(e.precision > 4)) return;
            hosts.push_back(e);
            logs.push_back(e.log);
        };
        for (auto const& [host, tasks] : hosts_) look_at(host, tasks);
        for (auto const& [host, h] : past_)
            if (!hosts_.contains(host)) look_at(host, {});
        log_scale_ = fast_one(logs);
        for (int round = 0; round < 8; ++round) {
            double weights = 0, sum = 0;
            for (estimate const& e : hosts) {
                if (std::fabs(e.log - log_scale_) > 0.75 * std::log(slowdown) + 2 / std::sqrt(e.precision))
                    continue;
                double const weight = 1 / (1 / e.precision + good_sd * good_sd);
                weights += weight;
                sum += weight * e.log;
            }
            double const before = log_scale_;
            log_scale_ = sum / weights;
            scale_variance_ = 1 / weights;
            if (std::fabs(log_scale_ - before) < 0.001) break;
        }
    }

    [[nodiscard]] estimate expected(std::size_t i) const {
        std::uint32_t const host = job_.running[i].host;
        estimate e;
        if (sums const rest = sum_of(hosts_.at(host), i); rest.time > 0)
            e.add(std::log(rest.time / done_at_least(rest)) - log_scale_,
                  1 / (variance_of(rest, variance_) + drift * drift));
        if (auto const h = past_.find(host); h != past_.end())
            e.add(h->second.log_mean - log_scale_, 1 / (variance_ / h->second.tasks + drift * drift));
        double const good_precision = 1 / (good_sd * good_sd), slow_precision = 1 / (slow_sd * slow_sd);
        double const from_good = 1 / (e.precision + good_precision);
        double const from_slow = 1 / (e.precision + slow_precision);
        double const if_good = from_good * e.precision * e.log;
        double const if_slow = from_slow * (e.precision * e.log + slow_precision * slow_log);
        double const gain = if_slow * if_slow / from_slow - if_good * if_good / from_good -
                            slow_log * slow_log * slow_precision;
        double const odds = std::exp(-gain / 2) * good / (1 - good) *
                            std::sqrt(from_good * good_precision / (from_slow * slow_precision));
        double const slow = 1 / (1 + odds), apart = if_slow - if_good;
        return {
            slow * if_slow + (1 - slow) * if_good,
            1 / (variance_ + slow * from_slow + (1 - slow) * from_good + slow * (1 - slow) * apart * apart)};
    }

    // All tasks of the host share its capacity; no task takes over the slots of those that end.
    [[nodiscard]] double emptying(std::size_t i) const {
        auto const& tasks = hosts_.at(job_.running[i].host);
        double const rest = (1 - job_.running[i].progress) * usual(i);
        double left = 0;
        for (std::size_t const other : tasks) left += (1 - job_.running[other].progress) * usual(other);
        double const full = rest * static_cast<double>(tasks.size());
        return rest > 0 && left < full ? -std::log(std::max(left, rest) / full) : 0;
    }

    void judge(std::size_t i, stragglers& list) const {
        double const usual_time = usual(i) * std::exp(log_scale_), t = elapsed(i);
        estimate const e = expected(i);
        double log = e.log, variance = 1 / e.precision;
        if (t > age(i)) {
            double const mine = own(i) - log_scale_, blur = doubt(i);
            if (mine - log > 3 * std::sqrt(variance + blur)) {
                log = mine;
                variance = blur;
            } else {
                log = (mine * variance + log * blur) / (blur + variance);
                variance *= blur / (blur + variance);
            }
        } else if (t > usual_time && std::log(t / usual_time) > log + 2 * std::sqrt(variance)) {
            log = std::log(2 * t / usual_time);
            variance = 0;
        }
        double const emptier = (1 - job_.running[i].progress) * emptying(i);
        double const vague = std::min(sharing, 1 - sharing) / std::sqrt(3.0) * emptier;
        log -= sharing * emptier;
        double const sure = log - sureness * std::sqrt(variance + vague * vague + scale_variance_);
        if (sure > std::log(slowdown) && sure > std::log(1 + t / usual_time))
            list.push_back({i, usual_time * std::exp(log)});
    }

    scheduler_job const& job_;
    histories const& past_;
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> hosts_;
    double rough_ = 0, variance_ = 0, log_scale_ = 0, scale_variance_ = 0;
};

} // namespace straggle_bench::plain
