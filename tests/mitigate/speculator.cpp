// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/mitigate/speculator.hpp>

#include <doctest/doctest.h>

#include <support/allocations.hpp>
#include <support/seed.hpp>
#include <support/shared_data.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using namespace straggle;
using speculator = mitigate::speculator<>;
using mitigate::copy_row;
using mitigate::place_row;
using mitigate::running_row;

namespace {

// Twenty nodes of four slots, jobs of one kind whose tasks take about 10 units of time.
struct bench {
    speculator planner;
    double unit = 1;
    std::vector<place_row> places;
    std::vector<running_row> running;

    explicit bench(mitigate::speculator_options options = {}, double in_units = 1)
        : planner(options), unit(in_units) {
        for (std::uint32_t n = 0; n < 20; ++n)
            places.push_back({.row = 100 + n, .node = n, .slots = 4, .free = 2});
    }
    // Jobs before: of 30 tasks, each 10 within a factor of 1.35; one of each third job takes far longer: from
    // three to twenty times as long, or 2.2 times.
    void history(bool heavy = true) {
        for (std::uint64_t job = 1000; job < 1020; ++job) {
            for (int i = 0; i < 30; ++i) {
                double const t = 10 * std::exp(0.3 * (i - 14.5) / 15) *
                                 (i == 7 && job % 3 == 0 ? (heavy ? double(job % 20) + 3 : 2.2) : 1);
                planner.observe_ended({.job = job, .task = std::uint64_t(i), .kind = 1, .end = t * unit});
            }
            planner.finish_job(job);
        }
    }
    running_row& task(std::uint64_t job, std::uint64_t number, std::uint32_t node, double start) {
        running.push_back({.row = std::uint32_t(running.size()),
                           .job = job,
                           .task = number,
                           .kind = 1,
                           .node = node,
                           .start = start * unit});
        return running.back();
    }
    // A job most of whose tasks have ended.
    void siblings(std::uint64_t job, int ended = 20) {
        for (int i = 0; i < ended; ++i)
            planner.observe_ended(
                {.job = job, .task = std::uint64_t(1000 + i), .kind = 1, .end = (9 + 0.1 * i) * unit});
    }
    void plan(double now, std::uint64_t waiting = 0) {
        planner.plan(now * unit, running, places, {.waiting = waiting});
    }
};

} // namespace

TEST_CASE("speculator: a late task gets a copy on a free healthy node, and what is said of it makes sense") {
    bench b;
    b.history();
    b.siblings(1);
    for (std::uint64_t i = 0; i < 20; ++i) b.task(1, i, std::uint32_t(i), 95);
    b.task(1, 50, 3, 70);
    b.places[0].slow = {1.5, 1.45, 1.55, 100};
    for (std::size_t i = 5; i < 20; ++i) b.places[i].free = 0;
    b.places[4].state = node_state::excluded;
    b.plan(100);
    REQUIRE(b.planner.suspects().size() == 1);
    CHECK(b.planner.suspects()[0].row == 20);
    CHECK(b.planner.suspects()[0].why.usual == doctest::Approx(10).epsilon(0.15));
    CHECK(b.planner.suspects()[0].why.threshold >= 1.5 * b.planner.suspects()[0].why.usual);
    REQUIRE(b.planner.copies().size() == 1);
    copy_row const& c = b.planner.copies()[0];
    CHECK(c.task_row == 20);
    CHECK((c.node_row == 101 || c.node_row == 102)); // not slow, not where it runs, not excluded, not full
    CHECK(c.left.low <= c.left.middle);
    CHECK(c.left.middle <= c.left.high);
    CHECK(c.there.middle == doctest::Approx(10).epsilon(0.15));
    CHECK(c.gain > c.cost);
    CHECK(c.win_probability >= 0.25); // and more than the least
    CHECK_FALSE(c.probe);
    CHECK(b.planner.notes().tasks == 21);
    CHECK(b.planner.notes().late == 1);
}

TEST_CASE(
    "speculator: a node that is likely slow just now gets copies of its tasks sooner, and none of others") {
    auto const late_from = [](double slow_now, double known) {
        for (double age = 1; age < 60; age += 0.5) {
            bench b;
            b.history();
            b.siblings(1);
            b.task(1, 50, 3, 100 - age);
            b.places[3].slow_now = {slow_now, 3};
            if (known > 1) b.places[3].slow = {known, 0.99 * known, 1.01 * known, 1000};
            b.plan(100);
            if (!b.planner.copies().empty()) return age;
        }
        return 60.0;
    };
    double const unknown = late_from(0, 1);
    CHECK(late_from(0.6, 1) < unknown - 1);
    CHECK(late_from(0.95, 1) <= late_from(0.6, 1));
    CHECK(late_from(0.95, 5) == late_from(0, 5)); // what is known already is not counted twice

    bench b;
    b.history();
    b.siblings(1);
    b.task(1, 50, 3, 70);
    for (place_row& p : b.places) p.slow_now = {p.node == 11 ? 0.0 : 0.6, 3};
    b.plan(100);
    REQUIRE(b.planner.copies().size() == 1);
    CHECK(b.planner.copies()[0].node_row == 111);
}

