// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "schedulers.hpp"

#include "composed.hpp"
#include "speculation.hpp"

#include <stdexcept>

namespace policies {

scheduler make_scheduler(std::string const& name, scheduler_options const& o) {
    if (name == "none") return compose(no_blacklist{}, no_copies{});
    if (name == "yarn") return compose(no_blacklist{}, yarn_speculation(o.seed));
    if (name == "dsb_2019") return compose(dsb_blacklist(o.window, o.k, o.seed), yarn_speculation(o.seed));
    if (name == "dsb_2019 told")
        return compose(dsb_blacklist(o.window, o.k, o.seed, {.told_of_losers = true}),
                       yarn_speculation(o.seed));
    if (name == "dsb_2019 filled")
        return compose(dsb_blacklist(o.window, o.k, o.seed, {.fills_up = true}), yarn_speculation(o.seed));
    if (name == "straggle_blacklist")
        return compose(kept_blacklist(o.window, o.nodes), yarn_speculation(o.seed));
    if (name == "straggle") return compose(kept_blacklist(o.window, o.nodes), straggle_speculation());
    throw std::invalid_argument("no scheduler is called " + name);
}

} // namespace policies
