// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Detectors by name, with parameters: `late:alpha=0.5,lag=20`.
#pragma once

#include <straggle/base/outcome.hpp>
#include <straggle/detect/detector.hpp>
#include <straggle/detect/suspect_list.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace program {

/// A detector with the memory it works in.
class contestant {
  public:
    using look = std::function<straggle::detect::suspect_list<>(straggle::detect::job_view const&)>;
    contestant(std::string label, bool warm, look scan)
        : label_(std::move(label)), warm_(warm), look_(std::move(scan)) {}

    /// As on the command line.
    [[nodiscard]] std::string const& label() const { return label_; }
    /// Whether it is passed what earlier jobs show about the nodes.
    [[nodiscard]] bool is_warm() const { return warm_; }
    straggle::detect::suspect_list<> operator()(straggle::detect::job_view const& job);

  private:
    std::string label_;
    bool warm_;
    look look_;
    std::vector<straggle::detect::job_node> nodes_; // without what a cold one must not know
};

/// What detectors are passed about the tasks.
struct known_of_tasks {
    double threshold = 1.2;   ///< what makes a straggler
    double usual_seconds = 0; ///< above 0: how long tasks usually take
    bool warm = false;        ///< whether detectors that can be warm are, unless specified otherwise
    /// The defaults of a specification; as in `node_aware`
    std::optional<double> resolution{}, report_interval{};
    /// How long a task usually takes, if that is known of each; for those that are warm
    std::function<straggle::outcome<double>(straggle::detect::running_task const&,
                                            straggle::detect::job_view const&)>
        usual_time_of{};
};

/// The detector of a specification; a `failure` says what is wrong with it.
[[nodiscard]] contestant make_contestant(std::string_view specification, known_of_tasks const& known);

/// One specification for each detector.
[[nodiscard]] std::vector<std::string> every_detector();

/// What may be specified, for `--help`.
[[nodiscard]] std::string detector_help();

} // namespace program
