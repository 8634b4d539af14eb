// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "cluster.hpp"

#include "../common/failure.hpp"
#include "../common/status.hpp"
#include "lessons.hpp"

#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/slower_by.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <unordered_map>

namespace straggle_backup {

using namespace program;

namespace {

// The most attempts that ever ran at once on each node.
std::vector<std::uint32_t> most_at_once(history const& past, snapshot const& now, std::size_t nodes) {
    struct change {
        std::uint32_t node;
        moment time;
        int by;
    };
    std::vector<change> changes;
    for (past_attempt const& a : past.attempts) {
        if (!a.node || !a.start || !a.end || !(*a.start < *a.end)) continue;
        changes.push_back({*a.node, *a.start, 1});
        changes.push_back({*a.node, *a.end, -1});
    }
    for (running_job const& job : now.jobs)
        for (running_task const& task : job.tasks)
            for (running_attempt const& a : task.attempts) changes.push_back({a.node, a.start, 1});
    // An end makes room for a start at the same moment.
    std::ranges::sort(changes, [](change const& a, change const& b) {
        return std::tie(a.node, a.time, a.by) < std::tie(b.node, b.time, b.by);
    });
    std::vector<std::uint32_t> most(nodes, 0);
    std::int64_t running = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        if (i > 0 && changes[i].node != changes[i - 1].node) running = 0;
        running += changes[i].by;
        std::uint32_t& m = most[changes[i].node];
        m = (std::max)(m, static_cast<std::uint32_t>((std::max)(running, std::int64_t{0})));
    }
    return most;
}

struct known_state {
    std::string_view word;
    straggle::node_state state;
};
constexpr std::array<known_state, 14> states{{
    {"", straggle::node_state::healthy},
    {"healthy", straggle::node_state::healthy},
    {"ok", straggle::node_state::healthy},
    {"up", straggle::node_state::healthy},
    {"alive", straggle::node_state::healthy},
    {"ready", straggle::node_state::healthy},
    {"running", straggle::node_state::healthy},
    {"idle", straggle::node_state::healthy},
    {"mixed", straggle::node_state::healthy},
    {"mix", straggle::node_state::healthy},
    {"allocated", straggle::node_state::healthy},
    {"alloc", straggle::node_state::healthy},
    {"on_probation", straggle::node_state::on_probation},
    {"probation", straggle::node_state::on_probation},
}};

class cluster_reader {
  public:
    cluster_reader(options const& o, name_table& names, bool show_progress)
        : options_(o), names_(names), rows_(o.nodes, o.node_columns, show_progress, "--node-columns") {
        rows_.places().require(o.node_columns, node_column::node);
    }
    cluster read() && {
        while (rows_.next())
            if (!read_row()) c_.rejected.note(rows_.line());
        c_.rows = rows_.rows();
        c_.source = rows_.places().has(node_column::slots) || rows_.places().has(node_column::free)
                        ? slots_from::file
                        : slots_from::history;
        if (c_.nodes.empty())
            throw failure(exit_status::bad_input, name_of(options_.nodes) + ":1: it names no node");
        return std::move(c_);
    }

  private:
    bool read_row() {
        std::string_view const name = rows_.field(node_column::node);
        if (name.empty()) return false;
        cluster_node n;
        bool readable = true;
        n.slots = count_in(node_column::slots, readable);
        n.free = count_in(node_column::free, readable);
        if (!readable) return false;
        n.id = names_.nodes.insert(name);
        if (n.id >= seen_.size()) seen_.resize(n.id + std::size_t{1});
        if (seen_[n.id]) return false;
        seen_[n.id] = true;
        if (std::string_view const rack = rows_.field(node_column::rack); !rack.empty())
            n.rack = racks_.insert(rack);
        n.told_state = rows_.field(node_column::state);
        n.state = straggle::node_state::excluded;
        n.why = exclusion::by_state;
        for (auto const& [word, state] : states) {
            if (!history_words::is_word(n.told_state, word)) continue;
            n.state = state;
            n.why = exclusion::none;
        }
        c_.nodes.push_back(n);
        return true;
    }
    // `unknown` if there is none.
    std::uint32_t count_in(node_column c, bool& readable) const {
        number const n = read_number(rows_.field(c));
        if (n.kind == number_kind::missing) return unknown;
        double const count = value_of(n);
        bool const is_count = (n.kind == number_kind::exact || n.kind == number_kind::real) && count >= 0 &&
                              count <= 1e6 && count == std::floor(count);
        readable = readable && is_count;
        return is_count ? static_cast<std::uint32_t>(count) : unknown;
    }

  public:
    static constexpr std::uint32_t unknown = 0xffffffffu;

