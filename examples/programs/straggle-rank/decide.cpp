// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "decide.hpp"

#include "../common/text.hpp"

#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/forecast_weak.hpp>
#include <straggle/mitigate/reason.hpp>

#include <cmath>
#include <regex>

namespace straggle_rank {

using namespace program;

namespace {

// The failure domain of every node.
std::vector<std::string> domains(history const& h, std::string const& expression) {
    constexpr std::size_t longest = 1024; // std::regex recurses over its text
    std::regex const regex(expression);
    std::vector<std::string> result;
    for (std::string const& name : h.nodes.ids()) {
        std::string const head = name.substr(0, longest);
        std::smatch match;
        if (std::regex_search(head, match, regex))
            result.push_back(match[match.size() > 1 ? 1 : 0]);
        else
            result.emplace_back();
    }
    return result;
}

// The measurement, in words.
std::string measured(verdict const& v, options const& o) {
    if (std::string const told = in_words(v.slow); !told.empty()) return told;
    std::string const interval = percent(o.confidence) + " interval " + signed_number(v.ci.low) + " to " +
                                 signed_number(v.ci.high) + ", " + counted(v.n, "task");
    if (o.normalizer == normalizer::ratio)
        return "takes " + fixed(v.mean, 2) + " times as long as usual (" + interval + ")";
    return fixed(std::fabs(v.mean), 2) + (v.mean < 0 ? " deviations faster" : " deviations slower") +
           " than siblings elsewhere (" + interval + ")";
}

// The policy's conclusion; `of_all` goes with the number of nodes that are faster.
std::string comparison(verdict const& v, std::string const& of_all) {
    std::string faster = std::to_string(v.provably_faster) + of_all + " other nodes are significantly faster";
    if (v.rule == "dominated") return faster;
    if (v.rule == "forecast_weak")
        return "expected to be weak in the next period, p = " + fixed(v.value, 2) + ", at least " +
               short_number(v.threshold);
    if (v.rule == "dominated_fdr")
        return faster + ", p = " + short_number(v.value) + ", at most " + short_number(v.threshold);
    if (v.rule == "slower_by")
        return "at least " + fixed(v.value, 2) + " times; more than " + fixed(v.threshold, 2) + " counts";
    if (v.rule == "weakest_level") return "no other node is significantly slower";
    if (v.rule == "top_k_intersection") return "among the slowest or least steady of the weakest level";
    return "the mean exceeds the threshold of " + signed_number(v.threshold);
}

} // namespace

fleet fleet_of(history const& h, options const& o) {
    return {{h.nodes.ids().begin(), h.nodes.ids().end()},
            h.slots,
            o.limits.domain ? domains(h, *o.limits.domain) : std::vector<std::string>{}};
}

decision decide(ranking const& r, fleet const& f, options const& o, expectation const* expected) {
    auto const decide_by = [&](auto policy) {
        return std::apply(
            [&](auto... limits) {
                return straggle::blacklister(std::move(policy), std::move(limits)...).decide(r);
            },
            limits_of(f, o.limits));
    };
    std::mt19937_64 engine;
    return with_selection(o.selection, engine, [&](auto policy) {
        if (expected == nullptr || !expected->is_useful) return decide_by(std::move(policy));
        auto const by_forecast = [&p = expected->probability](std::uint32_t node) { return p[node]; };
        return decide_by(straggle::blacklist::either(
            std::move(policy), straggle::blacklist::forecast_weak(by_forecast, expected->least)));
    });
}

std::string in_words(straggle::slowdown const& s) {
    return s.is_known() || s.value > 1 ? straggle::mitigate::reason(s) : std::string();
}

std::string in_words(straggle::blacklist::failure_rate const& f) {
    return grouped(f.failed) + " of " + counted(f.attempts, "attempt") + " failed (" + percent(f.low) +
           " to " + percent(f.high) + ")" +
           (f.others != 0 ? ", " + percent(f.elsewhere) + " elsewhere" : ", none ran elsewhere");
}

std::vector<std::string_view> causes(std::uint8_t set) {
    using straggle::blacklist::cause;
    std::vector<std::string_view> names;
    for (auto const& [bit, name] : {std::pair(cause::slow, "slow"), std::pair(cause::hung, "hung"),
                                    std::pair(cause::failing, "failing"), std::pair(cause::denied, "denied")})
        if (straggle::blacklist::has(set, bit)) names.emplace_back(name);
    return names;
}

namespace {

// Of a verdict that was reached by attempts; empty for all others.
std::string by_attempts(verdict const& v) {
    if (v.rule == "slowdown" || v.rule == "running_time" || v.rule == "hung") return in_words(v.slow);
    if (v.rule == "killed")
        return counted(static_cast<std::uint64_t>(v.value), "attempt") +
               " in a row were killed, while their siblings ended elsewhere";
    if (v.rule == "failures")
        return percent(v.value) + " of its latest attempts failed; no more than " + percent(v.threshold) +
               " is usual";
    return {};
}

} // namespace

std::string reason(verdict const& v, ranking const& r, options const& o) {
    if (std::string const why = by_attempts(v); !why.empty()) return why;
    return measured(v, o) + "; " + comparison(v, " of the " + std::to_string(r.nodes().size() - 1));
}

std::string reason(verdict const& v, options const& o) {
    if (std::string const why = by_attempts(v); !why.empty()) return why;
    return measured(v, o) + "; " + comparison(v, "");
}

std::string limit_reason(std::string_view limit, options const& o) {
    limit_options const& g = o.limits;
    using straggle::blacklist::spared;
    for (spared const by : {spared::by_limit, spared::by_load, spared::by_domain, spared::by_operator,
                            spared::by_action_cap, spared::by_fail_open})
        if (limit == to_string(by)) return std::string(straggle::mitigate::reason(by));
    if (limit == "share_of_slots")
        return "at most " + percent(g.max_fraction.value_or(0)) +
               " of all slots may be taken out, or one node";
    if (limit == "at_most")
        return "at most " + counted(g.max_nodes.value_or(0), "node") + " may be taken out";
    if (limit == "at_least_healthy_slots")
        return short_number(g.min_healthy.value_or(0)) + " slots have to stay in service";
    if (limit == "one_per_domain") return "it is the last one of its failure domain";
    if (limit == "fail_open")
        return "more than " + percent(g.fail_open.value_or(0)) +
               " of the nodes look weak at once: too many to trust the measurement";
    return std::string(limit);
}

std::string remark(decision const& d, ranking const& r) {
    switch (d.note()) {
    case straggle::blacklist::selection_note::all_overlap:
        return r.nodes().size() < 2 ? "only one node could be ranked"
                                    : "the intervals of all nodes overlap: no node is significantly slower";
    case straggle::blacklist::selection_note::too_few_nodes:
        return "too few nodes could be ranked (" + std::to_string(r.nodes().size()) + ") for this policy";
    case straggle::blacklist::selection_note::unreachable_threshold:
        return "no node of a fleet of this size can be that far from the mean: choose a smaller K";
    case straggle::blacklist::selection_note::none:
        break;
    }
    return {};
}

} // namespace straggle_rank
