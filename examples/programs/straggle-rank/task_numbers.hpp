// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Tells the tasks of a history apart without keeping their names. Who succeeded once only needs no number,
/// so that most histories need none.
#pragma once

#include <straggle/base/interner.hpp>
#include <straggle/record/attempt.hpp>

#include <algorithm>
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

/// Keys, and few that were never inserted (a Bloom filter): three bits of one word for each.
class key_filter {
  public:
    /// @param most so many keys, for which it takes one to two bytes each
    explicit key_filter(std::size_t most) {
        std::size_t words = 1;
        while (8 * words < most) words *= 2;
        words_.resize(words);
    }
    /// @return whether it may have been there
    bool insert(std::uint64_t key) {
        std::uint64_t& word = word_of(key);
        bool const was_there = (word & bits_of(key)) == bits_of(key);
        word |= bits_of(key);
        return was_there;
    }
    [[nodiscard]] bool may_contain(std::uint64_t key) const {
        return (words_[place_of(key)] & bits_of(key)) == bits_of(key);
    }

  private:
    static std::uint64_t bits_of(std::uint64_t key) {
        return std::uint64_t{1} << (key & 63U) | std::uint64_t{1} << (key >> 6 & 63U) |
               std::uint64_t{1} << (key >> 12 & 63U);
    }
    [[nodiscard]] std::size_t place_of(std::uint64_t key) const {
        return static_cast<std::size_t>(key >> 18 & (words_.size() - 1));
    }
    std::uint64_t& word_of(std::uint64_t key) { return words_[place_of(key)]; }

    std::vector<std::uint64_t> words_;
};

/// Replaces the keys of tasks by numbers where a task succeeded more than once, and by nothing elsewhere.
/// @par Cost O(attempts); memory for two to four bytes per attempt, and for the tasks that have several
template <class Attempts>
void number_repeated_tasks(Attempts& attempts) {
    auto const has_task = [](auto const& a) {
        return a.task_key() != no_task && a.status() == straggle::attempt_status::success;
    };
    key_filter once(attempts.size()), twice(attempts.size());
    straggle::interner<std::uint64_t> keys; // of those that may have several, and few others
    for (auto const& a : attempts) {
        if (!has_task(a) || !once.insert(a.task_key())) continue;
        twice.insert(a.task_key());
        keys.insert(a.task_key());
    }
    std::vector<std::uint32_t> successes(keys.size());
    for (auto& a : attempts) {
        bool const may_count = has_task(a) && twice.may_contain(a.task_key());
        std::uint32_t const n = may_count ? keys.find(a.task_key()) : keys.none;
        if (n != keys.none) ++successes[n];
        a.set_task(n != keys.none ? std::optional(n) : std::nullopt);
    }
    if (std::find(successes.begin(), successes.end(), 1U) == successes.end()) return;
    for (auto& a : attempts)
        if (auto const n = a.task(); n && successes[*n] < 2) a.set_task(std::nullopt);
}

} // namespace straggle_rank