TEST_CASE("speculator: a late task has a cause, and the copy that it gets has the same") {
    using detect::late_by;
    auto const cause_of = [](auto&& change) {
        bench b;
        b.history();
        b.siblings(1);
        for (std::uint64_t i = 0; i < 20; ++i) b.task(1, i, std::uint32_t(i), 95);
        b.task(1, 50, 3, 82); // has run for 18, of 10
        change(b);
        b.plan(100);
        REQUIRE(b.planner.suspects().size() >= 1);
        detect::late_cause const c = b.planner.suspects()[0].cause;
        for (copy_row const& copy : b.planner.copies())
            if (copy.task_row == b.planner.suspects()[0].row) CHECK(copy.cause == c);
        return c;
    };
    detect::late_cause const plain = cause_of([](bench&) {});
    CHECK(plain.likeliest() == late_by::itself);
    CHECK(plain.probability_of(late_by::node) < 0.5); // one node in twenty is slow, as far as is known
    detect::late_cause const slow = cause_of([](bench& b) { b.places[3].slow = {2, 1.9, 2.1, 200}; });
    CHECK(slow.likeliest() == late_by::node);
    CHECK(slow.probability_of(late_by::node) > 0.9);
    CHECK(slow.times_by(late_by::node) == doctest::Approx(2).epsilon(0.1));
    detect::late_cause const usual = cause_of([](bench& b) { b.places[3].slow = {1, 0.95, 1.05, 200}; });
    CHECK(usual.probability_of(late_by::itself) > 0.98);
    detect::late_cause const guessed = cause_of([](bench& b) { b.places[3].slow_now = {0.7, 2.2}; });
    CHECK(guessed.likeliest() == late_by::node);
    // Where half of the nodes are slow, one that is not known well is a suspect.
    detect::late_cause const like_others = cause_of([](bench& b) {
        for (place_row& p : b.places)
            if (p.node != 3)
                p.slow = p.node % 2 == 0 ? slowdown{2, 1.9, 2.1, 200} : slowdown{1, 0.95, 1.05, 200};
    });
    CHECK(like_others.probability_of(late_by::node) > 0.75);
    detect::late_cause const hung = cause_of([](bench& b) { b.places[3].hung = true; });

    CHECK(hung.probability_of(late_by::node) > 0.98);
}

TEST_CASE("speculator: who may not be copied, and what cannot run anywhere, is not") {
    bench b;
    b.history();
    b.siblings(1);
    for (std::uint64_t i = 0; i < 20; ++i) b.task(1, i, std::uint32_t(i), 95);
    b.task(1, 50, 3, 70);
    b.running.back().may_copy = false;
    b.plan(100);
    CHECK(b.planner.copies().empty());
    CHECK(b.planner.suspects().size() == 1); // late all the same
    b.running.back().may_copy = true;
    b.running.back().attempts = 2; // a copy is on its way
    b.plan(101);
    CHECK(b.planner.copies().empty());
    b.running.back().attempts = 1;
    int asked = 0;
    b.planner.plan(102, b.running, b.places, {}, [&](std::uint32_t task, std::uint32_t node) {
        ++asked;
        CHECK(task == 20);
        CHECK(node != 103); // where it runs
        return node == 117;
    });
    CHECK(asked > 0);
    REQUIRE(b.planner.copies().size() == 1);
    CHECK(b.planner.copies()[0].node_row == 117);
    // A copy that runs is not copied, nor is its task.
    b.task(1, 50, 17, 102).is_copy = true;
    b.plan(103);
    CHECK(b.planner.copies().empty());
    // Nothing is free: nothing is priced.
    b.running.pop_back();
    for (place_row& p : b.places) p.free = 0;
    b.plan(104);
    CHECK(b.planner.copies().empty());
    CHECK(b.planner.notes().no_place == 1);
}

