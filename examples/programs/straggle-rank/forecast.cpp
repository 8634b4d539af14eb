// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "forecast.hpp"

#include "../common/failure.hpp"
#include "../common/file_source.hpp"
#include "../common/output_file.hpp"
#include "../common/text.hpp"
#include "job_days.hpp"
#include "rank.hpp"

#include <straggle/learn/boosted_trees_trainer.hpp>
#include <straggle/learn/weak_nodes.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <limits>
#include <random>
#include <span>

namespace straggle_rank {

using namespace program;

namespace {

using node_days = straggle::learn::node_days<std::uint32_t>;
using node_period = straggle::learn::node_period<std::uint32_t>;

// The history cut into periods of whole days, the last of which ends with the last day.
class period_days {
  public:
    period_days(history const& h, options const& o, std::uint32_t days)
        : calendar_(h, o), days_(days), periods_(periods_of(calendar_.count(), days), node_days(days)) {
        for (score const& s : scores(h, o)) {
            std::optional<std::int64_t> const day = calendar_.of(s.job);
            if (!day) {
                ++without_day_;
                continue;
            }
            std::uint64_t const back = static_cast<std::uint64_t>(calendar_.last() - *day);
            std::size_t const period = static_cast<std::size_t>(back / days);
            if (period >= periods_.size()) continue;
            periods_[period].observe(s.node, static_cast<std::size_t>(days - 1 - back % days), s.value);
        }
    }

    // The last one first; empty for a period without any activity.
    [[nodiscard]] std::vector<node_days> const& latest_first() const { return periods_; }
    [[nodiscard]] std::uint64_t days() const { return calendar_.count(); }
    [[nodiscard]] std::uint64_t whole_periods() const {
        return (std::min<std::uint64_t>)(days() / days_, periods_.size());
    }
    [[nodiscard]] std::int64_t first_day(std::size_t period) const {
        return calendar_.last() + 1 - static_cast<std::int64_t>((period + 1) * days_);
    }
    [[nodiscard]] std::uint64_t scores_without_day() const { return without_day_; }

  private:
    static std::size_t periods_of(std::uint64_t days, std::uint32_t period) {
        constexpr std::uint64_t most = 1000; // a broken clock must not exhaust the memory
        return static_cast<std::size_t>((std::min)(most, (days + period - 1) / period));
    }

