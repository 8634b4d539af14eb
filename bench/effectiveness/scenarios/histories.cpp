// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "histories.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <string>

namespace lab {

namespace {

void read(std::filesystem::path const& file, std::map<std::string, std::vector<double>>& by_job) {
    std::ifstream in(file);
    std::string line;
    if (!std::getline(in, line) || !line.starts_with("job,task,attempt,node,start_ms,end_ms,status")) return;
    while (std::getline(in, line)) {
        std::vector<std::string> cells;
        std::istringstream row(line);
        for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
        if (cells.size() < 7 || cells[4].empty() || cells[5].empty() || cells[6] != "success") continue;
        double const took = std::strtod(cells[5].c_str(), nullptr) - std::strtod(cells[4].c_str(), nullptr);
        if (took > 0) by_job[cells[0]].push_back(took / 1000);
    }
}

} // namespace

histories read_histories(std::filesystem::path const& folder) {
    histories found;
    if (!std::filesystem::is_directory(folder)) return found;
    std::vector<std::filesystem::path> files;
    for (auto const& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".csv") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (auto const& file : files) {
        std::map<std::string, std::vector<double>> by_job;
        read(file, by_job);
        for (auto& [job, times] : by_job) {
            if (times.size() < 20) continue;
            std::sort(times.begin(), times.end());
            if (times[times.size() / 2] < 1) continue;
            double const mean =
                std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
            for (double& t : times) t /= mean;
            found.push_back(std::move(times));
        }
    }
    return found;
}

} // namespace lab
