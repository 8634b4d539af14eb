// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Real histories of the reference data, as they are and with their nodes shuffled: then nobody is to blame.
#pragma once

#include <straggle/record/attempt.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace straggle_test {

/// An attempt that has a beginning and an end.
struct past_attempt {
    std::string job, task, node;
    double start = 0, end = 0;
    double input = 0; ///< 0: not known
    straggle::attempt_status status = straggle::attempt_status::success;
    bool is_copy = false;

    [[nodiscard]] double took() const { return end - start; }
};

inline constexpr straggle::attempt_fields past_fields{.job = &past_attempt::job,
                                                      .task = &past_attempt::task,
                                                      .node = &past_attempt::node,
                                                      .start = &past_attempt::start,
                                                      .end = &past_attempt::end,
                                                      .duration = &past_attempt::took,
                                                      .status = &past_attempt::status};

/// By their ends. The columns are found by their names.
inline std::vector<past_attempt> read_history(std::filesystem::path const& path) {
    using straggle::attempt_status;
    auto const split = [](std::string const& line) {
        std::vector<std::string> cells;
        std::istringstream parts(line);
        for (std::string cell; std::getline(parts, cell, ',');) cells.push_back(cell);
        return cells;
    };
    std::vector<past_attempt> rows;
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    std::vector<std::string> const header = split(line);
    while (std::getline(file, line)) {
        std::vector<std::string> const cells = split(line);
        auto const cell = [&](std::string const& name) {
            auto const at = std::find(header.begin(), header.end(), name) - header.begin();
            return static_cast<std::size_t>(at) < cells.size() ? cells[static_cast<std::size_t>(at)]
                                                               : std::string();
        };
        std::string const start = cell("start_ms"), end = cell("end_ms"), status = cell("status");
        if (start.empty() || end.empty()) continue;
        rows.push_back({cell("job"), cell("task"), cell("node"), std::strtod(start.c_str(), nullptr),
                        std::strtod(end.c_str(), nullptr), std::strtod(cell("input_bytes").c_str(), nullptr),
                        status == "success"  ? attempt_status::success
                        : status == "failed" ? attempt_status::failed
                                             : attempt_status::killed,
                        cell("speculative") == "1"});
    }
    std::stable_sort(rows.begin(), rows.end(), [](auto const& a, auto const& b) { return a.end < b.end; });
    return rows;
}

/// Gives the nodes of each job's attempts to one another at random.
inline void shuffle_nodes(std::vector<past_attempt>& history, std::mt19937_64& engine) {
    std::map<std::string, std::vector<std::size_t>> of_job;
    for (std::size_t i = 0; i < history.size(); ++i) of_job[history[i].job].push_back(i);
    for (auto const& [job, rows] : of_job)
        for (std::size_t k = rows.size(); k > 1; --k)
            std::swap(history[rows[k - 1]].node, history[rows[engine() % k]].node);
}

} // namespace straggle_test
