// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A mitigator restored from another's bytes, at any step of a random workload that obeys the plans, plans
/// what the other plans: whole plans, places and jobs left alone are compared.

#include "support/seed.hpp"

#include <straggle/detect/over_median.hpp>
#include <straggle/detect/straggler_scan.hpp>
#include <straggle/mitigate/mitigator.hpp>
#include <straggle/mitigate/stages.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace {

using straggle::attempt_status;

struct ended {
    std::uint32_t job, task, node, kind;
    double start, end, input;
    attempt_status status;
};
struct running {
    std::uint32_t job, task, node, kind;
    double start, input, progress, reported;
};
struct host {
    std::uint32_t name, slots, busy;
};
constexpr straggle::attempt_fields ended_fields{.job = &ended::job,
                                                .task = &ended::task,
                                                .node = &ended::node,
                                                .start = &ended::start,
                                                .end = &ended::end,
                                                .status = &ended::status,
                                                .input = &ended::input,
                                                .kind = &ended::kind};
constexpr straggle::running_fields running_fields{.job = &running::job,
                                                  .task = &running::task,
                                                  .node = &running::node,
                                                  .start = &running::start,
                                                  .progress = &running::progress,
                                                  .reported = &running::reported,
                                                  .input = &running::input,
                                                  .kind = &running::kind};
constexpr straggle::node_fields host_fields{.node = &host::name, .slots = &host::slots, .busy = &host::busy};

// A cluster of slow, hanging and failing nodes whose scheduler obeys. `Make` gives mitigators.
template <class Make>
class twin_run {
    using mitigator = decltype(std::declval<Make>()());

  public:
    twin_run(Make make, std::uint64_t seed, bool is_shuffled)
        : make_(make),
          random_(seed),
          is_shuffled_(is_shuffled),
          original_(new mitigator(make_())),
          twin_(new mitigator(make_())) {
        nodes_ = 6 + below(12);
        has_progress_ = below(2) == 0;
        for (std::uint32_t n = 0; n < nodes_; ++n) hosts_.push_back({n, 2 + below(3), 0});
        hanging_ = below(3) == 0 ? below(nodes_) : nodes_;
        failing_ = below(3) == 0 ? below(nodes_) : nodes_;
    }

    void step() {
        now_ += 1 + below(4);
        if (below(20) == 0) restore();
        if (below(60) == 0) hosts_[below(nodes_)].name = named_++; // another machine took its place
        if (below(80) == 0) slow_ = below(nodes_);
        end_attempts();
        if (below(6) == 0 && waiting_.size() < 200) arrive();
        decide();
        place();
    }
    void restore() {
        auto const bytes = original_->serialize();
        twin_.reset(new mitigator(make_()));
        REQUIRE(twin_->restore(bytes) == straggle::status::ok);
        REQUIRE(twin_->serialize() == bytes);
        ++restored;
    }

    int restored = 0, copies = 0, probes = 0, excluded = 0, placed = 0;

  private:
    struct attempt {
        running row;
        double ends;
        std::uint32_t at; // index of its host
        bool fails, is_copy;
    };
    [[nodiscard]] std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
    [[nodiscard]] double normal() {
        double sum = 0;
        for (int i = 0; i < 12; ++i) sum += static_cast<double>(random_() >> 11) * 0x1p-53;
        return sum - 6;
    }

