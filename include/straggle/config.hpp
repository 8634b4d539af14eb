// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Every macro of the library but its version numbers. A user may define, the same
/// in all translation units of a program:
/// - `STRAGGLE_NO_INT128`: use the portable wide arithmetic even where the compiler has a 128-bit integer;
/// - `STRAGGLE_NO_PREFETCH`: emit no prefetch instructions;
/// - `STRAGGLE_NO_VECTOR_TYPES`: use plain loops even where the compiler has vector types.
///
/// The library neither throws nor catches and uses no RTTI: it behaves the same under `-fno-exceptions` and
/// `-fno-rtti`. Checks of data look at bits, so `-ffast-math` does not disarm them; the stated accuracies
/// hold for IEEE arithmetic only.
#pragma once

#if defined(__SIZEOF_INT128__) && !defined(STRAGGLE_NO_INT128)
/// 1 if the compiler's 128-bit integer is used, else 0.
#define STRAGGLE_HAS_INT128 1
#else
#define STRAGGLE_HAS_INT128 0
#endif

#if (defined(__GNUC__) || defined(__clang__)) && !defined(STRAGGLE_NO_PREFETCH)
/// Asks for the memory at an address before it is needed.
#define STRAGGLE_PREFETCH(address) __builtin_prefetch(address)
#else
#define STRAGGLE_PREFETCH(address) static_cast<void>(address)
#endif

#if defined(__GNUC__) || defined(__clang__)
/// A function that is inlined whatever the compiler thinks of it.
#define STRAGGLE_ALWAYS_INLINE [[gnu::always_inline]] inline
/// A function that is never inlined: what is rare shall not make what is frequent larger.
#define STRAGGLE_NEVER_INLINE [[gnu::noinline]]
/// The same as STRAGGLE_ALWAYS_INLINE for a lambda, behind its parameters.
#define STRAGGLE_INLINE_LAMBDA __attribute__((always_inline))
#elif defined(_MSC_VER)
#define STRAGGLE_ALWAYS_INLINE __forceinline
#define STRAGGLE_NEVER_INLINE __declspec(noinline)
#define STRAGGLE_INLINE_LAMBDA
#else
#define STRAGGLE_ALWAYS_INLINE inline
#define STRAGGLE_NEVER_INLINE
#define STRAGGLE_INLINE_LAMBDA
#endif

/// States a precondition (include `core/contract.hpp` to use it). Costs one predictable branch; never
/// compiled out, so a wrong call cannot become a wrong answer.
#define STRAGGLE_EXPECTS(...)                                                                                \
    ((__VA_ARGS__) ? static_cast<void>(0)                                                                    \
                   : ::straggle::detail::contract_broken(#__VA_ARGS__, __FILE__, __LINE__))
