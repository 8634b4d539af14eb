// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Reads a policy with its numbers from one word of the command line.
#pragma once

#include "../common/failure.hpp"
#include "../common/number.hpp"

#include <charconv>
#include <string_view>
#include <vector>

namespace straggle_rank {

using namespace program;

/// The parts of `name:a:b` after the name, as numbers.
class parameters {
  public:
    parameters(std::string_view option, std::string_view specification)
        : option_(option), whole_(specification) {
        std::size_t const colon = specification.find(':');
        name_ = specification.substr(0, colon);
        while (specification.find(':') != std::string_view::npos) {
            specification.remove_prefix(specification.find(':') + 1);
            parts_.push_back(specification.substr(0, specification.find(':')));
        }
    }

    [[nodiscard]] std::string_view name() const { return name_; }

    template <class T>
    T required(std::size_t i, T low, T high) const {
        if (i >= parts_.size()) wrong("a number is missing");
        T value{};
        std::string_view const s = parts_[i];
        if (!read(s, value) || !(value >= low && value <= high))
            wrong("'" + std::string(s) + "' is not a number in its range");
        return value;
    }
    template <class T>
    T optional(std::size_t i, T otherwise, T low, T high) const {
        return i < parts_.size() ? required(i, low, high) : otherwise;
    }
    void at_most(std::size_t count) const {
        if (parts_.size() > count) wrong("too many numbers");
    }
    [[nodiscard]] bool has(std::size_t i) const { return i < parts_.size(); }
    [[noreturn]] void wrong(std::string const& what) const {
        throw failure(exit_status::usage,
                      std::string(option_) + ": '" + std::string(whole_) + "': " + what + " (see --help)");
    }

  private:
    static bool read(std::string_view s, double& value) { return program::detail::read_double(s, value); }
    template <class Integer>
    static bool read(std::string_view s, Integer& value) {
        auto const [end, fault] = std::from_chars(s.data(), s.data() + s.size(), value);
        return fault == std::errc{} && end == s.data() + s.size();
    }

    std::string_view option_, whole_, name_;
    std::vector<std::string_view> parts_;
};

} // namespace straggle_rank
