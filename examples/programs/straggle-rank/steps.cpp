// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "steps.hpp"

#include "../common/csv_table.hpp"
#include "../common/gang_steps.hpp"
#include "../common/moment.hpp"
#include "../common/text.hpp"
#include "json.hpp"

#include <straggle/base/interner.hpp>

#include <algorithm>
#include <limits>
#include <ostream>

namespace straggle_rank {

using namespace program;
using nlohmann::ordered_json;

namespace {

using names = straggle::interner<std::string>;

struct read_report {
    step_report told;
    std::size_t row = 0;

    friend bool operator<(read_report const& a, read_report const& b) {
        return a.told.step != b.told.step ? a.told.step < b.told.step : a.row < b.row;
    }
};

struct reports : gang_names<names> {
    std::vector<read_report> rows;
    bool by_arrival = false;
    std::string unit; // empty if unknown
};

// NaN if it is not a number, which the watch rejects.
std::optional<double> number_in(std::string_view field) {
    number const n = read_number(field);
    if (n.kind == number_kind::missing) return std::nullopt;
    bool const is_number = n.kind == number_kind::exact || n.kind == number_kind::real;
    return is_number ? value_of(n) : std::numeric_limits<double>::quiet_NaN();
}

void read(std::string const& file, options const& o, bool show_progress, reports& all) {
    using enum step_column;
    csv_table<step_column> table(file, o.step_columns, show_progress);
    auto const& places = table.places();
    places.require(o.step_columns, step);
    places.require(o.step_columns, rank);
    bool const has_ends = places.has(start) && places.has(end);
    if (!places.has(duration) && !has_ends && !places.has(arrived))
        places.fail("no column for the duration, none for start and end, and none for the arrival");
    if (!all.rows.empty() && all.by_arrival != places.has(arrived))
        places.fail("arrivals in one file and durations in another");
    all.by_arrival = places.has(arrived);
    step_column const time = all.by_arrival ? arrived : places.has(duration) ? duration : end;
    if (auto const unit = unit_of_column(places.name(time))) all.unit = " " + std::string(to_string(*unit));
    while (table.next()) {
        step_report r;
        if (std::int64_t whole = 0; read_whole(table.field(step), whole)) r.step = whole;
        r.rank = all.ranks.insert(table.name(rank));
        r.node = all.nodes.insert(table.name(places.has(node) ? node : rank));
        r.section = all.sections.insert(table.name(section));
        r.stage = all.stages.insert(table.name(stage));
        r.time = number_in(table.field(time));
        if (std::optional<double> const from = time == end ? number_in(table.field(start)) : 0;
            r.time && from)
            *r.time -= *from;
        else
            r.time.reset();
        r.waited = number_in(table.field(waited));
        all.rows.push_back({r, all.rows.size()});
    }
}

// Files may contain one rank after the other.
reports read(options const& o, bool show_progress) {
    reports all;
    for (std::string const& file : o.files) {
        try {
            read(file, o, show_progress, all);
        } catch (csv::error const& e) {
            throw failure(exit_status::bad_input,
                          name_of(file) + ":" + std::to_string(e.line()) + ": " + e.what());
        }
    }
    std::sort(all.rows.begin(), all.rows.end());
    return all;
}

template <class Watch>
class printer {
  public:
    printer(options const& o, reports const& all, Watch& watch)
        : all_(all), watch_(watch), loss_(watch.loss()) {
        if (o.restart_cost) cost_ = {.restart = *o.restart_cost, .steps_left = *o.steps_left};
    }

    [[nodiscard]] ordered_json json() const {
        ordered_json slow = ordered_json::array(), rejected = ordered_json::object();
        for (auto const& s : watch_.stragglers()) {
            slow.push_back(straggler_json(watch_, s, all_, name_json));
            if (cost_) slow.back()["replace"] = replacement_json(watch_.replace(s.rank, *cost_));
        }
        for (std::size_t i = 0; i < reason_count(straggle::gang::step_rejection{}); ++i)
            rejected[std::string(to_string(static_cast<straggle::gang::step_rejection>(i)))] =
                watch_.counts().rejected[static_cast<straggle::gang::step_rejection>(i)];
        return {{"program", version()},
                {"records",
                 {{"read", watch_.counts().seen}, {"used", watch_.counts().used}, {"rejected", rejected}}},
                {"steps", watch_.counts().steps},
                {"ranks", all_.ranks.size()},
                {"step", loss_json(loss_)},
                {"stragglers", slow},
                {"sections", shares_json(watch_, all_.sections, &Watch::share_of_section, name_json)},
                {"stages", shares_json(watch_, all_.stages, &Watch::share_of_stage, name_json)}};
    }

