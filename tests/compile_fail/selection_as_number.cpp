// How many nodes is no selection.
// expect: selection_as_number\.cpp
// expect: a selection is an object, such as blacklist::dominated\{\}, not a number
// expect: at_most_slot_fraction
#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/limits.hpp>

#ifdef STRAGGLE_CONTROL
straggle::blacklister policy{straggle::blacklist::dominated{},
                             straggle::blacklist::at_most_slot_fraction{0.2}};
#else
straggle::blacklister policy{0.2};
#endif
