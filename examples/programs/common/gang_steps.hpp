// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The steps of gangs: what a rank reports, and what the programs print about the ranks that others wait for.
#pragma once

#include "text.hpp"

#include <straggle/gang/step_watch.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace program {

/// A report of a rank. Names are numbers in tables.
struct step_report {
    std::optional<std::int64_t> step;
    std::uint32_t rank = 0, node = 0, section = 0, stage = 0;
    std::optional<double> time, waited; ///< `time`: an arrival or a duration
};
inline constexpr straggle::gang::step_fields steps_by_arrival{.step = &step_report::step,
                                                              .rank = &step_report::rank,
                                                              .node = &step_report::node,
                                                              .section = &step_report::section,
                                                              .stage = &step_report::stage,
                                                              .arrived = &step_report::time};
inline constexpr straggle::gang::step_fields steps_by_duration{.step = &step_report::step,
                                                               .rank = &step_report::rank,
                                                               .node = &step_report::node,
                                                               .section = &step_report::section,
                                                               .stage = &step_report::stage,
                                                               .duration = &step_report::time,
                                                               .waited = &step_report::waited};

/// The names of a gang, by number.
template <class Table>
struct gang_names {
    Table ranks, nodes, sections, stages;
};

/// Three digits are enough; whole numbers have more.
[[nodiscard]] inline std::string time_text(double x) {
    bool const is_whole = x >= 100 && x < 1e15;
    return is_whole ? grouped(static_cast<std::uint64_t>(std::llround(x))) : short_number(x);
}
/// JSON has no infinity.
[[nodiscard]] inline double at_most_largest(double x) {
    return (std::min)(x, (std::numeric_limits<double>::max)());
}
[[nodiscard]] inline std::string share_text(double share) {
    return fixed(100 * share, 0) + " %";
}

/// A rank, in words that follow its name.
/// @param section its name, empty if there is only one
/// @param share of the loss that it explains
/// @param unit after a space, or empty
template <class Straggler>
[[nodiscard]] std::string straggler_text(Straggler const& s, std::string_view section, double share,
                                         std::string const& unit) {
    std::string text = "takes " + fixed(s.slow.value, 2) + " times as long as the others (" +
                       fixed(s.slow.low, 2) + " to " + fixed(s.slow.high, 2) + ") since step " +
                       std::to_string(s.since);
    if (!section.empty()) text += ", most of it in " + printable(section);
    text += ". The others wait " + time_text(s.loss_per_step) + unit + " for it in each step, " +
            share_text(share) + " of the loss. At fault: ";
    text += s.whose == straggle::gang::fault::rank_or_node ? "the rank or its node" : to_string(s.whose);
    return text + ".";
}

/// @param name of a table and a number, as JSON
template <class Watch, class Table, class Name>
[[nodiscard]] nlohmann::ordered_json straggler_json(Watch const& watch,
                                                    typename Watch::straggler_type const& s,
                                                    gang_names<Table> const& names, Name const& name) {
    return {{"rank", name(names.ranks, s.rank)},
            {"node", name(names.nodes, s.node)},
            {"section", name(names.sections, s.section)},
            {"slowdown",
             {{"value", at_most_largest(s.slow.value)},
              {"low", at_most_largest(s.slow.low)},
              {"high", s.slow.high},
              {"tasks", s.slow.tasks}}},
            {"since", s.since},
            {"of_best", at_most_largest(s.of_best)},
            {"loss_per_step", s.loss_per_step},
            {"share", watch.share_of_rank(s.rank)},
            {"at_fault", to_string(s.whose)}};
}

[[nodiscard]] inline nlohmann::ordered_json replacement_json(straggle::gang::replacement const& r) {
    return {{"gain_per_step", r.gain_per_step},
            {"nodes_waiting", r.nodes_waiting},
            {"gain", r.gain},
            {"low", r.low},
            {"high", r.high},
            {"pays_after", r.pays_after},
            {"is_worth", r.is_worth}};
}

[[nodiscard]] inline nlohmann::ordered_json loss_json(straggle::gang::step_loss const& loss) {
    return {{"time", loss.seconds}, {"without_stragglers", loss.without_stragglers}, {"moving", loss.moving}};
}

/// How much of the loss each explains: in the order of the table, or the `most` that explain most.
/// @param share a member of `Watch`
template <class Watch, class Table, class Share, class Name>
[[nodiscard]] nlohmann::ordered_json
shares_json(Watch const& watch, Table const& of, Share share, Name const& name,
            std::size_t most = (std::numeric_limits<std::size_t>::max)()) {
    std::vector<std::pair<double, std::uint32_t>> shares;
    for (std::uint32_t i = 0; i < of.size(); ++i) shares.emplace_back((watch.*share)(i), i);
    if (shares.size() > most) {
        std::sort(shares.begin(), shares.end(), std::greater<>());
        shares.resize(most);
    }
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (auto const& [part, i] : shares) all.push_back({{"name", name(of, i)}, {"share", part}});
    return all;
}

} // namespace program
