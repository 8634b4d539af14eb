// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `job_progress`: reads and checks the numbers of a running task.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/projection.hpp>
#include <straggle/detect/detector.hpp>
#include <straggle/record/running.hpp>

#include <bit>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::detail {

// Compares bits: those of nonnegative numbers are in order, and NaN is above all. May misjudge -0.
struct by_bits {
    static constexpr bool is_share(double x) noexcept { return bits(x) <= bits(1.0); }
    static constexpr bool is_positive(double x) noexcept { return bits(x) - 1 < infinity_bits - 1; }
    static constexpr bool is_length(double x) noexcept { return bits(x) < infinity_bits; }

  private:
    static constexpr std::uint64_t bits(double x) noexcept { return std::bit_cast<std::uint64_t>(x); }
};

// Why a start is unusable; called only if the time since then looks wrong.
template <class Time>
std::optional<record::running_rejection> start_fault(Time const& start, Time const& now) {
    if (is_unordered(start)) return record::running_rejection::missing_start;
    if (!(start <= now)) return record::running_rejection::not_started;
    return std::nullopt;
}

// Reads everything about a task except node and row, or the reason to reject it; for a usable task, whether
// its progress is known and when the first task started.
template <class Task, class Fields, class Time>
STRAGGLE_ALWAYS_INLINE std::optional<record::running_rejection>
read_numbers(Task const& task, Fields const& fields, Time const& now, detect::running_task& t, Time& begin,
             std::uint64_t& unreported) {
    using record::running_rejection;
    auto&& start = project(fields.start, task);
    if (!is_present(start)) return running_rejection::missing_start;
    double elapsed = 0;
    if constexpr (std::is_floating_point_v<Time>) {
        elapsed = to_time(now - unwrap(start));
        if (!by_bits::is_length(elapsed)) [[unlikely]]
            if (auto const fault = start_fault(unwrap(start), now)) return fault;
    } else {
        if (auto const fault = start_fault(unwrap(start), now)) return fault;
        elapsed = to_time(now - unwrap(start));
    }
    double done = 0, size = 1;
    bool reported = false;
    if constexpr (given<decltype(Fields::progress)>) {
        auto const& progress = project(fields.progress, task);
        reported = is_present(progress);
        if (reported) done = static_cast<double>(unwrap(progress));
        if (!by_bits::is_share(done)) [[unlikely]] {
            if (done != 0) return running_rejection::bad_progress;
            done = 0;
        }
    }
    if constexpr (given<decltype(Fields::input)>) {
        auto const& input = project(fields.input, task);
        if (is_present(input)) size = static_cast<double>(unwrap(input));
        if (!by_bits::is_positive(size)) size = 1;
    }
    std::uint32_t several = 1;
    if constexpr (given<decltype(Fields::copies)>) {
        auto const& copies = project(fields.copies, task);
        if (is_present(copies) && unwrap(copies) > 1) several = static_cast<std::uint32_t>(unwrap(copies));
    }
    unreported += reported ? 0u : 1u;
    if (unwrap(start) < begin) begin = unwrap(start);
    t.progress = done;
    t.elapsed = elapsed;
    t.input = size;
    t.copies = several;
    return std::nullopt;
}

} // namespace straggle::detail
