// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "options.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <thread>

namespace lab {

namespace {

constexpr char const* help = R"(usage: effectiveness --table FILE [options]

Runs policies on the scenarios of a table and compares each with doing nothing.

  --table FILE          scenarios (bench/effectiveness/scenarios/scenarios.csv)
  --drawn N             instead of a table: N scenarios drawn from broad ranges
  --draw-seed S         which of them (default: 1); from 5001 on for what is published, not for choosing defaults
  --edges               instead of a table: scenarios at the edge of those ranges, or beyond
  --held-out            those of the table that are held out, and no others: when all is chosen
  --scenarios A,B*      only these (* stands for anything)
  --policies A,B        only these; "nothing" takes part in any case
  --tuning N            seeds 1 to N (default: 4)
  --reporting N         seeds 1000001 to 1000000 + N: for what is published, not for choosing defaults
  --until-sure MAX      adds seeds, up to so many, until half the interval is 1 % of the mean, 2 % of the p99
  --deadlines F         jobs have to end within F times what they usually take alone on a healthy cluster
  --share all|fifth     which of them (default: all)
  --causes FILE         what makes attempts late, by policies that say it and in truth
  --out FILE            keeps raw results; runs that are in the file already are not made again
  --histories FOLDER    real task times; without them the scenarios that need them are left out
  --workers N           threads (default: one for each core)
  --list                scenarios and policies
  --help
)";

[[noreturn]] void refuse(std::string const& why) {
    std::fprintf(stderr, "effectiveness: %s\n%s", why.c_str(), help);
    std::exit(2);
}

std::vector<std::string> names(std::string const& list) {
    std::vector<std::string> all;
    std::istringstream in(list);
    for (std::string name; std::getline(in, name, ',');)
        if (!name.empty()) all.push_back(name);
    return all;
}

std::size_t number(std::string const& text) {
    std::size_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value == 0)
        refuse("not a number of things: " + text);
    return value;
}

double factor(std::string const& text) {
    double value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value > 0))
        refuse("not a factor: " + text);
    return value;
}

} // namespace

bool fits(std::string const& name, std::string const& pattern) {
    std::size_t const star = pattern.find('*');
    if (star == std::string::npos) return name == pattern;
    if (name.compare(0, star, pattern, 0, star) != 0) return false;
    std::string const rest = pattern.substr(star + 1);
    for (std::size_t from = star; from <= name.size(); ++from)
        if (fits(name.substr(from), rest)) return true;
    return false;
}

options parse(int argc, char** argv) {
    options o;
    for (int i = 1; i < argc; ++i) {
        std::string_view const arg = argv[i];
        if (arg == "--help") {
            std::fputs(help, stdout);
            std::exit(0);
        }
        if (arg == "--list" || arg == "--edges" || arg == "--held-out") {
            (arg == "--list" ? o.list : arg == "--edges" ? o.edges : o.held_out) = true;
            continue;
        }
        if (i + 1 == argc) refuse("not an option, or nothing after it: " + std::string(arg));
        std::string const value = argv[++i];
        if (arg == "--table") {
            o.table = value;
        } else if (arg == "--scenarios") {
            o.scenarios = names(value);
        } else if (arg == "--policies") {
            o.policies = names(value);
        } else if (arg == "--tuning" || arg == "--reporting") {
            o.first_seed = arg == "--tuning" ? first_tuning_seed : first_reporting_seed;
            o.seeds = number(value);
            if (o.seeds >= first_reporting_seed) refuse("too many seeds");
        } else if (arg == "--until-sure") {
            o.most_seeds = number(value);
        } else if (arg == "--drawn") {
            o.drawn = number(value);
        } else if (arg == "--draw-seed") {
            o.draw_seed = number(value);
        } else if (arg == "--deadlines") {
            o.deadlines = factor(value);
        } else if (arg == "--share") {
            if (value != "all" && value != "fifth") refuse("neither all nor fifth: " + value);
            o.due_every = value == "all" ? 1 : 5;
        } else if (arg == "--causes") {
            o.causes = value;
        } else if (arg == "--out") {
            o.out = value;
        } else if (arg == "--histories") {
            o.histories = value;
        } else if (arg == "--workers") {
            o.workers = number(value);
        } else {
            refuse("not an option: " + std::string(arg));
        }
    }
    if (o.table.empty() && o.drawn == 0 && !o.edges) refuse("which scenarios?");
    if (o.workers == 0)
        o.workers = std::thread::hardware_concurrency() > 0 ? std::thread::hardware_concurrency() : 1;
    return o;
}

} // namespace lab