TEST_CASE("speculator: while tasks wait only copies that save slot time are launched") {
    for (bool const hung : {false, true}) {
        CAPTURE(hung);
        bench b;
        b.history(hung);
        b.siblings(1);
        for (std::uint64_t i = 0; i < 20; ++i) b.task(1, i, std::uint32_t(i == 3 ? 4 : i), 495);
        b.task(1, 50, 3, hung ? 497 : 482.5); // late by itself; or just begun,
        b.places[3].slow = {6, 5.8, 6.2, 99}; // where it takes six times as long: a slot there yields less,
        b.places[3].hung = hung;              // or will never end
        for (int t = 0; t < 500; ++t) b.plan(t, 50); // the cluster is full for long
        b.plan(500, 50);
        REQUIRE(b.planner.suspects().size() == 1);
        CHECK(b.planner.copies().size() == (hung ? 1 : 0));
        if (hung && !b.planner.copies().empty()) CHECK(b.planner.copies()[0].cost < 0);
    }
}

TEST_CASE("speculator: if a third looks late, the baseline is suspected and nothing is copied") {
    bench b;
    b.history();
    b.siblings(1, 20);
    for (std::uint64_t i = 0; i < 12; ++i) b.task(1, i, std::uint32_t(i), 70);
    b.plan(100);
    CHECK_FALSE(b.planner.notes().storm); // the others have just ended
    b.plan(200);                          // that was long ago
    CHECK(b.planner.notes().late >= 10);
    CHECK(b.planner.notes().storm);
    CHECK(b.planner.copies().empty());
}

TEST_CASE("speculator: late tasks of one node, or of two, are no storm") {
    for (std::uint32_t const nodes : {1u, 2u, 8u}) {
        bench b({.most_copies = 1});
        b.history();
        for (place_row& p : b.places) p.slots = p.free = 24;
        for (std::uint64_t i = 0; i < 24; ++i) b.task(1, i, std::uint32_t(i) % nodes, 0);
        for (std::uint32_t n = 0; n < nodes; ++n) b.places[n].free = 0;
        b.plan(10);
        b.plan(600); // what ended was long ago
        CAPTURE(nodes);
        CHECK(b.planner.notes().late == 24);
        CHECK(b.planner.notes().storm == (nodes == 8)); // of 20
        CHECK(b.planner.copies().size() == (nodes == 8 ? 0u : 24u));
    }
}

TEST_CASE("speculator: copies share a budget of slots") {
    bench b({.most_copies = 0.05}); // 4 of 80
    b.history();
    b.siblings(1, 40);
    for (std::uint64_t i = 0; i < 40; ++i) b.task(1, i, std::uint32_t(i % 20), 95);
    for (std::uint64_t i = 50; i < 59; ++i) b.task(1, i, 3, 75);
    b.plan(100);
    CHECK(b.planner.suspects().size() == 9);
    CHECK(b.planner.copies().size() == 4);
    CHECK(b.planner.notes().over_limit == 5);
    std::map<std::uint32_t, int> nodes;
    for (copy_row const& c : b.planner.copies()) ++nodes[c.node_row];
    CHECK(nodes.size() == 4); // spread
}

TEST_CASE("speculator: where copies are lost with their nodes, the task is not left alone for ever") {
    bench b;
    b.history();
    b.siblings(1);
    int launched = 0;
    for (double now = 20; now < 20000; now += 10) {
        b.running.clear();
        b.task(1, 50, 3, 0); // does not end
        b.plan(now);
        if (b.planner.copies().empty()) continue;
        ++launched;
        b.task(1, 50, 5, now + 1).is_copy = true; // its node goes away
        b.running[0].attempts = b.running[1].attempts = 2;
        b.plan(now + 2);
    }
    CHECK(launched > 6);
    CHECK(launched < 20); // each takes twice as long to come as the one before
}

TEST_CASE("speculator: copies that lose teach, a plan that nobody obeys does not") {
    bench b;
    b.history();
    double const before = b.planner.races().of_task(1);
    for (std::uint64_t job = 1; job <= 30; ++job) {
        double const at = 1000.0 * static_cast<double>(job);
        bool const obey = job > 5;
        b.running.clear();
        for (int i = 0; i < 20; ++i)
            b.planner.observe_ended({.job = job,
                                     .task = std::uint64_t(100 + i),
                                     .kind = 1,
                                     .start = at,
                                     .end = at + 9 + 0.1 * i});
        b.task(job, 1, 3, at);
        b.plan(at + 25);
        if (job == 6) CHECK(b.planner.races().races() == 0);
        if (b.planner.copies().empty()) break; // has learned it
        if (obey) {
            b.task(job, 1, 5, at + 25).is_copy = true;
            b.running[0].attempts = b.running[1].attempts = 2;
            b.plan(at + 26);
        }
        b.planner.observe_ended({.job = job, .task = 1, .kind = 1, .node = 3, .start = at, .end = at + 50});
        if (obey)
            b.planner.observe_ended({.job = job,
                                     .task = 1,
                                     .kind = 1,
                                     .node = 5,
                                     .start = at + 25,
                                     .end = at + 50,
                                     .how = attempt_status::killed,
                                     .is_copy = true});
    }
    CHECK(b.planner.races().races() > 3);
    CHECK(b.planner.races().won() == 0);
    CHECK(b.planner.races().of_task(1) > before + 0.2);
}

