// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "machines.hpp"

#include "draw.hpp"

#include <simgrid/plugins/energy.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace cluster {

namespace {

namespace s4u = simgrid::s4u;

// Speed changes while tasks run, which SimGrid offers as performance states: many, 2 % apart.
constexpr int states = 250;
constexpr double fastest = 1.2, ratio = 0.98;
double share_of(int state) {
    return fastest * std::pow(ratio, state);
}
unsigned long state_of(double share) {
    double const at = std::log(share / fastest) / std::log(ratio);
    return static_cast<unsigned long>(std::clamp(std::lround(at), 0L, states - 1L));
}

std::string watts(plan const& what, node_spec const& node) {
    std::string const idle = std::to_string(what.power.idle);
    std::string const full = std::to_string(what.power.idle + what.power.core * node.cores);
    std::string const one = idle + ":" + idle + ":" + full;
    std::string all = one;
    for (int i = 1; i < states; ++i) all += "," + one;
    return all;
}

void set_disk(machine const& m, double bandwidth) {
    m.disk->set_read_bandwidth(bandwidth);
    m.disk->set_write_bandwidth(bandwidth);
    m.disk->set_readwrite_bandwidth(bandwidth);
}

// The speed of one machine over time: its own small ups and downs, and its memory faults.
void breathe(plan const& what, machine const& m, std::uint32_t node) {
    draw random(what.seed, 1000 + node);
    double own = random.lognormal(what.breath_noise), own_until = random.uniform() * what.breath;
    std::vector<fault> faults;
    for (fault const& f : what.faults)
        if (f.node == node && f.kind == fault_kind::memory) faults.push_back(f);
    for (;;) {
        double const now = s4u::Engine::get_clock();
        if (now >= own_until) {
            own = random.lognormal(what.breath_noise);
            own_until = now + what.breath;
        }
        double cpu = own, disk = own, next = own_until;
        for (fault const& f : faults) {
            if (now < f.from) {
                next = std::min(next, f.from);
            } else if (now < f.to) {
                double const noise = random.lognormal(f.noise);
                cpu /= std::max(1.0, f.strength * noise);
                disk /= std::max(1.0, f.disk_strength * noise);
                next = std::min({next, now + f.breath, f.to});
            }
        }
        m.host->set_pstate(state_of(cpu));
        set_disk(m, what.nodes[node].disk * disk);
        s4u::this_actor::sleep_until(next);
    }
}

void compete(fault const& f) {
    s4u::this_actor::sleep_until(f.from);
    if (f.to < 1e17) s4u::Actor::self()->set_kill_time(f.to);
    for (;;) s4u::this_actor::execute(1e15);
}

} // namespace

std::vector<machine> build_machines(plan const& what, s4u::Host*& master) {
    s4u::NetZone* const zone = s4u::create_star_zone("cluster");
    std::vector<machine> machines;
    auto const plug_in = [zone](s4u::Host* host, double bandwidth) {
        auto* const link =
            zone->create_split_duplex_link(host->get_name() + "-link", bandwidth)->set_latency(1e-4)->seal();
        zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                        {{link, s4u::LinkInRoute::Direction::UP}}, true);
    };
    for (std::size_t i = 0; i < what.nodes.size(); ++i) {
        node_spec const& node = what.nodes[i];
        std::vector<double> speeds;
        for (int s = 0; s < states; ++s) speeds.push_back(node.speed * share_of(s));
        machine m;
        m.host = zone->create_host("node" + std::to_string(i), speeds);
        m.host->set_core_count(static_cast<int>(node.cores));
        m.host->set_property("wattage_per_state", watts(what, node));
        m.disk = m.host->create_disk("disk" + std::to_string(i), node.disk, node.disk);
        m.disk->set_readwrite_bandwidth(node.disk);
        m.disk->seal();
        m.host->seal();
        m.host->set_pstate(state_of(1));
        plug_in(m.host, node.network);
        machines.push_back(m);
    }
    master = zone->create_host("master", 1e9);
    master->set_property("wattage_per_state", "0:0:0");
    master->seal();
    plug_in(master, 1.25e9);
    zone->seal();
    return machines;
}

void start_faults(plan const& what, std::vector<machine> const& machines) {
    for (std::uint32_t node = 0; node < machines.size(); ++node)
        s4u::Actor::create("speed", machines[node].host, [&what, &machines, node] {
            breathe(what, machines[node], node);
        })->daemonize();
    for (fault const& f : what.faults)
        if (f.kind == fault_kind::cpu)
            for (int i = 0; i < static_cast<int>(f.strength); ++i)
                s4u::Actor::create("loop", machines[f.node].host, [&f] { compete(f); })->daemonize();
}

} // namespace cluster
