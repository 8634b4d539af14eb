// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `gang/step_watch.hpp`: the length of a step, given the work of each rank.
#pragma once

#include <straggle/base/config.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// A step ends when its slowest rank does. With pipeline stages, the first microbatch must pass all other
// stages before a stage is full, and the last one afterward: this adds one microbatch of each other stage.
class gang_model {
  public:
    struct stage {
        double longest = 0;      // work of the slowest rank
        double sum = 0;          // work of all ranks
        double usual = 0;        // work of the median rank
        double ranks = 0;        // number that reported
        double microbatches = 1; // per rank
        [[nodiscard]] double mean_pass() const noexcept { return ranks > 0 ? sum / ranks / microbatches : 0; }
        [[nodiscard]] double usual_pass() const noexcept { return ranks > 0 ? usual / microbatches : 0; }
    };

    void reset(std::size_t stages) { stages_.assign(stages, {}); }
    [[nodiscard]] stage& operator[](std::size_t i) noexcept { return stages_[i]; }

    // Call after the stages are filled in.
    void solve() noexcept {
        passes_ = usual_passes_ = 0;
        for (stage const& s : stages_) {
            passes_ += bubble(s, s.mean_pass());
            usual_passes_ += bubble(s, s.usual_pass());
        }
        seconds_ = ideal_ = 0;
        for (stage const& s : stages_) {
            if (!(s.ranks > 0)) continue;
            seconds_ = (std::max)(seconds_, s.longest + passes_ - bubble(s, s.mean_pass()));
            ideal_ = (std::max)(ideal_, s.usual + usual_passes_ - bubble(s, s.usual_pass()));
        }
    }
    // With the actual work.
    [[nodiscard]] double seconds() const noexcept { return seconds_; }
    // If every rank had worked as long as the median of its stage.
    [[nodiscard]] double ideal() const noexcept { return ideal_; }
    // If every rank had worked as long as the median, except for one rank with `work`: the loss that it
    // explains.
    [[nodiscard]] double only(std::size_t of_stage, double work) const noexcept {
        stage const& own = stages_[of_stage];
        double const slower = (std::max)(work, own.usual);
        double const more = bubble(own, (slower - own.usual) / (own.ranks * own.microbatches));
        double longest = slower + usual_passes_ - bubble(own, own.usual_pass());
        for (stage const& s : stages_)
            if (&s != &own && s.ranks > 0)
                longest = (std::max)(longest, s.usual + usual_passes_ + more - bubble(s, s.usual_pass()));
        return longest;
    }

  private:
    // A gang that reports a step in one piece does not show how its stages fill.
    [[nodiscard]] static double bubble(stage const& s, double pass) noexcept {
        return s.microbatches > 1 ? pass : 0.0;
    }
    std::vector<stage> stages_;
    double passes_ = 0, usual_passes_ = 0, seconds_ = 0, ideal_ = 0;
};

} // namespace straggle::detail
