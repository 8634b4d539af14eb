// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/blacklist/detail/failure_watch.hpp>

#include <doctest/doctest.h>

#include <straggle/base/archive.hpp>
#include <straggle/base/bytes.hpp>
#include <straggle/blacklist/node_stage.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace {

using straggle::attempt_status;
using straggle::ended_attempt;
using straggle::node_stage;
using straggle::node_state;
using straggle::blacklist::node_row;
using straggle::detail::failure_watch;

ended_attempt failed(std::uint32_t node, std::uint64_t task, std::uint64_t job = 1) {
    return {.node = node, .job = job, .task = task, .start = 0, .end = 1, .as = attempt_status::failed};
}
ended_attempt done(std::uint32_t node, std::uint64_t task, std::uint64_t job = 1) {
    return {.node = node, .job = job, .task = task, .start = 0, .end = 1};
}

} // namespace

TEST_CASE("a task that failed on two nodes counts for none until it succeeds, then for both") {
    failure_watch w;
    for (std::uint64_t task = 0; task < 6; ++task) w.observe(failed(0, task));
    CHECK(w.distinct(0) == 6);
    for (std::uint64_t task = 0; task < 6; ++task) w.observe(failed(1, task));
    CHECK(w.distinct(0) == 0); // withdrawn
    CHECK(w.distinct(1) == 0);
    for (std::uint64_t task = 0; task < 6; ++task) w.observe(failed(2, task));
    CHECK(w.distinct(2) == 0);
    for (std::uint64_t task = 0; task < 3; ++task) w.observe(done(3, task));
    CHECK(w.distinct(0) == 3); // those could be done
    CHECK(w.distinct(1) == 3);
    CHECK(w.distinct(2) == 3);
    CHECK(w.distinct(3) == 0);
    for (std::uint64_t task = 0; task < 3; ++task) w.observe(done(4, task)); // a copy: nothing more
    CHECK(w.distinct(0) == 3);
}

TEST_CASE("a trial that has begun is not troubled by what was before") {
    failure_watch w;
    w.observe(failed(0, 1));
    w.observe(failed(1, 1));
    w.restart(0);
    w.observe(done(2, 1));
    CHECK(w.distinct(0) == 0);
    CHECK(w.distinct(1) == 1);
}

TEST_CASE("bad tasks are known after a restart as before") {
    failure_watch before;
    for (std::uint64_t task = 0; task < 8; ++task) before.observe(failed(0, task));
    before.observe(failed(1, 0));
    straggle::byte_writer out;
    straggle::base::write_fields(out, before);
    std::vector<std::byte> const frame = std::move(out).seal(1, 1);
    // Without the 24 bytes before and 8 after: a frame that was cut would say so by its checksum.
    std::span<std::byte const> const bytes = std::span<std::byte const>(frame).subspan(24, frame.size() - 32);
    straggle::byte_reader in(bytes);
    failure_watch after;
    straggle::base::read_fields(in, after);
    REQUIRE(in.finish() == straggle::status::ok);
    for (failure_watch* const w : {&before, &after}) {
        for (std::uint64_t task = 1; task < 4; ++task)
            w->observe(failed(2, task)); // withdrawn, here as there
        w->observe(failed(0, 5));        // again: counted already
        w->observe(done(3, 0));          // was withdrawn before
    }
    CHECK(before.distinct(0) == 5);
    for (std::uint32_t node = 0; node < 4; ++node) {
        CHECK(after.distinct(node) == before.distinct(node));
        CHECK(after.evidence(node) == before.evidence(node));
        CHECK(after.totals(node).failed == before.totals(node).failed);
        CHECK(after.totals(node).elsewhere == before.totals(node).elsewhere);
    }
    // Every byte that is missing is an error, none an accident.
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        straggle::byte_reader part(bytes.first(length));
        failure_watch w;
        straggle::base::read_fields(part, w);
        CHECK(part.finish() != straggle::status::ok);
    }
}

