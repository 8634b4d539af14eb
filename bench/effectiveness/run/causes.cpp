// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "causes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <ostream>
#include <tuple>
#include <vector>

namespace lab {

namespace {

double median(std::vector<double> of) {
    if (of.empty()) return 0;
    auto const middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
    std::nth_element(of.begin(), middle, of.end());
    return *middle;
}
double mean(std::vector<double> const& of) {
    double sum = 0;
    for (double const x : of) sum += x;
    return of.empty() ? 0 : sum / static_cast<double>(of.size());
}

using key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
using parts = std::array<double, 5>; // in the order of `cause_claim::probability`

// Logarithms, each against the usual one of the job, of the job against its kind.
std::map<key, parts> true_parts(plan const& what, result const& of) {
    struct job {
        std::vector<double> input, crowd, rest;
    };
    std::vector<job> jobs(what.jobs.size());
    auto const input_of = [&](cause_truth const& t) {
        double const input = what.jobs[t.job].tasks[t.task].input;
        return input > 0 ? std::log(input) : 0.0;
    };
    for (cause_truth const& t : of.causes) {
        job& j = jobs[t.job];
        j.input.push_back(input_of(t));
        j.crowd.push_back(std::log(t.crowd));
        j.rest.push_back(std::log(t.work) - j.input.back());
    }
    std::map<std::uint32_t, std::vector<double>> of_kind;
    for (std::size_t j = 0; j < jobs.size(); ++j)
        of_kind[what.jobs[j].kind].push_back(median(jobs[j].rest) + mean(jobs[j].input));
    std::map<std::uint32_t, double> usual;
    for (auto const& [kind, all] : of_kind) usual[kind] = median(all);
    std::vector<parts> centers;
    for (job const& j : jobs) centers.push_back({0, mean(j.input), mean(j.crowd), 0, median(j.rest)});
    std::map<key, parts> out;
    for (cause_truth const& t : of.causes) {
        parts const& c = centers[t.job];
        out[{t.job, t.task, t.number}] = {std::log(t.node), input_of(t) - c[1], std::log(t.crowd) - c[2],
                                          c[4] + c[1] - usual[what.jobs[t.job].kind],
                                          std::log(t.work) - input_of(t) - c[4]};
    }
    return out;
}

} // namespace

void write_causes(std::ostream& out, std::string const& run, plan const& what, result const& of,
                  std::span<cause_claim const> claims) {
    std::map<key, parts> const truth = true_parts(what, of);
    std::map<key, double> first, sure; // when they were made
    for (cause_claim const& c : claims) {
        key const who{c.job, c.task, c.number};
        auto const true_of = truth.find(who);
        if (true_of == truth.end()) continue;
        double const most = *std::max_element(c.probability.begin(), c.probability.end());
        bool const is_first = first.try_emplace(who, c.now).second;
        bool const is_sure = most >= 0.9 && sure.try_emplace(who, c.now).second;
        if (!is_first && !is_sure) continue;
        out << run << ',' << c.job << ',' << c.task << ',' << c.number << ',' << c.now << ','
            << (is_first ? 0 : c.now - first[who]);
        for (double const p : c.probability) out << ',' << p;
        for (double const x : c.times) out << ',' << std::log(x);
        for (double const x : true_of->second) out << ',' << x;
        out << '\n';
    }
}

} // namespace lab
