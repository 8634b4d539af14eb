// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../common/text.hpp"
#include "window_output.hpp"

#include <algorithm>
#include <array>
#include <iomanip>
#include <ostream>
#include <sstream>

namespace straggle_rank {

using namespace program;

namespace {

constexpr std::size_t fleet_that_fits = 40;

class table_printer final : public window_printer {
  public:
    table_printer(history const& h, options const& o, window_calendar const& calendar, bool colors)
        : h_(h), o_(o), calendar_(calendar), colors_(colors), domain_(common_domain(h)) {}

    void take(decided_window const& w) override {
        if (last_) idle_ += static_cast<std::uint64_t>(w.number - *last_ - 1); // not decided on
        last_ = w.number;
        if (w.changes.empty()) {
            idle_ += static_cast<std::uint64_t>(w.is_idle());
            return;
        }
        if (idle_ > 0) lines_ << "  .. " << counted(idle_, "window") << " without a task\n";
        idle_ = 0;
        auto const count = [&](std::size_t n) { lines_ << std::setw(6) << n; };
        lines_ << calendar_.when(calendar_.end_ms(w.number));
        count(w.ranking.fleet_size());
        count(w.decision.blacklisted().size());
        count(w.decision.on_probation().size());
        count(w.decision.spared().size());
        lines_ << "   " << changes(w) << '\n';
        ++changed_;
    }

    void print(std::ostream& out, result const& whole, timeline const& t) override {
        std::string const length = length_text(t.calendar.lengths().window_ms);
        std::string const slide = length_text(t.calendar.lengths().slide_ms);
        out << paint(bold, "Windows of " + length + (slide == length ? "" : ", every " + slide)) << " from "
            << calendar_.when(calendar_.begin_ms(t.first)) << " to "
            << calendar_.when(calendar_.end_ms(t.last))
            << " UTC: " << grouped(static_cast<std::uint64_t>(t.last - t.first) + 1) << ", "
            << grouped(t.idle) << " of them without a task.\n"
            << "What would have been decided; none of it was obeyed.\n\n";
        if (changed_ == 0) {
            out << paint(bold, "No node is ever to be avoided.") << "\n\n";
        } else {
            std::string const head = "WINDOW ENDS";
            std::size_t const time = calendar_.when(calendar_.end_ms(t.last)).size();
            out << paint(bold, head + std::string(time > head.size() ? time - head.size() : 0, ' ') +
                                   " NODES AVOID TRIAL SPARE   CHANGE")
                << '\n'
                << lines_.str() << '\n';
        }
        print_nodes(out, t);
        if (!whole.weighed.failing_jobs.empty()) {
            out << paint(bold, "Jobs that fail") << ":\n";
            for (std::string const& line : failing_jobs_in_words(whole)) out << "  " << line << '\n';
            out << '\n';
        }
        out << paint(bold, "Records") << ": " << records_in_words(whole)
            << (t.untimed > 0 ? "; " + grouped(t.untimed) + " of those used have no end, and are in no window"
                              : "")
            << ".\n";
        if (std::string const text = not_compared_in_words(whole); !text.empty()) out << "  " << text << '\n';
    }

  private:
    static constexpr std::string_view bold = "\033[1m";

    [[nodiscard]] std::string paint(std::string_view how, std::string_view text) const {
        return colors_ ? std::string(how) + std::string(text) + "\033[0m" : std::string(text);
    }
    [[nodiscard]] std::string name(std::uint32_t node) const {
        return name_within(h_, node, domain_, 30, "..");
    }

    // "avoid n2, n5; back n6"
    [[nodiscard]] std::string changes(decided_window const& w) const {
        std::string text;
        auto const add = [&](std::string_view words, auto&& belongs) {
            constexpr std::size_t most = 5;
            std::size_t n = 0;
            for (change const& c : w.changes) {
                if (!belongs(c) || ++n > most) continue;
                text += n > 1 ? ", " : (text.empty() ? "" : "; ") + std::string(words) + " ";
                text += name(c.node);
            }
            if (n > most) text += " and " + grouped(n - most) + " more";
        };
        auto const goes = [](standing from, standing to) {
            return [from, to](change const& c) { return c.before == from && c.after == to; };
        };
        using enum standing;
        add("avoid", [](change const& c) {
            return c.after == avoided && (c.before == in_service || c.before == spared);
        });
        add("avoid again", [](change const& c) {
            return c.after == avoided && (c.before == on_probation || c.before == avoided);
        });
        add("try out", [](change const& c) { return c.after == on_probation; });
        add("spare", [](change const& c) { return c.after == spared; });
        add("back", goes(avoided, in_service));
        add("back after its trial:", goes(on_probation, in_service));
        add("no longer weak", goes(spared, in_service));
        return text;
    }

    void print_nodes(std::ostream& out, timeline const& t) const {
        std::vector<std::uint32_t> const nodes = once_weak(t, h_);
        std::size_t const most = o_.top > 0 ? o_.top : fleet_that_fits;
        auto const shown = std::span(nodes).first((std::min)(nodes.size(), most));
        if (shown.empty()) return;
        std::size_t name_width = 4;
        for (std::uint32_t const node : shown) name_width = (std::max)(name_width, width(name(node)));
        out << paint(bold, "NODE" + std::string(name_width - 4, ' ') +
                               "  WINDOWS EXCLUSIONS  AVOIDED  TRIAL  SPARED  STRIKES  AT THE END")
            << '\n';
        for (std::uint32_t const node : shown) {
            node_account const& a = t.nodes[node];
            std::string const id = name(node);
            out << id << std::string(name_width - width(id), ' ') << std::setw(9) << a.windows
                << std::setw(11) << a.exclusions << std::setw(9) << a.avoided << std::setw(7)
                << a.on_probation << std::setw(8) << a.spared << std::setw(9) << a.strikes << "  "
                << ending(a.now) << '\n';
        }
        if (nodes.size() > shown.size())
            out << ".. and " << grouped(nodes.size() - shown.size())
                << " more (--top N shows more, --format json all)\n";
        if (std::size_t const rest = t.nodes.size() - nodes.size(); rest > 0)
            out << counted(rest, "other node") << " never weak.\n";
        out << '\n';
    }
    static std::string_view ending(standing s) {
        constexpr std::array<std::string_view, 4> words{"in service", "avoided", "on trial", "spared"};
        return words[static_cast<std::size_t>(s)];
    }

    history const& h_;
    options const& o_;
    window_calendar const& calendar_;
    bool colors_;
    std::string_view domain_; // the common end of all names
    std::ostringstream lines_;
    std::uint64_t changed_ = 0;
    std::uint64_t idle_ = 0; // windows since the last line
    std::optional<std::int64_t> last_;
};

} // namespace

std::vector<std::uint32_t> once_weak(timeline const& t, history const& h) {
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t node = 0; node < t.nodes.size(); ++node)
        if (t.nodes[node].was_weak()) nodes.push_back(node);
    std::ranges::sort(nodes, [&](std::uint32_t a, std::uint32_t b) {
        node_account const &x = t.nodes[a], &y = t.nodes[b];
        std::uint64_t const out_x = x.avoided + x.on_probation, out_y = y.avoided + y.on_probation;
        if (out_x != out_y) return out_x > out_y;
        return x.spared != y.spared ? x.spared > y.spared : h.nodes[a] < h.nodes[b];
    });
    return nodes;
}

std::unique_ptr<window_printer> window_table(history const& h, options const& o,
                                             window_calendar const& calendar, bool colors) {
    return std::make_unique<table_printer>(h, o, calendar, colors);
}

} // namespace straggle_rank