TEST_CASE("speculator: a hung node's tasks are copied whatever the siblings say, and killed only if wanted") {
    for (bool const kill : {false, true}) {
        bench b({.kill_hung = kill});
        b.history();
        b.siblings(1);
        for (std::uint64_t i = 0; i < 20; ++i) b.task(1, i, std::uint32_t(i), 95);
        b.places[6].hung = true;
        b.plan(100);
        REQUIRE(b.planner.copies().size() == 1);
        CHECK(b.planner.copies()[0].task_row == 6);
        CHECK(b.planner.kills().empty()); // its only attempt
        b.task(1, 6, 9, 100).is_copy = true;
        b.plan(101);
        CHECK(b.planner.kills().size() == (kill ? 1 : 0));
    }
}

TEST_CASE("speculator: nodes on probation get probes of young tasks, no more than they may") {
    bench b;
    b.history();
    b.siblings(1);
    for (std::uint64_t i = 0; i < 20; ++i) b.task(1, i, std::uint32_t(i), 99 + 0.02 * double(i));
    b.places[2].state = node_state::on_probation;
    b.places[2].free = 4;
    b.places[2].probe_slots = 2;
    b.plan(100, 10); // tasks wait: a probe costs them nothing
    REQUIRE(b.planner.copies().size() == 2);
    for (copy_row const& c : b.planner.copies()) {
        CHECK(c.probe);
        CHECK(c.node_row == 102);
        CHECK(c.task_row >= 18);
    }
}

TEST_CASE("speculator: a task that is well on its way is no probe, one that began since the last plan is") {
    bench b;
    b.history();
    b.siblings(1);
    for (std::uint64_t i = 0; i < 20; ++i) b.task(1, i, std::uint32_t(i), 94);
    b.places[2].state = node_state::on_probation;
    b.places[2].free = 4;
    b.places[2].probe_slots = 2;
    b.plan(98, 10);
    CHECK(b.planner.copies().empty());
    b.task(2, 1, 5, 98.5); // nothing is known of its job
    b.plan(104, 10);
    REQUIRE(b.planner.copies().size() == 1);
    CHECK(b.planner.copies()[0].task_row == 20);
}

TEST_CASE("speculator: large inputs that are known are no stragglers") {
    std::uint64_t const seed = straggle_test::seed_or(31);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    bench b;
    for (std::uint64_t job = 1000; job < 1020; ++job) {
        for (int i = 0; i < 30; ++i) {
            double const size = i == 3 ? 6 : 1;
            b.planner.observe_ended({.job = job,
                                     .task = std::uint64_t(i),
                                     .kind = 1,
                                     .end = 10 * size * std::exp(0.1 * std::normal_distribution<>()(g)),
                                     .input = 1e6 * size});
        }
        b.planner.finish_job(job);
    }
    for (int i = 0; i < 20; ++i)
        b.planner.observe_ended(
            {.job = 1, .task = std::uint64_t(100 + i), .kind = 1, .end = 9.5 + 0.05 * i, .input = 1e6});
    b.task(1, 1, 3, 60).input = 6e6; // has run for 40, of 60
    b.plan(100);
    CHECK(b.planner.suspects().empty());
    b.running[0].input = 1e6;
    b.plan(100.1);
    CHECK(b.planner.suspects().size() == 1);
}

TEST_CASE(
    "speculator: all times a thousand times as long, or shifted, or rows in another order: the same plan") {
    auto const plan_of = [](double unit, double shift, bool turned) {
        bench b({}, unit);
        for (std::uint64_t job = 1000; job < 1020; ++job) {
            for (int i = 0; i < 30; ++i)
                b.planner.observe_ended(
                    {.job = job,
                     .task = std::uint64_t(i),
                     .kind = 1,
                     .start = shift,
                     .end = shift + 10 * unit * std::exp(0.3 * (i - 14.5) / 15) *
                                        (i == 7 && job % 3 == 0 ? double(job % 20) + 3 : 1)});
            b.planner.finish_job(job);
        }
        for (int i = 0; i < 20; ++i)
            b.planner.observe_ended({.job = 1,
                                     .task = std::uint64_t(1000 + i),
                                     .kind = 1,
                                     .start = shift,
                                     .end = shift + (9 + 0.1 * i) * unit});
        for (std::uint64_t i = 0; i < 40; ++i) {
            b.task(1, i, std::uint32_t(i % 20), i % 6 == 0 ? 70 + double(i) / 10 : 92);
            b.running.back().start += shift;
        }
        if (turned) std::reverse(b.running.begin(), b.running.end());
        b.planner.plan(100 * unit + shift, b.running, b.places, {});
        std::vector<std::uint32_t> out;
        for (copy_row const& c : b.planner.copies()) out.insert(out.end(), {c.task_row, c.node_row});
        return out;
    };
    auto const once = plan_of(1, 0, false);
    CHECK(once.size() >= 6);
    CHECK(plan_of(1000, 0, false) == once);
    CHECK(plan_of(1, 4096, false) == once);
    CHECK(plan_of(1, 0, true) == once);
}