    void arrive() {
        std::uint32_t const tasks = 1 + below(40), kind = below(3);
        for (std::uint32_t t = 0; t < tasks; ++t) {
            double const input = kind == 0 ? 0.0 : std::exp(normal());
            waiting_.push_back({job_, task_++, 0, kind, 0, input, 0, 0});
        }
        ++job_;
    }
    void start(running row, std::uint32_t at, bool is_copy) {
        row.node = hosts_[at].name;
        row.start = now_ - 0.25 * below(2);
        row.progress = std::numeric_limits<double>::quiet_NaN();
        double took = 20 * std::exp(0.2 * normal()) * (row.input > 0 ? std::pow(row.input, 0.7) : 1.0);
        if (at == slow_) took *= 3;
        if (below(30) == 0) took *= 5;
        bool const fails = at == failing_ || below(50) == 0;
        attempts_.push_back({row, at == hanging_ ? 1e300 : now_ + (fails ? 2 : took), at, fails, is_copy});
        ++hosts_[at].busy;
    }
    void report(attempt const& a, attempt_status how) {
        ended const e{a.row.job, a.row.task, a.row.node, a.row.kind, a.row.start, now_, a.row.input, how};
        REQUIRE(original_->observe(e, now_) == twin_->observe(e, now_));
    }
    void remove(std::size_t i) {
        --hosts_[attempts_[i].at].busy;
        attempts_[i] = attempts_.back();
        attempts_.pop_back();
    }
    void end_attempts() {
        for (std::size_t i = 0; i < attempts_.size();) {
            attempt const a = attempts_[i];
            if (a.ends > now_ && !(a.ends > 1e299 && now_ - a.row.start > 400)) {
                ++i;
                continue;
            }
            remove(i);
            report(a, a.fails || a.ends > 1e299 ? attempt_status::failed : attempt_status::success);
            bool others = false;
            for (std::size_t k = 0; k < attempts_.size();) {
                attempt const b = attempts_[k];
                if (b.row.task != a.row.task) {
                    ++k;
                    continue;
                }
                others = true;
                if (a.fails || a.ends > 1e299) break;
                remove(k);
                report(b, attempt_status::killed);
                i = 0;
            }
            if ((a.fails || a.ends > 1e299) && !others) waiting_.push_back(a.row);
            if (below(100) == 0) {
                original_->finish(a.row.job);
                twin_->finish(a.row.job);
            }
        }
    }
    void decide() {
        std::vector<running> rows;
        for (attempt& a : attempts_) {
            if (has_progress_ && below(4) == 0 && a.ends < 1e299) {
                a.row.progress = std::min((now_ - a.row.start) / (a.ends - a.row.start), 0.999);
                a.row.reported = now_;
            }
            rows.push_back(a.row);
        }
        straggle::cluster_load const load{.waiting = waiting_.size()};
        auto const can_run = [&](running const& r, host const& h) { return (r.task + h.name) % 7 != 0; };
        auto const rows_of_twin = in_order(rows, order_);
        auto const hosts_of_twin = in_order(hosts_, host_order_);
        auto const& a = original_->decide(now_, rows, hosts_, load, can_run);
        auto const& b = twin_->decide(now_, rows_of_twin, hosts_of_twin, load, can_run);
        compare(a, b);
        has_decided_ = true;
        for (auto const& n : a.nodes()) excluded += n.state == straggle::node_state::excluded ? 1 : 0;
        for (auto const& c : a.copies()) {
            (c.is_probe ? probes : copies) += 1;
            if (below(8) == 0) continue; // an obedient scheduler forgets some
            auto const at = static_cast<std::uint32_t>(c.node_row);
            if (hosts_[at].busy < hosts_[at].slots) start(rows[c.row], at, true);
        }
    }
    void place() {
        for (int tries = 0; tries < 10 && !waiting_.empty(); ++tries) {
            running const row = waiting_.front();
            bool const alone = original_->is_left_alone(row.job);
            REQUIRE(alone == twin_->is_left_alone(row.job));
            std::vector<straggle::mitigate::planned_place> const places = [&] {
                auto const found = original_->rank_places(row, hosts_);
                return std::vector<straggle::mitigate::planned_place>(found.begin(), found.end());
            }();
            auto const same = twin_->rank_places(row, in_order(hosts_, host_order_));
            REQUIRE(places.size() == same.size());
            for (std::size_t i = 0; i < same.size(); ++i) {
                if (!is_shuffled_ || !alone) // else drawn by row
                    REQUIRE(places[i].row == host_order_[same[i].row]);
                REQUIRE(places[i].time == same[i].time);
            }
            if (places.empty()) return;
            waiting_.erase(waiting_.begin());
            start(row, static_cast<std::uint32_t>(places.front().row), false);
            ++placed;
        }
    }
    template <class Row>
    std::vector<Row> in_order(std::vector<Row> const& rows, std::vector<std::size_t>& order) {
        order.resize(rows.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        if (is_shuffled_ && has_decided_) // once nodes have their numbers
            std::shuffle(order.begin(), order.end(), shuffling_);
        std::vector<Row> out;
        for (std::size_t const at : order) out.push_back(rows[at]);
        return out;
    }
    static void compare(straggle::mitigate::time_range const& a, straggle::mitigate::time_range const& b) {
        REQUIRE(a.low == b.low);
        REQUIRE(a.middle == b.middle);
        REQUIRE(a.high == b.high);
    }
    void compare(straggle::mitigation_plan const& a, straggle::mitigation_plan const& b) const {
        INFO("at ", now_);
        REQUIRE(std::vector(a.notes().begin(), a.notes().end()) ==
                std::vector(b.notes().begin(), b.notes().end()));
        REQUIRE(a.nodes().size() == b.nodes().size());
        for (std::size_t i = 0; i < a.nodes().size(); ++i) {
            auto const &x = a.nodes()[host_order_[i]], &y = b.nodes()[i];
            REQUIRE(x.state == y.state);
            REQUIRE(x.slow == y.slow);
            REQUIRE(x.why == y.why);
            REQUIRE(x.causes == y.causes);
            REQUIRE(x.strikes == y.strikes);
            REQUIRE(x.probe_slots == y.probe_slots);
            REQUIRE(x.lasted == y.lasted);
            REQUIRE(x.left == y.left);
            REQUIRE(x.spared_by == y.spared_by);
        }
        REQUIRE(a.copies().size() == b.copies().size());
        for (std::size_t i = 0; i < a.copies().size(); ++i) {
            auto const &x = a.copies()[i], &y = b.copies()[i];
            REQUIRE(x.row == order_[y.row]);
            REQUIRE(x.node_row == host_order_[y.node_row]);
            compare(x.left, y.left);
            compare(x.there, y.there);
            REQUIRE(x.win_probability == y.win_probability);
            REQUIRE(x.gain == y.gain);
            REQUIRE(x.cost == y.cost);
            REQUIRE(x.why == y.why);
            REQUIRE(x.is_probe == y.is_probe);
        }
        REQUIRE(a.kills().size() == b.kills().size());
        for (std::size_t i = 0; i < a.kills().size(); ++i)
            REQUIRE(a.kills()[i].row == order_[b.kills()[i].row]);
        REQUIRE(original_->actions() == twin_->actions());
        for (auto const kind :
             {straggle::mitigate::action_kind::exclusion, straggle::mitigate::action_kind::copy,
              straggle::mitigate::action_kind::placement})
            REQUIRE(original_->effect_of(kind) == twin_->effect_of(kind));
    }

    Make make_;
    std::mt19937_64 random_, shuffling_{7};
    bool is_shuffled_;                            // the twin gets the same rows in another order
    std::vector<std::size_t> order_, host_order_; // by row of the twin: that of the original
    std::unique_ptr<mitigator> original_, twin_;
    std::vector<host> hosts_;
    std::vector<attempt> attempts_;
    std::vector<running> waiting_;
    double now_ = 1e6;
    std::uint32_t nodes_ = 0, slow_ = 1, hanging_ = 0, failing_ = 0, job_ = 0, task_ = 0, named_ = 1000;
    bool has_progress_ = false, has_decided_ = false;
};

template <class Make>
void run(Make make, int rounds, int steps, int least_copies, bool is_shuffled = false) {
    std::uint64_t const seed = straggle_test::seed_or(53);
    int restored = 0, copies = 0, probes = 0, excluded = 0, placed = 0;
    for (int round = 0; round < rounds; ++round) {
        CAPTURE(seed);
        CAPTURE(round);
        twin_run r(make, seed + static_cast<std::uint64_t>(round), is_shuffled);
        for (int i = 0; i < steps; ++i) r.step();
        restored += r.restored;
        copies += r.copies;
        probes += r.probes;
        excluded += r.excluded;
        placed += r.placed;
    }
    CHECK(restored > rounds * steps / 40);
    CHECK(copies > least_copies);
    CHECK(probes > 0);
    CHECK(excluded > 0);
    CHECK(placed > rounds * steps / 2);
}

straggle::mitigator_options options() {
    straggle::mitigator_options o;
    o.effects.left_alone = 0.1;
    o.actions = {.most = 60, .period = 500};
    o.copies.kill_hung = true;
    return o;
}

} // namespace