TEST_CASE(
    "a black hole is out after at most 8 failures, whatever the size of the fleet and what fails elsewhere") {
    struct row {
        std::uint32_t nodes;
        std::uint32_t one_in; // attempts elsewhere that fail; 0: none
        bool in_service;      // it worked for a long time before
    };
    for (row const r : {row{5, 0, false}, row{10, 0, true}, row{100, 0, false}, row{1000, 0, true},
                        row{10, 50, true}, row{100, 50, false}, row{1000, 50, true}, row{100, 20, true}}) {
        node_stage d;
        std::vector<node_row> rows;
        for (std::uint32_t n = 0; n < r.nodes; ++n) rows.push_back({.node = n, .slots = 4});
        double now = 0;
        std::uint64_t task = 0;
        std::mt19937_64 draw(1);
        auto const others = [&](std::uint32_t from) {
            for (std::uint32_t n = from; n < r.nodes; ++n) {
                bool const fails = r.one_in != 0 && draw() % r.one_in == 0;
                d.observe({.node = n,
                           .job = 1 + task / 100,
                           .task = task,
                           .start = now,
                           .end = now + 60,
                           .as = fails ? attempt_status::failed : attempt_status::success},
                          now + 60);
                ++task;
            }
        };
        for (int i = 0; i < 20; ++i, now += 60) others(r.in_service ? 0 : 1);
        d.decide(now, {}, rows, {});
        REQUIRE(d.verdicts().empty());
        int failures = 0;
        for (; failures < 20 && d.state(0) != node_state::excluded; ++failures) {
            now += 0.5; // much less than a window
            d.observe({.node = 0,
                       .job = 1 + task / 100,
                       .task = task,
                       .start = now - 0.5,
                       .end = now,
                       .as = attempt_status::failed},
                      now);
            ++task;
            d.decide(now, {}, rows, {.waiting = 1000});
        }
        CAPTURE(r.nodes);
        CAPTURE(r.one_in);
        CHECK(failures <= 8);
        CHECK(d.failures_of(0).consecutive >= 2);
        CHECK(d.failures_of(0).low > d.failures_of(0).elsewhere - 0.3);
    }
}

TEST_CASE("two black holes that get the same tasks are found once these succeed elsewhere") {
    node_stage d;
    std::vector<node_row> rows;
    for (std::uint32_t n = 0; n < 20; ++n) rows.push_back({.node = n, .slots = 4});
    double now = 0;
    std::vector<bool> was_out(20);
    for (std::uint64_t task = 0; task < 12; ++task, now += 1) {
        d.observe(failed(0, task), now);
        d.observe(failed(1, task), now);
        d.observe(done(2 + static_cast<std::uint32_t>(task % 18), task), now);
        d.decide(now, {}, rows, {});
        for (std::uint32_t n = 0; n < 20; ++n)
            if (d.state(n) == node_state::excluded) was_out[n] = true;
    }
    CHECK(was_out[0]);
    CHECK(was_out[1]);
    CHECK(std::count(was_out.begin(), was_out.end(), true) == 2);
}

