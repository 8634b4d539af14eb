// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../common/text.hpp"
#include "output.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

namespace straggle_backup {

using namespace program;

namespace {

constexpr std::size_t line_width = 100;

std::string padded(std::string text, std::size_t columns) {
    std::size_t const used = width(text);
    return used < columns ? text.append(columns - used, ' ') : text;
}
std::string right(std::string const& text, std::size_t columns) {
    std::size_t const used = width(text);
    return std::string(used < columns ? columns - used : 0, ' ') + text;
}

class table {
  public:
    table(std::ostream& out, result const& r, bool colors)
        : out_(out), r_(r), a_(r.advised), colors_(colors) {}

    void print() {
        for (std::string const& sentence : r_.history.read) out_ << sentence << ".\n";
        if (!r_.history.read.empty()) out_ << '\n';
        print_summary();
        std::size_t shown = 0;
        for (advice const& a : a_.suspects) {
            if (++shown > most) break;
            print_suspect(a);
        }
        if (a_.suspects.size() > most)
            out_ << ".. and " << grouped(a_.suspects.size() - most)
                 << " more suspects (--format json has all)\n\n";
        print_copies();
        print_nodes();
        print_model();
        print_records();
    }

  private:
    static constexpr std::string_view bold = "\033[1m", green = "\033[32m", yellow = "\033[33m";
    static constexpr std::size_t most = 100; // suspects

    [[nodiscard]] std::string paint(std::string_view how, std::string_view text) const {
        return colors_ ? std::string(how) + std::string(text) + "\033[0m" : std::string(text);
    }
    [[nodiscard]] static std::string clean(std::string const& name, std::size_t columns) {
        return shortened(printable(name), columns, "..");
    }
    [[nodiscard]] std::string node(std::uint32_t id) const { return clean(r_.names.nodes[id], 24); }
    [[nodiscard]] std::string node(candidate const& c) const { return node(r_.cluster.nodes[c.node].id); }
    [[nodiscard]] std::string name(advice const& a) const {
        std::string const job = clean(r_.names.jobs[a.job], 40);
        if (!a.task->task) return "a task of " + job;
        return clean(r_.names.tasks[*a.task->task], 40) + " of " + job;
    }

    // Breaks text between words. @param begun the first line has been printed up to the indent
    void print_wrapped(std::string_view text, std::size_t indent, bool begun = false) {
        std::size_t column = indent;
        if (!begun) out_ << std::string(indent, ' ');
        for (bool first = true; !text.empty(); first = false) {
            std::string_view const word = text.substr(0, text.find(' '));
            text.remove_prefix((std::min)(word.size() + 1, text.size()));
            if (!first && column + 1 + width(word) > line_width) {
                out_ << '\n' << std::string(indent, ' ');
                column = indent;
            } else if (!first) {
                out_ << ' ';
                ++column;
            }
            out_ << word;
            column += width(word);
        }
        out_ << '\n';
    }

    void print_summary() {
        if (a_.copies > 0)
            out_ << paint(bold,
                          "Launch " + std::to_string(a_.copies) + (a_.copies == 1 ? " copy." : " copies."));
        else
            out_ << paint(bold, "Launch nothing.");
        out_ << ' ' << counted(a_.suspects.size(), "suspect") << " among "
             << counted(r_.now.tasks, "running task") << " of " << counted(r_.now.jobs.size(), "job") << " ("
             << printable(r_.options.detector) << ").\n\n";
    }

    void print_suspect(advice const& a) {
        running_attempt const& runs = a.task->best();
        out_ << (a.launch ? paint(green, "LAUNCH") : paint(yellow, "no    ")) << "  ";
        print_wrapped(name(a) + ", on " + node(runs.node) + (a.launch ? " -> " + node(*a.best) : ""), 8,
                      true);
        std::string text = reason(a, r_);
        if (a.runner_up)
            text += "; next best " + node(*a.runner_up) + ", " + profit(*a.runner_up);
        else if (!a.launch && a.best)
            text += "; best " + node(*a.best) + ", " + profit(*a.best);
        print_wrapped(text, 8);
        text = "has run for " + time_text(a.elapsed);
        if (a.usual) text += ", usually " + time_text(*a.usual) + " on a good node";
        if (runs.progress) text += ", " + percent(std::round(*runs.progress * 1000) / 1000) + " done";
        if (a.task->attempts_running() > 1) text += ", " + counted(a.task->attempts_running(), "attempt");
        if (a.left) text += " (left: by " + from(a.from) + ")";
        print_wrapped(text, 8);
        print_strips(a);
        out_ << '\n';
    }
    [[nodiscard]] static std::string profit(candidate const& c) {
        double const p = c.value.profit;
        return "profit " + std::string(p < 0 ? "-" : "") + time_text(std::fabs(p));
    }
    [[nodiscard]] static std::string from(basis b) {
        switch (b) {
        case basis::similar:
            return "similar tasks";
        case basis::both:
            return "similar tasks and progress";
        case basis::progress:
            return "progress alone";
        case basis::age:
            break;
        }
        return "age alone";
    }

