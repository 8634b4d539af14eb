// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "scenario.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace lab {

namespace {

constexpr std::string_view header =
    "name,nodes,slots,generations,durations,fault,load,min_tasks,max_tasks,task_seconds,progress,copies,"
    "classes,failures,away";

template <class Number>
Number number(std::string const& cell) {
    Number value{};
    auto const [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc{} || end != cell.data() + cell.size() || value < 0)
        throw std::runtime_error("not a number: " + cell);
    return value;
}

template <std::size_t N>
std::size_t one_of(std::string const& cell, std::array<std::string_view, N> const& words) {
    auto const at = std::find(words.begin(), words.end(), cell);
    if (at == words.end()) throw std::runtime_error("unknown word: " + cell);
    return static_cast<std::size_t>(at - words.begin());
}

scenario parse(std::string const& line) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    if (cells.size() != 15) throw std::runtime_error("not 15 cells");
    scenario s;
    s.name = cells[0];
    s.nodes = number<std::uint32_t>(cells[1]);
    s.slots = number<std::uint32_t>(cells[2]);
    s.generations = number<std::uint32_t>(cells[3]);
    s.durations = cells[4];
    s.fault = cells[5];
    s.load = number<double>(cells[6]);
    s.min_tasks = number<std::uint32_t>(cells[7]);
    s.max_tasks = number<std::uint32_t>(cells[8]);
    s.task_seconds = number<double>(cells[9]);
    s.progress =
        static_cast<progress_mode>(one_of<5>(cells[10], {"exact", "noisy", "jumping", "phased", "absent"}));
    s.copies_first = one_of<2>(cells[11], {"after", "before"}) == 1;
    s.classes_told = one_of<2>(cells[12], {"untold", "told"}) == 1;
    s.failures = number<double>(cells[13]);
    s.away = number<double>(cells[14]);
    if (s.nodes == 0 || s.slots == 0 || s.min_tasks == 0 || s.max_tasks < s.min_tasks || !(s.load > 0) ||
        !(s.task_seconds > 0))
        throw std::runtime_error("nothing to simulate");
    return s;
}

} // namespace

std::vector<scenario> read_scenarios(std::filesystem::path const& file) {
    std::ifstream in(file);
    std::vector<scenario> all;
    std::string line;
    int number = 0;
    try {
        while (std::getline(in, line)) {
            ++number;
            if (line.empty() || line.starts_with('#')) continue;
            if (line == header) continue;
            all.push_back(parse(line));
        }
    } catch (std::runtime_error const& e) {
        throw std::runtime_error(file.string() + ":" + std::to_string(number) + ": " + e.what());
    }
    if (all.empty()) throw std::runtime_error(file.string() + ": no scenarios");
    return all;
}

} // namespace lab