// Tasks are taken from one queue, and failed ones again on another node, in turn with new ones. Holes are
// free at every step, healthy nodes at one in thirty: work flows to the holes.
TEST_CASE("several black holes at once, that fail one another's tasks: each is out after few failures") {
    struct row {
        std::uint32_t holes;
        bool is_cold; // nothing has ended before
        int most;     // attempts of a task, then its job gives up
    };
    for (row const r : {row{2, false, 4}, row{3, false, 4}, row{3, true, 4}, row{4, false, 100}}) {
        node_stage d;
        std::vector<node_row> rows;
        for (std::uint32_t n = 0; n < 20; ++n) rows.push_back({.node = n, .slots = 4});
        struct queued {
            std::uint64_t task;
            int tries;
            std::uint32_t last;
        };
        std::vector<queued> again;
        std::uint64_t task = 0;
        double now = 0;
        // Where nothing has ended well anywhere, no node is blamed: here one task has.
        if (r.is_cold) d.observe(done(19, task++, 9), now);
        if (!r.is_cold)
            for (; task < 400; ++task, now += 1) {
                d.observe(done(static_cast<std::uint32_t>(task % 20), task, task / 40), now);
                d.decide(now, {}, rows, {});
            }
        std::vector<int> failures(r.holes);
        std::vector<bool> was_out(r.holes);
        for (int step = 0; step < 30; ++step) {
            now += 1;
            for (std::uint32_t n = 0; n < 20; ++n) {
                bool const is_hole = n < r.holes;
                if (d.state(n) == node_state::excluded ||
                    (!is_hole && (step + static_cast<int>(n)) % 30 != 0))
                    continue;
                auto const at =
                    std::find_if(again.begin(), again.end(), [&](queued const& q) { return q.last != n; });
                queued q{task, 0, n};
                if (step % 2 != 0 && at != again.end()) {
                    q = {at->task, at->tries, n};
                    again.erase(at);
                } else {
                    ++task;
                }
                if (!is_hole) {
                    d.observe(done(n, q.task, q.task / 40), now);
                    continue;
                }
                d.observe(failed(n, q.task, q.task / 40), now);
                failures[n] += was_out[n] ? 0 : 1;
                if (++q.tries < r.most) again.insert(again.begin(), q);
            }
            d.decide(now, {}, rows, {.waiting = 100});
            for (auto const& v : d.verdicts()) CHECK(v.node < r.holes);
            for (std::uint32_t n = 0; n < r.holes; ++n)
                if (d.state(n) == node_state::excluded) was_out[n] = true;
        }
        CHECK(std::count(was_out.begin(), was_out.end(), true) == r.holes);
        CAPTURE(r.holes);
        CAPTURE(r.is_cold);
        for (int const f : failures) CHECK(f <= 8);
        for (std::uint32_t n = 0; n < r.holes; ++n) CHECK(d.state(n) != node_state::healthy);
    }
}

TEST_CASE("where three tasks in ten are bad, and each is tried on four nodes, no node is blamed") {
    node_stage d;
    std::vector<node_row> rows;
    for (std::uint32_t n = 0; n < 20; ++n) rows.push_back({.node = n, .slots = 4});
    std::mt19937_64 draw(7);
    double now = 0;
    for (std::uint64_t task = 0; task < 4000; ++task, now += 1) {
        bool const is_bad = draw() % 10 < 3;
        auto const first = static_cast<std::uint32_t>(draw() % 20);
        for (std::uint32_t k = 0; k < (is_bad ? 4u : 1u); ++k) {
            std::uint32_t const node = (first + k * 7) % 20;
            d.observe(is_bad ? failed(node, task, task / 40) : done(node, task, task / 40), now);
        }
        d.decide(now, {}, rows, {});
        REQUIRE(d.verdicts().empty());
    }
}

namespace {

// Jobs of 40 tasks on nodes with slots and one queue; a failed task is tried four times, unless it only
// failed because of its node.
struct failing_cluster {
    std::uint32_t nodes = 20, slots = 4;
    double task = 60, failure = 3, load = 0.7; // how long a task takes, and one that fails
    double bad_tasks = 0, bad_jobs = 0;        // shares
    bool sticky = false;                       // tried again where it failed
    bool front = true;                         // before what waits already
    double hole_from = 1e300;                  // from then on `holes` nodes fail all they get
    std::uint32_t holes = 1;
    int most_tries = 1 << 30; // of a task that fails because of its node
    double every = 1;         // between decisions

    struct attempt {
        double end, start;
        std::uint32_t node;
        std::uint64_t job, task;
        bool bad, fails;
        int tries;
    };
    struct waiting {
        std::uint64_t job, task;
        bool bad;
        int tries;
        std::uint32_t last;
    };
    node_stage decisions{};
    std::mt19937_64 draw{1};
    std::vector<attempt> running{};
    std::deque<waiting> queue{};
    std::vector<std::uint32_t> free{};
    double now = 0, next_job = 0, out = 0; // node-time out of service
    std::uint64_t jobs = 0;
    std::vector<int> failures{}; // of holes, until they are out
    std::vector<bool> found{};

