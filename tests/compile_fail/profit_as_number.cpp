// What a copy is worth is no number.
// expect: profit_as_number\.cpp
// expect: such as assign::expected_gain\{\}, not by a number
#include <straggle/assign/assigner.hpp>

#ifdef STRAGGLE_CONTROL
straggle::assign::assigner assigner{straggle::assign::expected_gain{}};
#else
straggle::assign::assigner assigner{0.2};
#endif
