// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "shown_rows.hpp"

#include "../common/length.hpp"
#include "../common/text.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <span>
#include <utility>

namespace straggle_rank {

using namespace program;

namespace {

constexpr std::size_t most_shown = 3;

// Times in the unit of the file.
class times_of {
  public:
    explicit times_of(history const& h)
        : h_(h),
          unit_(unit_of_column(h.end_column)),
          by_(h.attempts.index() == 0 ? std::pow(10, -h.places) : 1) {}

    template <class Attempt>
    [[nodiscard]] std::optional<double> duration(Attempt const& a) const {
        if (h_.has_durations) return in_unit(a.duration());
        auto const start = in_unit(a.start()), end = in_unit(a.end());
        return start && end && *end >= *start ? std::optional(*end - *start) : std::nullopt;
    }
    template <class Attempt>
    [[nodiscard]] std::string end(Attempt const& a) const {
        auto const end = in_unit(a.end());
        return end ? point(*end, h_.end_column, "ended") : std::string();
    }
    [[nodiscard]] std::string start(unended_attempt const& a) const {
        return point(a.start * by_, h_.start_column, "started");
    }
    /// The last time in the history, in ticks. @pre an attempt runs at its end
    template <class Attempts>
    [[nodiscard]] double last_of(Attempts const& attempts) const {
        double last = h_.running.front().start;
        for (unended_attempt const& b : h_.running) last = (std::max)(last, b.start);
        for (auto const& b : attempts)
            if (b.end()) last = (std::max)(last, static_cast<double>(*b.end()));
        return last;
    }
    [[nodiscard]] double between(double begin, double end) const { return (end - begin) * by_; }
    [[nodiscard]] std::string length(double t) const {
        if (!unit_) return exact(t);
        double const seconds = t / static_cast<double>(per_second(*unit_));
        return seconds < 1 ? fixed(seconds * 1e3, seconds < 0.01 ? 2 : 0) + " ms"
                           : fixed(seconds, seconds < 100 ? 1 : 0) + " s";
    }

  private:
    // As in the file, so that the row can be searched for; logs have their own form.
    [[nodiscard]] std::string point(double t, std::string const& column, char const* word) const {
        if (!h_.log)
            return ", " + column + " " + (t == std::floor(t) && std::fabs(t) < 1e15 ? fixed(t, 0) : exact(t));
        auto const text = utc_text(t / 1e6, "%Y-%m-%d %H:%M:%S");
        return text ? ", " + std::string(word) + " " + *text : std::string();
    }
    template <class Time>
    [[nodiscard]] std::optional<double> in_unit(std::optional<Time> t) const {
        return t ? std::optional(static_cast<double>(*t) * by_) : std::nullopt;
    }

