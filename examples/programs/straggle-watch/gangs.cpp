// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "gangs.hpp"

#include <algorithm>
#include <utility>

namespace straggle_watch {

using json = nlohmann::ordered_json;

namespace {

constexpr std::size_t most_sections = 8; // of the library

// Steps repeat after a restart. For the library they go on, so that restarts, too, are believed once most
// ranks report them.
constexpr std::int64_t steps_between_restarts = std::int64_t{1} << 48, most_restarts = (1 << 15) - 1;

// Times and costs: not negative.
std::optional<double> length_in(members& m, member what) {
    auto const x = m.time(what);
    if (x && !(*x >= 0)) m.fail(fault::bad_value, what);
    return x;
}

} // namespace

void gangs::forget(entry at) {
    names_ -= at->second.size();
    gangs_.erase(at);
}

void gangs::finish(std::string_view job) {
    if (auto const found = gangs_.find(plain(job)); found != gangs_.end()) forget(found);
}

gangs::gang& gangs::gang_of(std::string_view job, bool says_arrivals) {
    if (auto const found = gangs_.find(plain(job)); found != gangs_.end()) return found->second;
    if (gangs_.size() >= most) {
        forget(std::min_element(gangs_.begin(), gangs_.end(),
                                [](auto const& a, auto const& b) { return a.second.last < b.second.last; }));
        ++dropped;
    }
    straggle::gang::step_watch_options options;
    options.max_ranks = most_names_;
    gang fresh{.job = std::string(job), .watch = by_duration(program::steps_by_duration, options)};
    if (says_arrivals) fresh.watch.emplace<by_arrival>(program::steps_by_arrival, options);
    return gangs_.try_emplace(std::string(plain(job)), std::move(fresh)).first->second;
}

std::uint32_t gangs::number_of(sent_names& of, std::string_view sent, std::size_t most_of_kind) {
    std::uint32_t const known = of.find(sent);
    if (known != straggle::interner<std::string>::none) return known;
    if (of.size() >= most_of_kind || names_ >= most_names_) return known;
    ++names_;
    return of.insert(sent);
}

void gangs::report(members& m) {
    std::string_view const job = m.needed_name(member::job), rank = m.needed_name(member::rank),
                           node = m.needed_name(member::node);
    auto const section = m.sent_name(member::section), stage = m.sent_name(member::stage);
    auto const step = m.count(member::step);
    std::int64_t const restarts = m.count(member::restarts).value_or(0);
    auto const arrived = m.time(member::arrived), duration = length_in(m, member::duration),
               waited = length_in(m, member::waited), restart_cost = length_in(m, member::restart_cost),
               since_checkpoint = length_in(m, member::since_checkpoint),
               steps_left = length_in(m, member::steps_left);
    if (!step) m.fail(fault::missing_member, member::step);
    if (step >= steps_between_restarts) m.fail(fault::bad_value, member::step);
    if (restarts > most_restarts) m.fail(fault::bad_value, member::restarts);
    if (!arrived && !duration) m.fail(fault::missing_member, member::duration);
    if (arrived && duration) m.fail(fault::bad_value, member::arrived);
    if (waited && !(waited <= duration)) m.fail(fault::bad_value, member::waited);
    if (!m.ok()) return;

    gang& to = gang_of(job, arrived.has_value());
    to.last = ++seen_;
    if (std::holds_alternative<by_arrival>(to.watch) != arrived.has_value())
        return m.fail(fault::bad_value, arrived ? member::arrived : member::duration);
    std::uint32_t const r = number_of(to.names.ranks, rank, most_names_),
                        n = number_of(to.names.nodes, node, most_names_),
                        c = number_of(to.names.sections, section.value_or(""), most_sections),
                        s = number_of(to.names.stages, stage.value_or(""),
                                      straggle::gang::step_watch_options{}.max_stages);
    for (auto const& [number, what] : {std::pair(r, member::rank), std::pair(n, member::node),
                                       std::pair(c, member::section), std::pair(s, member::stage)})
        if (number == straggle::interner<std::string>::none) return m.fail(fault::no_room, what);
    if (restart_cost) to.restart_cost = restart_cost;
    if (steps_left) to.steps_left = steps_left;
    if (since_checkpoint) to.since_checkpoint = *since_checkpoint;
    bool const is_used = std::visit(
        [&](auto& watch) {
            std::uint64_t const before = watch.counts().used;
            bool const is_open = watch.observe({restarts * steps_between_restarts + *step, r, n, c, s,
                                                arrived ? arrived : duration, waited});
            used += watch.counts().used - before; // of wrong steps, reports are given up
            return is_open;
        },
        to.watch);
    if (!is_used) m.fail(fault::closed_step, member::step);
}

template <class Watch>
json gangs::describe(gang const& g, Watch& watch, bool lists_all, bool advises) {
    auto const name = [](sent_names const& of, std::uint32_t i) { return of.json(i); };
    auto const slow = watch.stragglers();
    if (slow.empty() && !lists_all) return nullptr;
    json rows = json::array();
    for (auto s : slow.first((std::min)(slow.size(), most_rows))) {
        s.since %= steps_between_restarts;
        rows.push_back(program::straggler_json(watch, s, g.names, name));
        rows.back()["replace"] = advises && g.restart_cost && g.steps_left
                                     ? program::replacement_json(watch.replace(
                                           s.rank, {*g.restart_cost, g.since_checkpoint, *g.steps_left}))
                                     : json();
        std::string const section = g.names.sections.size() > 1 ? g.names.sections[s.section] : "";
        rows.back()["reason"] = program::straggler_text(s, section, watch.share_of_rank(s.rank), "");
    }
    return {{"job", name_json(g.job)},
            {"steps", watch.counts().steps},
            {"ranks", g.names.ranks.size()},
            {"named", slow.size()},
            {"step", program::loss_json(watch.loss())},
            {"stragglers", std::move(rows)},
            {"sections", program::shares_json(watch, g.names.sections, &Watch::share_of_section, name)},
            {"stages", program::shares_json(watch, g.names.stages, &Watch::share_of_stage, name, most_rows)}};
}

json gangs::list(bool lists_all, bool advises) {
    json all = json::array();
    for (auto& by_job : gangs_) {
        gang& g = by_job.second;
        json one = std::visit([&](auto& watch) { return describe(g, watch, lists_all, advises); }, g.watch);
        if (!one.is_null()) all.push_back(std::move(one));
    }
    return all;
}

} // namespace straggle_watch
