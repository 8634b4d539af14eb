// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Defines straggler detectors: small types that examine the running tasks of one job and name those that
/// look slow, worst first, each with its evidence. Whether a copy is worth it is a separate question.
///
/// All times are in one unit: seconds for times of `std::chrono`, otherwise the unit of the user's numbers.
#pragma once

#include <straggle/base/config.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detect {

/// A running task as detectors see it: one entry per task regardless of its number of attempts, from the
/// attempt that is furthest.
struct running_task {
    double progress = 0;      ///< share done, in [0, 1]
    double elapsed = 0;       ///< time since it started
    double input = 1;         ///< how much it has to read, in the user's unit; 1 if unknown
    std::uint32_t node = 0;   ///< index of its node within the job
    std::uint32_t row = 0;    ///< its index in the user's range
    std::uint32_t copies = 1; ///< running attempts of the task, itself included
};

/// What is known about a node that the job has used.
struct job_node {
    std::uint64_t finished = 0; ///< tasks of the job that finished there
    double total_time = 0;      ///< of those tasks
    double slowdown = 1;        ///< how much longer tasks take there than elsewhere, as far as known
    bool modelled = false;      ///< the caller has set `slowdown`
    /// Finished tasks whose times are compared on a logarithmic scale: the logarithm of the time divided by
    /// the task's usual time if `job_view::usual_told`, otherwise by its input.
    std::uint64_t compared = 0;
    double log_mean = 0;            ///< mean of these logarithms
    std::uint32_t running = 0;      ///< tasks of the job running there now
    std::uint32_t most_running = 0; ///< maximum that ever ran there at once; 0: unknown
};

/// A straggler as noted by a detector. `straggler_scan` turns it into a `suspect`, which adds the user's
/// record and the name of the rule.
struct finding {
    std::uint32_t task = 0; ///< index into `job_view::running`
    double value = 0;       ///< what was compared; defined by the rule
    double threshold = 0;   ///< the bound it was compared with
    double usual = 0;       ///< the usual value, in the unit of the value
    friend bool operator==(finding const&, finding const&) = default;
};

/// One job at one moment: everything that a detector may use. Numbers are finite and not negative, as
/// `job_progress` ensures; in a manually built view, a task whose numbers are NaN is never a suspect.
struct job_view {
    std::span<running_task const> running; ///< running tasks, in the order of the user's range
    std::span<double const> finished;      ///< times of finished tasks, shortest first
    std::span<job_node const> nodes;       ///< by node index
    double mean_finished = 0;              ///< mean of `finished`; 0 if empty
    double sd_finished = 0;                ///< their population standard deviation
    std::uint64_t tasks = 0;               ///< all tasks of the job: finished, running and waiting
    double age = 0;                        ///< time since the job started
    /// Times of finished tasks divided by their input, shortest first; `finished` if inputs are unknown.
    std::span<double const> finished_per_input;
    double finished_input = 0; ///< total input of the finished tasks; 1 each if unknown
    std::uint64_t slots = 0;   ///< of the cluster, for tasks of this kind; 0 if unknown
    bool usual_told = false;   ///< the caller passed usual times of finished tasks, see `job_node::compared`
};

/// Which tasks of a job an average is taken over.
enum class task_scope : std::uint8_t {
    running, ///< running tasks
    started, ///< running and finished tasks
    all,     ///< running, finished and waiting tasks
};

/// A detector's remark on the whole job, mostly when it suspects no task.
enum class detection_note : std::uint8_t {
    none,             ///< nothing out of the ordinary
    too_early,        ///< the job, or every task, is too young to judge
    too_few_finished, ///< fewer tasks have finished than the rule needs
    too_few_running,  ///< fewer tasks run than the rule needs
    cap_reached,      ///< there were more suspects than may be named
};

/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(detection_note n) noexcept {
    switch (n) {
    case detection_note::none:
        return "none";
    case detection_note::too_early:
        return "too_early";
    case detection_note::too_few_finished:
        return "too_few_finished";
    case detection_note::too_few_running:
        return "too_few_running";
    case detection_note::cap_reached:
        return "cap_reached";
    }
    return "unknown";
}

/// Working memory of detectors, kept between scans so that the steady state allocates nothing.
struct detector_scratch {
    std::vector<double> values;       ///< a number per task
    std::vector<double> node_values;  ///< a number per node
    std::vector<std::uint32_t> order; ///< indices of tasks or nodes
};

/// A rule that decides which running tasks of a job are stragglers. `detect(job, scratch, out)` appends a
/// finding for each to `out`, worst first, ties in the order of the running tasks. `name` appears in reports.
template <class Detector>
concept straggler_detector =
    std::move_constructible<Detector> &&
    requires(Detector& detector, job_view const& job, detector_scratch& scratch, std::vector<finding>& out) {
        { detector.detect(job, scratch, out) } -> std::same_as<detection_note>;
        { Detector::name } -> std::convertible_to<std::string_view>;
    };

} // namespace straggle::detect

namespace straggle::inline STRAGGLE_ABI::detail {

// Says in one line what a type lacks; the concept would take dozens.
template <class Detector>
consteval bool explain_detector() {
    constexpr bool is_object = std::is_class_v<Detector>;
    constexpr bool is_named = requires {
        { Detector::name } -> std::convertible_to<std::string_view>;
    };
    constexpr bool detects =
        requires(Detector& detector, detect::job_view const& job, detect::detector_scratch& scratch,
                 std::vector<detect::finding>& out) { detector.detect(job, scratch, out); };
    static_assert(is_object, "a detector is an object, such as detect::late{}, not a number");
    static_assert(!is_object || is_named, "a detector needs a name (a lambda has none: write a struct): add "
                                          "static constexpr std::string_view name = \"...\"");
    static_assert(!is_object || detects,
                  "a detector needs detect(job_view const&, detector_scratch&, std::vector<finding>&)");
    static_assert(!is_object || !is_named || !detects || detect::straggler_detector<Detector>,
                  "detect has to return a detect::detection_note");
    return true;
}

} // namespace straggle::detail
