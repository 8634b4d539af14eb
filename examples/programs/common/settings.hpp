// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The name and the parameters of one detector on the command line.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace program {

/// Reads `name:key=value,key=value`. The maker of the detector queries each key that it knows; a key that was
/// not queried is a `failure`.
class settings {
  public:
    explicit settings(std::string_view specification);

    [[nodiscard]] std::string_view name() const { return name_; }

    /// Replaces the value if there is such a key. The first query for a key takes it.
    void take(std::string_view key, double& value, double low, double high);
    void take(std::string_view key, std::uint64_t& value, std::uint64_t low, std::uint64_t high);
    /// Whether the key is 1. @param otherwise the value without such a key
    [[nodiscard]] bool flag(std::string_view key, bool otherwise = false);
    /// Replaces the value by one of some, chosen by name.
    template <class T, std::size_t N>
    void choose(std::string_view key, T& value, std::array<std::pair<std::string_view, T>, N> const& from) {
        pair* const found = ask(key);
        if (!found) return;
        std::string names;
        for (auto const& [choice, chosen] : from) {
            if (choice == found->value) {
                value = chosen;
                return;
            }
            (names += names.empty() ? "" : ", ") += choice;
        }
        wrong(std::string(key) + ": '" + std::string(found->value) + "' is not one of " + names);
    }

    /// The flag `warm`. @param otherwise the value unless specified
    [[nodiscard]] bool warm(bool otherwise = false) { return warm_ = flag("warm", otherwise); }
    [[nodiscard]] bool is_warm() const { return warm_; }

    /// A `failure` if there is a key that was not queried.
    void finish() const;
    /// The keys that were queried, as a list.
    [[nodiscard]] std::string known() const;
    /// A `failure` about the specification.
    [[noreturn]] void wrong(std::string const& what) const;

  private:
    struct pair {
        std::string_view key, value;
        bool taken = false;
    };
    pair* ask(std::string_view key);

    std::string_view whole_, name_;
    std::vector<pair> pairs_;
    std::vector<std::string_view> asked_;
    bool warm_ = false;
};

} // namespace program