TEST_CASE("speculator: the steady state allocates nothing") {
    bench b;
    b.history();
    auto const round = [&](double at) {
        b.running.clear();
        for (std::uint64_t job = 1; job <= 5; ++job) {
            for (std::uint64_t i = 0; i < 20; ++i) {
                b.planner.observe_ended(
                    {.job = job, .task = 100 + i, .kind = 1, .start = at, .end = at + 9 + 0.1 * double(i)});
                b.task(job, i, std::uint32_t(i), i == 0 ? at - 20 : at).progress = 0.3;
            }
        }
        b.plan(at + 5);
    };
    for (int i = 0; i < 20; ++i) round(10 * i);
    CHECK_FALSE(b.planner.copies().empty());
    std::size_t const made = straggle_test::allocations_during([&] {
        for (int i = 20; i < 40; ++i) round(10 * i);
    });
    CHECK(made == 0);
}

TEST_CASE("speculator: what was learnt survives a restart") {
    bench b;
    b.history();
    byte_writer out;
    b.planner.write(out);
    bench c;
    byte_reader in(out.payload());
    REQUIRE(c.planner.read(in) == status::ok);
    CHECK(in.at_end());
    // No task of the job has ended, and yet it is known how long such tasks take.
    c.task(1, 1, 3, 60);
    for (std::uint64_t i = 2; i < 20; ++i) c.task(1, i, std::uint32_t(i), 95);
    c.plan(100);
    CHECK(c.planner.suspects().size() == 1);
    CHECK(c.planner.copies().size() == 1);
    for (std::size_t cut = 0; cut < out.payload().size(); cut += 11) {
        byte_reader part(out.payload().first(cut));
        CHECK(speculator().read(part) != status::ok);
    }
    bench d;
    d.planner.merge(b.planner);
    d.running = c.running;
    d.plan(100);
    CHECK(d.planner.suspects().size() == 1);
}

namespace {

// What makes a task long: itself, then where and when it runs; a copy has only the latter anew.
struct luck {
    std::string name;
    double (*of_task)(std::mt19937_64&);
    double (*of_place)(std::mt19937_64&);
};
double even(std::mt19937_64&) {
    return 1;
}
double lognormal(std::mt19937_64& g) {
    return std::exp(0.35 * std::normal_distribution<>()(g));
}
double pareto(std::mt19937_64& g) {
    return std::pow(1 - std::uniform_real_distribution<>()(g), -0.5);
}
double bimodal(std::mt19937_64& g) {
    return std::exp(0.1 * std::normal_distribution<>()(g)) *
           (std::uniform_real_distribution<>()(g) < 0.06 ? 6 : 1);
}

} // namespace

