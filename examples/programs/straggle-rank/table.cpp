// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../common/text.hpp"
#include "output.hpp"
#include "shown_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <ostream>

namespace straggle_rank {

using namespace program;

namespace {

// Fleets up to this size are printed in full.
constexpr std::size_t small_fleet = 40;

// The environment shows whether the terminal can print more than ASCII.
bool speaks_utf8() {
    for (char const* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        char const* const value = std::getenv(variable);
        if (value == nullptr || *value == '\0') continue;
        std::string_view const locale = value;
        return locale.find("UTF-8") != std::string_view::npos ||
               locale.find("utf8") != std::string_view::npos;
    }
    return false;
}

struct glyphs {
    std::string_view ellipsis, line, mean, left, right, zero;
};
constexpr glyphs ascii{"..", "-", "o", "|", "|", ":"};
constexpr glyphs unicode{"…", "─", "●", "├", "┤", "┊"};

class table {
  public:
    table(std::ostream& out, result const& r, bool colors)
        : out_(out),
          r_(r),
          h_(r.history),
          colors_(colors),
          glyphs_(speaks_utf8() ? unicode : ascii),
          domain_(common_domain(r.history)) {}

    void print() {
        print_reading();
        print_decision();
        print_next_step();
        if (h_.nodes.size() > 1) {
            print_levels();
            print_nodes();
        }
        print_lost_time();
        print_failures();
        print_failing_jobs();
        print_records();
    }

  private:
    static constexpr std::string_view bold = "\033[1m", red = "\033[31m", yellow = "\033[33m",
                                      dim = "\033[2m";

    [[nodiscard]] std::string paint(std::string_view how, std::string_view text) const {
        return colors_ ? std::string(how) + std::string(text) + "\033[0m" : std::string(text);
    }
    [[nodiscard]] std::string name(std::uint32_t node, std::size_t most) const {
        return name_within(h_, node, domain_, most, glyphs_.ellipsis);
    }
    static std::string padded(std::string text, std::size_t columns) {
        std::size_t const used = width(text);
        return used < columns ? text.append(columns - used, ' ') : text;
    }

    // Breaks text between words; `column` is where the first line continues.
    void print_wrapped(std::string_view text, std::size_t column, std::size_t indent) {
        for (bool at_start = true; !text.empty(); at_start = false) {
            std::string_view const word = text.substr(0, text.find(' '));
            text.remove_prefix((std::min)(word.size() + 1, text.size()));
            if (column + 1 + width(word) > 100) {
                out_ << '\n' << std::string(indent, ' ');
                column = indent;
            } else if (!at_start) {
                out_ << ' ';
                ++column;
            }
            out_ << word;
            column += width(word);
        }
        out_ << '\n';
    }

    void print_reading() {
        bool first = true;
        auto const sentences =
            h_.log ? readers::summary_of(*h_.log)
                   : std::vector{counted(h_.rows, "row") + " from " + printable(h_.file) + " (csv)"};
        for (std::string const& sentence : sentences) {
            if (first)
                out_ << paint(bold, "Read") << ' ';
            else
                out_ << "  ";
            print_wrapped(sentence + ".", first ? 5 : 2, 2);
            first = false;
        }
        out_ << '\n';
    }

    // The ends of attempts, which windows require.
    [[nodiscard]] bool has_times() const { return !h_.end_column.empty(); }

    // The next step for a reader who has seen only this.
    void print_next_step() {
        auto const avoid = r_.decision.blacklisted();
        auto const spared = r_.decision.spared();
        std::string text;
        if (avoid.empty() && h_.nodes.size() == 1)
            text = "read a history of several nodes that share jobs";
        else if (avoid.empty() && none_succeeded())
            text = "look at the jobs, or at what all nodes share: no attempt succeeded on any node";
        else if (!avoid.empty())
            text = "look at " + printable(h_.nodes[avoid.front().id]) + " first, and keep new tasks off " +
                   (avoid.size() == 1 ? "it" : "these nodes") +
                   " until the cause is known; --report nodes.html draws all nodes" +
                   (has_times() ? ", --window auto shows since when" : "");
        else if (!spared.empty())
            text = "look at " + printable(h_.nodes[spared.front().id]) +
                   "; it stays in service only because a limit keeps it there (--max-fraction, "
                   "--no-limits)";
        else if (fails_everywhere())
            text = "look at job " +
                   printable(h_.jobs[static_cast<std::uint32_t>(r_.weighed.failing_jobs.front().job)]) +
                   ": its tasks fail wherever they run; there is no node to avoid";
        else if (r_.ranking.nodes().size() < 2)
            text = "too little to compare: jobs of at least " + grouped(r_.options.min_tasks) +
                   " tasks on several nodes are needed (--min-tasks); read more logs in one run";
        else if (worst_is_slow())
            text = "read more logs in one run to learn more about the slowest node; until then inspect it "
                   "yourself";
        else if (!unsure().empty())
            text = "read more logs in one run to learn more about " + listed(unsure()) +
                   (has_times() ? "; --window auto looks at shorter stretches of time" : "");
        else if (r_.options.decides_by_slowdown() && !slowest())
            text = "read more logs in one run: nodes are compared in jobs that they share";
        else
            text = has_times() ? "nothing to do; --window auto looks at shorter stretches of time, in "
                                 "which a node may have been slow"
                               : "nothing to do";
        out_ << paint(bold, "Next:") << ' ';
        print_wrapped(text + ".", 6, 2);
        out_ << '\n';
    }

