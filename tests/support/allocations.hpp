/// @file
/// Counts the allocations of the whole test program, to prove the cost statements of the documentation, and
/// makes them fail, to prove what it says of failures.
/// The replaced operators are defined once per executable, in allocations.cpp.
#pragma once

#include <cstddef>

namespace straggle_test {

/// How many times `operator new` has been called since the program started.
std::size_t allocation_count() noexcept;

/// How many bytes `operator new` has been asked for since the program started.
std::size_t allocated_bytes() noexcept;

/// How many bytes are held now, as the allocator rounds them.
std::size_t live_bytes() noexcept;

/// How many allocations have not been given back yet.
std::size_t live_allocations() noexcept;

/// While it lives the `n`-th allocation from its beginning and all after that throw `std::bad_alloc`: not
/// just the one, so that nothing can be allocated on the way out either. One at a time, and one thread. @pre
/// n > 0
class failing_allocations {
  public:
    explicit failing_allocations(std::size_t n) noexcept;
    ~failing_allocations();
    failing_allocations(failing_allocations const&) = delete;
    failing_allocations& operator=(failing_allocations const&) = delete;
};

/// Allocations made by `work()`.
template <class Work>
std::size_t allocations_during(Work&& work) {
    std::size_t const before = allocation_count();
    work();
    return allocation_count() - before;
}

} // namespace straggle_test