TEST_CASE("speculator: copies that are launched win as often as was claimed") {
    std::uint64_t const seed = straggle_test::seed_or(41);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    for (luck const& l :
         {luck{"Pareto, of the place", even, pareto}, luck{"bimodal, of the place", even, bimodal},
          luck{"lognormal, half of the task", lognormal, lognormal},
          luck{"bimodal, of the task", bimodal, lognormal}}) {
        CAPTURE(l.name);
        bench b;
        std::array<double, 10> claimed{}, won{}, races{};
        for (std::uint64_t job = 0; job < 900; ++job) {
            double const at = 1000.0 * static_cast<double>(job);
            std::array<double, 40> own, took;
            for (std::size_t i = 0; i < 40; ++i) {
                own[i] = 10 * l.of_task(g);
                took[i] = own[i] * l.of_place(g);
            }
            std::array<bool, 40> told{};
            std::array<double, 40> copy_from{}, copy_end{}, claim{};
            for (double age = 2; age < 300; age += 2) {
                b.running.clear();
                for (std::size_t i = 0; i < 40; ++i) {
                    double const end = claim[i] > 0 ? std::min(took[i], copy_end[i]) : took[i];
                    bool const copied = claim[i] > 0;
                    if (end <= age) {
                        if (told[i]) continue;
                        told[i] = true;
                        bool const wins = copied && copy_end[i] < took[i];
                        b.planner.observe_ended(
                            {.job = job,
                             .task = i,
                             .kind = 1,
                             .node = std::uint32_t(i % 20),
                             .start = at,
                             .end = at + end,
                             .how = wins ? attempt_status::killed : attempt_status::success});
                        if (!copied) continue;
                        b.planner.observe_ended(
                            {.job = job,
                             .task = i,
                             .kind = 1,
                             .start = at + copy_from[i],
                             .end = at + end,
                             .how = wins ? attempt_status::success : attempt_status::killed,
                             .is_copy = true});
                        if (job < 100) continue; // the first races teach whether the task is to blame
                        auto const tenth = std::min(std::size_t(claim[i] * 10), std::size_t{9});
                        claimed[tenth] += claim[i];
                        won[tenth] += wins ? 1 : 0;
                        races[tenth] += 1;
                        continue;
                    }
                    b.task(job, i, std::uint32_t(i % 20), at).attempts = copied ? 2 : 1;
                    if (copied) b.task(job, i, 19, at + copy_from[i]).is_copy = true;
                }
                b.plan(at + age);
                for (copy_row const& c : b.planner.copies()) {
                    std::size_t const i = b.running[c.task_row].task;
                    claim[i] = c.win_probability;
                    copy_from[i] = age;
                    copy_end[i] = age + own[i] * l.of_place(g);
                }
            }
        }
        for (std::size_t i = 0; i < 10; ++i) {
            if (races[i] < 60) continue;
            double const claim = claimed[i] / races[i], real = won[i] / races[i];
            CAPTURE(i);
            CAPTURE(races[i]);
            CAPTURE(claim);
            CAPTURE(real);
            CHECK(std::abs(claim - real) < 0.1 + 2 * std::sqrt(real * (1 - real) / races[i]));
        }
    }
}

namespace {

struct recorded {
    std::string job, task;
    double start = 0, end = 0;
    std::vector<std::pair<double, double>> reports{};
};
struct found {
    int right = 0, wrong = 0, missed = 0;
    [[nodiscard]] double f1() const { return 2.0 * right / (2.0 * right + wrong + missed); }
};

// Looks once a second, from the first start to the last end; a task is found if it is suspected while it
// runs.
found replayed(std::vector<recorded> const& tasks, bool progress, double label) {
    std::map<std::string, std::vector<double>> by_job;
    double from = 1e300, to = 0;
    for (recorded const& t : tasks) {
        by_job[t.job].push_back(t.end - t.start);
        from = std::min(from, t.start);
        to = std::max(to, t.end);
    }
    std::map<std::string, std::uint64_t> ids;
    for (auto& [job, took] : by_job) {
        std::nth_element(took.begin(), took.begin() + std::ptrdiff_t(took.size() / 2), took.end());
        ids.emplace(job, ids.size());
    }
    speculator planner;
    std::vector<place_row> const places{{.slots = 1000, .free = 500}};
    std::vector<bool> told(tasks.size()), suspected(tasks.size());
    for (double now = from; now < to; now += 1000) {
        std::vector<running_row> running;
        for (std::uint32_t i = 0; i < tasks.size(); ++i) {
            recorded const& t = tasks[i];
            if (t.end <= now) {
                if (!told[i])
                    planner.observe_ended(
                        {.job = ids[t.job], .task = i, .kind = 1, .start = t.start, .end = t.end});
                told[i] = true;
            } else if (t.start <= now) {
                running.push_back({.row = i, .job = ids[t.job], .task = i, .kind = 1, .start = t.start});
                for (auto const& [when, p] : t.reports)
                    if (progress && when <= now) {
                        running.back().progress = p;
                        running.back().reported = when;
                    }
            }
        }
        planner.plan(now, running, places, {});
        for (auto const& s : planner.suspects()) suspected[s.row] = true;
    }
    found out;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        auto const& took = by_job[tasks[i].job];
        bool const slow = tasks[i].end - tasks[i].start > label * took[took.size() / 2];
        out.right += slow && suspected[i] ? 1 : 0;
        out.wrong += !slow && suspected[i] ? 1 : 0;
        out.missed += slow && !suspected[i] ? 1 : 0;
    }
    return out;
}

} // namespace

