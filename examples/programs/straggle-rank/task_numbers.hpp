// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Tells the tasks of a history apart without keeping their names. Who succeeded once only needs no number,
/// so that most histories need none.
#pragma once

#include <straggle/base/interner.hpp>
#include <straggle/record/attempt.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace straggle_rank {

/// So many bits has a key; all of them set is no task.
inline constexpr int task_key_bits = 62;
inline constexpr std::uint64_t no_task = (std::uint64_t{1} << task_key_bits) - 1;

/// A task of a job by a hash: among 10 million, two have the same at 1 to 90 000.
[[nodiscard]] inline std::uint64_t task_key(std::uint32_t job, std::string_view name) {
    if (name.empty()) return no_task;
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u;
    std::uint64_t h = (job + 1) * odd ^ name.size();
    auto const mix = [&h](std::uint64_t word) {
        h = (h ^ word) * odd;
        h ^= h >> 29U;
        h *= 0xBF58476D1CE4E5B9u;
        h ^= h >> 32U;
    };
    for (; name.size() >= 8; name.remove_prefix(8)) {
        std::uint64_t word = 0;
        std::memcpy(&word, name.data(), 8);
        mix(word);
    }
    std::uint64_t rest = 0;
    if (!name.empty()) std::memcpy(&rest, name.data(), name.size());
    mix(rest);
    h >>= 64 - task_key_bits;
    return h == no_task ? 0 : h;
}

/// Replaces the keys of tasks by numbers, 0, 1, 2..., where a task succeeded more than once, and by nothing
/// elsewhere.
/// @par Cost O(attempts); memory for a byte per attempt, and for the tasks that have several
template <class Attempts>
void number_repeated_tasks(Attempts& attempts) {
    auto const has_task = [](auto const& a) {
        return a.task_key() != no_task && a.status() == straggle::attempt_status::success;
    };
    // Bits by hash say which keys may be there twice; few of those that do not.
    std::size_t size = 64;
    while (size < 4 * attempts.size()) size *= 2;
    std::vector<bool> once(size), twice(size);
    for (auto const& a : attempts) {
        if (!has_task(a)) continue;
        auto const bit = static_cast<std::size_t>(a.task_key() & (size - 1));
        if (once[bit]) twice[bit] = true;
        once[bit] = true;
    }
    straggle::interner<std::uint64_t> keys;
    std::vector<bool> repeated;
    for (auto const& a : attempts) {
        if (!has_task(a) || !twice[static_cast<std::size_t>(a.task_key() & (size - 1))]) continue;
        std::uint32_t const n = keys.insert(a.task_key());
        if (n < repeated.size())
            repeated[n] = true;
        else
            repeated.push_back(false);
    }
    for (auto& a : attempts) {
        std::uint32_t const n = has_task(a) ? keys.find(a.task_key()) : keys.none;
        bool const counts = n != keys.none && repeated[n];
        a.set_task(counts ? std::optional(n) : std::nullopt);
    }
}

} // namespace straggle_rank
