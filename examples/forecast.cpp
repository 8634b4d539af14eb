// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Which nodes will be weak next month, from the records of five months: features, labels, training, forecast,
// and what becomes of it in a blacklist.
#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/forecast_weak.hpp>
#include <straggle/learn/boosted_trees_trainer.hpp>
#include <straggle/learn/features.hpp>
#include <straggle/learn/forecast.hpp>
#include <straggle/learn/weak_nodes.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

struct attempt {
    std::string job, host;
    int took;     // milliseconds
    unsigned day; // of the month, on which the job was submitted
};
constexpr straggle::attempt_fields fields{
    .job = &attempt::job, .node = &attempt::host, .duration = &attempt::took};

// A cluster of 40 hosts; each becomes weak now and then, in the course of a month, and stays so for one more.
std::vector<attempt> records_of(unsigned month) {
    std::mt19937_64 engine(month);
    std::vector<attempt> all;
    for (unsigned day = 0; day < 30; ++day)
        for (int job = 0; job < 8; ++job)
            for (unsigned task = 0; task < 40; ++task) {
                unsigned const host = (task * 7 + static_cast<unsigned>(job)) % 40, begins = host % 10;
                bool const weak = (month == begins && day >= 10 + host % 15) || month == begins + 1;
                all.push_back({"job " + std::to_string(month * 1000 + day * 10 + static_cast<unsigned>(job)),
                               "host-" + std::to_string(host),
                               static_cast<int>(900 + engine() % 200 + (weak ? 300 : 0)), day});
            }
    return all;
}

} // namespace

int main() {
    //! [forecast]
    std::vector<straggle::learn::node_period<std::string>> months;
    straggle::learn::weak_node_finder find;
    straggle::learn::weak_nodes found;
    std::mt19937_64 engine(1);
    for (unsigned month = 0; month < 8; ++month) {
        straggle::learn::node_days<std::string> days(30);
        days.add_attempts(records_of(month), fields, &attempt::day);
        straggle::learn::node_period<std::string> p;
        if (find(days.table(p.features), engine, found) != straggle::status::ok) return 1;
        p.weak = found.weak;                      // what the month was like, as a whole
        days.table(p.features, {.look_back = 3}); // what its last days were like
        for (std::size_t i = 0; i < days.size(); ++i) p.nodes.push_back(days.node(i));
        months.push_back(std::move(p));
    }
    straggle::learn::forecaster<std::string, straggle::learn::boosted_trees_trainer> model(90);
    std::vector<straggle::learn::node_forecast<std::string>> next;
    if (model.learn(months) != straggle::status::ok) return 1;
    if (model.forecast(months.back(), next) != straggle::status::ok) return 1;
    //! [forecast]
    std::printf("likely to be weak next month:");
    for (auto const& n : next)
        if (n.probability >= 0.5) std::printf(" %s", n.id.c_str());

    //! [avoid]
    auto const expected = [&](std::string const& host) -> straggle::outcome<double> {
        for (auto const& n : next)
            if (n.id == host) return n.probability;
        return straggle::status::insufficient_evidence;
    };
    auto const ranking = straggle::rank_nodes(records_of(7), fields);
    straggle::blacklister avoid{straggle::blacklist::forecast_weak{expected}};
    auto const decision = avoid.decide(ranking);
    for (auto const& v : decision.blacklisted())
        std::printf("\navoid %s: mean score %.2f, weak next month with p = %.2f", v.id.c_str(), v.mean,
                    v.value);
    //! [avoid]
    std::printf("\n");
}