    // No attempt succeeded on any node.
    [[nodiscard]] bool none_succeeded() const {
        auto const& counts = r_.ranking.attempts();
        return counts.used + counts.superseded == 0 && counts.failed + counts.killed > 1;
    }
    // The first of the failing jobs fails on several nodes, and ends well on none.
    [[nodiscard]] bool fails_everywhere() const {
        auto const& jobs = r_.weighed.failing_jobs;
        return !jobs.empty() && jobs.front().nodes > 1 && jobs.front().ended_well == 0;
    }

    // What can be said if nothing can be compared.
    [[nodiscard]] std::string incomparable() const {
        auto const& counts = r_.ranking.attempts();
        std::uint64_t const bad = counts.failed + counts.killed;
        std::string const happened = counts.killed == 0   ? " failed"
                                     : counts.failed == 0 ? " were killed"
                                                          : " failed or were killed";
        std::string const text =
            grouped(bad) + " of " + counted(counts.used + counts.superseded + bad, "attempt") + happened;
        if (h_.nodes.size() == 1)
            return name(0, 40) + " is the only node, so nothing can be compared" +
                   (bad > 0 ? "; " + text + " on it" : "");
        return text + ", on all of " + counted(h_.nodes.size(), "node") + ": no single node can be blamed";
    }

    void print_decision() {
        if (r_.expected == nullptr && r_.decision.blacklisted().empty() &&
            (h_.nodes.size() == 1 || none_succeeded())) {
            out_ << paint(bold, "Avoid no node.") << "\n  ";
            print_wrapped(incomparable() + ".", 2, 2);
            out_ << '\n';
            return;
        }
        auto const avoid = r_.decision.blacklisted();
        auto const spared = r_.decision.spared();
        if (avoid.empty())
            out_ << paint(bold, "Avoid no node.") << '\n';
        else
            out_ << paint(bold, "Avoid " + counted(avoid.size(), "node") + ":") << '\n';
        std::string const note =
            r_.options.decides_by_slowdown() ? why_none() : remark(r_.decision, r_.ranking);
        if (!note.empty() && avoid.empty() && spared.empty()) {
            out_ << "  ";
            print_wrapped(note + ".", 2, 2);
        }
        print_verdicts(avoid, red);
        if (!spared.empty())
            out_ << paint(bold, "Weak, but kept in service: " + counted(spared.size(), "node")) << '\n';
        print_verdicts(spared, yellow);
        out_ << '\n';
        if (r_.expected != nullptr) print_forecast(*r_.expected);
    }

    [[nodiscard]] bool worst_is_slow() const {
        return r_.options.decides_by_slowdown() &&
               std::ranges::any_of(r_.weighed.slowdowns, [this](straggle::slowdown const& s) {
                   return s.is_known() && s.low > least_slowdown();
               });
    }

    // Among the nodes about which enough is known.
    [[nodiscard]] std::optional<std::uint32_t> slowest() const {
        auto const& all = r_.weighed.slowdowns;
        std::optional<std::uint32_t> worst;
        for (std::uint32_t n = 0; n < all.size(); ++n)
            if (all[n].is_known() && (!worst || all[n].value > all[*worst].value)) worst = n;
        return worst;
    }

