// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../common/text.hpp"
#include "output.hpp"

#include <algorithm>
#include <array>
#include <ostream>

namespace straggle_replay {

using namespace program;

namespace {

using straggle::outcome;

struct heading {
    std::string_view name;
    std::size_t width;
};
constexpr std::array<heading, 11> headings{{{"TASKS", 5},
                                            {"SLOW", 5},
                                            {"NAMED", 5},
                                            {"PRECISION", 9},
                                            {"IN TIME", 7},
                                            {"RECALL", 6},
                                            {"F1", 5},
                                            {"IN TIME", 7},
                                            {"LATENCY", 7},
                                            {"MISSED", 6},
                                            {"FAKE", 5}}};

std::string left(std::string text, std::size_t columns) {
    std::size_t const used = width(text);
    return used < columns ? text.append(columns - used, ' ') : text;
}
std::string right(std::string const& text, std::size_t columns) {
    return std::string(text.size() < columns ? columns - text.size() : 0, ' ') + text;
}
std::string or_dash(outcome<double> const& x) {
    return x ? fixed(*x, 3) : "-";
}

class table {
  public:
    table(std::ostream& out, result const& r, bool colors) : out_(out), r_(r), colors_(colors) {}

    void print() {
        for (std::string const& sentence : r_.history.read) out_ << sentence << ".\n";
        if (!r_.history.read.empty()) out_ << '\n';
        print_summary();
        print_detectors();
        print_notes();
        print_records("Attempts", r_.history.no_attempts.count(), r_.history.tape->attempts(),
                      rejected_attempts(r_.history));
        if (!r_.history.progress_file.empty())
            print_records("Reports", r_.history.no_reports.count(), r_.history.tape->readings(),
                          rejected_reports(r_.history));
    }

  private:
    [[nodiscard]] std::string bold(std::string const& text) const {
        return colors_ ? "\033[1m" + text + "\033[0m" : text;
    }

    void print_summary() {
        recording const& tape = *r_.history.tape;
        out_ << bold(counted(r_.counts.judged - undecided(r_), "task")) << " of "
             << counted(tape.jobs(), "job") << " on " << counted(tape.nodes(), "node");
        if (!r_.detectors.empty())
            out_ << ", " << counted(r_.detectors.front().metrics.counts().stragglers(), "straggler")
                 << " (longer than " << short_number(r_.options.threshold) << " x " << usual_text(r_.options)
                 << ')';
        out_ << ".\n"
             << counted(r_.counts.looks, "look") << " at a job, " << looks_text(r_.options) << ".\n\n";
    }

    // The best first.
    [[nodiscard]] std::vector<scored const*> in_order() const {
        std::vector<scored const*> order;
        for (scored const& s : r_.detectors) order.push_back(&s);
        std::ranges::sort(order, [](scored const* a, scored const* b) {
            double const x = a->metrics.f1_in_time().value_or(-1), y = b->metrics.f1_in_time().value_or(-1);
            return x > y || (x == y && a < b);
        });
        return order;
    }

    void print_detectors() {
        constexpr std::size_t widest = 40;
        std::size_t name_width = 8;
        auto const name = [&](scored const& s) { return shortened(printable(s.detector), widest, ".."); };
        for (scored const& s : r_.detectors) name_width = (std::max)(name_width, width(name(s)));
        std::string line = left("DETECTOR", name_width);
        for (heading const& h : headings) line += "  " + right(std::string(h.name), h.width);
        out_ << bold(line) << '\n';
        for (scored const* s : in_order()) {
            auto const& m = s->metrics;
            auto const& c = m.counts();
            std::array<std::string, headings.size()> const cells{std::to_string(c.judged()),
                                                                 std::to_string(c.stragglers()),
                                                                 std::to_string(c.detected()),
                                                                 or_dash(m.precision()),
                                                                 or_dash(m.precision_in_time()),
                                                                 or_dash(m.recall()),
                                                                 or_dash(m.f1()),
                                                                 or_dash(m.f1_in_time()),
                                                                 or_dash(m.detection_latency()),
                                                                 or_dash(m.undetected_time()),
                                                                 or_dash(m.fake_positive_ratio())};
            line = left(name(*s), name_width);
            for (std::size_t i = 0; i < cells.size(); ++i) line += "  " + right(cells[i], headings[i].width);
            out_ << line << '\n';
        }
        out_ << '\n';
    }

    void print_notes() {
        for (std::string_view const line :
             {"SLOW: stragglers. NAMED: detected. IN TIME: those named with less than the usual time left,",
              "the FAKE ones, count as mistakes; the best F1 of that kind comes first. LATENCY: until "
              "stragglers",
              "were named, MISSED: how long those took that were not named; means, in usual times."})
            out_ << line << '\n';
        if (r_.history.progress_file.empty())
            out_ << "No progress is known: only rules that go by elapsed time can say much.\n";
        out_ << '\n';
    }

    template <class Counts>
    void print_records(std::string const& title, std::uint64_t unreadable, Counts const& counts,
                       std::vector<rejected_records> const& rejected) {
        out_ << bold(title) << ": " << grouped(counts.seen + unreadable) << " read, " << grouped(counts.used)
             << " used.\n";
        for (rejected_records const& some : rejected) out_ << "  " << in_words(some) << '\n';
        if (title != "Attempts") return;
        for (auto const& [n, what] :
             {std::pair(r_.counts.never_finished, "never finished"),
              std::pair(r_.counts.original_failed, "failed while a copy ran, which went on"),
              std::pair(r_.counts.usual_unknown, "of jobs with too few to say what is usual"),
              std::pair(undecided(r_), "overtaken by a copy, and unknown what they would have taken")})
            if (n > 0) out_ << "  " << counted(n, "task") << " left out: " << what << '\n';
    }

    std::ostream& out_;
    result const& r_;
    bool colors_;
};

} // namespace

void print_table(std::ostream& out, result const& r, bool colors) {
    table(out, r, colors).print();
}

} // namespace straggle_replay
