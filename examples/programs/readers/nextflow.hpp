// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Nextflow's `trace.txt`.
#pragma once

#include "fields.hpp"
#include "history.hpp"
#include "text_window.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace readers {

[[nodiscard]] bool looks_like_nextflow(std::string_view head);

/// Where and when the jobs of a batch system ran, by the ids that Nextflow calls `native_id`.
class native_jobs {
  public:
    struct job {
        std::string node;
        std::optional<moment> start, end;
    };
    /// Keeps what `sacct` reports. Of a requeued job, the last run counts.
    void add(attempt const& a);
    [[nodiscard]] job const* find(std::string_view native_id) const;

  private:
    std::map<std::string, job, std::less<>> jobs_;
};

/// @param given which column is what, where the names are not Nextflow's
/// @param joined null: none
void read_nextflow(text_window& text, given_columns const& given, native_jobs const* joined, collector& out);

/// `1h 2m 3.5s`, `850ms`, `0ms`, or milliseconds as in a raw trace.
[[nodiscard]] std::optional<moment> nextflow_length(std::string_view text);
/// `1.2 GB`, or bytes as in a raw trace.
[[nodiscard]] std::optional<double> nextflow_bytes(std::string_view text);

} // namespace readers
