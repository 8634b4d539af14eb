// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "accounts.hpp"

#include "invariant.hpp"
#include "speed.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lab {

void accounts::add(attempt_record const& r) {
    bool const finished = r.how == ending::finished;
    ++out_.attempts;
    if (r.copy) ++out_.copies;
    if (r.copy && finished) ++out_.won;
    if (finished) ++finished_;
    used_ += r.took();
    (finished ? out_.useful : out_.wasted) += r.took();
    auto const digest = [this](std::uint64_t value) {
        out_.digest = (std::rotl(out_.digest, 5) ^ value) * 0x9e3779b97f4a7c15u;
    };
    digest((std::uint64_t{r.job} << 32) + r.task);
    digest((std::uint64_t{r.node} << 32) + static_cast<std::uint64_t>(r.how));
    digest(std::bit_cast<std::uint64_t>(r.start));
    digest(std::bit_cast<std::uint64_t>(r.end));
}

bool accounts::is_weak(node_spec const& n, double now) const {
    bool const fails = std::any_of(n.holes.begin(), n.holes.end(), [now](time_span const& hole) {
        return now >= hole.from && now < hole.to;
    });
    return fails || (!n.faults.empty() && slowdown_at(n, now) >= 1.2);
}

void accounts::count_out(std::span<node_view const> nodes, decisions const& wants, double now) {
    for (std::size_t n = 0; n < nodes.size(); ++n) {
        if (nodes[n].away) continue;
        bool const weak = is_weak(plan_.nodes[n], now);
        if (weak) out_.weak += plan_.heartbeat;
        if (wants.nodes[n] == service::none || wants.nodes[n] == service::copies_only)
            (weak ? out_.weak_out : out_.healthy_out) += plan_.heartbeat;
    }
}

void accounts::check() const {
    std::uint64_t tasks = 0;
    for (job_spec const& j : plan_.jobs) tasks += j.tasks.size();
    LAB_INVARIANT(finished_ == tasks);
    LAB_INVARIANT(std::fabs(used_ - out_.useful - out_.wasted) <= 1e-9 * used_);
    double design = 0;
    for (node_spec const& n : plan_.nodes) design += n.slots;
    LAB_INVARIANT(used_ <= design * (out_.makespan + plan_.heartbeat));
}

} // namespace lab
