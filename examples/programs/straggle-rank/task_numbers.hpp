// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Distinguishes the tasks of a history without keeping their names. A task that succeeded only once needs no
/// number, so most histories need none.
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

/// Number of bits of a key; all of them set: no task.
inline constexpr int task_key_bits = 62;
inline constexpr std::uint64_t no_task = (std::uint64_t{1} << task_key_bits) - 1;

/// A hash of a job's task: among 10 million, two are equal with probability 1 in 90 000.
[[nodiscard]] inline std::uint64_t task_key(std::uint32_t job, std::string_view name) {
    if (name.empty()) return no_task;
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u;
    std::uint64_t h = ((job + 1) * odd ^ name.size()) * odd; // no length is equivalent to another character
    auto const mix = [&h](std::uint64_t word) {
        h = (h ^ word) * odd;
        h ^= h >> 29U;
        h *= 0xBF58476D1CE4E5B9u;
        h ^= h >> 32U;
    };
    auto const load = []<class Word>(Word word, char const* from) {
        std::memcpy(&word, from, sizeof word);
        return std::uint64_t{word};
    };
    for (; name.size() >= 8; name.remove_prefix(8)) mix(load(std::uint64_t{}, name.data()));
    // The remainder overlaps: the length is in the hash, and no loop is needed.
    char const* const p = name.data();
    std::size_t const left = name.size();
    std::uint64_t rest = 0;
    if (left >= 4)
        rest = load(std::uint32_t{}, p) | load(std::uint32_t{}, p + left - 4) << 32U;
    else if (left > 0)
        rest = load(std::uint8_t{}, p) | load(std::uint8_t{}, p + left / 2) << 8U |
               load(std::uint8_t{}, p + left - 1) << 16U;
    mix(rest);
    h >>= 64 - task_key_bits;
    return h == no_task ? 0 : h;
}

/// A set of keys that also contains a few that were never inserted (a Bloom filter): four bits of one word
/// for each.
class key_filter {
  public:
    /// For no keys.
    key_filter() = default;
    /// @param most number of keys, at two to four bytes each
    explicit key_filter(std::size_t most) {
        std::size_t words = 1;
        while (4 * words < most) words *= 2;
        words_.resize(words);
    }
    /// @return whether it may have been inserted before
    bool insert(std::uint64_t key) {
        std::uint64_t const bits = bits_of(key);
        std::uint64_t& word = words_[place_of(key)];
        bool const was_there = (word & bits) == bits;
        word |= bits;
        return was_there;
    }
    [[nodiscard]] bool may_contain(std::uint64_t key) const {
        std::uint64_t const bits = bits_of(key);
        return (words_[place_of(key)] & bits) == bits;
    }

  private:
    static std::uint64_t bits_of(std::uint64_t key) {
        return std::uint64_t{1} << (key & 63U) | std::uint64_t{1} << (key >> 6 & 63U) |
               std::uint64_t{1} << (key >> 12 & 63U) | std::uint64_t{1} << (key >> 18 & 63U);
    }
    [[nodiscard]] std::size_t place_of(std::uint64_t key) const {
        return static_cast<std::size_t>(key >> 24 & (words_.size() - 1));
    }

    std::vector<std::uint64_t> words_;
};

/// Finds the tasks of a list of attempts that succeeded more than once, while the list grows: what was just
/// added is still in the cache.
/// @par Cost O(attempts); memory for two to four bytes per attempt that the list has room for, and for the
/// tasks that have several
class repeated_tasks {
  public:
    /// Processes what was added to the list. The list may be passed with times of a different type.
    template <class Attempts>
    void follow(Attempts const& attempts) {
        if (attempts.capacity() > room_) { // from the beginning: a filter cannot grow
            room_ = attempts.capacity();
            once_ = key_filter(room_);
            keys_.clear();
            seen_ = 0;
        }
        for (; seen_ < attempts.size(); ++seen_) {
            auto const& a = attempts[seen_];
            if (has_task(a) && once_.insert(a.task_key())) keys_.insert(a.task_key());
        }
    }

    /// Numbers the tasks that succeeded more than once, and no others. The list must be complete.
    template <class Attempts>
    void number(Attempts& attempts) && {
        follow(attempts);
        once_ = {};
        if (keys_.size() == 0) return;
        key_filter several(4 * keys_.size()); // in the cache, unlike the keys
        for (std::uint64_t const key : keys_.ids()) several.insert(key);
        struct succeeded {
            std::size_t first = 0;
            bool again = false;
        };
        std::vector<succeeded> tasks(keys_.size());
        std::vector<bool> known(keys_.size());
        for (std::size_t i = 0; i < attempts.size(); ++i) {
            auto& a = attempts[i];
            if (!has_task(a) || !several.may_contain(a.task_key())) continue;
            std::uint32_t const n = keys_.find(a.task_key());
            if (n == keys_.none) continue;
            a.set_task(n);
            tasks[n].again = known[n];
            if (!known[n]) tasks[n].first = i;
            known[n] = true;
        }
        for (succeeded const& task : tasks) // those that only the filter had taken for repeated
            if (!task.again) attempts[task.first].set_task(std::nullopt);
    }

  private:
    template <class Attempt>
    static bool has_task(Attempt const& a) {
        return a.task_key() != no_task && a.status() == straggle::attempt_status::success;
    }

    key_filter once_;
    straggle::interner<std::uint64_t> keys_; // of those that may be repeated, and few others
    std::size_t room_ = 0, seen_ = 0;
};

} // namespace straggle_rank
