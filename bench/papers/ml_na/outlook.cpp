// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "outlook.hpp"

#include "../policies/blacklists.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ml_na {

void outlook::round(double now) {
    auto const current = static_cast<std::uint32_t>(now / month_length);
    if (current == month_) return;
    double const began = month_ * month_length;
    month_ = current;
    straggle::learn::node_days<std::uint32_t> days(days_per_month);
    days.observe_attempts(seen_, policies::attempt_fields, [began](cluster::attempt_record const& a) {
        return static_cast<std::uint32_t>(std::clamp((a.end - began) / day, 0.0, days_per_month - 1.0));
    });
    seen_.clear();
    past_.push_back(look_back(days, engine_).last_days);
    expected_.clear();
    if (what_ == by::last_month) {
        for (std::size_t i = 0; i < past_.back().nodes.size(); ++i)
            expected_.push_back({past_.back().nodes[i], static_cast<double>(past_.back().weak[i])});
    } else if (learner_.fit(past_) == straggle::status::ok) {
        model_.trees = learner_.learner().model();
        if (model_.forecast(days, rows_, expected_) != straggle::status::ok) expected_.clear();
    }
}

straggle::outcome<double> outlook::operator()(std::uint32_t node) const {
    auto const at = std::ranges::find(expected_, node, &straggle::learn::node_forecast<std::uint32_t>::id);
    if (at == expected_.end()) return straggle::status::insufficient_evidence;
    return at->probability;
}

} // namespace ml_na