TEST_CASE("speculator: real Hadoop progress does no harm") {
    auto const attempts = straggle_test::shared_file("data/hadoop-sls.csv");
    auto const reports = straggle_test::shared_file("data/hadoop-sls.progress.csv");
    if (!attempts || !reports) return;
    std::vector<recorded> tasks;
    std::map<std::string, std::size_t> at;
    std::string line, cell;
    auto const cells = [&] {
        std::vector<std::string> out;
        std::stringstream s(line);
        while (std::getline(s, cell, ',')) out.push_back(cell);
        return out;
    };
    std::ifstream file(*attempts);
    std::getline(file, line);
    while (std::getline(file, line)) {
        auto const c = cells();
        at[c[1]] = tasks.size();
        tasks.push_back({c[0], c[1], std::stod(c[4]), std::stod(c[5])});
    }
    std::ifstream progress(*reports);
    std::getline(progress, line);
    while (std::getline(progress, line)) {
        auto const c = cells();
        tasks[at.at(c[1])].reports.emplace_back(std::stod(c[4]), std::stod(c[5]));
    }
    REQUIRE(tasks.size() == 192);
    for (double const label : {1.2, 1.5}) {
        found const without = replayed(tasks, false, label), with = replayed(tasks, true, label);
        MESSAGE("label ", label, ": without progress ", without.right, " right, ", without.wrong, " wrong, ",
                without.missed, " missed; with ", with.right, ", ", with.wrong, ", ", with.missed);
        CHECK(with.wrong <= without.wrong + 2);
        CHECK(with.right >= without.right);
        CHECK(with.f1() >= without.f1() - 0.06); // two alarms more
    }
}

TEST_CASE("speculator: where only nodes with a free slot are told, the others are those of the last plan") {
    bench b;
    b.history();
    for (place_row& p : b.places) p.free = 0;
    place_row& last = b.places[4];
    last.state = node_state::last_resort;
    last.slow = {3, 2.9, 3.1, 1000};
    last.free = 1;
    std::vector<assign::ranked_place> all, only;
    b.planner.rank_places({.job = 7, .kind = 1, .input = 0}, {&last, 1}, {}, only);
    CHECK(only.size() == 1); // nothing else is known
    b.plan(100);
    // 76 healthy slots: one is free in a moment.
    b.planner.rank_places({.job = 7, .kind = 1, .input = 0}, b.places, {}, all);
    b.planner.rank_places({.job = 7, .kind = 1, .input = 0}, {&last, 1}, {}, only);
    CHECK(all.empty());
    CHECK(only.empty());
    b.planner.rank_places({.job = 7, .kind = 1, .input = 0}, {&last, 1}, {.waiting = 1000}, only);
    CHECK(only.size() == 1);
    // No healthy node can run it: there is nothing to wait for.
    b.planner.rank_places({.job = 7, .kind = 1, .input = 0, .only_here = true}, {&last, 1}, {}, only);
    CHECK(only.size() == 1);
    // One of them can, and it is full: it is waited for.
    std::vector<place_row> const two{b.places[0], last};
    b.planner.rank_places({.job = 7, .kind = 1, .input = 0, .only_here = true}, two, {}, only);
    CHECK(only.empty());
}

TEST_CASE("speculator: slots that were just taken come free together, after a whole task") {
    bench b;
    b.history();
    place_row& last = b.places[4];
    last.state = node_state::last_resort;
    last.slow = {2.6, 2.59, 2.61, 100000};
    b.plan(100); // the healthy slots idle
    double slots = 0;
    for (place_row& p : b.places) {
        if (&p != &last) slots += p.slots;
        if (&p != &last) p.free = 0; // a job has taken them since
    }
    std::vector<assign::ranked_place> out;
    auto const offered = [&](double per_slot, bool is_now) {
        auto const waiting = static_cast<std::uint64_t>(per_slot * slots) - 1;
        b.planner.rank_places({.job = 7, .kind = 1, .input = 0, .queue_is_now = is_now}, b.places,
                              {.waiting = waiting}, out);
        return !out.empty();
    };
    // One and a quarter tasks for each slot: the last of them begins in the second wave, and ends after three
    // task times; slots that come free one by one would be through with it after two and a quarter.
    CHECK(offered(1.25, true));
    CHECK_FALSE(offered(1.25, false));
    CHECK_FALSE(offered(0.75, true)); // it begins in the first wave
    CHECK(offered(1.75, false));
    // Nodes without a free slot need not be told.
    b.planner.rank_places({.job = 7, .kind = 1, .input = 0, .queue_is_now = true}, {&last, 1}, {}, out);
    CHECK(out.empty());
    // Those that were busy at the last plan are at different points of their tasks.
    b.plan(101);
    CHECK_FALSE(offered(1.25, true));
    CHECK(offered(1.75, true));
}

