// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Recorded histories for the tests: made at random, or read from the reference data.
#pragma once

#include "../../examples/programs/straggle-replay/recording.hpp"

#include "../support/shared_data.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace straggle_test {

/// One attempt, as a scheduler might have written it down.
struct recorded {
    std::string job{}, node{};
    int task = 0, number = 0;
    std::int64_t start = 0, end = 0;
    straggle::attempt_status status = straggle::attempt_status::success;
    double input = 1, usual = 0, predicted = 0;
};
/// One report of an attempt.
struct progress_report {
    std::string job{};
    int task = 0, number = 0;
    std::int64_t time = 0;
    double progress = 0;
};
constexpr replaying::recorded_fields recorded_members{.job = &recorded::job,
                                                      .task = &recorded::task,
                                                      .node = &recorded::node,
                                                      .start = &recorded::start,
                                                      .end = &recorded::end,
                                                      .status = &recorded::status,
                                                      .attempt = &recorded::number,
                                                      .input = &recorded::input,
                                                      .usual = &recorded::usual,
                                                      .predicted = &recorded::predicted};
constexpr replaying::reading_fields report_members{.job = &progress_report::job,
                                                   .task = &progress_report::task,
                                                   .time = &progress_report::time,
                                                   .progress = &progress_report::progress,
                                                   .attempt = &progress_report::number};

/// A history in memory.
struct past {
    std::vector<recorded> attempts;
    std::vector<progress_report> reports;

    [[nodiscard]] auto taped() const {
        return replaying::recording(attempts, recorded_members, reports, report_members);
    }
};

/// A few jobs that overlap, with copies, failures, kills, attempts that take no time, jumps backwards of
/// progress, and coarse times so that much happens at once.
inline past random_past(std::mt19937_64& engine, int jobs = 4, std::int64_t coarse = 1) {
    auto const draw = [&](std::int64_t least, std::int64_t most) {
        return least + static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(most - least + 1));
    };
    auto const chance = [&](double p) { return static_cast<double>(engine() >> 11) * 0x1p-53 < p; };
    using straggle::attempt_status;
    past p;
    for (int j = 0; j < jobs; ++j) {
        std::string const job = "job " + std::to_string(j);
        std::int64_t const begin = draw(0, 200);
        std::int64_t const tasks = draw(1, 12);
        for (int task = 0; task < tasks; ++task) {
            std::int64_t at = begin + draw(0, 60);
            std::int64_t const attempts = chance(0.6) ? 1 : draw(1, 4);
            for (int number = 0; number < attempts; ++number) {
                recorded a{.job = job, .node = "n" + std::to_string(draw(0, 3)), .task = task};
                a.number = number;
                a.start = at / coarse * coarse;
                a.end = a.start + (chance(0.05) ? 0 : draw(1, 100) / coarse * coarse);
                a.status = chance(0.75)  ? attempt_status::success
                           : chance(0.5) ? attempt_status::failed
                                         : attempt_status::killed;
                a.input = chance(0.5) ? 1.0 : static_cast<double>(draw(1, 5));
                std::int64_t time = a.start;
                while (chance(0.9) && time <= a.end) {
                    double const done = static_cast<double>(time - a.start + 1) /
                                        static_cast<double>(a.end - a.start + 1 + draw(0, 5));
                    p.reports.push_back({job, task, number, time, done});
                    time += draw(0, 9) / coarse * coarse;
                }
                p.attempts.push_back(a);
                // The next one is a copy, or begins just then or later.
                at = chance(0.5) ? draw(a.start, a.end) : a.end + draw(0, 20);
            }
        }
    }
    return p;
}

inline std::vector<std::vector<std::string>> read_table(std::filesystem::path const& file) {
    std::vector<std::vector<std::string>> rows;
    std::ifstream in(file);
    std::string line;
    std::getline(in, line); // the header
    while (std::getline(in, line)) {
        auto& row = rows.emplace_back(1);
        for (char const c : line) {
            if (c == ',')
                row.emplace_back();
            else
                row.back() += c;
        }
    }
    return rows;
}

/// The recorded history with progress, or nothing if it is not there; times in milliseconds.
inline std::optional<past> past_of_sls() {
    auto const attempts = shared_file("data/hadoop-sls.csv");
    auto const reports = shared_file("data/hadoop-sls.progress.csv");
    if (!attempts || !reports) return std::nullopt;
    past p;
    std::map<std::string, int> tasks; // by name
    for (auto const& r : read_table(*attempts)) {
        recorded a{.job = r.at(0), .node = r.at(3)};
        a.task = tasks.try_emplace(r.at(1), static_cast<int>(tasks.size())).first->second;
        a.number = std::atoi(r.at(2).c_str());
        a.start = std::atoll(r.at(4).c_str());
        a.end = std::atoll(r.at(5).c_str());
        REQUIRE(r.at(6) == "success");
        p.attempts.push_back(a);
    }
    for (auto const& r : read_table(*reports))
        p.reports.push_back({r.at(0), tasks.at(r.at(1)), std::atoi(r.at(2).c_str()),
                             std::atoll(r.at(4).c_str()), std::strtod(r.at(5).c_str(), nullptr)});
    return p;
}

} // namespace straggle_test
