// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Runs an operation with its first allocation failing, its second, and so on until it succeeds, and compares
/// the object with a twin to which nothing of the kind has happened.
#pragma once

#include "allocations.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <new>
#include <string>
#include <type_traits>

namespace straggle_test {

/// What is promised of an object an operation on which was ended by a failed allocation.
enum class promise {
    unchanged, ///< it is as it was: the strong guarantee
    usable,    ///< it may have changed, but done again the operation comes to what it would have come to
    nothing,   ///< it may be assigned to and destroyed, and nothing leaks
};

namespace detail {

// Whether the operation got through with the n-th allocation failing.
template <class Object, class Act>
bool gets_through(Object& object, Act& act, std::size_t n) {
    failing_allocations const failing(n);
    try {
        act(object);
    } catch (std::bad_alloc const&) {
        return false;
    }
    return true;
}

struct fault_report {
    std::size_t failures = 0;
    std::size_t changed = 0;  // the first failure that changed the object; 0: none did
    std::size_t differs = 0;  // the first after which the operation came to something else
    std::size_t stubborn = 0; // the same where one object meets all failures
};

template <class Make, class Act, class StateOf>
fault_report meet_failures(Make& make, Act& act, StateOf& state_of, promise promised) {
    fault_report r;
    auto twin = make();
    auto const before = state_of(twin);
    act(twin);
    auto const after = state_of(twin);
    for (bool through = false; !through;) {
        auto object = make();
        std::size_t const n = r.failures + 1;
        through = gets_through(object, act, n);
        if (!through) ++r.failures;
        if (!through && promised == promise::unchanged && r.changed == 0 && !(state_of(object) == before))
            r.changed = n;
        if (promised == promise::nothing) continue;
        if (!through) act(object);
        if (r.differs == 0 && !(state_of(object) == after)) r.differs = n;
    }
    if (promised == promise::nothing) return r;
    auto object = make();
    for (std::size_t n = 1; !gets_through(object, act, n); ++n)
        if (promised == promise::unchanged && r.stubborn == 0 && !(state_of(object) == before))
            r.stubborn = n;
    if (r.stubborn == 0 && !(state_of(object) == after)) r.stubborn = r.failures + 1;
    return r;
}

} // namespace detail

/// Checks what is promised of an operation.
/// @param make makes an object, always the same
/// @param act does something to it, always the same; throws nothing but `std::bad_alloc`
/// @param state_of all that can be seen of an object, as something that compares; may change only memory
template <class Make, class Act, class StateOf>
void check_failures(char const* what, Make make, Act act, StateOf state_of,
                    promise promised = promise::unchanged) {
    INFO(std::string(what));
    {
        auto first = make(); // what stays for ever, as functions' own statics do, is made now
        act(first);
        (void)state_of(first);
    }
    std::size_t const live = live_allocations();
    detail::fault_report const r = detail::meet_failures(make, act, state_of, promised);
    std::size_t const live_now = live_allocations();
    CHECK(live_now == live); // else something leaked
    CHECK(r.failures > 0);   // else there is nothing to test
    CHECK(r.changed == 0);   // else the number of the failure that changed the object
    CHECK(r.differs == 0);   // else that of the one after which the operation did something else
    CHECK(r.stubborn == 0);  // the same where one object has met all the failures before
}

/// The same for something that is made and answers: nothing leaks, and asked again it says the same.
template <class Ask>
void check_failures(char const* what, Ask ask) {
    using said_type = std::remove_cvref_t<decltype(ask())>;
    struct asked {
        said_type said{};
    };
    check_failures(
        what, [] { return asked{}; }, [&](asked& a) { a.said = ask(); },
        [](asked const& a) { return a.said; });
}

} // namespace straggle_test
