// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Four threads report what has ended to one mitigator, and ask it which hosts to use. docs/guide/linking.md
/// shows the marked parts.

#include <straggle/mitigate/mitigator.hpp>
#include <straggle/mitigate/reason.hpp>

#include <array>
#include <barrier>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct ended {
    std::string job, host;
    int task;
    double start, end;
};
struct attempt {
    std::string job, host;
    double start;
};
struct node {
    std::string name;
};

//! [inbox]
// Where one thread leaves what it reports. Only this thread and the decider ever take the lock, and the two
// exchange their memory: in the steady state nothing is allocated.
class inbox {
  public:
    void put(ended const& a) {
        std::lock_guard const hold(lock_);
        in_.push_back(a);
    }
    std::vector<ended> const& take() {
        out_.clear();
        std::lock_guard const hold(lock_);
        in_.swap(out_);
        return out_;
    }

  private:
    std::mutex lock_;
    std::vector<ended> in_, out_;
};
//! [inbox]

template <>
struct straggle::task_traits<ended> {
    static constexpr auto fields = attempt_fields{.job = &ended::job,
                                                  .task = &ended::task,
                                                  .node = &ended::host,
                                                  .start = &ended::start,
                                                  .end = &ended::end};
};
template <>
struct straggle::task_traits<attempt> {
    static constexpr auto fields =
        running_fields{.job = &attempt::job, .node = &attempt::host, .start = &attempt::start};
};
template <>
struct straggle::task_traits<node> {
    static constexpr auto fields = node_fields{.node = &node::name};
};
using mitigator = straggle::mitigator<ended, attempt, node>;

constexpr int rounds = 30;

//! [decider]
// One thread, at each heartbeat.
void decide(mitigator& straggler, std::array<inbox, 4>& inboxes, std::vector<attempt> const& running,
            std::vector<node> const& nodes, double now) {
    for (inbox& from : inboxes) straggler.observe(from.take(), now);
    straggler.decide(now, running, nodes);
}
//! [decider]

//! [asker]
// Any thread, at any time: it never waits, and the decider never waits for it.
bool may_use(mitigator const& straggler, std::string const& host) {
    auto const now = straggler.published(); // unchanged for as long as it lives
    return now->state(host) != straggle::node_state::excluded;
}
//! [asker]

int main() {
    std::vector<node> nodes;
    for (int n = 0; n < 8; ++n) nodes.push_back({"host-" + std::to_string(n)});
    mitigator straggler;
    std::array<inbox, 4> inboxes;
    std::array<int, 4> avoided{};
    std::barrier round_is_over(5);

    // Each thread runs the tasks of two hosts; a job has three on each. host-5 takes 2.5 times as long.
    auto const work = [&](std::size_t thread) {
        for (int round = 0; round < rounds; ++round) {
            for (int task = 0; task < 6; ++task) {
                auto const at = 2 * thread + static_cast<std::size_t>(task % 2);
                double const took = (20 + (round * 7 + task * 5) % 11) * (at == 5 ? 2.5 : 1.0);
                inboxes[thread].put({"job-" + std::to_string(round), nodes[at].name,
                                     task + 6 * static_cast<int>(thread), 100.0 * round,
                                     100.0 * round + took});
            }
            round_is_over.arrive_and_wait(); // makes the output the same each time
            round_is_over.arrive_and_wait();
            avoided[thread] += may_use(straggler, "host-5") ? 0 : 1;
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < inboxes.size(); ++t) threads.emplace_back(work, t);
    std::string said;
    for (int round = 0; round < rounds; ++round) {
        round_is_over.arrive_and_wait();
        decide(straggler, inboxes, {}, nodes, 100.0 * round + 90);
        round_is_over.arrive_and_wait();
        if (said.empty() && straggler.state("host-5") == straggle::node_state::excluded)
            said = "after job " + std::to_string(round) + " host-5 is " +
                   straggle::mitigate::reason(straggler.plan().nodes()[5]);
    }
    for (std::thread& t : threads) t.join();
    std::cout << said << '\n';
    bool agree = true;
    for (int const n : avoided) agree = agree && n == avoided[0];
    std::cout << "the threads left it out " << avoided[0] << " times, "
              << (agree ? "each the same\n" : "not each the same\n");
    for (std::string const name : {"host-4", "host-5"})
        std::cout << name << (may_use(straggler, name) ? " may be used\n" : " is not used\n");
}
