// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A detector with the memory it works in: one object to keep, one call per look at a job.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/base/when_used.hpp>
#include <straggle/detect/detector.hpp>

#include <concepts>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detect {

/// A detector, its scratch memory and its last answer.
/// @par Example
/// `straggler_scan scan{hierarchical{late{}}};  for (suspect const& s : scan(job.view())) ...`
/// @par Cost
/// the detector's; keeps the memory of the largest job it has seen
/// @par Guarantees
/// only allocation can throw, and then the last suspects still stand; one object per thread
template <class Detector>
class straggler_scan {
    static_assert(detail::explain_detector<Detector>());

  public:
    /// A scan with the rule at its defaults.
    straggler_scan()
        requires std::default_initializable<Detector>
    = default;
    /// A scan with that rule.
    explicit straggler_scan(Detector detector) : detector_(std::move(detector)) {}

    /// Looks at a job.
    /// @return the suspects, worst first; valid until the next call
    std::span<suspect const> operator()(job_view const& job) {
        next_.clear();
        detection_note const note = detector_.detect(job, scratch_, next_);
        suspects_.reserve(next_.capacity()); // for the next look: the two take turns
        note_ = note;
        suspects_.swap(next_);
        return suspects();
    }

    /// What the last call returned.
    [[nodiscard]] std::span<suspect const> suspects() const noexcept { return detail::span_of(suspects_); }
    /// What the detector had to say about the job as a whole.
    [[nodiscard]] detection_note note() const noexcept { return note_; }
    /// The rule.
    [[nodiscard]] Detector const& detector() const noexcept { return detector_; }
    /// The rule, to change it between scans.
    [[nodiscard]] Detector& detector() noexcept { return detector_; }
    /// The name of the rule.
    [[nodiscard]] static constexpr std::string_view name() noexcept { return Detector::name; }

  private:
    Detector detector_{};
    detector_scratch scratch_;
    detail::when_used<Detector, std::vector<suspect>> suspects_, next_;
    detection_note note_ = detection_note::none;
};

} // namespace straggle::detect
