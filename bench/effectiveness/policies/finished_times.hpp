// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What every scheduler remembers of a job: how long its finished tasks took.
#pragma once

#include "../cluster/policy.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

namespace lab {

class finished_times {
  public:
    void add(attempt_record const& a) {
        if (a.how != ending::finished) return;
        times& of_job = by_job_[a.job];
        of_job.sorted.insert(std::upper_bound(of_job.sorted.begin(), of_job.sorted.end(), a.took()),
                             a.took());
        of_job.sum += a.took();
        of_job.input += a.input;
    }
    void forget(std::uint32_t job) { by_job_.erase(job); }

    struct times {
        std::vector<double> sorted{};
        double sum = 0;
        double input = 0;
        double mean() const { return sum / static_cast<double>(sorted.size()); }
        double median() const {
            return sorted[sorted.size() / 2];
        } // the upper one, as Spark and Flink take it
    };
    /// Of a job: empty if nothing of it has finished.
    times const& operator[](std::uint32_t job) const {
        static times const none{};
        auto const at = by_job_.find(job);
        return at == by_job_.end() ? none : at->second;
    }

  private:
    std::map<std::uint32_t, times> by_job_;
};

} // namespace lab
