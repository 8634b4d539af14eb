// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What happens when a caller violates a documented precondition. Bad *data* never violates a contract: it is
/// returned as a status and counted. A contract is about the program: an index out of range, two spans of
/// different length. In constant evaluation, a violation is a compile error; at run time the handler is
/// called, or by default the condition, file and line are written to standard error, and then the program
/// aborts.
#pragma once

#include <straggle/base/config.hpp>

#if !defined(__GNUC__) && !defined(__clang__)
#include <atomic>
#endif
#include <cstdio>
#include <cstdlib>

namespace straggle::inline STRAGGLE_ABI::base {

/// The violated condition and its location: string literals with static lifetime.
struct contract_violation {
    char const* condition; ///< source text of the violated condition
    char const* file;      ///< as spelled by the compiler
    int line;              ///< in that file, from 1
};

/// Called once before the program aborts, typically to log. May exit in other ways (`longjmp`, a throw in a
/// test); if it returns, `std::abort` follows.
using contract_handler = void (*)(contract_violation const&);

} // namespace straggle::base

namespace straggle::inline STRAGGLE_ABI::detail {

// <atomic> would be a third of every other header of the library: use the compiler's built-in operations
// directly where available.
#if defined(__GNUC__) || defined(__clang__)
inline constinit base::contract_handler current_contract_handler = nullptr;
inline base::contract_handler load_contract_handler() noexcept {
    return __atomic_load_n(&current_contract_handler, __ATOMIC_ACQUIRE);
}
inline base::contract_handler exchange_contract_handler(base::contract_handler handler) noexcept {
    return __atomic_exchange_n(&current_contract_handler, handler, __ATOMIC_ACQ_REL);
}
#else
inline constinit std::atomic<base::contract_handler> current_contract_handler{nullptr};
inline base::contract_handler load_contract_handler() noexcept {
    return current_contract_handler.load();
}
inline base::contract_handler exchange_contract_handler(base::contract_handler handler) noexcept {
    return current_contract_handler.exchange(handler);
}
#endif

[[noreturn]] inline void contract_broken(char const* condition, char const* file, int line) {
    if (base::contract_handler const handler = load_contract_handler())
        handler({condition, file, line});
    else
        std::fprintf(stderr, "%s:%d: straggle: broken contract: %s\n", file, line, condition);
    std::abort();
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::base {

/// Installs a handler for the whole program and returns the previous one.
/// @param handler null for the default, which writes one line to standard error; the library does no other
/// I/O
/// @par Guarantees
/// thread safe, noexcept, allocates nothing
inline contract_handler set_contract_handler(contract_handler handler) noexcept {
    return detail::exchange_contract_handler(handler);
}

} // namespace straggle::base
