// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/blacklist/node_stage.hpp>

#include "metrics.hpp"

#include "../common/text.hpp"

#include <array>
#include <vector>

namespace straggle_watch {

namespace {

class writer {
  public:
    void family(char const* name, char const* type, char const* help) {
        name_ = std::string("straggle_watch_") + name;
        text_ += "# HELP " + name_ + " " + help + "\n# TYPE " + name_ + " " + type + "\n";
    }
    void value(double x, std::string const& labels = "") {
        text_ += name_ + (labels.empty() ? "" : "{" + labels + "}") + " " + program::exact(x) + "\n";
    }
    void value(std::uint64_t n, std::string const& labels = "") {
        text_ += name_ + (labels.empty() ? "" : "{" + labels + "}") + " " + std::to_string(n) + "\n";
    }
    void one(char const* name, char const* type, char const* help, std::uint64_t n) {
        family(name, type, help);
        value(n);
    }
    [[nodiscard]] std::string const& text() const { return text_; }

  private:
    std::string name_, text_;
};

std::string label(char const* name, std::string_view value) {
    return std::string(name) + "=\"" + std::string(value) + "\""; // words of the program only
}

} // namespace

std::string metrics_text(watch const& of, process_numbers const& process) {
    writer out;
    auto const c = of.mitigator_counts();
    tally const& t = of.counts();
    out.one("lines_total", "counter", "Lines read.", t.lines);
    out.family("bad_lines_total", "counter", "Lines left out, by what was wrong.");
    for (std::size_t i = 1; i < fault_count; ++i)
        out.value(t.faults[i], label("fault", to_string(static_cast<fault>(i))));
    out.family("attempts_total", "counter", "Attempts that ended, by what became of them.");
    out.value(c.attempts.used, label("as", "used"));
    out.value(c.attempts.failed, label("as", "failed"));
    out.value(c.attempts.killed, label("as", "killed"));
    out.value(c.attempts.total_rejected(), label("as", "rejected"));
    out.value(c.other_clock, label("as", "other_clock"));
    out.value(c.no_room, label("as", "no_room"));
    auto const& nodes = of.mitigator().node_part();
    out.one("not_compared_total", "counter",
            "Attempts whose job was over before a sibling ended on another node.",
            nodes.counts().not_compared);
    std::vector<straggle::blacklist::failing_job> failing;
    nodes.failing_jobs(failing);
    std::erase_if(failing, [](straggle::blacklist::failing_job const& j) { return j.nodes < 2; });
    out.one("failing_jobs", "gauge", "Jobs that fail wherever they run, on two nodes or more.",
            failing.size());
    out.one("plans_total", "counter", "Plans made.", t.plans);
    out.one("copies_total", "counter", "Copies planned; one that is not launched is planned again.",
            t.copies);
    out.one("kills_total", "counter", "Kills planned.", t.kills);
    out.one("places_total", "counter", "Questions for places answered.", t.places);

    out.one("steps_total", "counter", "Reports of the steps of gangs that were used.", of.gangs_told().used);
    out.one("gangs", "gauge", "Gangs whose ranks report steps.", of.gangs_told().size());
    out.one("gangs_dropped_total", "counter", "Gangs forgotten to make room for others.",
            of.gangs_told().dropped);

    auto const& plan = of.mitigator().plan();
    std::array<std::uint64_t, straggle::record::node_state_count> states{};
    for (auto const& n : plan.nodes()) ++states[static_cast<std::size_t>(n.state)];
    out.family("nodes", "gauge", "Nodes of the last plan, by state.");
    for (std::size_t s = 0; s < states.size(); ++s)
        out.value(states[s], label("state", straggle::to_string(static_cast<straggle::node_state>(s))));
    out.one("running", "gauge", "Attempts that run.", of.told().running().size());
    out.family("note", "gauge", "1 for each note of the last plan.");
    for (std::size_t i = 0; i < straggle::mitigate::plan_note_count; ++i) {
        auto const note = static_cast<straggle::mitigate::plan_note>(i);
        out.value(std::uint64_t{plan.has(note) ? 1u : 0u},
                  label("note", straggle::mitigate::to_string(note)));
    }
    out.family("effect_ratio", "gauge", "Times with an action over times without, where it is known.");
    for (std::size_t i = 0; i < straggle::mitigate::action_kind_count; ++i) {
        auto const kind = static_cast<straggle::mitigate::action_kind>(i);
        auto const e = of.mitigator().effect_of(kind);
        if (e.is_known()) out.value(e.value, label("action", straggle::mitigate::to_string(kind)));
    }
    out.one("on", "gauge", "0 while the kill switch is off.", of.is_on() ? 1 : 0);
    out.one("decider", "gauge", "1 while this process holds the lease.", process.is_decider ? 1 : 0);
    out.one("connections", "gauge", "Connections to the socket.", process.connections);
    out.one("connections_refused_total", "counter", "Connections of other users.", process.refused);
    out.one("connections_dropped_total", "counter", "Connections that did not read their answers.",
            process.dropped);
    out.one("write_faults_total", "counter", "Writes of state or log that failed.", process.write_faults);
    out.one("journal_bytes", "gauge", "Size of the journal.", process.journal_bytes);
    out.family("time_seconds", "gauge", "When this file was written.");
    out.value(process.wall);
    return out.text();
}

} // namespace straggle_watch