    double uniform() { return std::uniform_real_distribution<>()(draw); }
    void end_attempts() {
        for (std::size_t i = 0; i < running.size();) {
            attempt const a = running[i];
            if (a.end > now) {
                ++i;
                continue;
            }
            running[i] = running.back();
            running.pop_back();
            ++free[a.node];
            decisions.observe({.node = a.node,
                               .job = a.job,
                               .task = a.task,
                               .start = a.start,
                               .end = a.end,
                               .as = a.fails ? attempt_status::failed : attempt_status::success},
                              now);
            if (!a.fails) continue;
            if (!a.bad && !found[a.node]) ++failures[a.node];
            if (a.tries == (a.bad ? 4 : most_tries)) continue;
            waiting const w{a.job, a.task, a.bad, a.tries + 1, a.node};
            front ? queue.push_front(w) : queue.push_back(w);
        }
    }
    void submit() {
        double const between = 40 * task / (load * nodes * slots);
        for (; next_job <= now; next_job += hole_from < 1e300 ? between : -between * std::log(uniform())) {
            bool const is_bad = uniform() < bad_jobs;
            ++jobs;
            for (std::uint64_t t = 0; t < 40; ++t)
                queue.push_back({jobs, t, is_bad || uniform() < bad_tasks, 1, nodes});
        }
    }
    [[nodiscard]] bool takes(std::uint32_t n) const {
        return free[n] > 0 && decisions.state(n) != node_state::excluded &&
               (hole_from == 1e300 || decisions.state(n) == node_state::healthy);
    }
    // The node with most free slots; the one it failed on where tasks are sticky.
    [[nodiscard]] std::uint32_t place_of(waiting const& w) {
        if (sticky && w.last < nodes) return takes(w.last) ? w.last : nodes;
        std::uint32_t best = nodes;
        auto const first = hole_from < 1e300 ? 0 : static_cast<std::uint32_t>(draw() % nodes);
        for (std::uint32_t k = 0; k < nodes; ++k) {
            std::uint32_t const n = (first + k) % nodes;
            if (takes(n) && (best == nodes || free[n] > free[best])) best = n;
        }
        return best;
    }
    void start() {
        for (std::size_t i = 0; i < queue.size();) {
            waiting const w = queue[i];
            std::uint32_t const n = place_of(w);
            if (n == nodes) {
                if (!sticky) break;
                ++i;
                continue;
            }
            queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(i));
            --free[n];
            bool const fails = w.bad || (n < holes && now >= hole_from);
            double const takes = fails ? failure : task * std::exp(0.3 * std::normal_distribution<>()(draw));
            running.push_back({now + takes, now, n, w.job, w.task, w.bad, fails, w.tries});
        }
    }
    // Until `end`, or until all holes are found: out, or where a limit keeps them the last resort.
    void run(double end) {
        free.assign(nodes, slots);
        failures.assign(holes, 0);
        found.assign(holes, false);
        std::vector<straggle::blacklist::node_row> rows;
        for (std::uint32_t n = 0; n < nodes; ++n) rows.push_back({.node = n, .slots = slots});
        std::vector<straggle::running_attempt> runs;
        for (; now < end; now += every) {
            end_attempts();
            submit();
            runs.clear();
            for (attempt const& a : running)
                runs.push_back({.node = a.node, .job = a.job, .task = a.task, .start = a.start});
            decisions.decide(now, runs, rows, {.waiting = queue.size()});
            for (std::uint32_t n = 0; n < nodes; ++n)
                if (decisions.state(n) == node_state::excluded) out += every;
            for (std::uint32_t n = 0; n < holes && now >= hole_from; ++n)
                if (decisions.state(n) != node_state::healthy) found[n] = true;
            if (std::find(found.begin(), found.end(), false) == found.end()) return;
            start();
        }
    }
};

} // namespace

