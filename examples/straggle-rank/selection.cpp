// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "failure.hpp"
#include "number.hpp"
#include "options.hpp"

#include <charconv>
#include <vector>

namespace straggle_rank {

namespace {

// The parts of `name:a:b` behind the name, as numbers.
class parameters {
  public:
    explicit parameters(std::string_view specification) : whole_(specification) {
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
                      "--select: '" + std::string(whole_) + "': " + what + " (see --help)");
    }

  private:
    static bool read(std::string_view s, double& value) { return detail::read_double(s, value); }
    template <class Integer>
    static bool read(std::string_view s, Integer& value) {
        auto const [end, fault] = std::from_chars(s.data(), s.data() + s.size(), value);
        return fault == std::errc{} && end == s.data() + s.size();
    }

    std::string_view whole_, name_;
    std::vector<std::string_view> parts_;
};

constexpr double tiny = 1e-9;
constexpr double huge = 1e9;
constexpr std::size_t many = 1'000'000'000;

top_k read_top_k(parameters const& p) {
    top_k policy{p.required<std::size_t>(0, 0, many), {}};
    if (p.has(1)) policy.seed = p.required<std::uint64_t>(1, 0, UINT64_MAX);
    return policy;
}

} // namespace

selection parse_selection(std::string_view specification) {
    parameters const p(specification);
    auto const is = [&](std::string_view name, std::size_t most) {
        if (p.name() != name) return false;
        p.at_most(most);
        return true;
    };
    if (is("dominated", 1)) return straggle::dominated{p.optional(0, 0.5, tiny, 1.0)};
    if (is("dominated_fdr", 2))
        return straggle::dominated_fdr{.q = p.optional(0, 0.5, tiny, 1.0),
                                       .alpha = p.optional(1, 0.05, tiny, 1 - tiny)};
    if (is("weakest_level", 0)) return straggle::weakest_level{};
    if (is("top_k", 2)) return read_top_k(p);
    if (is("median_mad", 2))
        return straggle::median_mad{.deviations = p.optional(0, 3.0, 0.0, huge),
                                    .low = p.optional(1, 0.0, -huge, huge)};
    if (is("leave_top_k_out", 2))
        return straggle::leave_top_k_out{.k = p.required<std::size_t>(0, 0, many),
                                         .sigmas = p.optional(1, 5.0, 0.0, huge)};
    if (is("mean_plus_sigmas", 1)) return straggle::mean_plus_sigmas{.sigmas = p.optional(0, 1.9, 0.0, huge)};
    p.wrong("no such policy");
}

} // namespace straggle_rank
