// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "faults.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace lab {

namespace {

class fault_maker {
  public:
    fault_maker(double time, draw& d, plan& out)
        : time_(time), draw_(d), out_(out), order_(out.nodes.size()) {
        std::iota(order_.begin(), order_.end(), 0u);
        draw_.shuffle(order_);
    }

    void slow(double share, double slowdown) {
        for (node_spec* n : some(share)) n->faults = {{onset(4), slowdown}};
    }
    void some_of(regime const& r, double task_seconds) {
        for (node_spec* n : some(r.fault_share)) {
            if (!(r.fault_tasks > 0)) {
                n->faults = {{onset(4), r.fault_factor}};
                continue;
            }
            double const mean = r.fault_tasks * task_seconds;
            for (double at = draw_.exponential(3 * mean); at < 3 * time_;) {
                double const end = at + draw_.uniform(0.5 * mean, 1.5 * mean);
                n->faults.push_back({at, r.fault_factor});
                n->faults.push_back({end, 1});
                at = end + draw_.exponential(3 * mean);
            }
        }
    }
    void hung() {
        for (node_spec* n : some(0.05)) n->faults = {{onset(2), 20}};
    }
    void gradual() {
        constexpr int steps = 20;
        for (node_spec* n : some(0.1))
            for (int i = 1; i <= steps; ++i) n->faults.push_back({time_ * i / steps, 1 + 2.0 * i / steps});
    }
    void rack() {
        std::uint32_t const which = out_.nodes[order_.front()].domain;
        double const from = onset(4);
        for (node_spec& n : out_.nodes)
            if (n.domain == which) n.faults = {{from, 2}};
    }
    void episodes() {
        constexpr double mean = 25 * 60, share = 0.1;
        for (node_spec& n : out_.nodes) {
            double at = draw_.exponential(mean * (1 - share) / share);
            while (at < 3 * time_) {
                double const end = at + draw_.uniform(10 * 60, 40 * 60);
                n.faults.push_back({at, 3});
                n.faults.push_back({end, 1});
                at = end + draw_.exponential(mean * (1 - share) / share);
            }
        }
    }
    void peaks() { // of sin(2 pi t / hour)
        constexpr double hour = 3600;
        for (node_spec* n : some(0.2))
            for (double at = hour / 12; at < 3 * time_; at += hour) {
                n->faults.push_back({at, 2.5});
                n->faults.push_back({at + hour / 3, 1});
            }
    }
    void holes() {
        for (node_spec* n : some(0.01)) n->holes = {{onset(4), std::numeric_limits<double>::infinity()}};
    }
    void away(double share) {
        if (!(share > 0)) return;
        double const mean = time_ / 40;
        for (node_spec& n : out_.nodes)
            for (double at = draw_.exponential(mean / share); at < 3 * time_;) {
                double const end = at + draw_.uniform(0.5 * mean, 1.5 * mean);
                n.away.push_back({at, end});
                at = end + draw_.exponential(mean / share);
            }
    }

  private:
    double onset(double parts) { return draw_.uniform(0, time_ / parts); }
    std::vector<node_spec*> some(double share) {
        auto const n = static_cast<std::size_t>(std::lround(share * static_cast<double>(order_.size())));
        std::vector<node_spec*> chosen;
        for (std::size_t i = 0; i < std::max<std::size_t>(n, 1); ++i)
            chosen.push_back(&out_.nodes[order_[i]]);
        return chosen;
    }

    double time_;
    draw& draw_;
    plan& out_;
    std::vector<std::uint32_t> order_;
};

} // namespace

void make_faults(scenario const& what, double time, draw& d, plan& out) {
    fault_maker make(time, d, out);
    if (what.fault == "few_2x")
        make.slow(0.05, 2);
    else if (what.fault == "tenth_13")
        make.slow(0.1, 1.3);
    else if (what.fault == "slow_40")
        make.slow(0.4, 1.5);
    else if (what.fault == "some")
        make.some_of(what.more, what.task_seconds);
    else if (what.fault == "hung")
        make.hung();
    else if (what.fault == "gradual")
        make.gradual();
    else if (what.fault == "rack")
        make.rack();
    else if (what.fault == "episodes")
        make.episodes();
    else if (what.fault == "peaks")
        make.peaks();
    else if (what.fault == "hole")
        make.holes();
    else if (what.fault == "attempts")
        for (luck_model& l : out.lucks) {
            l.slow_share = 0.01;
            l.slow_factor = 5;
        }
    else if (what.fault != "none")
        throw std::runtime_error("scenario " + what.name + ": unknown fault " + what.fault);
    make.away(what.away);
}

} // namespace lab
