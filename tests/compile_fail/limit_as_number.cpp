// How many nodes is no limit.
// expect: limit_as_number\.cpp
// expect: a limit is an object, such as at_most\{3\}, not a number
#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/limits.hpp>

#ifdef STRAGGLE_CONTROL
straggle::blacklister policy{straggle::blacklist::dominated{}, straggle::blacklist::at_most{3}};
#else
straggle::blacklister policy{straggle::blacklist::dominated{}, 3.0};
#endif