    // The remaining time, and the time of a copy, on one scale.
    void print_strips(advice const& a) {
        if (!a.left || !a.best) return;
        double const end = (std::max)(a.left->high, a.best->time.high);
        std::string const here = "left on " + node(a.task->best().node), there = "copy on " + node(*a.best);
        std::size_t const label = (std::max)(width(here), width(there));
        print_strip(padded(here, label), *a.left, end);
        print_strip(padded(there, label), a.best->time, end);
    }
    void print_strip(std::string const& label, time_range const& t, double end) {
        std::string const head = "        " + label + right(time_text(t.low), 9) +
                                 right(time_text(t.median), 9) + right(time_text(t.high), 9) + "  ";
        std::size_t const cells = line_width - (std::min)(line_width - 10, width(head));
        auto const place = [&](double x) {
            double const share = end > 0 ? std::clamp(x / end, 0.0, 1.0) : 0.0;
            return static_cast<std::size_t>(std::lround(share * static_cast<double>(cells - 1)));
        };
        std::string strip(place(t.high) + 1, ' ');
        for (std::size_t i = place(t.low); i <= place(t.high); ++i) strip[i] = '-';
        strip[place(t.low)] = '|';
        strip[place(t.high)] = '|';
        strip[place(t.median)] = 'o';
        out_ << head << strip << '\n';
    }

    void print_copies() {
        out_ << paint(bold, "Copies") << ": " << a_.copies << " to launch, " << r_.now.copies
             << " running, at most " << fixed(a_.copy_limit, 0) << " of " << counted(r_.cluster.slots, "slot")
             << '.';
        std::string refused;
        for (straggle::assign::limit_refusals const& b : a_.limits)
            if (b.refused > 0)
                refused +=
                    (refused.empty() ? "" : ", ") + std::to_string(b.refused) + " by " + std::string(b.limit);
        if (!refused.empty()) out_ << " Refused: " << refused << '.';
        out_ << '\n';
        if (a_.storm)
            print_wrapped(
                "STORM: " + grouped(a_.suspects.size()) + " of " + counted(a_.tasks, "task") +
                    " of these jobs are suspects; what they are compared with is wrong, or all is slow.",
                2);
        std::string pairs;
        for (std::size_t i = 0; i < straggle::assign::node_refusal_count; ++i) {
            if (a_.nodes.refused[i] == 0) continue;
            pairs += ", " + grouped(a_.nodes.refused[i]) + " " +
                     std::string(to_string(static_cast<straggle::assign::backup_refusal>(i)));
        }
        if (a_.nodes.acceptable + a_.nodes.total_refused() > 0)
            print_wrapped("Suspects and nodes, pair by pair: " + grouped(a_.nodes.acceptable) +
                              " acceptable" + pairs + ".",
                          2);
    }

    void print_nodes() {
        std::uint64_t free = 0;
        std::string list;
        for (cluster_node const& n : r_.cluster.nodes) {
            free += n.free;
            if (n.why == exclusion::none) continue;
            std::string why = n.why == exclusion::by_user    ? "--avoid"
                              : n.why == exclusion::by_state ? "state " + clean(n.told_state, 20)
                                                             : "slow in the history";
            list += (list.empty() ? "" : "; ") + node(n.id) + ": " + why;
            if (n.why == exclusion::by_history && n.slowdown > 0)
                list += ", " + fixed(n.slowdown, 1) + " times as long";
        }
        for (spared_node const& s : r_.cluster.spared)
            list += (list.empty() ? "" : "; ") + node(s.id) + ": slow, but spared by " + std::string(s.limit);
        for (std::string const& name : r_.cluster.unknown_avoided)
            list += (list.empty() ? "" : "; ") + clean(name, 24) + ": no file knows it";
        out_ << paint(bold, "Nodes") << ": " << r_.cluster.nodes.size() << " with "
             << counted(r_.cluster.slots, "slot") << ", " << grouped(free) << " free";
        if (r_.cluster.source == slots_from::history) out_ << " (slots: the most that ran at once)";
        out_ << ".\n";
        if (!list.empty()) print_wrapped(list + ".", 2);
    }

    void print_model() {
        straggle::predict::calibration const& ranges = r_.model.ranges();
        out_ << paint(bold, "Similar tasks") << ": " << grouped(r_.model.size()) << " remembered";
        if (auto const held = ranges.coverage())
            out_ << "; 80 % ranges held " << fixed(100 * *held, 0) << " % of the last "
                 << counted(ranges.recorded(), "task");
        out_ << ".\n";
    }

    void print_records() {
        history const& h = r_.history;
        out_ << paint(bold, "Records") << ": " << grouped(h.rows) << " of the history, "
             << grouped(h.attempts.size()) << " had ended; " << grouped(r_.now.rows) << " running, "
             << grouped(r_.now.attempts) << " used";
        if (r_.now.waiting > 0) out_ << ", " << grouped(r_.now.waiting) << " waiting";
        out_ << ".\n";
        for (std::size_t i = 0; i < past_fault_count; ++i)
            print_rejected("history: " + std::string(to_string(static_cast<past_fault>(i))), h.faults[i]);
        for (std::size_t i = 0; i < fault_count; ++i)
            print_rejected("running: " + std::string(to_string(static_cast<fault>(i))), r_.now.faults[i]);
        print_rejected("nodes", r_.cluster.rejected);
    }
    void print_rejected(std::string const& reason, unreadable_rows const& rows) {
        if (rows.count == 0) return;
        out_ << "  " << grouped(rows.count) << " rejected, " << reason << in_lines(rows.lines, rows.count)
             << '\n';
    }

    std::ostream& out_;
    result const& r_;
    advised const& a_;
    bool colors_;
};

} // namespace

void print_table(std::ostream& out, result const& r, bool colors) {
    table(out, r, colors).print();
}

} // namespace straggle_backup
