// A contract that breaks while the compiler computes is a compile error that says which.
// expect: contract_in_constant_evaluation\.cpp:\d+:\d+
// expect: contract_broken
// expect: has_value\(\)
#include <straggle/base/outcome.hpp>

#ifdef STRAGGLE_CONTROL
constexpr straggle::outcome<int> answer = 42;
#else
constexpr straggle::outcome<int> answer = straggle::status::insufficient_evidence;
#endif
constexpr int value = answer.value();
static_assert(value == 42);
