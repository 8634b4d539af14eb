// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "causes.hpp"

#include "../common/text.hpp"
#include "attempt_list.hpp"

#include <straggle/predict/sibling_times.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace straggle_rank {

using namespace program;
using straggle::detect::late_by;
using straggle::detect::late_by_count;

namespace {

constexpr double unknown_number = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint32_t no_kind = (std::numeric_limits<std::uint32_t>::max)();

// The number of attempts that ran on a node, integrated over time.
class node_load {
  public:
    void add(double start, double end) {
        starts_.push_back(start);
        ends_.push_back(end);
    }
    void close() {
        std::sort(starts_.begin(), starts_.end());
        std::sort(ends_.begin(), ends_.end());
        for (std::vector<double> const* const times : {&starts_, &ends_}) {
            std::vector<double>& sums = times == &starts_ ? start_sums_ : end_sums_;
            sums.assign(1, 0);
            for (double const t : *times) sums.push_back(sums.back() + t);
        }
        for (std::size_t s = 0, e = 0; s < starts_.size(); ++s) {
            while (ends_[e] <= starts_[s]) ++e;
            most_ = (std::max)(most_, s + 1 - e);
        }
    }
    // Share of the other slots that were busy in that time.
    [[nodiscard]] double crowd(double start, double end) const {
        if (most_ < 2 || !(end > start)) return 0;
        double const others = (integral(end) - integral(start)) / (end - start) - 1;
        return std::clamp(others / static_cast<double>(most_ - 1), 0.0, 1.0);
    }

  private:
    [[nodiscard]] double integral(double time) const {
        return passed(starts_, start_sums_, time) - passed(ends_, end_sums_, time);
    }
    [[nodiscard]] static double passed(std::vector<double> const& times, std::vector<double> const& sums,
                                       double until) {
        auto const n =
            static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), until) - times.begin());
        return static_cast<double>(n) * until - sums[n];
    }

    std::vector<double> starts_, ends_, start_sums_, end_sums_;
    std::size_t most_ = 0;
};

struct row {
    std::uint32_t job, node;
    double time, input, crowd;
};

// Successes, job by job.
std::vector<row> rows_of(history const& h) {
    std::vector<row> rows;
    with_attempts(h, [&](auto const& attempts, auto const& fields) {
        double const origin = [&] {
            for (auto const& a : attempts)
                if (a.end()) return static_cast<double>(*a.end());
            return 0.0;
        }();
        auto const end_of = [&](auto const& a) { return static_cast<double>(*a.end()) - origin; };
        auto const time_of = [](auto const& a) {
            return a.duration()           ? static_cast<double>(*a.duration())
                   : a.start() && a.end() ? static_cast<double>(*a.end() - *a.start())
                                          : unknown_number;
        };
        std::vector<node_load> loads(h.nodes.size());
        for (auto const& a : attempts)
            if (a.node() && a.end() && time_of(a) > 0)
                loads[*a.node()].add(end_of(a) - time_of(a), end_of(a));
        for (node_load& l : loads) l.close();
        for (auto const& a : attempts) {
            double const time = time_of(a);
            if (!a.job() || !a.node() || !(time > 0) || a.status() != straggle::attempt_status::success)
                continue;
            std::optional<double> const input = fields.input(a);
            rows.push_back({*a.job(), *a.node(), time, input.value_or(unknown_number),
                            a.end() ? loads[*a.node()].crowd(end_of(a) - time, end_of(a)) : unknown_number});
        }
    });
    std::sort(rows.begin(), rows.end(), [](row const& a, row const& b) {
        return std::tie(a.job, a.node, a.time) < std::tie(b.job, b.node, b.time);
    });
    return rows;
}

using sums = std::array<double, late_by_count>;

// What each share would be with other jobs of the same kind: by the bootstrap.
void add_intervals(lost_time& lost, std::vector<sums> const& jobs) {
    sums all{};
    double total = 0;
    for (sums const& j : jobs)
        for (std::size_t k = 0; k < late_by_count; ++k) all[k] += j[k], total += j[k];
    if (!(total > 0)) return;
    std::size_t const times = std::clamp<std::size_t>(4'000'000 / jobs.size(), 100, 1000);
    std::array<std::vector<double>, late_by_count> drawn;
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < times; ++i) {
        sums some{};
        double of = 0;
        for (std::size_t j = 0; j < jobs.size(); ++j) {
            sums const& one = jobs[random() % jobs.size()];
            for (std::size_t k = 0; k < late_by_count; ++k) some[k] += one[k], of += one[k];
        }
        for (std::size_t k = 0; k < late_by_count && of > 0; ++k) drawn[k].push_back(some[k] / of);
    }
    for (std::size_t k = 0; k < late_by_count; ++k) {
        std::sort(drawn[k].begin(), drawn[k].end());
        auto const at = [&](double q) {
            return drawn[k][static_cast<std::size_t>(q * static_cast<double>(drawn[k].size() - 1))];
        };
        lost.by[k] = {all[k] / total, at(0.025), at(0.975)};
    }
}

} // namespace

