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
#include <utility>

namespace lab {

namespace {

constexpr std::string_view header =
    "name,nodes,slots,generations,durations,fault,load,min_tasks,max_tasks,task_seconds,progress,copies,"
    "classes,failures,away";
constexpr std::string_view more_header = ",more,held_out";

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

// `name=value`, for what is the same in all rows of the frozen table.
void change(regime& r, std::string const& what) {
    std::size_t const at = what.find('=');
    if (at == std::string::npos) throw std::runtime_error("not a name and a value: " + what);
    std::string const name = what.substr(0, at), cell = what.substr(at + 1);
    std::pair<std::string_view, double*> const shares[] = {{"contention", &r.contention},
                                                           {"locality", &r.locality},
                                                           {"waves", &r.waves},
                                                           {"copy_start", &r.copy_start},
                                                           {"swing", &r.swing},
                                                           {"service", &r.service},
                                                           {"preempted", &r.preempted},
                                                           {"late_ends", &r.seen.late_ends},
                                                           {"lost_reports", &r.seen.lost_reports},
                                                           {"skew", &r.seen.skew}};
    for (auto const& [known, value] : shares)
        if (name == known) return void(*value = number<double>(cell));
    std::pair<std::string_view, std::uint32_t*> const counts[] = {
        {"kinds", &r.kinds}, {"stages", &r.stages}, {"lives", &r.lives}, {"obeys", &r.seen.obeys}};
    for (auto const& [known, value] : counts)
        if (name == known) return void(*value = number<std::uint32_t>(cell));
    if (name != "excludes_only") throw std::runtime_error("unknown word: " + name);
    r.seen.excludes_only = number<std::uint32_t>(cell) == 1;
}

scenario parse(std::string const& line) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    if (cells.size() != 15 && cells.size() != 17) throw std::runtime_error("not 15 or 17 cells");
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
    if (cells.size() == 17) {
        std::istringstream more(cells[15]);
        for (std::string what; more >> what;) change(s.more, what);
        s.is_held_out = one_of<2>(cells[16], {"open", "held_out"}) == 1;
    }
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
            if (line.starts_with(header) && (line == header || line.substr(header.size()) == more_header))
                continue;
            all.push_back(parse(line));
        }
    } catch (std::runtime_error const& e) {
        throw std::runtime_error(file.string() + ":" + std::to_string(number) + ": " + e.what());
    }
    if (all.empty()) throw std::runtime_error(file.string() + ": no scenarios");
    return all;
}

} // namespace lab