TEST_CASE("speculator: a deadline decides which task gets a copy") {
    // Two jobs alike, each with a task that is late; one slot is free.
    auto const plan = [](std::vector<running_goal> const& goals) {
        bench b;
        b.history();
        for (std::uint64_t const job : {1u, 2u}) {
            b.siblings(job);
            b.task(job, 50, std::uint32_t(job), 80);
        }
        for (place_row& p : b.places) p.free = 0;
        b.places[9].free = 1;
        b.planner.plan(100, b.running, b.places, {}, mitigate::runs_anywhere{}, goals);
        std::vector<std::uint32_t> copied;
        for (copy_row const& c : b.planner.copies()) copied.push_back(c.task_row);
        return copied;
    };
    constexpr std::uint32_t of_first = 0, of_second = 1;
    REQUIRE(plan({}).size() == 1);
    CHECK(plan({{.job = 1, .deadline = 115}}) == std::vector{of_first});
    CHECK(plan({{.job = 2, .deadline = 115}}) == std::vector{of_second});
    CHECK(plan({{.job = 1, .deadline = 1000}}) == std::vector{of_second}); // the first has time to spare
    CHECK(plan({{.job = 2, .deadline = 1000}}) == std::vector{of_first});
    CHECK(plan({{.job = 1, .deadline = 115}, {.job = 2, .deadline = 115, .weight = 9}}) ==
          std::vector{of_second});
    CHECK(plan({{.job = 1, .weight = 9}}) == std::vector{of_first}); // a weight without a deadline
    CHECK(plan({{.job = 1, .weight = 0}, {.job = 2, .weight = 0}}).empty());
    CHECK(plan({{.job = 1, .weight = 1}, {.job = 2, .weight = 1}}) == plan({}));
}

TEST_CASE("speculator: a task that is not late yet gets a copy if its job may miss its deadline by it") {
    auto const plan = [](std::vector<running_goal> const& goals) {
        bench b;
        b.history();
        b.siblings(1);
        b.task(1, 50, 1, 99);
        b.places[1].slow = {1.4, 1.39, 1.41, 1000};
        b.planner.plan(100, b.running, b.places, {}, mitigate::runs_anywhere{}, goals);
        CHECK(b.planner.suspects().empty());
        CHECK(b.planner.jobs().size() == goals.size());
        return b.planner.copies().size();
    };
    CHECK(plan({}) == 0);
    CHECK(plan({{.job = 1, .deadline = 111.5}}) == 1);
    CHECK(plan({{.job = 1, .deadline = 130}}) == 0); // time to spare
    CHECK(plan({{.job = 1, .deadline = 103}}) == 0); // nothing can help
    CHECK(plan({{.job = 1, .deadline = 90}}) == 0);  // missed
}

TEST_CASE("speculator: says when a job with a deadline ends, and what copies could do") {
    bench b;
    b.history();
    b.siblings(1);
    b.siblings(2);
    for (std::uint64_t i = 0; i < 5; ++i) b.task(1, i, std::uint32_t(i), 98);
    b.task(2, 0, 7, 98);
    b.task(3, 0, 8, 98); // without a deadline
    auto const jobs = [&](double first, double second) {
        std::vector<running_goal> const goals{{.job = 1, .deadline = first},
                                              {.job = 2, .deadline = second, .weight = 3}};
        b.planner.plan(100, b.running, b.places, {}, mitigate::runs_anywhere{}, goals);
        REQUIRE(b.planner.jobs().size() == 2);
        return std::vector(b.planner.jobs().begin(), b.planner.jobs().end());
    };
    auto const far = jobs(1000, 1000);
    CHECK(far[0].job == 1);
    CHECK(far[0].row == 0);
    CHECK(far[1].row == 5);
    CHECK(far[1].weight == 3);
    CHECK(far[0].is_known);
    CHECK(far[0].miss_probability < 0.05);
    CHECK(far[1].end.middle == doctest::Approx(8).epsilon(0.3)); // usually 10, 2 of them are over
    CHECK(far[0].end.middle > far[1].end.middle);                // the last of five
    CHECK(far[0].end.low < far[0].end.high);
    auto const near = jobs(103, 108);
    CHECK(near[0].miss_probability > 0.95);
    CHECK(near[0].least_probability > 0.95);
    CHECK(near[1].miss_probability > 0.1);
    CHECK(near[1].miss_probability < 0.9);
    auto const gone = jobs(99, 1000);
    CHECK(gone[0].deadline == -1);
    CHECK(gone[0].miss_probability == 1);
    b.places[7].hung = true; // it does not end by itself, but a copy would
    auto const hung = jobs(1000, 1000);
    CHECK(hung[1].miss_probability == 1);
    CHECK(hung[1].least_probability < 0.05);
    b.places[7].hung = false;
    b.task(2, 0, 9, 99).is_copy = true;
    auto const copied = jobs(1000, 108);
    CHECK(copied[1].copies == 1);
    CHECK(copied[1].miss_probability < near[1].miss_probability);
}
