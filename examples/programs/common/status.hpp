// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How an attempt ended, in the words of various schedulers.
#pragma once

#include <straggle/record/attempt.hpp>

#include <array>
#include <string_view>

namespace history_words {

/// Whether a field is a word, in letters of either case.
[[nodiscard]] inline bool is_word(std::string_view field, std::string_view lower_case) {
    if (field.size() != lower_case.size()) return false;
    for (std::size_t i = 0; i < field.size(); ++i) {
        char const c = field[i];
        if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != lower_case[i]) return false;
    }
    return true;
}

/// Everything that is neither a success nor a kill is a failure: an unknown end is no evidence.
[[nodiscard]] inline straggle::attempt_status read_status(std::string_view field) {
    constexpr std::array<std::string_view, 7> success{"success", "succeeded", "ok",  "true",
                                                      "1",       "completed", "done"};
    constexpr std::array<std::string_view, 3> killed{"killed", "cancelled", "canceled"};
    for (std::string_view word : success)
        if (is_word(field, word)) return straggle::attempt_status::success;
    std::string_view const first_word = field.substr(0, field.find(' ')); // Slurm: "CANCELLED by 1000"
    for (std::string_view word : killed)
        if (is_word(first_word, word)) return straggle::attempt_status::killed;
    return straggle::attempt_status::failed;
}

/// Whether a field says that an attempt has not ended; an empty field does if no end is known.
[[nodiscard]] inline bool is_running(std::string_view field) {
    constexpr std::array<std::string_view, 4> running{"", "running", "started", "suspended"};
    for (std::string_view word : running)
        if (is_word(field, word)) return true;
    return false;
}

} // namespace history_words