TEST_CASE("a black hole is out after at most 8 failures, though the same few tasks come back to it") {
    for (double const task : {60.0, 600.0, 3600.0})
        for (double const failure : {1.0, task / 20})
            for (double const load : {0.6, 1.2})
                for (bool const warm : {false, true})
                    for (bool const front : {false, true}) {
                        // Then a single task may be all it gets: see the next case.
                        if (warm && front && load > 1) continue;
                        CAPTURE(task);
                        CAPTURE(failure);
                        CAPTURE(load);
                        CAPTURE(warm);
                        CAPTURE(front);
                        for (unsigned seed = 1; seed <= 4; ++seed) {
                            failing_cluster c{.task = task,
                                              .failure = failure,
                                              .load = load,
                                              .front = front,
                                              .hole_from = warm ? 5 * task : 0.0,
                                              .every = std::fmin(std::fmax(task / 60, 1), 5)};
                            c.draw.seed(seed);
                            c.run(c.hole_from + 2 * task);
                            CHECK(c.decisions.state(0) == node_state::excluded);
                            CHECK(c.failures[0] >= 2);
                            CHECK(c.failures[0] <= 8);
                        }
                    }
}

// Where every failed task is tried again at once, at most four times, only holes have free slots, and each
// fails what another one has failed.
TEST_CASE(
    "black holes are out after at most 8 failures each, in fleets of any size, one or several of them") {
    struct row {
        std::uint32_t nodes, holes;
    };
    for (row const r : {row{2, 1}, row{3, 1}, row{5, 1}, row{10, 2}, row{20, 1}, row{20, 4}, row{50, 4},
                        row{50, 10}, row{100, 1}, row{100, 10}})
        for (double const task : {10.0, 60.0, 3600.0})
            for (double const load : {0.6, 1.2})
                for (bool const warm : {false, true})
                    for (bool const front : {false, true}) {
                        CAPTURE(r.nodes);
                        CAPTURE(r.holes);
                        CAPTURE(task);
                        CAPTURE(load);
                        CAPTURE(warm);
                        CAPTURE(front);
                        failing_cluster c{.nodes = r.nodes,
                                          .task = task,
                                          .failure = std::fmax(task / 20, 1),
                                          .load = load,
                                          .front = front,
                                          .hole_from = warm ? 5 * task : 0.0,
                                          .holes = r.holes,
                                          .most_tries = 4,
                                          .every = std::fmin(std::fmax(task / 60, 1), 5)};
                        c.run(c.hole_from + 25 * task);
                        for (std::uint32_t n = 0; n < r.holes; ++n) {
                            CHECK(c.failures[n] <= 8);
                            CHECK((c.found[n] || c.failures[n] < 5)); // it has been given no more
                            // Of two nodes none is out.
                            if (c.found[n])
                                CHECK(c.decisions.state(n) ==
                                      (r.nodes < 3 ? node_state::last_resort : node_state::excluded));
                        }
                        for (std::uint32_t n = r.holes; n < r.nodes; ++n)
                            CHECK(c.decisions.state(n) == node_state::healthy);
                    }
}

TEST_CASE("one task that fails on one node blames nobody, however often; with a second one it is the node") {
    node_stage d;
    std::vector<straggle::blacklist::node_row> rows;
    std::vector<straggle::running_attempt> runs; // the other 78 tasks of the job
    for (std::uint32_t n = 0; n < 20; ++n) rows.push_back({.node = n, .slots = 4});
    for (std::uint32_t k = 0; k < 78; ++k)
        runs.push_back({.node = 1 + k % 19, .job = 1, .task = 100 + k, .start = 0});
    double now = 10;
    auto const fail = [&](std::uint64_t task) {
        now += 2;
        d.observe(
            {.node = 0, .job = 1, .task = task, .start = now - 1, .end = now, .as = attempt_status::failed},
            now);
        d.decide(now, runs, rows, {});
    };
    for (int i = 0; i < 100; ++i) fail(1);
    CHECK(d.state(0) == node_state::healthy);
    fail(2);
    CHECK(d.state(0) == node_state::excluded);
}

