// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "gang.hpp"

#include "../cluster/draw.hpp"
#include "../cluster/invariant.hpp"
#include "../cluster/speed.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace lab {

namespace {

constexpr std::array<std::string_view, 4> sections{"data", "forward", "backward", "communication"};
constexpr std::array<double, 4> usual{0.1, 0.3, 0.5, 0.1};
constexpr std::size_t spares = 64;

// Makes a node slow for a while, repeatedly; on average for a share of the time.
void make_episodes(node_spec& node, double until, double factor, double shortest, double longest,
                   double share, draw& d) {
    double const gap = (shortest + longest) / 2 * (1 / share - 1);
    for (double at = d.exponential(gap); at < until; at += d.exponential(gap)) {
        double const end = at + d.uniform(shortest, longest);
        node.faults.push_back({at, factor});
        node.faults.push_back({end, 1});
        at = end;
    }
}

} // namespace

std::vector<gang_scenario> read_gangs(std::filesystem::path const& file) {
    std::ifstream in(file);
    std::vector<gang_scenario> all;
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
        if (line.empty() || line.starts_with('#') || line.starts_with("name,")) continue;
        std::replace(line.begin(), line.end(), ',', ' ');
        std::istringstream row(line);
        gang_scenario s;
        row >> s.name >> s.gangs >> s.ranks >> s.steps >> s.spread >> s.fault >> s.factor >> s.checkpoint >>
            s.restart;
        if (!row || s.ranks < 2 || s.checkpoint == 0)
            throw std::runtime_error(file.string() + ":" + std::to_string(number) + ": not a gang");
        all.push_back(std::move(s));
    }
    if (all.empty()) throw std::runtime_error(file.string() + ": no gangs");
    return all;
}

gang_plan make_gang(gang_scenario const& what, std::uint64_t seed) {
    gang_plan out{.what = what, .seed = seed, .nodes = {}, .links = {}};
    draw speeds(seed, 1), faults(seed, 2);
    double const steps = what.steps, until = 4 * steps;
    for (std::size_t n = 0; n < what.ranks + spares; ++n) {
        for (auto* const of : {&out.nodes, &out.links})
            of->push_back({.speed = std::exp(0.01 * speeds.normal())}); // healthy nodes differ by 1 %
    }
    std::size_t const one = faults.below(what.ranks);
    if (what.fault == "for_good")
        out.nodes[one].faults = {{faults.uniform(0, steps / 4), what.factor}};
    else if (what.fault == "several")
        for (std::size_t i = 0; i < 3; ++i)
            out.nodes[(one + i) % what.ranks].faults = {{faults.uniform(0, steps), what.factor}};
    else if (what.fault == "link")
        out.links[one].faults = {{faults.uniform(0, steps / 4), what.factor}};
    else if (what.fault == "episodes")
        make_episodes(out.nodes[one], until, what.factor, 50, 150, 1.0 / 3, faults);
    else if (what.fault == "brief" || what.fault == "everywhere")
        for (node_spec& n : out.nodes)
            make_episodes(n, until, what.factor, what.fault == "brief" ? 10 : 50,
                          what.fault == "brief" ? 40 : 150, 1.0 / (3 * what.ranks), faults);
    else if (what.fault != "none" && what.fault != "skewed_steps" && what.fault != "skewed_data")
        throw std::runtime_error("unknown fault " + what.fault);
    return out;
}

gang_job::gang_job(gang_plan const& plan) : plan_(&plan), node_of_(plan.what.ranks), of_(plan.what.ranks) {
    std::iota(node_of_.begin(), node_of_.end(), 0u);
}

// How much a rank has to compute, relative to usual. It has the same luck under each policy, and in a step
// that is repeated.
double gang_job::load(std::uint32_t rank) const {
    gang_scenario const& what = plan_->what;
    bool is_skewed = false;
    if (what.fault == "skewed_steps") is_skewed = rank == draw(plan_->seed, 3, at_).below(what.ranks);
    if (what.fault == "skewed_data") is_skewed = rank == draw(plan_->seed, 3).below(what.ranks);
    return draw(plan_->seed, 4, rank, at_).lognormal(what.spread) * (is_skewed ? what.factor : 1);
}

void gang_job::step(std::vector<step_report>* reports) {
    LAB_INVARIANT(!over());
    if (is_saved()) saved_ = now_;
    double computed = now_;
    for (std::uint32_t r = 0; r < node_of_.size(); ++r) {
        double const times = load(r);
        double at = now_;
        for (std::size_t c = 0; c < 3; ++c) {
            double const end = time_of(plan_->nodes[node_of_[r]], at, usual[c] * times);
            of_[r][c] = end - at;
            at = end;
        }
        computed = std::max(computed, at);
    }
    double end = computed; // communication begins when all have computed
    for (std::uint32_t r = 0; r < node_of_.size(); ++r) {
        of_[r][3] = time_of(plan_->links[node_of_[r]], computed, usual[3]) - computed;
        end = std::max(end, computed + of_[r][3]);
    }
    LAB_INVARIANT(end > now_);
    for (std::uint32_t r = 0; reports != nullptr && r < node_of_.size(); ++r) {
        double const own = std::accumulate(of_[r].begin(), of_[r].end(), 0.0);
        for (std::size_t c = 0; c < 4; ++c) {
            double const waited = c == 3 ? std::max(end - now_ - own, 0.0) : 0.0;
            reports->push_back({at_, r, node_of_[r], sections[c], of_[r][c] + waited, waited});
        }
    }
    now_ = end;
    ++at_;
}

bool gang_job::replace(std::uint32_t rank) {
    std::size_t const next = node_of_.size() + replaced_;
    if (next == plan_->nodes.size()) return false;
    node_of_[rank] = static_cast<std::uint32_t>(next);
    ++replaced_;
    now_ += plan_->what.restart;
    at_ -= at_ % plan_->what.checkpoint;
    saved_ = now_;
    return true;
}

double gang_job::slowdown_of(std::uint32_t rank) const {
    std::uint32_t const n = node_of_[rank];
    return std::max(slowdown_at(plan_->nodes[n], now_), slowdown_at(plan_->links[n], now_));
}

} // namespace lab
