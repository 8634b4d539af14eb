// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Spark's speculation (TaskSetManager.checkSpeculatableTasks): once a share of a stage's tasks has finished,
/// a task that has run longer than a multiple of their median gets one copy, on any other host. There is no
/// other cap. The defaults of 3.x, and those of 4.0, which spare tasks that only have more to do.
#include "finished_times.hpp"
#include "free_slots.hpp"
#include "make_policy.hpp"

#include <algorithm>
#include <cmath>

namespace lab {

namespace {

struct spark_options {
    double multiplier = 1.5;
    double quantile = 0.75;
    double least = 0.1;      ///< minTaskRuntime, seconds
    bool efficiency = false; ///< efficiency.enabled
    double process_rate = 0.75;
    double long_run = 2;
};

class spark final : public policy {
  public:
    spark(spark_options const& how, setup const& where) : how_(how), random_(where.seed, 101) {}

    void on_task_end(attempt_record const& a, double) override { finished_.add(a); }
    void on_job_end(std::uint32_t job, double) override { finished_.forget(job); }
    void decide(cluster_view const& view, decisions& out) override {
        free_.look(view, [](std::uint32_t) { return true; });
        for (job_view const& job : view.jobs) {
            if (free_.none()) return;
            // Waiting tasks of a stage go before its copies.
            if (job.tasks < 2 || job.waiting > 0) continue;
            auto const& times = finished_[job.job];
            double const needed = std::max(std::floor(how_.quantile * job.tasks), 1.0);
            if (!(static_cast<double>(times.sorted.size()) >= needed)) continue;
            double const threshold = std::max(how_.multiplier * times.median(), how_.least);
            auto const running = view.running.subspan(job.first, job.count);
            for (running_attempt const& a : running) {
                double const ran = view.now - a.start;
                if (a.attempts > 1 || !(ran > threshold) || !is_inefficient(a, times, ran, threshold))
                    continue;
                if (auto const node = free_.take(running, a.task, random_))
                    out.copies.push_back({a.job, a.task, *node});
            }
        }
    }

  private:
    bool is_inefficient(running_attempt const& a, finished_times::times const& times, double ran,
                        double threshold) const {
        if (!how_.efficiency || !(times.input > 0) || !a.progress) return true;
        double const usual = times.input / times.sum, rate = *a.progress * a.input / ran;
        return ran > how_.long_run * threshold || rate < how_.process_rate * usual;
    }

    spark_options how_;
    finished_times finished_;
    free_slots free_;
    draw random_;
};

add_policy const spark_3({"spark", "Spark 3: after 75 % of a stage, what takes 1.5 times the median", true,
                          [](setup const& s) -> std::unique_ptr<policy> {
                              return std::make_unique<spark>(spark_options{}, s);
                          }});
add_policy const spark_4({"spark4", "Spark 4: after 90 %, 3 times the median, unless it works fast", true,
                          [](setup const& s) -> std::unique_ptr<policy> {
                              return std::make_unique<spark>(
                                  spark_options{.multiplier = 3, .quantile = 0.9, .efficiency = true}, s);
                          }});

} // namespace

} // namespace lab