    void sentences(std::ostream& out) const {
        auto const& counts = watch_.counts();
        out << counted(counts.steps, "step") << " of " << counted(all_.ranks.size(), "rank") << ", "
            << counted(counts.seen, "report");
        if (counts.rejected.total() > 0) out << ", " << grouped(counts.rejected.total()) << " rejected";
        out << "\n\n";
        for (auto const& s : watch_.stragglers()) {
            out << "Rank " << printable(all_.ranks[s.rank]);
            if (all_.nodes[s.node] != all_.ranks[s.rank]) out << " on " << printable(all_.nodes[s.node]);
            std::string const section = all_.sections.size() > 1 ? all_.sections[s.section] : "";
            out << ' ' << straggler_text(s, section, watch_.share_of_rank(s.rank), all_.unit);
            if (cost_) out << ' ' << replacement_text(watch_.replace(s.rank, *cost_));
            out << '\n';
        }
        if (watch_.stragglers().empty()) out << "No rank is significantly slower than the others.\n";
        out << "\nA step takes " << time_text(loss_.seconds) << all_.unit << ", without stragglers "
            << time_text(loss_.without_stragglers) << all_.unit << ".";
        if (!watch_.stragglers().empty())
            out << " The ranks named explain " << share_text(1 - loss_.moving) << " of the difference.";
        out << "\n";
        share_sentence(out, "sections", all_.sections, &Watch::share_of_section);
        share_sentence(out, "stages", all_.stages, &Watch::share_of_stage);
    }

  private:
    using share_of = double (Watch::*)(std::uint32_t const&) const;

    [[nodiscard]] static ordered_json name_json(names const& of, std::uint32_t i) {
        return valid_utf8(of[i]);
    }
    [[nodiscard]] std::string replacement_text(straggle::gang::replacement const& r) const {
        if (!(r.gain_per_step > 0)) return "It is slow on any node.";
        auto const signed_time = [](double x) { return x < 0 ? "-" + time_text(-x) : time_text(x); };
        return std::string("A different node is ") + (r.is_worth ? "" : "not ") +
               "worth a restart: " + counted(r.nodes_waiting, "other node") +
               (r.nodes_waiting == 1 ? " gains " : " gain ") + signed_time(r.gain) + all_.unit + " (" +
               signed_time(r.low) + " to " + signed_time(r.high) + ") each.";
    }
    void share_sentence(std::ostream& out, char const* what, names const& of, share_of share) const {
        if (of.size() < 2) return;
        out << "Explained by " << what << ":";
        for (std::uint32_t i = 0; i < of.size(); ++i)
            out << (i > 0 ? ", " : " ") << printable(of[i]) << ' ' << share_text((watch_.*share)(i));
        out << ".\n";
    }

    reports const& all_;
    Watch& watch_;
    straggle::gang::step_loss loss_;
    std::optional<straggle::gang::replacement_cost> cost_;
};

template <class Fields>
void print(std::ostream& out, options const& o, reports const& all, Fields fields) {
    auto watch = straggle::gang::step_watch_of<step_report>(fields);
    std::optional<std::int64_t> last;
    for (read_report const& r : all.rows) {
        if (last && r.told.step != last) watch.close(*last);
        last = r.told.step;
        watch.observe(r.told);
    }
    watch.close(std::numeric_limits<std::int64_t>::max());
    if (watch.counts().steps == 0)
        throw failure(exit_status::bad_input,
                      name_of(o.files.front()) + ": no report of a step could be used");
    printer const p(o, all, watch);
    if (o.format == output_format::json)
        out << p.json().dump(2) << '\n';
    else
        p.sentences(out);
}

} // namespace

void print_steps(std::ostream& out, options const& o, bool show_progress) {
    reports const all = read(o, show_progress);
    if (all.by_arrival)
        print(out, o, all, steps_by_arrival);
    else
        print(out, o, all, steps_by_duration);
}

} // namespace straggle_rank