lost_time lost_by_cause(history const& h, std::span<straggle::slowdown const> of_nodes) {
    std::vector<row> const rows = rows_of(h);
    auto const slowdown_of = [&](row const& r) {
        return r.node < of_nodes.size() ? of_nodes[r.node] : straggle::slowdown{};
    };
    auto const slow_of = [&](row const& r) {
        straggle::slowdown const s = slowdown_of(r);
        return s.is_known() && (s.low > 1 || s.high < 1) ? s.value : 1.0;
    };
    auto const observe = [&](straggle::predict::sibling_times& times, row const& r) {
        times.observe(r.job, no_kind, r.time, slow_of(r), r.input, r.crowd);
    };
    auto const for_each_job = [&](auto&& visit) {
        for (std::size_t first = 0, last = 0; first < rows.size(); first = last) {
            while (last < rows.size() && rows[last].job == rows[first].job) ++last;
            visit(std::span(rows).subspan(first, last - first));
        }
    };
    straggle::predict::sibling_times learned;
    for_each_job([&](std::span<row const> job) {
        for (row const& r : job) observe(learned, r);
        learned.finish(job.front().job);
    });
    lost_time lost;
    std::vector<sums> by_job;
    double all = 0, total = 0;
    straggle::predict::time_outlook outlook;
    straggle::predict::sibling_times times;
    for_each_job([&](std::span<row const> job) {
        times = learned;
        for (row const& r : job) observe(times, r);
        if (!times.outlook(job.front().job, no_kind, {}, outlook)) return;
        sums of_job{};
        bool is_late = false;
        for (row const& r : job) {
            auto const parts = times.parts(r.job, no_kind, {.input = r.input, .crowd = r.crowd}, outlook);
            ++lost.tasks;
            all += r.time;
            if (!(r.time >= 1.5 * parts.usual)) continue;
            straggle::detect::node_case node;
            if (straggle::slowdown const s = slowdown_of(r); s.is_known() && s.low > 0)
                node.slowdown = straggle::predict::log_factor_of(s);
            auto const cause = straggle::detect::cause_of(outlook, {.low = 0.99 * r.time,
                                                                    .high = 1.01 * r.time,
                                                                    .usual = parts.usual,
                                                                    .node = {&node, 1},
                                                                    .input = parts.input,
                                                                    .crowd = parts.crowd});
            for (std::size_t k = 0; k < late_by_count; ++k)
                of_job[k] += (r.time - parts.usual) * cause.probability[k];
            total += r.time - parts.usual;
            ++lost.late;
            is_late = true;
        }
        if (is_late) ++lost.jobs;
        by_job.push_back(of_job);
    });
    lost.share = all > 0 ? total / all : 0.0;
    add_intervals(lost, by_job);
    return lost;
}

namespace {

// In the order in which they are shown; jobs have no kinds here.
constexpr std::array<std::pair<late_by, char const*>, 4> shown_causes{{{late_by::node, "slow nodes"},
                                                                       {late_by::input, "more input"},
                                                                       {late_by::crowd, "crowded nodes"},
                                                                       {late_by::itself, "bad luck"}}};

// Two digits are all that the intervals support.
std::string about(double share) {
    double const percents = 100 * share;
    return fixed(percents, percents < 0.005 || percents >= 9.95 ? 0 : percents < 0.995 ? 2 : 1) + " %";
}

} // namespace

void print_causes(std::ostream& out, lost_time const& lost, std::size_t columns, char const* filled) {
    out << grouped(lost.late) << " of " << counted(lost.tasks, "task")
        << " took at least 1.5 times as long as usual in their job";
    if (lost.late == 0) {
        out << ".\n";
        return;
    }
    out << ", and lost " << about(lost.share) << " of all task time:\n";
    for (auto const& [by, name] : shown_causes) {
        lost_share const& s = lost.by[static_cast<std::size_t>(by)];
        std::string bar;
        for (std::size_t i = 0; i < columns; ++i)
            bar += static_cast<double>(i) + 0.5 < s.value * static_cast<double>(columns) ? filled : " ";
        out << "  " << name << std::string(14 - std::string_view(name).size(), ' ') << bar << ' '
            << about(s.value) << " (" << about(s.low) << " to " << about(s.high) << ")\n";
    }
}

nlohmann::ordered_json causes_json(lost_time const& lost) {
    nlohmann::ordered_json by;
    for (auto const& [cause, name] : shown_causes) {
        lost_share const& s = lost.by[static_cast<std::size_t>(cause)];
        by[std::string(to_string(cause))] = {{"share", s.value}, {"low", s.low}, {"high", s.high}};
    }
    return {{"tasks", lost.tasks},
            {"late", lost.late},
            {"jobs", lost.jobs},
            {"share_of_time", lost.share},
            {"by", std::move(by)}};
}

} // namespace straggle_rank
