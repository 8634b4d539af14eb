// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "watch.hpp"

#include "plan_json.hpp"

#include <straggle/version.hpp>

#include <algorithm>
#include <cmath>
#include <ranges>

namespace straggle_watch {

namespace {

constexpr std::size_t most_faults_told = 20;
constexpr std::int64_t most_slots = std::int64_t{1} << 32; // of a node: those of all nodes can be summed
// The kinds of a line.
enum class event_kind : std::uint8_t {
    hello,
    node,
    node_gone,
    nodes,
    start,
    progress,
    end,
    running,
    finish,
    load,
    decide,
    rank_places,
    switch_,
    resume,
    step
};
constexpr word_table event_names(std::array<std::string_view, 15>{
    "hello", "node", "node_gone", "nodes", "start", "progress", "end", "running", "finish", "load", "decide",
    "rank_places", "switch", "resume", "step"});
constexpr std::array<std::string_view, 4> condition_words{"present", "pinned", "denied", "away"};
constexpr std::array<std::string_view, 3> action_words{"exclusion", "copy", "placement"};

} // namespace

watch::watch(watch_options const& options)
    : options_(options),
      mitigator_(make_mitigator(options.mitigator)),
      cluster_(options.mitigator.most_nodes, options.most_running),
      gangs_(options.most_running),
      is_on_(options.mitigator.is_enabled) {}

std::uint64_t watch::lines(std::string_view block, std::uint64_t first_line, arrival const& when,
                           answers& out) {
    out_ = &out;
    line_ = first_line;
    while (!block.empty()) {
        std::size_t const end = (std::min)(block.find('\n'), block.size());
        line(block.substr(0, end), when);
        block.remove_prefix((std::min)(end + 1, block.size()));
        ++line_;
    }
    return line_ - first_line;
}

void watch::too_long(std::uint64_t line, answers& out) {
    out_ = &out;
    line_ = line;
    ++tally_.lines;
    say_fault({fault::too_long, ""});
}

void watch::line(std::string_view text, arrival const& when) {
    while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
    if (text.empty()) return;
    ++tally_.lines;
    if (text.size() > options_.longest_line) return say_fault({fault::too_long, ""});
    simdjson::dom::element whole;
    if (auto const parsed = parser_.parse(text.data(), text.size(), false).get(whole);
        parsed != simdjson::SUCCESS)
        return say_fault(parsed == simdjson::NUMBER_ERROR ? line_fault{fault::bad_value, "number"}
                                                          : line_fault{fault::not_json, ""});
    simdjson::dom::object object;
    if (whole.get(object) != simdjson::SUCCESS) return say_fault({fault::not_an_object, ""});
    members_.read(object);
    auto const name = members_.text(member::event);
    if (!name) return say_fault({fault::no_event, ""});
    has_time_ = true;
    has_clock_ = when.wall || members_.has(member::now);
    if (when.wall) {
        time_ = *when.wall;
        now_ = time_;
    } else if (auto const told = members_.time(member::now)) {
        time_ = *told;
        now_ = time_;
    } else if (now_) {
        time_ = *now_;
    } else {
        has_time_ = false;
    }
    if (members_.ok()) event(*name, when);
    if (!members_.ok()) say_fault(members_.what());
}

void watch::event(std::string_view name, arrival const& when) {
    switch (static_cast<event_kind>(event_names.find(name))) {
    case event_kind::hello:
        return on_hello(when);
    case event_kind::node:
        return on_node(members_);
    case event_kind::node_gone:
        return on_node_gone();
    case event_kind::nodes:
        return on_nodes();
    case event_kind::start:
        return on_start(members_);
    case event_kind::progress:
        return on_progress();
    case event_kind::end:
        return on_end();
    case event_kind::running:
        return on_running();
    case event_kind::finish: {
        std::string_view const job = members_.needed_name(member::job);
        if (!members_.ok()) return;
        if (options_.keeps_log) history_.job_finished(job, mitigator_.is_left_alone(plain(job)), out_->log);
        gangs_.finish(job);
        return mitigator_.finish(plain(job));
    }
    case event_kind::load:
        if (!members_.has(member::waiting)) return members_.fail(fault::missing_member, member::waiting);
        return read_load(members_);
    case event_kind::decide:
        return on_decide(when);
    case event_kind::rank_places:
        return on_rank_places();
    case event_kind::switch_: {
        auto const on = members_.flag(member::on);
        if (!on) return members_.fail(fault::missing_member, member::on);
        is_on_ = *on;
        return mitigator_.enable(is_on_);
    }
    case event_kind::resume:
        return on_resume();
    case event_kind::step:
        return gangs_.report(members_);
    }
    members_.fail(fault::unknown_event, "");
}

void watch::say_fault(line_fault const& what) {
    ++tally_.faults[static_cast<std::size_t>(what.what)];
    if (++faults_told_ > most_faults_told) return;
    append_fault(out_->reply, line_, what);
}

void watch::on_hello(arrival const& when) {
    auto const version = members_.number(member::protocol);
    if (!version) return members_.fail(fault::missing_member, member::protocol);
    if (*version != 1) return members_.fail(fault::unknown_protocol, "");
    auto const plans = members_.flag(member::plans);
    if (!members_.ok()) return;
    out_->wants_plans = plans.value_or(true);
    out_->reply += hello(when.is_decider);
}

void watch::on_node(members& m) {
    std::string_view const name = m.needed_name(member::node);
    auto const slots = m.count(member::slots), busy = m.count(member::busy);
    auto const machine_class = m.name(member::machine_class), domain = m.name(member::domain);
    auto const condition = m.word(member::condition, condition_words, straggle::record::condition::present);
    if (slots > most_slots) m.fail(fault::bad_value, member::slots);
    if (busy > most_slots) m.fail(fault::bad_value, member::busy);
    if (!m.ok()) return;
    told_node* const node = cluster_.add_node(name);
    if (node == nullptr) return m.fail(fault::no_room, "");
    node->slots = slots;
    node->busy = busy;
    assign(node->machine_class, machine_class);
    assign(node->domain, domain);
    node->condition = condition;
}

void watch::on_node_gone() {
    std::string_view const name = members_.needed_name(member::node);
    if (members_.ok() && !cluster_.remove_node(name)) members_.fail(fault::unknown_node, "");
}

void watch::on_nodes() {
    auto const items = members_.array(member::nodes);
    bool const more = members_.flag(member::more).value_or(false);
    if (!members_.ok()) return;
    cluster_.begin_node_list();
    for (simdjson::dom::element const item : *items) {
        simdjson::dom::object object;
        if (item.get(object) != simdjson::SUCCESS) {
            members_.fail(fault::bad_value, member::nodes);
            continue;
        }
        item_.read(object);
        on_node(item_);
        if (!item_.ok()) members_.fail(item_.what().what, item_.what().detail);
    }
    if (!more) cluster_.end_node_list();
}

void watch::read_load(members& m) {
    auto const waiting = m.count(member::waiting), slots = m.count(member::slots),
               busy = m.count(member::busy);
    if (!m.ok()) return;
    auto const number = [](std::optional<std::int64_t> n) {
        return static_cast<std::uint64_t>(n.value_or(0));
    };
    if (waiting) load_.waiting = number(waiting);
    load_.slots = number(slots);
    load_.busy = number(busy);
}

void watch::on_decide(arrival const& when) {
    if (!when.wall && !members_.has(member::now)) return members_.fail(fault::no_clock, "now");
    bool const lists_all = members_.flag(member::all).value_or(false);
    if (members_.has(member::waiting)) read_load(members_);
    if (members_.ok()) decide_now(time_, when.is_decider, lists_all);
}

void watch::decide(arrival const& when, answers& out) {
    out_ = &out;
    now_ = when.wall;
    decide_now(*when.wall, when.is_decider, false);
}

void watch::decide_now(double now, bool is_decider, bool lists_all) {
    if (options_.mitigator.decider != 0)
        mitigator_.hold({.holder = is_decider ? options_.mitigator.decider : 0, .term = 1, .until = 1e300});
    auto const& plan = mitigator_.decide(now, cluster_.running(), cluster_.nodes(), load_);
    ++tally_.plans;
    tally_.copies += plan.copies().size();
    tally_.kills += plan.kills().size();
    if (options_.keeps_log)
        for (auto const& c : plan.copies())
            history_.copy_planned(cluster_.running(c.row), cluster_.nodes()[c.node_row].name, now, c);
    std::string const text = plan_json({.plan = plan,
                                        .told = cluster_,
                                        .mitigator = mitigator_,
                                        .counts = mitigator_counts(),
                                        .totals = tally_,
                                        .load = load_,
                                        .ended = ended_,
                                        .gangs_told = gangs_,
                                        .now = now,
                                        .shadow = options_.shadow,
                                        .is_on = is_on_,
                                        .lists_all = lists_all},
                                       listed_);
    out_->plans += text;
    if (out_->wants_plans) out_->reply += text;
    if (options_.keeps_log) out_->log += text;
    ended_ = {};
    faults_told_ = 0;
}

void watch::on_rank_places() {
    members& m = members_;
    running_attempt task;
    task.job = m.needed_name(member::job);
    assign(task.kind, m.name(member::kind));
    task.input = m.number(member::input);
    auto const most = static_cast<std::size_t>(m.count(member::most).value_or(16));
    auto const request = m.sent_name(member::request);
    std::vector<told_node const*> asked;
    if (m.has(member::nodes)) {
        auto const names = m.array(member::nodes);
        if (!m.ok()) return;
        for (simdjson::dom::element const item : *names) {
            auto const name = m.name_of(item, static_cast<std::size_t>(member::nodes));
            told_node const* const node = name.empty() ? nullptr : cluster_.find_node(name);
            if (node == nullptr)
                return m.fail(name.empty() ? fault::bad_value : fault::unknown_node, member::nodes);
            asked.push_back(node);
        }
    }
    if (!m.ok()) return;
    ++tally_.places;
    bool const is_alone = options_.shadow || !is_on_ || mitigator_.is_left_alone(plain(task.job));
    auto const answer = [&](auto const& nodes) {
        places_answer out{task.job, request, is_alone, {}};
        if (options_.shadow) {
            for (told_node const& n : nodes) {
                if (out.places.size() == most) break;
                if (n.condition != straggle::record::condition::away && n.busy_slots() < n.all_slots())
                    out.places.emplace_back(n.name, 0.0);
            }
        } else {
            auto at = std::ranges::begin(nodes);
            straggle::cluster_load others = load_; // without the task itself
            others.waiting -= others.waiting > 0 ? 1 : 0;
            for (auto const& p : mitigator_.rank_places(task, nodes, others)) {
                if (out.places.size() == most) break;
                out.places.emplace_back(at[static_cast<std::ptrdiff_t>(p.row)].name, p.time);
            }
        }
        append_places(out_->reply, out);
    };
    if (m.has(member::nodes))
        answer(asked | std::views::transform([](told_node const* n) -> told_node const& { return *n; }));
    else
        answer(cluster_.nodes());
}

void watch::on_resume() {
    if (!members_.has(member::action)) return members_.fail(fault::missing_member, member::action);
    auto const action =
        members_.word(member::action, action_words, straggle::mitigate::action_kind::exclusion);
    if (members_.ok()) mitigator_.resume(action);
}

std::string watch::hello(bool is_decider) const {
    return hello_json(options_.shadow, is_decider, tally_.plans, was_restored_);
}

} // namespace straggle_watch
