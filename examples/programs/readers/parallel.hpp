// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// GNU parallel's `--joblog`.
#pragma once

#include "history.hpp"
#include "text_window.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace readers {

[[nodiscard]] bool looks_like_joblog(std::string_view head);
void read_joblog(text_window& text, collector& out);

/// The template from which a command was made, which is not in the log: of commands with the same first word
/// and number of words, it consists of the words that all, or nearly all, share.
class command_templates {
  public:
    /// Adds a command before the first query.
    void learn(std::string_view command);
    /// The command with `{}` for what differs. @param to is overwritten
    void find(std::string_view command, std::string& to);

  private:
    struct position {
        std::map<std::string, std::uint32_t, std::less<>> values; // up to one more than are kept
        bool many = false;
    };
    struct shape {
        std::uint32_t commands = 0;
        std::vector<position> words;
        std::vector<std::vector<std::string>> of_template{}; // by position, once it is queried
    };
    static constexpr std::size_t most_values = 8;
    static constexpr std::uint32_t commands_per_value = 8;

    void split_words(std::string_view command);
    [[nodiscard]] shape* shape_of_words();
    static void settle(shape& s);

    std::map<std::string, shape, std::less<>> shapes_; // by count and first word
    std::vector<std::string_view> words_;
    std::string key_;
    shape* last_ = nullptr; // of key_
    std::size_t last_count_ = 0;
    std::string last_word_;
};

} // namespace readers