    // Why no node should be avoided.
    [[nodiscard]] std::string why_none() const {
        auto const& all = r_.weighed.slowdowns;
        std::optional<std::uint32_t> const worst = slowest();
        auto const few = unsure();
        std::string const behind = listed(few, true);
        if (!worst)
            return "too little is known: nodes have to share jobs, at least 8 tasks in 3 of them" +
                   std::string(behind.empty() ? "" : "; " + behind + " may be slower");
        // The interval alone may be above what matters: for one node of a fleet, a verdict requires more.
        bool const above = all[*worst].low > least_slowdown();
        return "the slowest node" + std::string(behind.empty() ? "" : " of which enough is known") + ", " +
               name(*worst, 40) + ", " + in_words(all[*worst]) +
               (above ? ": slower, but on too few attempts to take it out, as one of " +
                            counted(h_.nodes.size(), "node") + " looks so by chance"
                      : ": not enough to be sure that it matters") +
               (behind.empty() ? "" : "; " + behind + " may be slower, but had fewer than 8 tasks in 3 jobs");
    }

    [[nodiscard]] double least_slowdown() const {
        auto const* const rule = std::get_if<by_slowdown>(&r_.options.selection);
        return rule != nullptr ? rule->least : 1;
    }

    // Nodes that rank behind others, without enough evidence for how much slower they are.
    [[nodiscard]] std::vector<std::uint32_t> unsure() const {
        std::vector<std::uint32_t> nodes;
        if (r_.ranking.levels() < 2) return nodes;
        for (auto const& node : r_.ranking.level(0))
            if (node.mean > 0 && !r_.weighed.slowdowns[node.id].is_known()) nodes.push_back(node.id);
        return nodes;
    }
    [[nodiscard]] std::string listed(std::vector<std::uint32_t> const& nodes,
                                     bool by_how_much = false) const {
        constexpr std::size_t most = 3;
        std::string text;
        for (std::size_t i = 0; i < (std::min)(nodes.size(), most); ++i) {
            text += (i == 0 ? "" : i + 1 == nodes.size() ? " and " : ", ") + name(nodes[i], 40);
            straggle::slowdown const& s = r_.weighed.estimates[nodes[i]];
            if (by_how_much && s.is_known())
                text += " (about " + fixed(s.value, 1) + " times as long, " + counted(s.tasks, "task") + ")";
        }
        if (nodes.size() > most) text += " and " + counted(nodes.size() - most, "other");
        return text;
    }

    // Nodes that fail more often than others.
    void print_failures() {
        // If jobs fail on every node, their nodes are not to blame.
        if (h_.nodes.size() == 1 || none_succeeded() || !r_.weighed.failing_jobs.empty()) return;
        auto const& all = r_.weighed.failures;
        std::vector<std::uint32_t> worse;
        for (std::uint32_t n = 0; n < all.size(); ++n)
            if (all[n].failed > 1 && all[n].low > all[n].elsewhere) worse.push_back(n); // one may be chance
        if (worse.empty()) return;
        std::ranges::sort(worse, [&](std::uint32_t a, std::uint32_t b) {
            return all[a].low > all[b].low || (all[a].low == all[b].low && a < b);
        });
        out_ << paint(bold, "Failures") << ", where there are more than elsewhere:\n";
        for (std::uint32_t const n : std::span(worse).first((std::min)(worse.size(), most_nodes()))) {
            std::string const node = name(n, 40);
            out_ << "  " << node << ": ";
            print_wrapped(in_words(all[n]), 4 + width(node), 6);
        }
        print_rest(worse.size());
        out_ << '\n';
    }

    // Jobs that fail on every node say nothing about nodes.
    void print_failing_jobs() {
        if (h_.nodes.size() == 1 || none_succeeded() || r_.weighed.failing_jobs.empty()) return;
        out_ << paint(bold, "Jobs that fail") << ":\n";
        for (std::string const& line : failing_jobs_in_words(r_)) {
            out_ << "  ";
            print_wrapped(line, 2, 6);
        }
        out_ << '\n';
    }

    void print_forecast(expectation const& e) {
        std::uint64_t known = 0;
        for (double const p : e.probability) known += !std::isnan(p);
        std::string const period = e.day_ms == day_in_ms
                                       ? counted(e.days, "day")
                                       : std::to_string(e.days) + " times " + length_text(e.day_ms);
        out_ << paint(bold, "Forecast") << " for the next " << period << ": " << e.expected_weak() << " of "
             << counted(known, "node") << (e.expected_weak() == 1 ? " is" : " are") << " likely to be weak";
        if (!e.is_useful) out_ << ", as the model was found no better than \"each is as it was before\"";
        if (e.days_known < e.days)
            out_ << "; the history has " << e.days_known << " of the " << e.days << " days it looks at";
        out_ << ".\n\n";
    }

