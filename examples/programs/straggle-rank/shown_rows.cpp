// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "shown_rows.hpp"

#include "../common/length.hpp"
#include "../common/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace straggle_rank {

using namespace program;

namespace {

constexpr std::size_t most_rows = 3;

// Times of a file in its own unit.
class times_of {
  public:
    explicit times_of(history const& h)
        : h_(h), unit_(unit_of_column(h.end_column)), by_(std::pow(10, -h.places)) {}

    template <class Attempt>
    [[nodiscard]] std::optional<double> duration(Attempt const& a) const {
        if (h_.has_durations) return in_unit(a.duration());
        auto const start = in_unit(a.start()), end = in_unit(a.end());
        return start && end && *end >= *start ? std::optional(*end - *start) : std::nullopt;
    }
    template <class Attempt>
    [[nodiscard]] std::string end(Attempt const& a) const {
        auto const end = in_unit(a.end());
        if (!end) return {};
        // As the file says it, so that the row can be searched for; logs say it in their own way.
        if (!h_.log) return ", " + h_.end_column + " " + exact(*end);
        auto const text = utc_text(*end / 1e6, "%Y-%m-%d %H:%M:%S");
        return text ? ", ended " + *text : std::string();
    }
    [[nodiscard]] std::string length(double t) const {
        if (!unit_) return exact(t);
        double const seconds = t / static_cast<double>(per_second(*unit_));
        return seconds < 1 ? fixed(seconds * 1e3, seconds < 0.01 ? 2 : 0) + " ms"
                           : fixed(seconds, seconds < 100 ? 1 : 0) + " s";
    }

  private:
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

} // namespace

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
            std::map<std::uint32_t, std::vector<double>> elsewhere; // by job
            auto const usable = [&](auto const& a) {
                return a.status() == straggle::attempt_status::success && a.job() && a.node() &&
                       times.duration(a);
            };
            for (std::size_t i = 0; i < attempts.size(); ++i)
                if (usable(attempts[i]) && *attempts[i].node() == node) {
                    own.push_back({i, *attempts[i].job(), *times.duration(attempts[i]), 0});
                    elsewhere[own.back().job];
                }
            for (auto const& a : attempts)
                if (usable(a) && *a.node() != node)
                    if (auto const job = elsewhere.find(*a.job()); job != elsewhere.end())
                        job->second.push_back(*times.duration(a));
            std::erase_if(own, [&](own_row const& r) { return elsewhere[r.job].empty(); });
            for (own_row& r : own) r.ratio = r.length / median(elsewhere[r.job]);
            std::ranges::sort(own, {}, [](own_row const& r) { return std::pair(r.ratio, r.index); });
            std::size_t const shown = (std::min)(most_rows, own.size());
            std::span<own_row> const middle = std::span(own).subspan((own.size() - shown) / 2, shown);
            std::ranges::sort(middle, {}, &own_row::index);
            std::vector<std::string> rows;
            for (own_row const& r : middle) {
                std::vector<double>& others = elsewhere[r.job];
                rows.push_back(job_of(h, r.job) + times.end(attempts[r.index]) + ": " +
                               times.length(r.length) + "; elsewhere " + times.length(median(others)) +
                               " (median of " + grouped(others.size()) + ")");
            }
            return rows;
        },
        h.attempts);
}

std::vector<std::string> rows_of_failing(history const& h, std::uint32_t node) {
    times_of const times(h);
    return std::visit(
        [&](auto const& attempts) {
            std::vector<std::size_t> failed;
            for (std::size_t i = attempts.size(); i-- > 0 && failed.size() < most_rows;)
                if (attempts[i].status() == straggle::attempt_status::failed && attempts[i].job() &&
                    attempts[i].node() == node)
                    failed.push_back(i);
            std::ranges::reverse(failed);
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

} // namespace straggle_rank
