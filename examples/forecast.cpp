// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Which nodes will be weak next month, from the records of nine months, closed day by day, and what becomes
// of the forecast in a blacklist.
#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/forecast_weak.hpp>
#include <straggle/learn/outlook.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace {

struct attempt {
    std::string job, host;
    int took; // milliseconds
};
constexpr straggle::attempt_fields fields{
    .job = &attempt::job, .node = &attempt::host, .duration = &attempt::took};

// A cluster of 40 hosts; each becomes weak now and then, in the course of a month, and stays weak for one
// more. The records of a month, by the day on which the job was submitted.
std::vector<std::vector<attempt>> records_of(unsigned month) {
    std::mt19937_64 engine(month);
    std::vector<std::vector<attempt>> days(30);
    for (unsigned day = 0; day < 30; ++day)
        for (unsigned job = 0; job < 8; ++job)
            for (unsigned task = 0; task < 40; ++task) {
                unsigned const host = (task * 7 + job) % 40, begins = host % 10;
                bool const weak = (month == begins && day >= 10 + host % 15) || month == begins + 1;
                days[day].push_back({"job " + std::to_string(month * 1000 + day * 10 + job),
                                     "host-" + std::to_string(host),
                                     static_cast<int>(900 + engine() % 200 + (weak ? 300 : 0))});
            }
    return days;
}

} // namespace

int main() {
    //! [forecast]
    straggle::learn::outlook<std::string> outlook; // periods of 30 days
    std::mt19937_64 engine(1);
    for (unsigned month = 0; month < 9; ++month)
        for (auto const& day : records_of(month)) {
            outlook.observe_attempts(day, fields);
            outlook.close_day(engine); // the last day of a period learns, and judges the last forecast
        }
    std::vector<straggle::learn::node_forecast<std::string>> next;
    if (outlook.forecast(next) != straggle::status::ok) return 1; // no better than "as it was before"
    //! [forecast]
    straggle::learn::forecast_record const& so_far = outlook.so_far();
    std::printf("right where \"as it was before\" was wrong: %u nodes, the other way round: %u\n",
                static_cast<unsigned>(so_far.better), static_cast<unsigned>(so_far.worse));
    std::printf("likely to be weak next month:");
    for (auto const& n : next)
        if (n.probability >= 0.5) std::printf(" %s", n.id.c_str());

    //! [avoid]
    auto const expected = [&](std::string const& host) -> straggle::outcome<double> {
        for (auto const& n : next)
            if (n.id == host) return n.probability;
        return straggle::status::insufficient_evidence;
    };
    auto const ranking = straggle::rank_nodes(records_of(8).back(), fields);
    straggle::blacklister avoid{straggle::blacklist::forecast_weak{expected}};
    auto const decision = avoid.decide(ranking);
    for (auto const& v : decision.blacklisted())
        std::printf("\navoid %s: mean score %.2f, weak next month with p = %.2f", v.id.c_str(), v.mean,
                    v.value);
    //! [avoid]
    std::printf("\n");
}
