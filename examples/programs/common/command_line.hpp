// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How a program reads its command line with CLI11, and its messages when something is wrong.
#pragma once

#include "../readers/history.hpp"
#include "failure.hpp"
#include "length.hpp"

#include <straggle/version.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>

namespace program {

/// Ends the program because of one option.
[[noreturn]] inline void wrong(std::string const& option, std::string const& what) {
    throw failure(exit_status::usage, option + ": " + what);
}

/// The words an option takes, and what they stand for.
template <class T, std::size_t N>
using choices = std::array<std::pair<std::string_view, T>, N>;

/// The value of a word; a `failure` lists the known words.
template <class T, std::size_t N>
T choose(std::string const& option, std::string_view word, choices<T, N> const& known) {
    std::string names;
    for (auto const& [name, value] : known) {
        if (name == word) return value;
        names += (names.empty() ? "" : ", ") + std::string(name);
    }
    wrong(option, "'" + std::string(word) + "' is not one of " + names);
}

/// The word for a value.
template <class T, std::size_t N>
std::string_view name_in(choices<T, N> const& known, T value) {
    for (auto const& [name, v] : known)
        if (v == value) return name;
    return "unknown";
}

/// The value of `--time-unit`.
inline time_unit parse_time_unit(std::string const& name) {
    if (auto const unit = unit_named(name)) return *unit;
    wrong("--time-unit", "'" + name + "' is not one of ns, us, ms, s");
}

/// The value of `--from`.
inline readers::format parse_format(std::string const& name) {
    if (auto const format = readers::format_named(name)) return *format;
    std::string names;
    for (std::string_view const known : readers::format_names) (names += names.empty() ? "" : ", ") += known;
    wrong("--from", "'" + name + "' is not one of " + names);
}

/// Adds `--version`.
inline void add_version(CLI::App& app) {
    app.set_version_flag("--version", app.get_name() + " " + std::to_string(STRAGGLE_VERSION_MAJOR) + "." +
                                          std::to_string(STRAGGLE_VERSION_MINOR) + "." +
                                          std::to_string(STRAGGLE_VERSION_PATCH));
}

/// Reads the command line.
/// @return false if there is nothing else to do: help or version have been printed
inline bool parse(CLI::App& app, int argc, char const* const* argv) {
    try {
        app.parse(argc, argv);
    } catch (CLI::Success const& asked) {
        app.exit(asked, std::cout, std::cerr);
        if (!std::cout.flush())
            throw failure(exit_status::cannot_write, "standard output: cannot be written");
        return false;
    } catch (CLI::ParseError const& e) {
        std::string text = e.what();
        std::replace(text.begin(), text.end(), '\n', ' ');
        throw failure(exit_status::usage, text + " (see --help)");
    }
    return true;
}

} // namespace program