    void print_verdicts(std::span<verdict const> verdicts, std::string_view color) {
        for (verdict const& v : verdicts.first((std::min)(verdicts.size(), most_nodes()))) {
            std::string const node = name(v.id, 40);
            out_ << "  " << paint(color, node) << ": ";
            std::string text = reason(v, r_.ranking, r_.options);
            if (straggle::blacklist::has(v.causes, straggle::blacklist::cause::failing))
                text += "; " + in_words(r_.weighed.failures[v.id]);
            if (!v.spared_by.empty()) text += "; spared, since " + limit_reason(v.spared_by, r_.options);
            print_wrapped(text, 4 + width(node), 6);
            print_rows(v);
        }
        print_rest(verdicts.size());
    }

    // For an operator to check by eye.
    void print_rows(verdict const& v) {
        for (std::string const& row : rows_behind(h_, v)) {
            out_ << "    ";
            print_wrapped(row, 4, 6);
        }
    }

    void print_rest(std::size_t all) {
        if (all <= most_nodes()) return;
        out_ << "  " << glyphs_.ellipsis << " and " << grouped(all - most_nodes())
             << " more (--top N shows more, --format json all)\n";
    }

    [[nodiscard]] std::size_t most_nodes() const { return r_.options.top > 0 ? r_.options.top : small_fleet; }

    void print_levels() {
        ranking const& ranking = r_.ranking;
        out_ << paint(bold, "Levels") << ", the weakest first: ";
        if (ranking.levels() == 0) out_ << "none";
        constexpr std::size_t most = 10;
        for (std::size_t i = 0; i < (std::min)(ranking.levels(), most); ++i)
            out_ << (i > 0 ? ", " : "") << i << " has " << counted(ranking.level(i).size(), "node");
        if (ranking.levels() > most) out_ << ", " << ranking.levels() << " levels in all";
        out_ << ".\n";
        if (!ranking.unranked().empty()) {
            std::size_t const n = ranking.unranked().size();
            out_ << counted(n, "node") << (n == 1 ? " is" : " are") << " unranked: fewer than two scores.\n";
        }
        if (std::size_t const silent = h_.nodes.size() - ranking.fleet_size(); silent > 0)
            out_ << counted(silent, "node") << (silent == 1 ? " has" : " have")
                 << " no usable attempt at all.\n";
        out_ << '\n';
    }

    void print_nodes() {
        auto const nodes = slowest_first(r_.ranking);
        if (nodes.empty()) return;
        auto const shown = std::span(nodes).first((std::min)(nodes.size(), most_nodes()));
        std::size_t name_width = 4;
        for (auto const& node : shown) name_width = (std::max)(name_width, width(name(node.id, 30)));
        strip_width_ = 100 - name_width - 6 - 9 - std::size_t{4} * 9 - 4;
        set_scale();
        out_ << paint(bold,
                      padded("NODE", name_width) + " LEVEL    TASKS     MEAN       SD      LOW     HIGH")
             << "  " << paint(dim, padded("faster", strip_width_ - 6) + "slower") << '\n';
        for (auto const& node : shown) print_node(node, name_width);
        print_rest(nodes.size());
        out_ << '\n';
    }

    void print_node(straggle::ranked_node<std::uint32_t> const& node, std::size_t name_width) {
        std::string const id = padded(name(node.id, 30), name_width);
        bool const avoided = r_.decision.avoids(node.id);
        out_ << (avoided ? paint(red, id) : id) << std::setw(6) << node.level << std::setw(9) << node.n
             << std::setw(9) << fixed(node.mean, 3) << std::setw(9) << fixed(node.sd, 3) << std::setw(9)
             << fixed(node.ci.low, 3) << std::setw(9) << fixed(node.ci.high, 3) << "  " << strip(node);
        out_ << (avoided ? paint(red, " x") : "") << '\n';
    }

    // All means and the inner part of all intervals fit; a node with two tasks may have a huge interval.
    void set_scale() {
        low_ = high_ = 0;
        for (auto const& node : r_.ranking.nodes()) {
            low_ = (std::min)(low_, node.mean);
            high_ = (std::max)(high_, node.mean);
        }
        double const margin = (high_ - low_) * 0.25;
        low_ -= margin;
        high_ += margin;
    }