TEST_CASE("mitigator: a restored twin plans what the original plans") {
    run([] { return straggle::mitigator(ended_fields, running_fields, host_fields, options()); }, 8, 400, 80);
}

TEST_CASE("mitigator: a restored twin plans what the original plans after a long time") {
    run([] { return straggle::mitigator(ended_fields, running_fields, host_fields, options()); }, 1, 3000,
        80);
}

TEST_CASE("mitigator: a restored twin forgets what the original forgets") {
    run(
        [] {
            auto o = options();
            o.copies.times.most_jobs = 6;
            o.copies.times.most_kinds = 2;
            o.nodes.evidence.max_jobs = 8;
            o.nodes.evidence.max_attempts = 100;
            o.nodes.evidence.max_stretch = 16;
            o.nodes.evidence.max_cells = 64;
            o.nodes.evidence.cells_per_node = 0;
            o.most_jobs = 10;
            return straggle::mitigator(ended_fields, running_fields, host_fields, o);
        },
        4, 400, 20);
}

TEST_CASE("mitigator: a restored twin with another detector plans what the original plans") {
    run(
        [] {
            straggle::mitigate::stages stages{
                .tasks = straggle::detect::straggler_scan<straggle::detect::over_median>()};
            return straggle::mitigator(ended_fields, running_fields, host_fields, options(), stages);
        },
        4, 400, 20);
}

TEST_CASE("mitigator: rows in any order, whole plans and places are the same") {
    run([] { return straggle::mitigator(ended_fields, running_fields, host_fields, options()); }, 8, 400, 80,
        true);
}
