// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Failed allocations while a mitigator observes, decides and becomes another.

#include "mitigate/small_cluster.hpp"
#include "support/faults.hpp"

#include <straggle/mitigate/mitigator.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

using namespace straggle;
using straggle_test::check_failures;
using straggle_test::promise;

namespace {

struct kept {
    std::unique_ptr<straggle_test::small_cluster> cluster{};
    std::vector<straggle_test::running_task> running{};
    std::vector<straggle_test::told_host> hosts{};
};
kept after(int steps) {
    kept k;
    mitigator_options o;
    o.effects.left_alone = 0.1;
    k.cluster = std::make_unique<straggle_test::small_cluster>(
        straggle_test::small_cluster_options{.nodes = 8, .is_checked = false}, o);
    k.cluster->healths[3] = straggle_test::health::slow;
    k.cluster->run(steps);
    k.running = k.cluster->running();
    k.hosts = k.cluster->hosts();
    for (int i = 0; i < 40; ++i) {
        k.running.push_back({"a job with a name that needs memory of its own",
                             "another node, with a long name", i, k.cluster->now() - 5});
        k.hosts.push_back({"a node with a name that needs memory of its own " + std::to_string(i), 2, 0});
    }
    return k;
}

} // namespace

TEST_CASE("mitigator: after a failed allocation the last plan stands, nothing leaks, and it goes on") {
    for (int const steps : {0, 1, 200}) {
        CAPTURE(steps);
        check_failures(
            "decide", [&] { return after(steps); },
            [](kept& k) { k.cluster->m.decide(k.cluster->now() + 1, k.running, k.hosts, {.waiting = 5}); },
            [](kept const& k) { return k.cluster->m.plan().nodes().size(); }, promise::unchanged);
        check_failures(
            "observe", [&] { return after(steps); },
            [](kept& k) {
                k.cluster->m.observe({"a job that nobody has heard of, with a long name",
                                      "a node that nobody has heard of, with a long name", 1,
                                      k.cluster->now(), k.cluster->now() + 1, attempt_status::success},
                                     k.cluster->now() + 1);
            },
            [](kept const& k) { return k.cluster->m.plan().nodes().size(); }, promise::nothing);
    }
}

TEST_CASE("mitigator: bytes that cannot be read for want of memory change nothing") {
    auto const bytes = after(200).cluster->m.serialize();
    check_failures(
        "restore", [&] { return after(5); },
        [&](kept& k) { static_cast<void>(k.cluster->m.restore(bytes)); }, // what comes of it is compared
        [](kept const& k) { return k.cluster->m.serialize(); });
}