// By the sums of before, which heard of failures at once and of all that goes well a minute later, and took
// tasks of one job for independent, up to a tenth of the node-time was lost.
TEST_CASE("bad tasks and bad jobs take no node out of service for long") {
    struct row {
        double bad_tasks, bad_jobs;
    };
    for (row const r : {row{0.01, 0}, row{0.05, 0}, row{0.3, 0}, row{0, 0.02}, row{0, 0.2}})
        for (bool const sticky : {false, true}) {
            failing_cluster c{.bad_tasks = r.bad_tasks, .bad_jobs = r.bad_jobs, .sticky = sticky, .every = 3};
            c.draw.seed(3);
            c.run(200 * c.task);
            CAPTURE(r.bad_tasks);
            CAPTURE(r.bad_jobs);
            CAPTURE(sticky);
            bool const is_rare = r.bad_tasks < 0.1 && r.bad_jobs < 0.1;
            CHECK(c.out / (c.nodes * c.now) < (is_rare ? 0.02 : 0.05));
        }
}

namespace {

// Ten jobs that went well everywhere, then what is to be blamed; decided once, as programs that read a
// history do, or after each attempt.
struct blame_history {
    straggle::node_stage_options options{.windows_per_error = 20};
    node_stage d{options};
    std::vector<node_row> rows{};
    double now = 0;

    explicit blame_history(std::uint32_t nodes, bool with_jobs = true) {
        for (std::uint32_t n = 0; n < nodes; ++n) rows.push_back({.node = n, .slots = 4});
        for (std::uint64_t job = 0; with_jobs && job < 10; ++job, now += 70)
            for (std::uint32_t n = 0; n < nodes; ++n) end(n, job, n, 60, attempt_status::success);
    }
    void end(std::uint32_t node, std::uint64_t job, std::uint64_t task, double takes, attempt_status as) {
        d.observe({.node = node, .job = job, .task = task, .start = now, .end = now + takes, .as = as},
                  now + takes);
    }
    void fail(std::uint32_t node, std::uint64_t job, std::uint64_t task) {
        end(node, job, task, 1, attempt_status::failed);
        now += 2;
    }
    [[nodiscard]] bool names_nobody() {
        d.decide(now, {}, rows, {});
        return d.verdicts().empty();
    }
    [[nodiscard]] bool blames(std::uint32_t node) const {
        return std::any_of(d.verdicts().begin(), d.verdicts().end(),
                           [node](auto const& v) { return v.node == node && v.why.rule == "failures"; });
    }
    [[nodiscard]] std::vector<straggle::blacklist::failing_job> jobs() const {
        std::vector<straggle::blacklist::failing_job> out;
        d.failing_jobs(out);
        return out;
    }
};

} // namespace

TEST_CASE("a job that fails wherever it runs is blamed, and no node") {
    for (std::uint32_t const on : {1u, 2u, 5u, 10u})
        for (std::uint64_t const each : {1u, 3u, 6u, 20u}) {
            CAPTURE(on);
            CAPTURE(each);
            blame_history h(10);
            for (std::uint64_t task = 0; task < each; ++task)
                for (std::uint32_t n = 0; n < on; ++n) h.fail(n, 99, task * on + n);
            CHECK(h.names_nobody());
            REQUIRE(h.jobs().size() == 1);
            CHECK(h.jobs()[0] == straggle::blacklist::failing_job{
                                     .job = 99, .failed = on * each, .ended_well = 0, .nodes = on});
        }
}

TEST_CASE("steps of a job that is one attempt are a failure, not several") {
    blame_history h(6);
    for (int step = 0; step < 4; ++step) h.fail(3, 99, straggle::no_task);
    CHECK(h.names_nobody());
    CHECK(h.jobs().size() == 1);
}

