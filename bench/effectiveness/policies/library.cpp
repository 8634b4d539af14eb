// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The library with its defaults, and with one kind of action only.
#include "library_policy.hpp"

namespace lab {

namespace {

template <bool Excludes, bool Copies, bool Places>
std::unique_ptr<policy> make(setup const&) {
    return std::make_unique<library<>>(parts{Excludes, Copies, Places}, straggle::mitigator_options{});
}

// Try the reasons that the page gives for what is missed: copies of which seven in ten should win, and copies
// as unrestricted as those of others.
std::unique_ptr<policy> make_sure(setup const&) {
    straggle::mitigator_options o;
    o.copies.least_win = 0.7;
    return std::make_unique<library<>>(parts{}, o);
}
std::unique_ptr<policy> make_free(setup const&) {
    straggle::mitigator_options o;
    o.copies.straggler_threshold = 1.2;
    o.copies.deviations = 0.5;
    o.copies.least_win = 0;
    o.copies.most_copies = 0.5;
    o.copies.storm = 1;
    o.copies.slot_price = 0;
    return std::make_unique<library<>>(parts{}, o);
}

std::unique_ptr<policy> make_due(setup const&) {
    return std::make_unique<library<>>(parts{.deadlines = true}, straggle::mitigator_options{});
}

add_policy const all({"library", "the mitigator with its defaults, obeyed in all", false,
                      &make<true, true, true>});
add_policy const copies({"library_copies_only", "its copies alone", false, &make<false, true, false>});
add_policy const exclusions({"library_nodes_only", "its exclusions alone, and the probes that end them",
                             false, &make<true, false, false>});
add_policy const placements({"library_places_only", "its placement alone", false, &make<false, false, true>});
add_policy const due({"library_deadlines", "the mitigator with its defaults, passed the deadlines of jobs",
                      false, &make_due, true});
add_policy const sure({"library_sure", "the mitigator, copies only where they win in 7 of 10 cases", false,
                       &make_sure, true});
add_policy const unpriced({"library_free", "the mitigator, copies at no price of all that is a little late",
                           false, &make_free, true});

} // namespace

} // namespace lab
