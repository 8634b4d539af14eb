// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/detect/tail_of_siblings.hpp>

#include "jobs.hpp"

#include <straggle/detect/straggler_scan.hpp>

#include <cstdint>
#include <vector>

using namespace straggle;
using straggle_test::allocations_of_second_look;

static_assert(detect::straggler_detector<detect::tail_of_siblings>);

namespace {

// A job of which forty tasks have finished in about 100.
struct job {
    std::vector<double> finished;
    std::vector<detect::running_task> running;
    std::vector<detect::job_node> nodes{1};
    double unit = 1;

    explicit job(std::vector<double> const& ages, double in_units = 1) : unit(in_units) {
        for (int i = 0; i < 40; ++i) finished.push_back(unit * (90 + 0.5 * i));
        for (std::uint32_t i = 0; i < ages.size(); ++i)
            running.push_back({.progress = 0.5, .elapsed = unit * ages[i], .row = i});
    }
    [[nodiscard]] detect::job_view view() const {
        detect::job_view out;
        out.running = running;
        out.finished = finished;
        out.nodes = nodes;
        out.finished_input = 40;
        return out;
    }
};

std::vector<std::uint32_t> found(detect::straggler_scan<detect::tail_of_siblings>& scan, job const& j) {
    std::vector<std::uint32_t> rows;
    for (auto const& s : scan(j.view())) rows.push_back(s.row);
    return rows;
}

} // namespace

TEST_CASE("tail_of_siblings: who outlived its siblings is late, the longest first, in any unit") {
    detect::straggler_scan<detect::tail_of_siblings> scan;
    CHECK(found(scan, job({10, 60, 95})).empty());
    CHECK(found(scan, job({160, 10, 400, 95})) == std::vector<std::uint32_t>{2, 0});
    CHECK(found(scan, job({160, 10, 400, 95}, 1e-3)) == std::vector<std::uint32_t>{2, 0});
    CHECK(scan.name() == "tail_of_siblings");
    // Before its limit: a task that has outlived all of them will rather take long.
    CHECK(found(scan, job({130})) == std::vector<std::uint32_t>{0});
    job const late({160});
    auto const suspects = scan(late.view());
    CHECK(suspects[0].why.value > suspects[0].why.threshold);
    CHECK(suspects[0].why.threshold > 1.49 * suspects[0].why.usual);
    CHECK(suspects[0].why.usual == doctest::Approx(100).epsilon(0.03));
}

TEST_CASE("tail_of_siblings: what has more to read may take longer, what is on a slow node may not") {
    detect::straggler_scan<detect::tail_of_siblings> scan;
    job sized({160});
    sized.running[0].input = 4;
    CHECK(found(scan, sized).empty());
    job slow({60});
    CHECK(found(scan, slow).empty());
    slow.nodes[0] = {.slowdown = 3, .modelled = true};
    CHECK(found(scan, slow) == std::vector<std::uint32_t>{0}); // it will take 300
}

TEST_CASE("tail_of_siblings: says why it cannot judge") {
    detect::straggler_scan<detect::tail_of_siblings> scan;
    CHECK(found(scan, job({})).empty());
    CHECK(scan.note() == detect::detection_note::too_few_running);
    job young({500, 500});
    young.finished = {100};
    CHECK(found(scan, young).empty());
    CHECK(scan.note() == detect::detection_note::too_few_finished);
    // One job has no say in the next.
    CHECK(found(scan, job({95})).empty());
    CHECK(scan.note() == detect::detection_note::none);
}

TEST_CASE("tail_of_siblings: the steady state allocates nothing") {
    CHECK(allocations_of_second_look(detect::tail_of_siblings{}, 20) == 0);
}
