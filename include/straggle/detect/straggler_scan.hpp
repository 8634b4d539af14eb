// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A detector with its working memory: one object to keep, one call per snapshot of a job. In a mitigator it
/// is stage 2, and may predict times, too.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/detect/detector.hpp>
#include <straggle/detect/remaining_time.hpp>
#include <straggle/detect/suspect_list.hpp>

#include <concepts>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detect {

/// No predictor: a mitigator predicts times from siblings, the kind of job and progress.
struct by_siblings {};

/// A detector, its scratch memory and its last findings.
/// @tparam Predictor predicts the times of late tasks in a mitigator: a `predictor`, such as `time_estimates`
/// @par Example
/// `straggler_scan scan{hierarchical{late{}}};  for (auto const& s : scan(job.view(), tasks)) s.row->host
/// ...`
/// @par Cost
/// the detector's; keeps the memory of the largest job it has seen
/// @par Guarantees
/// only allocation can throw, and then the last findings still stand; one object per thread
template <class Detector, class Predictor = by_siblings>
class straggler_scan {
    static_assert(detail::explain_detector<Detector>());
    static_assert(std::same_as<Predictor, by_siblings> || detect::predictor<Predictor>,
                  "the second argument of a straggler_scan is no detect::predictor");

  public:
    /// A scan with the default-constructed rule.
    straggler_scan()
        requires std::default_initializable<Detector>
    = default;
    /// A scan with this rule.
    explicit straggler_scan(Detector detector, Predictor predicts = {})
        : detector_(std::move(detector)), predictor_(std::move(predicts)) {}

    /// Examines a job.
    /// @return the suspects, worst first: `row` is the index of the task in the range behind the snapshot.
    /// Valid until the next call, or the next change of the job
    suspect_list<> operator()(job_view const& job) {
        look(job);
        return {findings(), job, name()};
    }
    /// Examines a job whose snapshot was made from these tasks.
    /// @return the suspects, worst first: `row` points to the user's own record
    /// @pre `tasks` is the range last passed to `job_progress::running`, unchanged
    template <std::ranges::contiguous_range Tasks>
        requires std::ranges::sized_range<Tasks> && std::ranges::borrowed_range<Tasks>
    auto operator()(job_view const& job, Tasks&& tasks)
        -> suspect_list<std::remove_reference_t<std::ranges::range_reference_t<Tasks>>> {
        look(job);
        STRAGGLE_EXPECTS(job.running.empty() || job.running.back().row < std::ranges::size(tasks));
        return {findings(), job, name(), std::ranges::data(tasks)};
    }

    /// The findings of the last call, as the detector noted them.
    [[nodiscard]] std::span<finding const> findings() const noexcept { return detail::span_of(findings_); }
    /// The detector's remark on the whole job.
    [[nodiscard]] detection_note note() const noexcept { return note_; }
    /// The rule.
    [[nodiscard]] Detector const& detector() const noexcept { return detector_; }
    /// The rule, for changes between scans.
    [[nodiscard]] Detector& detector() noexcept { return detector_; }
    /// What predicts times.
    [[nodiscard]] Predictor const& predictor() const noexcept { return predictor_; }
    /// The name of the rule.
    [[nodiscard]] static constexpr std::string_view name() noexcept { return Detector::name; }

  private:
    void look(job_view const& job) {
        next_.clear();
        detection_note const note = detector_.detect(job, scratch_, next_);
        findings_.reserve(next_.capacity()); // for the next scan: the two alternate
        note_ = note;
        findings_.swap(next_);
    }

    Detector detector_{};
    [[no_unique_address]] Predictor predictor_{};
    detector_scratch scratch_;
    std::vector<finding> findings_, next_;
    detection_note note_ = detection_note::none;
};

} // namespace straggle::detect