  private:
    options const& options_;
    name_table& names_;
    csv_table<node_column> rows_;
    straggle::interner<std::string> racks_;
    std::vector<bool> seen_;
    cluster c_;
};

cluster read_nodes(options const& o, name_table& names, bool show_progress) {
    try {
        return cluster_reader(o, names, show_progress).read();
    } catch (csv::error const& e) {
        throw failure(exit_status::bad_input,
                      name_of(o.nodes) + ":" + std::to_string(e.line()) + ": " + e.what());
    }
}

// Fills in the slots that the files do not contain.
void fill_slots(cluster& c, options const& o, std::vector<std::uint32_t> const& most) {
    constexpr std::uint32_t unknown = cluster_reader::unknown;
    for (cluster_node& n : c.nodes) {
        bool const free_told = n.free != unknown;
        if (n.slots == unknown) {
            if (o.slots)
                n.slots = *o.slots;
            else if (free_told)
                n.slots = n.running + n.free;
            else
                n.slots = n.id < most.size() ? (std::max)(most[n.id], 1u) : 1u;
        }
        if (!free_told) n.free = n.slots - (std::min)(n.slots, n.running);
        c.slots += n.slots;
    }
}

// What limits need to know about a node.
using node_map = std::unordered_map<std::uint32_t, cluster_node*>;
struct slots_of {
    node_map const* nodes;
    double operator()(std::uint32_t id) const {
        auto const at = nodes->find(id);
        return at == nodes->end() ? 1.0 : static_cast<double>(at->second->slots);
    }
};
struct rack_of { // nodes without one share one
    node_map const* nodes;
    std::uint32_t operator()(std::uint32_t id) const {
        auto const at = nodes->find(id);
        constexpr std::uint32_t none = cluster_reader::unknown;
        return at == nodes->end() ? none : at->second->rack.value_or(none);
    }
};

} // namespace

std::string_view to_string(exclusion e) {
    constexpr std::array<std::string_view, 4> names{"none", "by_user", "by_state", "by_history"};
    return names[static_cast<std::size_t>(e)];
}

cluster read_cluster(options const& o, history const& past, snapshot const& now, name_table& names,
                     bool show_progress) {
    cluster c;
    if (!o.nodes.empty()) {
        c = read_nodes(o, names, show_progress);
    } else {
        for (std::uint32_t id = 0; id < names.nodes.size(); ++id) {
            cluster_node& n = c.nodes.emplace_back();
            n.id = id;
            n.slots = n.free = cluster_reader::unknown;
        }
    }
    if (c.source != slots_from::file && o.slots) c.source = slots_from::option;
    std::vector<std::uint32_t> place(names.nodes.size(), cluster_reader::unknown);
    for (std::uint32_t i = 0; i < c.nodes.size(); ++i) place[c.nodes[i].id] = i;
    for (running_job const& job : now.jobs) {
        for (running_task const& task : job.tasks) {
            for (running_attempt const& a : task.attempts) {
                if (place[a.node] == cluster_reader::unknown) continue;
                cluster_node& n = c.nodes[place[a.node]];
                ++n.running;
                n.copies += a.copy ? 1 : 0;
            }
        }
    }
    fill_slots(c, o, most_at_once(past, now, names.nodes.size()));
    return c;
}

void avoid(cluster& c, options const& o, history const& past, name_table const& names) {
    node_map by_id;
    for (cluster_node& n : c.nodes) by_id[n.id] = &n;
    auto const mark = [&](std::uint32_t id, exclusion why) {
        auto const at = by_id.find(id);
        if (at == by_id.end() || at->second->state == straggle::node_state::excluded) return;
        at->second->state = straggle::node_state::excluded;
        at->second->why = why;
    };
    for (std::string const& name : o.avoid) {
        std::uint32_t const id = names.nodes.find(name);
        if (id == straggle::interner<std::string>::none)
            c.unknown_avoided.push_back(name);
        else
            mark(id, exclusion::by_user);
    }
    if (!o.blacklist) return;

    bool const racks = std::ranges::any_of(c.nodes, [](cluster_node const& n) { return n.rack.has_value(); });
    using by_rack = straggle::blacklist::one_per_domain<rack_of, std::uint32_t>;
    auto const one_per_rack =
        racks ? std::optional<by_rack>(by_rack(rack_of{&by_id})) : std::optional<by_rack>();
    straggle::blacklister decider(straggle::blacklist::slower_by{}, one_per_rack,
                                  straggle::blacklist::share_of_slots(0.2, slots_of{&by_id}));
    auto const decision = decider.decide(rank(past));
    for (auto const& v : decision.blacklisted()) mark(v.id, exclusion::by_history);
    for (auto const& v : decision.spared()) c.spared.push_back({v.id, v.spared_by});
}

} // namespace straggle_backup
