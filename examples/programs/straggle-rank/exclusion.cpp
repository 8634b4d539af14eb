// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "exclusion.hpp"

#include "../common/text.hpp"
#include "parameters.hpp"

#include <optional>

namespace straggle_rank {

using namespace program;

namespace {

using straggle::blacklist::escalating;
using straggle::blacklist::hysteresis;
using straggle::blacklist::probation;
using straggle::blacklist::rerank_every_window;

constexpr std::string_view exclusions_option = "--exclusions";
constexpr std::int64_t many_windows = 1'000'000'000;
constexpr std::uint32_t many_times = 1'000'000'000;

// The rest of `a+b+c`; reads and removes the first policy if it has the given name.
class chain {
  public:
    explicit chain(std::string_view specification) : whole_(specification), rest_(specification) {}

    [[nodiscard]] std::optional<parameters> take(std::string_view name, std::size_t most) {
        if (done_) return std::nullopt;
        std::size_t const plus = rest_.find('+');
        parameters p(exclusions_option, rest_.substr(0, plus));
        if (p.name() != name) return std::nullopt;
        p.at_most(most);
        done_ = plus == std::string_view::npos;
        rest_.remove_prefix(done_ ? rest_.size() : plus + 1);
        return p;
    }
    [[nodiscard]] bool done() const { return done_; }
    [[noreturn]] void wrong() const {
        throw failure(exit_status::usage,
                      std::string(exclusions_option) + ": '" + std::string(whole_) +
                          "' is not [hysteresis:ENTER:LEAVE+][probation:PROBES:ABOVE+]escalating:BASE:MAX or "
                          "the same with rerank at the end (see --help)");
    }

  private:
    std::string_view whole_, rest_;
    bool done_ = false;
};

// The innermost policy; nothing for the default.
template <class Visit>
excluding with_inner(chain& rest, Visit&& visit) {
    if (rest.done()) return visit(escalating{});
    if (rest.take("rerank", 0)) {
        if (!rest.done()) rest.wrong();
        return visit(rerank_every_window{});
    }
    if (auto const p = rest.take("escalating", 2)) {
        if (!rest.done()) rest.wrong();
        escalating const policy{.base = p->optional<std::int64_t>(0, 1, 1, many_windows),
                                .max = p->optional<std::int64_t>(1, 16, 1, many_windows)};
        if (policy.max < policy.base) p->wrong("MAX is less than BASE");
        return visit(policy);
    }
    rest.wrong();
}

template <class Inner>
probation<Inner> trial(parameters const& p, Inner inner) {
    return {.inner = inner,
            .probes = p.optional<std::uint64_t>(0, 3, 1, many_times),
            .relapse_above = p.optional(1, 1.0, -1e9, 1e9)};
}

template <class Inner>
hysteresis<Inner> patient(parameters const& p, Inner inner) {
    return {.inner = inner,
            .enter = p.optional<std::uint32_t>(0, 2, 1, many_times),
            .leave = p.optional<std::uint32_t>(1, 2, 1, many_times)};
}

std::string words(rerank_every_window const&) {
    return "rerank";
}
std::string words(escalating const& e) {
    return "escalating:" + std::to_string(e.base) + ":" + std::to_string(e.max);
}
template <class Inner>
std::string words(probation<Inner> const& p) {
    return "probation:" + std::to_string(p.probes) + ":" + exact(p.relapse_above) + "+" + words(p.inner);
}
template <class Inner>
std::string words(hysteresis<Inner> const& h) {
    return "hysteresis:" + std::to_string(h.enter) + ":" + std::to_string(h.leave) + "+" + words(h.inner);
}

} // namespace

std::string excluding::text() const {
    return std::visit([](auto const& rule) { return words(rule); }, rule_);
}

excluding parse_exclusions(std::string_view specification) {
    chain rest(specification);
    auto const before = rest.take("hysteresis", 2);
    // On its own, hysteresis wraps the default.
    bool const alone = before && rest.done();
    auto const with_trial =
        alone ? std::optional(parameters(exclusions_option, "probation")) : rest.take("probation", 2);
    return with_inner(rest, [&](auto inner) {
        if (before && with_trial) return excluding(patient(*before, trial(*with_trial, inner)));
        if (before) return excluding(patient(*before, inner));
        if (with_trial) return excluding(trial(*with_trial, inner));
        return excluding(inner);
    });
}

} // namespace straggle_rank
