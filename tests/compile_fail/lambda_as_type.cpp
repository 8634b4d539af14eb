// A callable is handed over, not named as a template argument.
// expect-gcc: expected a type, got .*lambda
// expect-gcc: class Domain
// expect-clang: must be a type
// expect-clang: of a callable, which is handed over: one_per_domain\{rack_of\}
#include <straggle/blacklist/limits.hpp>

#ifdef STRAGGLE_CONTROL
straggle::blacklist::one_per_domain<int (*)(int), int> racks{[](int n) { return n / 10; }};
#else
straggle::blacklist::one_per_domain<[](int n) { return n / 10; }, int> racks;
#endif