TEST_CASE("a node is blamed for what siblings elsewhere do not do") {
    blame_history h(10);
    for (std::uint64_t task = 0; task < 27; ++task)
        h.end(1 + static_cast<std::uint32_t>(task % 9), 99, 100 + task, 60, attempt_status::success);
    for (std::uint64_t task = 0; task < 6; ++task) h.fail(0, 99, task);
    CHECK(!h.names_nobody());
    CHECK(h.blames(0));
    CHECK(h.jobs().empty());
}

TEST_CASE("a node that fails one task of each of several jobs is blamed: not all of them are bad") {
    blame_history h(10);
    for (std::uint64_t job = 0; job < 8; ++job) h.fail(0, 100 + job, 0);
    CHECK(!h.names_nobody());
    CHECK(h.blames(0));
}

TEST_CASE("two of three nodes fail what the third one does in each job: both are blamed, none is out") {
    blame_history h(3, false);
    for (std::uint64_t job = 0; job < 20; ++job)
        for (std::uint64_t task = 0; task < 9; ++task) {
            auto const n = static_cast<std::uint32_t>(task % 3);
            h.end(n, job, task, 0.5, n == 0 ? attempt_status::success : attempt_status::failed);
            h.now += 0.2;
        }
    CHECK(!h.names_nobody());
    CHECK(!h.blames(0));
    CHECK(h.blames(1));
    CHECK(h.blames(2));
    for (std::uint32_t n = 0; n < 3; ++n) CHECK(h.d.state(n) != node_state::excluded);
}

TEST_CASE("with one job only, or one node, nothing can be compared and no node is blamed") {
    blame_history all(3, false);
    for (std::uint64_t task = 0; task < 90; ++task) all.fail(static_cast<std::uint32_t>(task % 3), 0, task);
    CHECK(all.names_nobody());
    CHECK(all.jobs().size() == 1);
    blame_history half(1, false);
    for (std::uint64_t task = 0; task < 40; ++task)
        half.end(0, 0, task, 0.5, task % 2 == 0 ? attempt_status::success : attempt_status::failed),
            half.now += 1;
    CHECK(half.names_nobody());
    CHECK(half.d.failures_of(0).others == 0);
}

TEST_CASE("a bad job beside good ones takes no node out, decision by decision") {
    blame_history h(10);
    h.d = node_stage{};
    std::uint64_t task = 0;
    for (int step = 0; step < 40; ++step, h.now += 3) {
        for (std::uint32_t n = 0; n < 10; ++n)
            h.end(n, 200 + task / 40, task, 2.5, attempt_status::success), ++task;
        if (step >= 20 && step < 30)
            for (std::uint32_t n = 0; n < 2; ++n)
                h.end(n, 99, static_cast<std::uint64_t>(step) * 2 + n, 1, attempt_status::failed);
        h.d.decide(h.now + 2.5, {}, h.rows, {});
        REQUIRE(h.d.verdicts().empty());
    }
}

TEST_CASE("where a task has failed is remembered until it ends well") {
    node_stage d;
    d.observe(failed(2, 7), 1);
    CHECK(d.has_failed(1, 7, 2));
    CHECK(!d.has_failed(1, 7, 3));
    CHECK(!d.has_failed(1, 8, 2));
    CHECK(!d.has_failed(2, 7, 2));
    d.observe(done(3, 7), 2);
    CHECK(!d.has_failed(1, 7, 2));
}

TEST_CASE("a failed task on too many nodes is refused without a look at the others") {
    straggle::byte_writer out;
    for (int k = 0; k < 5; ++k) out.real(0);
    out.varint(0);
    out.count(0);
    out.count(0);
    out.count(1);
    out.u8(255); // nodes of a task
    straggle::byte_reader in(out.payload());
    failure_watch watch;
    straggle::base::read_fields(in, watch);
    CHECK(in.reason() == straggle::status::corrupt);
}
