// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "schedulers.hpp"

#include "../policies/composed.hpp"
#include "../policies/speculation.hpp"
#include "blacklists.hpp"

#include <straggle/blacklist/forecast_weak.hpp>

#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace ml_na {

policies::scheduler make_scheduler(std::string const& name, slowdown_by_day const& truth,
                                   std::uint64_t seed) {
    constexpr double window = 900;
    auto const nodes = static_cast<std::uint32_t>(truth.size());
    auto const compose = [seed](auto blacklist) {
        return policies::compose(std::move(blacklist), policies::yarn_speculation(seed));
    };
    auto const expects = std::make_shared<outlook>(
        name == "last month" ? outlook::by::last_month : outlook::by::forecast, seed);
    straggle::blacklist::forecast_weak const expected{
        [expects](std::uint32_t node) { return (*expects)(node); }};
    auto const keep = [&](auto selection, std::shared_ptr<outlook> asked) {
        return compose(kept_by<decltype(selection)>(window, nodes, std::move(selection), std::move(asked)));
    };
    if (name == "none") return compose(only_expects(nodes, expects));
    if (name == "reactive") return keep(straggle::blacklist::clearly_dominated{}, nullptr);
    if (name == "forecast" || name == "last month") return keep(expected, expects);
    if (name == "either")
        return keep(straggle::blacklist::either{straggle::blacklist::clearly_dominated{}, expected}, expects);
    if (name == "oracle") return compose(told_blacklist(truth));
    if (name == "month known")
        return compose(told_blacklist(by_month(
            truth, [](auto from, auto to) { return std::accumulate(from, to, 0.0) / days_per_month; })));
    throw std::invalid_argument("no scheduler is called " + name);
}

} // namespace ml_na