    history const& h_;
    std::optional<time_unit> unit_;
    double by_;
};

double median(std::vector<double>& values) {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

std::string job_of(history const& h, std::uint32_t job) {
    return shortened(printable(h.jobs[job]), 40, "..");
}

using times_by_job = std::map<std::uint32_t, std::vector<double>>;

// How long the siblings on other nodes took, for the jobs that have an entry.
template <class Attempts>
void add_elsewhere(times_by_job& jobs, Attempts const& attempts, times_of const& times, std::uint32_t node) {
    for (auto const& a : attempts) {
        if (a.status() != straggle::attempt_status::success || !a.job() || !a.node() || *a.node() == node)
            continue;
        auto const job = jobs.find(*a.job());
        if (job == jobs.end()) continue;
        if (auto const t = times.duration(a)) job->second.push_back(*t);
    }
}

std::string elsewhere_in_words(std::vector<double>& others, times_of const& times) {
    if (others.empty()) return "; none of its siblings ended elsewhere";
    return "; elsewhere " + times.length(median(others)) + " (median of " + grouped(others.size()) + ")";
}

std::vector<std::string> rows_of_slow(history const& h, std::uint32_t node) {
    times_of const times(h);
    return std::visit(
        [&](auto const& attempts) {
            struct own_row {
                std::size_t index;
                std::uint32_t job;
                double length, ratio;
            };
            std::vector<own_row> own;
            times_by_job elsewhere;
            for (std::size_t i = 0; i < attempts.size(); ++i) {
                auto const& a = attempts[i];
                if (a.status() != straggle::attempt_status::success || !a.job() || a.node() != node) continue;
                auto const t = times.duration(a);
                if (!t) continue;
                own.push_back({i, *a.job(), *t, 0});
                elsewhere[*a.job()];
            }
            add_elsewhere(elsewhere, attempts, times, node);
            std::erase_if(own, [&](own_row const& r) { return elsewhere[r.job].empty(); });
            for (own_row& r : own) r.ratio = r.length / median(elsewhere[r.job]);
            std::ranges::sort(own, {}, [](own_row const& r) { return std::pair(r.ratio, r.index); });
            std::size_t const shown = (std::min)(most_shown, own.size());
            std::span<own_row> const middle = std::span(own).subspan((own.size() - shown) / 2, shown);
            std::ranges::sort(middle, {}, &own_row::index);
            std::vector<std::string> rows;
            for (own_row const& r : middle)
                rows.push_back(job_of(h, r.job) + times.end(attempts[r.index]) + ": " +
                               times.length(r.length) + elsewhere_in_words(elsewhere[r.job], times));
            return rows;
        },
        h.attempts);
}

// The last attempts of a node with one kind of end, in the order of the history.
template <class Attempts>
std::vector<std::size_t> last_of(Attempts const& attempts, std::uint32_t node,
                                 straggle::attempt_status status) {
    std::vector<std::size_t> last;
    for (std::size_t i = attempts.size(); i-- > 0 && last.size() < most_shown;)
        if (attempts[i].status() == status && attempts[i].job() && attempts[i].node() == node)
            last.push_back(i);
    std::ranges::reverse(last);
    return last;
}

std::vector<std::string> rows_of_killed(history const& h, std::uint32_t node) {
    times_of const times(h);
    return std::visit(
        [&](auto const& attempts) {
            std::vector<std::size_t> const killed = last_of(attempts, node, straggle::attempt_status::killed);
            times_by_job elsewhere;
            for (std::size_t const i : killed) elsewhere[*attempts[i].job()];
            add_elsewhere(elsewhere, attempts, times, node);
            std::vector<std::string> rows;
            for (std::size_t const i : killed) {
                auto const ran = times.duration(attempts[i]);
                rows.push_back(job_of(h, *attempts[i].job()) + times.end(attempts[i]) + ": killed" +
                               (ran ? " after " + times.length(*ran) : std::string()) +
                               elsewhere_in_words(elsewhere[*attempts[i].job()], times));
            }
            return rows;
        },
        h.attempts);
}

std::vector<std::string> rows_of_running(history const& h, std::uint32_t node) {
    times_of const times(h);
    std::vector<unended_attempt> own;
    std::ranges::copy_if(h.running, std::back_inserter(own),
                         [node](unended_attempt const& a) { return a.node == node; });
    std::ranges::sort(own, {}, &unended_attempt::start);
    own.resize((std::min)(own.size(), most_shown));
    return std::visit(
        [&](auto const& attempts) {
            times_by_job elsewhere;
            for (unended_attempt const& a : own) elsewhere[a.job];
            add_elsewhere(elsewhere, attempts, times, node);
            std::vector<std::string> rows;
            if (own.empty()) return rows;
            double const last = times.last_of(attempts);
            for (unended_attempt const& a : own)
                rows.push_back(job_of(h, a.job) + times.start(a) + ": has run for " +
                               times.length(times.between(a.start, last)) +
                               elsewhere_in_words(elsewhere[a.job], times));
            return rows;
        },
        h.attempts);
}

std::vector<std::string> rows_of_failing(history const& h, std::uint32_t node) {
    times_of const times(h);
    return std::visit(
        [&](auto const& attempts) {
            std::vector<std::size_t> const failed = last_of(attempts, node, straggle::attempt_status::failed);
            std::vector<std::string> rows;
            for (std::size_t const i : failed) {
                std::uint64_t others = 0, others_failed = 0;
                for (auto const& a : attempts) {
                    if (a.job() != attempts[i].job() || !a.node() || a.node() == node) continue;
                    ++others;
                    others_failed += a.status() == straggle::attempt_status::failed ? 1U : 0U;
                }
                rows.push_back(job_of(h, *attempts[i].job()) + times.end(attempts[i]) +
                               ": failed; elsewhere " +
                               (others == 0 ? "it did not run"
                                            : grouped(others_failed) + " of " + grouped(others) + " failed"));
            }
            return rows;
        },
        h.attempts);
}

} // namespace

std::vector<std::string> rows_behind(history const& h, verdict const& v) {
    using straggle::blacklist::cause;
    if (straggle::blacklist::has(v.causes, cause::failing)) return rows_of_failing(h, v.id);
    if (v.rule == "killed") return rows_of_killed(h, v.id);
    if (v.rule == "hung" || v.rule == "running_time") {
        auto rows = rows_of_running(h, v.id);
        return rows.empty() ? rows_of_killed(h, v.id) : rows; // those that were abandoned
    }
    if (straggle::blacklist::has(v.causes, cause::slow)) return rows_of_slow(h, v.id);
    return {};
}

} // namespace straggle_rank
