// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// One thread decides from time to time which hosts to avoid, another continually hands out tasks by the
/// newest decision, without locks. docs/guide/linking.md shows the marked parts.

#include <straggle/base/published.hpp>
#include <straggle/straggle.hpp>

#include <cstdint>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

struct attempt {
    std::string job, host;
    std::int64_t took_ms;
};

constexpr straggle::attempt_fields fields{
    .job = &attempt::job, .node = &attempt::host, .duration = &attempt::took_ms};

constexpr std::uint64_t hours = 3;
std::vector<std::string> const hosts{"host-0", "host-1", "host-2", "host-3", "host-4", "host-5"};

// In the first hour host-1 needs twice as long as the others, in the second none does, in the third host-4.
std::vector<attempt> records_of(std::uint64_t hour) {
    std::vector<attempt> records;
    for (std::size_t task = 0; task < 360; ++task) {
        std::size_t const host = task % hosts.size();
        bool const slow = (hour == 1 && host == 1) || (hour == 3 && host == 4);
        std::int64_t const usual = 1000 + static_cast<std::int64_t>(task * task * 7919 % 101);
        records.push_back({"job-" + std::to_string(task / 12), hosts[host], slow ? 2 * usual : usual});
    }
    return records;
}

//! [shared]
using decision = straggle::blacklist_decision<std::string>;
using latest_decision = straggle::published<decision>; // before the first publish it avoids no node
//! [shared]

//! [writer]
// One thread.
void decide_every_hour(latest_decision& latest) {
    straggle::blacklister list; // its own: nothing else touches it
    for (std::uint64_t hour = 1; hour <= hours; ++hour) {
        auto const ranking = straggle::rank_nodes(records_of(hour), fields);
        latest.publish([&](decision& slot) { list.decide(ranking, slot); }); // uses old memory again
    }
}
//! [writer]

//! [reader]
// Any number of threads.
void give_out_tasks(latest_decision const& latest, std::vector<std::string>& last_round) {
    for (std::uint64_t version = 0; version < hours;) {
        auto const now = latest.read(); // unchanged for as long as it lives, whatever the writer does
        last_round.clear();
        for (std::string const& host : hosts)
            if (!now->avoids(host)) last_round.push_back(host);
        version = now.version(); // may skip some, never goes back
    }
}
//! [reader]

int main() {
    latest_decision latest;
    auto const from_the_start = latest.read();

    std::vector<std::string> mine, yours;
    std::thread writer([&] { decide_every_hour(latest); });
    std::thread one([&] { give_out_tasks(latest, mine); });
    std::thread two([&] { give_out_tasks(latest, yours); });
    writer.join();
    one.join();
    two.join();

    auto const now = latest.read();
    std::cout << "decision " << now.version() << " avoids";
    for (auto const& verdict : now->blacklisted()) std::cout << ' ' << verdict.id;
    std::cout << "\nthe last round of tasks went to";
    for (std::string const& host : mine) std::cout << ' ' << host;
    std::cout << (mine == yours ? ", the same by both threads\n" : ", not the same by both threads\n");
    std::cout << "decision " << from_the_start.version() << ", held all the time, avoids "
              << from_the_start->blacklisted().size() << " hosts\n";
}