    [[nodiscard]] std::size_t place(double x) const {
        if (!(high_ > low_)) return 0;
        double const share = std::clamp((x - low_) / (high_ - low_), 0.0, 1.0);
        return static_cast<std::size_t>(std::lround(share * static_cast<double>(strip_width_ - 1)));
    }

    [[nodiscard]] std::string strip(straggle::ranked_node<std::uint32_t> const& node) const {
        std::vector<std::string_view> cells(strip_width_, " ");
        cells[place(0)] = glyphs_.zero;
        for (std::size_t i = place(node.ci.low); i <= place(node.ci.high); ++i) cells[i] = glyphs_.line;
        cells[place(node.ci.low)] = glyphs_.left;
        cells[place(node.ci.high)] = glyphs_.right;
        cells[place(node.mean)] = glyphs_.mean;
        std::string out;
        for (std::string_view cell : cells) out += cell;
        return out;
    }

    void print_lost_time() {
        if (r_.lost == nullptr) return;
        out_ << paint(bold, "Lost time") << ": ";
        print_causes(out_, *r_.lost, 40, speaks_utf8() ? "█" : "#");
        out_ << '\n';
    }

    void print_records() {
        out_ << paint(bold, "Records") << ": " << records_in_words(r_) << ".\n";
        if (std::string const text = not_compared_in_words(r_); !text.empty()) out_ << "  " << text << '\n';
        if (r_.weighed.ends_coincide)
            out_ << "  The tasks of each job end together. If they wait for each other, no slow node can be "
                    "seen: "
                    "add a column\n  waited with how long each one did.\n";
        for (rejected_records const& some : rejected(h_, r_.ranking)) out_ << "  " << in_words(some) << '\n';
        print_jobs();
    }

    void print_jobs() {
        std::uint64_t small = 0, equal = 0, attempts = 0;
        for (auto const& job : r_.ranking.degenerate_jobs()) {
            ++(job.reason == straggle::status::no_spread ? equal : small);
            attempts += job.attempts;
        }
        if (h_.nodes.size() == 1) return;
        out_ << paint(bold, "Jobs") << ": " << grouped(r_.ranking.usable_jobs()) << " compared";
        if (small + equal > 0)
            out_ << "; left out with " << counted(attempts, "attempt") << ": " << grouped(small)
                 << " with too few tasks, " << grouped(equal) << " with equal times";
        std::uint64_t const without =
            r_.options.normalizer == normalizer::work_rate ? jobs_without_input(h_) : 0;
        if (without > 0) out_ << "; " << counted(without, "job") << " by time alone, as inputs are missing";
        out_ << ".\n";
    }

    std::ostream& out_;
    result const& r_;
    history const& h_;
    bool colors_;
    glyphs const& glyphs_;
    std::string_view domain_; // the common end of all names
    std::size_t strip_width_ = 0;
    double low_ = 0, high_ = 0;
};

} // namespace

std::string records_in_words(result const& r) {
    auto const& counts = r.ranking.attempts();
    return grouped(r.history.rows) + " read, " + grouped(counts.used) + " used, " + grouped(counts.failed) +
           " failed, " + grouped(counts.killed) + " killed, " + grouped(counts.superseded) + " superseded" +
           (r.history.unended > 0 ? ", " + grouped(r.history.unended) + " still running" : "");
}

std::string not_compared_in_words(result const& r) {
    std::uint64_t const n = r.weighed.not_compared;
    return n == 0 ? "" : counted(n, "attempt") + " could not be compared: no sibling ended on another node";
}

std::vector<std::string> failing_jobs_in_words(result const& r) {
    constexpr std::size_t most = 5;
    auto const& jobs = r.weighed.failing_jobs;
    std::vector<std::string> lines;
    for (auto const& j : std::span(jobs).first((std::min)(jobs.size(), most)))
        lines.push_back(shortened(printable(r.history.jobs[static_cast<std::uint32_t>(j.job)]), 40, "..") +
                        ": " + counted(j.failed, "task") + " failed on " + counted(j.nodes, "node") + ", " +
                        (j.ended_well == 0 ? "none" : grouped(j.ended_well)) + " ended well: " +
                        (j.nodes > 1 ? "its tasks fail, not its nodes"
                                     : "nothing of it ran elsewhere, so the node is not blamed"));
    if (jobs.size() > most)
        lines.push_back(".. and " + grouped(jobs.size() - most) + " more (--format json has all)");
    return lines;
}

void print_table(std::ostream& out, result const& r, bool colors) {
    table(out, r, colors).print();
}

} // namespace straggle_rank
