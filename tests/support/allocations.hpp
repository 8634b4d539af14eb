/// @file
/// Counts the allocations of the whole test program, to prove the cost statements of the documentation.
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

/// Allocations made by `work()`.
template <class Work>
std::size_t allocations_during(Work&& work) {
    std::size_t const before = allocation_count();
    work();
    return allocation_count() - before;
}

} // namespace straggle_test