    job_days calendar_;
    std::uint32_t days_;
    std::vector<node_days> periods_;
    std::uint64_t without_day_ = 0;
};

node_period features_of(node_days const& days, straggle::learn::feature_options const& how) {
    node_period p;
    days.table(p.features, how);
    for (std::size_t i = 0; i < days.size(); ++i) p.nodes.push_back(days.node(i));
    return p;
}

// Finds the weak nodes of each whole period and its features at the end; oldest first.
std::vector<node_period> label(period_days const& cut, future_options const& how, learning& l) {
    std::vector<node_period> periods;
    straggle::learn::weak_node_finder find;
    straggle::learn::weak_nodes found;
    std::mt19937_64 engine(how.seed);
    for (auto k = static_cast<std::size_t>(cut.whole_periods()); k-- > 0;) {
        node_days const& days = cut.latest_first()[k];
        learned_period told{.first_day = cut.first_day(k), .nodes = days.size()};
        node_period p = features_of(days, l.model.features);
        std::vector<double> rows;
        told.found = find(days.table(rows), engine, found);
        if (told.found == straggle::status::ok) {
            p.weak = found.weak;
            told.groups = found.groups.size();
            for (std::uint8_t const weak : p.weak) told.weak += weak;
        }
        l.periods.push_back(told);
        periods.push_back(std::move(p));
    }
    return periods;
}

// A node of a labeled period that also occurs in the period before is an example.
void count_examples(std::span<node_period const> periods, std::size_t nodes, learning& l) {
    std::vector<std::size_t> last_seen(nodes, periods.size());
    for (std::size_t k = 0; k < periods.size(); ++k) {
        for (std::size_t i = 0; i < periods[k].nodes.size(); ++i) {
            std::size_t& seen = last_seen[periods[k].nodes[i]];
            bool const is_example = seen + 1 == k && !periods[k].weak.empty();
            l.examples += is_example;
            l.weak_examples += is_example && periods[k].weak[i] != 0;
            seen = k;
        }
    }
}

// Tests each period on a model of all periods before it; not if a period has no labels.
void test(std::span<node_period const> periods, learning& l) {
    if (std::ranges::any_of(periods, [](node_period const& p) { return p.weak.empty(); })) return;
    straggle::learn::forecaster<std::uint32_t, straggle::learn::boosted_trees_trainer> model;
    std::vector<straggle::learn::forecast_cell> cells;
    if (straggle::learn::forecast_table(periods, model, cells) != straggle::status::ok) return;
    for (straggle::learn::forecast_cell const& c : cells) {
        if (c.first != 0) continue;
        ++l.tested;
        l.forecast += c.forecast;
        l.majority += c.majority;
        l.repeat += c.repeat;
        l.model.is_tested = true;
        l.model.better += c.better;
        l.model.worse += c.worse;
    }
}

std::vector<std::byte> bytes_of(std::string const& file) {
    constexpr std::size_t most = std::size_t{1} << 30;
    file_source in(file);
    std::vector<std::byte> bytes;
    std::size_t used = 0;
    for (;;) {
        bytes.resize(used + 65536);
        std::size_t const n = in(reinterpret_cast<char*>(bytes.data()) + used, 65536);
        used += n;
        if (n == 0) break;
        if (used > most) throw failure(exit_status::bad_input, file + ": too large to be a model");
    }
    bytes.resize(used);
    return bytes;
}

straggle::learn::forecast_model read_model(std::string const& file) {
    straggle::learn::forecast_model model;
    straggle::status const s = model.restore(bytes_of(file));
    if (s == straggle::status::ok) return model;
    std::string const why = s == straggle::status::truncated    ? "it ends too early"
                            : s == straggle::status::wrong_kind ? "not a model that --learn has written"
                            : s == straggle::status::unknown_version
                                ? "written by a newer version of straggle-rank"
                                : "not a model that --learn has written, or damaged";
    throw failure(exit_status::bad_input, file + ": " + why);
}

} // namespace

learning learn(history const& h, options const& o) {
    learning l;
    l.model = {.days = o.future.days,
               .day_length = static_cast<std::uint64_t>(o.future.day_ms),
               .features = {.look_back = o.future.look_back}};
    period_days const cut(h, o, l.model.days);
    l.days = cut.days();
    l.scores_without_day = cut.scores_without_day();
    auto const whole = static_cast<std::size_t>(cut.whole_periods());
    l.days_left_out = l.days - (std::min)(l.days, std::uint64_t{whole} * l.model.days);
    if (whole < 2)
        throw failure(exit_status::bad_input,
                      h.file + ": " + counted(l.days, "day") + " of history, and two periods of " +
                          counted(l.model.days, "day") +
                          " are the least to learn from: one to look at, one to forecast (--day, --period)");
    std::vector<node_period> const periods = label(cut, o.future, l);
    straggle::learn::forecaster<std::uint32_t, straggle::learn::boosted_trees_trainer> model;
    if (straggle::status const s = model.fit(periods); s != straggle::status::ok)
        throw failure(exit_status::bad_input, h.file +
                                                  ": nothing to learn: no period has nodes that stand out "
                                                  "and were there in the period before (" +
                                                  std::string(to_string(s)) + ")");
    l.model.trees = model.learner().model();
    count_examples(periods, h.nodes.size(), l);
    test(periods, l);
    return l;
}

std::size_t write_model(std::string const& file, straggle::learn::forecast_model const& model) {
    std::vector<std::byte> const bytes = model.serialize();
    output_file out(file);
    out.stream().write(reinterpret_cast<char const*>(bytes.data()),
                       static_cast<std::streamsize>(bytes.size()));
    out.finish();
    return bytes.size();
}

std::size_t expectation::expected_weak() const {
    std::size_t n = 0;
    if (!is_useful) return n;
    for (double const p : probability) n += p >= least;
    return n;
}

expectation expect(history const& h, options const& o) {
    straggle::learn::forecast_model const model = read_model(o.future.forecast);
    if (model.day_length == 0 || model.day_length > std::uint64_t{INT64_MAX})
        throw failure(exit_status::bad_input, o.future.forecast + ": it does not say how long a day is");
    if (model.trees.trees() == 0)
        throw failure(exit_status::bad_input, o.future.forecast + ": it has learned nothing");
    expectation e{.file = o.future.forecast,
                  .days = model.days,
                  .day_ms = static_cast<std::int64_t>(model.day_length),
                  .is_useful = model.is_useful(),
                  .least = o.future.least};
    options with_its_days = o;
    with_its_days.future.day_ms = e.day_ms;
    period_days const cut(h, with_its_days, model.days);
    e.days_known = (std::min)(cut.days(), std::uint64_t{model.days});
    e.probability.assign(h.nodes.size(), std::numeric_limits<double>::quiet_NaN());
    std::vector<double> rows;
    std::vector<straggle::learn::node_forecast<std::uint32_t>> nodes;
    straggle::status const s = model.forecast(cut.latest_first().front(), rows, nodes);
    if (s != straggle::status::ok)
        throw failure(exit_status::bad_input, o.future.forecast + ": " + std::string(to_string(s)));
    for (auto const& node : nodes) e.probability[node.id] = node.probability;
    return e;
}

} // namespace straggle_rank
