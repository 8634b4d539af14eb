// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/rank_nodes.hpp` and `rank/normalize.hpp`: attempts as plain numbers, which is all
/// that the computation sees of the caller's records.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/detail/log_ticks.hpp>
#include <straggle/record/attempt.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// A used attempt.
template <class Value>
struct attempt_row {
    Value value{};
    std::uint32_t job = 0, node = 0;
};

// An unscored attempt that still contributes to slowdowns: it was superseded or killed.
template <class Value>
struct unscored_attempt {
    Value value{};
    std::uint32_t job = 0, node = 0;
    float input = unknown_input; // logarithm
    bool censored = false;
};

// Jobs and nodes are numbered in order of first appearance; a node may have no used attempt.
template <class Value>
struct attempt_columns {
    std::size_t jobs = 0, nodes = 0; // how many are numbered
    std::size_t row_nodes = 0;       // those before the first that only has killed attempts
    std::vector<attempt_row<Value>> rows;
    std::vector<unscored_attempt<Value>> others;
    std::vector<double> inputs;         // by row if they were read; 0: unknown
    std::vector<std::uint64_t> kinds;   // by job, likewise
    std::vector<std::uint64_t> records; // by row, if requested: the index of its record
    attempt_counts counts;

    void clear() noexcept {
        rows.clear();
        others.clear();
        inputs.clear();
        kinds.clear();
        records.clear();
        counts = {};
    }
};

} // namespace straggle::detail
