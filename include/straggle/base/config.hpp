// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// All macros of the library except its version numbers. A user may define these, consistently in all
/// translation units of a program:
/// - `STRAGGLE_NO_INT128`: use the portable wide arithmetic even where the compiler has a 128-bit integer;
/// - `STRAGGLE_NO_PREFETCH`: emit no prefetch instructions;
/// - `STRAGGLE_NO_VECTOR_TYPES`: use plain loops even where the compiler has vector types.
///
/// The library neither throws nor catches and uses no RTTI: it behaves the same under `-fno-exceptions` and
/// `-fno-rtti`. Checks of data look at bits, so `-ffast-math` does not disarm them; the stated accuracies
/// hold for IEEE arithmetic only.
#pragma once

#if defined(__apple_build_version__)
#if __clang_major__ < 16
#error "straggle needs Apple clang 16, clang 17 or g++ 11, or newer"
#endif
#elif defined(__clang__)
#if __clang_major__ < 17
#error "straggle needs clang 17 or g++ 11, or newer"
#endif
#elif defined(__GNUC__) && __GNUC__ < 11
#error "straggle needs g++ 11 or clang 17, or newer"
#endif

#include <straggle/version.hpp>

#if defined(__SIZEOF_INT128__) && !defined(STRAGGLE_NO_INT128)
/// 1 if the compiler's 128-bit integer is used, else 0.
#define STRAGGLE_HAS_INT128 1
#else
#define STRAGGLE_HAS_INT128 0
#endif

#if (defined(__GNUC__) || defined(__clang__)) && !defined(STRAGGLE_NO_PREFETCH)
/// Prefetches the memory at an address. A function that does nothing else must be STRAGGLE_ALWAYS_INLINE: GCC
/// drops calls of it as if they had no effect.
#define STRAGGLE_PREFETCH(address) __builtin_prefetch(address)
#else
#define STRAGGLE_PREFETCH(address) static_cast<void>(address)
#endif

#if defined(__GNUC__) || defined(__clang__)
/// A function that is always inlined.
#define STRAGGLE_ALWAYS_INLINE [[gnu::always_inline]] inline
/// A function that is never inlined: rare code must not bloat frequent code.
#define STRAGGLE_NEVER_INLINE [[gnu::noinline]]
/// STRAGGLE_ALWAYS_INLINE for a lambda, after its parameters.
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

// ---- The tag of the inline namespace ----
//
// A function that one unit compiled for AVX must never be the one that another unit runs on a machine without
// it. The linker keeps one function per name, so everything that can change a body must be part of the name:
// the version, the whole instruction set, the effects of -ffast-math, and the macros above. Each is one bit,
// set if its macro is 1; four bits are a hexadecimal digit. Every bit applies to every body: compilers
// vectorize what they like.

#define STRAGGLE_ABI_IF_1 0,
#define STRAGGLE_ABI_EXPAND(x) x
#define STRAGGLE_ABI_SECOND(first, second, ...) second
#define STRAGGLE_ABI_CHOOSE(...) STRAGGLE_ABI_EXPAND(STRAGGLE_ABI_SECOND(__VA_ARGS__))
#define STRAGGLE_ABI_BIT(macro) STRAGGLE_ABI_BIT_OF(macro)
#define STRAGGLE_ABI_BIT_OF(value) STRAGGLE_ABI_CHOOSE(STRAGGLE_ABI_IF_##value 1, 0, 0)
#define STRAGGLE_ABI_HEX(a, b, c, d) STRAGGLE_ABI_HEX_OF(a, b, c, d)
#define STRAGGLE_ABI_HEX_OF(a, b, c, d) STRAGGLE_ABI_##a##b##c##d
#define STRAGGLE_ABI_0000 0
#define STRAGGLE_ABI_0001 1
#define STRAGGLE_ABI_0010 2
#define STRAGGLE_ABI_0011 3
#define STRAGGLE_ABI_0100 4
#define STRAGGLE_ABI_0101 5
#define STRAGGLE_ABI_0110 6
#define STRAGGLE_ABI_0111 7
#define STRAGGLE_ABI_1000 8
#define STRAGGLE_ABI_1001 9
#define STRAGGLE_ABI_1010 a
#define STRAGGLE_ABI_1011 b
#define STRAGGLE_ABI_1100 c
#define STRAGGLE_ABI_1101 d
#define STRAGGLE_ABI_1110 e
#define STRAGGLE_ABI_1111 f
#define STRAGGLE_ABI_DIGIT(a, b, c, d)                                                                       \
    STRAGGLE_ABI_HEX(STRAGGLE_ABI_BIT(a), STRAGGLE_ABI_BIT(b), STRAGGLE_ABI_BIT(c), STRAGGLE_ABI_BIT(d))
#define STRAGGLE_ABI_PASTE(a, b, c, d, e, f) STRAGGLE_ABI_PASTE_OF(a, b, c, d, e, f)
#define STRAGGLE_ABI_PASTE_OF(a, b, c, d, e, f) a##b##c##d##e##f

// Users define these with or without a value.
#if defined(STRAGGLE_NO_PREFETCH)
#define STRAGGLE_ABI_NO_PREFETCH 1
#endif
#if defined(STRAGGLE_NO_VECTOR_TYPES)
#define STRAGGLE_ABI_NO_VECTORS 1
#endif
// Other macros have values other than 1: the x87 computes with more bits than a double has.
#if defined(__FLT_EVAL_METHOD__)
#if __FLT_EVAL_METHOD__ != 0
#define STRAGGLE_ABI_EXCESS_PRECISION 1
#endif
#endif
#if defined(_M_IX86_FP)
#if _M_IX86_FP >= 1
#define STRAGGLE_ABI_MSVC_SSE 1
#endif
#if _M_IX86_FP >= 2
#define STRAGGLE_ABI_MSVC_SSE2 1
#endif
#endif
#if defined(__riscv_zba)
#define STRAGGLE_ABI_RISCV_ZBA 1
#endif
#if defined(__riscv_zbb)
#define STRAGGLE_ABI_RISCV_ZBB 1
#endif
#if defined(__riscv_zbs)
#define STRAGGLE_ABI_RISCV_ZBS 1
#endif
#if defined(__riscv_zfa)
#define STRAGGLE_ABI_RISCV_ZFA 1
#endif
#if defined(__riscv_zicond)
#define STRAGGLE_ABI_RISCV_ZICOND 1
#endif

// Floating-point modes, and the macros a user may define. For the parts of -ffast-math, clang has a macro
// only for finite numbers; no compiler has one for -ffp-contract.
#define STRAGGLE_ABI_MODES                                                                                   \
    STRAGGLE_ABI_PASTE(                                                                                      \
        STRAGGLE_ABI_DIGIT(__FAST_MATH__, __FINITE_MATH_ONLY__, __NO_SIGNED_ZEROS__, __NO_TRAPPING_MATH__),  \
        STRAGGLE_ABI_DIGIT(__RECIPROCAL_MATH__, __ASSOCIATIVE_MATH__, __NO_MATH_ERRNO__, __ROUNDING_MATH__), \
        STRAGGLE_ABI_DIGIT(STRAGGLE_HAS_INT128, STRAGGLE_ABI_NO_PREFETCH, STRAGGLE_ABI_NO_VECTORS,           \
                           STRAGGLE_ABI_EXCESS_PRECISION),                                                   \
        STRAGGLE_ABI_DIGIT(_M_FP_FAST, _M_FP_STRICT, _M_FP_CONTRACT, _M_FP_EXCEPT), , )

#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64) || defined(_M_IX86)
#define STRAGGLE_ABI_X86_0                                                                                   \
    STRAGGLE_ABI_PASTE(STRAGGLE_ABI_DIGIT(__MMX__, __SSE__, __SSE2__, __SSE3__),                             \
                       STRAGGLE_ABI_DIGIT(__SSSE3__, __SSE4_1__, __SSE4_2__, __SSE4A__),                     \
                       STRAGGLE_ABI_DIGIT(__AVX__, __AVX2__, __AVXVNNI__, __AVXIFMA__),                      \
                       STRAGGLE_ABI_DIGIT(__AVXNECONVERT__, __AVXVNNIINT8__, __AVXVNNIINT16__, __AVX10_1__), \
                       STRAGGLE_ABI_DIGIT(__AVX512F__, __AVX512CD__, __AVX512BW__, __AVX512DQ__),            \
                       STRAGGLE_ABI_DIGIT(__AVX512VL__, __AVX512VBMI__, __AVX512VBMI2__, __AVX512IFMA__))
#define STRAGGLE_ABI_X86_1                                                                                   \
    STRAGGLE_ABI_PASTE(                                                                                      \
        STRAGGLE_ABI_DIGIT(__AVX512VNNI__, __AVX512BITALG__, __AVX512VPOPCNTDQ__, __AVX512FP16__),           \
        STRAGGLE_ABI_DIGIT(__AVX512BF16__, __AVX512VP2INTERSECT__, __AVX512ER__, __AVX512PF__),              \
        STRAGGLE_ABI_DIGIT(__FMA__, __FMA4__, __XOP__, __F16C__),                                            \
        STRAGGLE_ABI_DIGIT(__BMI__, __BMI2__, __LZCNT__, __POPCNT__),                                        \
        STRAGGLE_ABI_DIGIT(__ABM__, __TBM__, __MOVBE__, __ADX__),                                            \
        STRAGGLE_ABI_DIGIT(__AES__, __VAES__, __PCLMUL__, __VPCLMULQDQ__))
#define STRAGGLE_ABI_X86_2                                                                                   \
    STRAGGLE_ABI_PASTE(                                                                                      \
        STRAGGLE_ABI_DIGIT(__SHA__, __SHA512__, __SM3__, __SM4__),                                           \
        STRAGGLE_ABI_DIGIT(__GFNI__, __CRC32__, __PRFCHW__, __APX_F__),                                      \
        STRAGGLE_ABI_DIGIT(__SSE_MATH__, __SSE2_MATH__, STRAGGLE_ABI_MSVC_SSE, STRAGGLE_ABI_MSVC_SSE2),      \
        STRAGGLE_ABI_DIGIT(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16, __LAHF_SAHF__, __AVX10_2__, __3dNOW__), , )
#define STRAGGLE_ABI_TARGET                                                                                  \
    STRAGGLE_ABI_PASTE(STRAGGLE_ABI_X86_0, STRAGGLE_ABI_X86_1, STRAGGLE_ABI_X86_2, , , )
#elif defined(__ARM_ARCH)
#define STRAGGLE_ABI_ARM                                                                                     \
    STRAGGLE_ABI_PASTE(                                                                                      \
        STRAGGLE_ABI_DIGIT(__ARM_NEON, __ARM_FEATURE_FMA, __ARM_FEATURE_CRC32, __ARM_FEATURE_CRYPTO),        \
        STRAGGLE_ABI_DIGIT(__ARM_FEATURE_AES, __ARM_FEATURE_SHA2, __ARM_FEATURE_SHA3, __ARM_FEATURE_SHA512), \
        STRAGGLE_ABI_DIGIT(__ARM_FEATURE_DOTPROD, __ARM_FEATURE_MATMUL_INT8, __ARM_FEATURE_BF16,             \
                           __ARM_FEATURE_FP16_SCALAR_ARITHMETIC),                                            \
        STRAGGLE_ABI_DIGIT(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC, __ARM_FEATURE_ATOMICS, __ARM_FEATURE_QRDMX, \
                           __ARM_FEATURE_COMPLEX),                                                           \
        STRAGGLE_ABI_DIGIT(__ARM_FEATURE_JCVT, __ARM_FEATURE_FRINT, __ARM_FEATURE_SVE, __ARM_FEATURE_SVE2),  \
        STRAGGLE_ABI_DIGIT(__ARM_FEATURE_SVE2_AES, __ARM_FEATURE_SVE2_BITPERM, __ARM_FEATURE_SME,            \
                           __ARM_FEATURE_MOPS))
#define STRAGGLE_ABI_TARGET                                                                                  \
    STRAGGLE_ABI_PASTE(STRAGGLE_ABI_ARM, _, __ARM_ARCH, _,                                                   \
                       STRAGGLE_ABI_DIGIT(__thumb__, __ARM_FEATURE_LDREX, __ARM_FEATURE_IDIV, __SOFTFP__), )
#elif defined(__s390x__)
#define STRAGGLE_ABI_TARGET                                                                                  \
    STRAGGLE_ABI_PASTE(STRAGGLE_ABI_DIGIT(__VX__, __VEC__, __HTM__, 0), _, __ARCH__, , , )
#elif defined(__riscv)
#define STRAGGLE_ABI_TARGET                                                                                  \
    STRAGGLE_ABI_PASTE(STRAGGLE_ABI_DIGIT(__riscv_compressed, __riscv_mul, __riscv_atomic, __riscv_fdiv),    \
                       STRAGGLE_ABI_DIGIT(__riscv_vector, STRAGGLE_ABI_RISCV_ZBA, STRAGGLE_ABI_RISCV_ZBB,    \
                                          STRAGGLE_ABI_RISCV_ZBS),                                           \
                       STRAGGLE_ABI_DIGIT(STRAGGLE_ABI_RISCV_ZFA, STRAGGLE_ABI_RISCV_ZICOND, 0, 0), _,       \
                       __riscv_xlen, )
#else
#define STRAGGLE_ABI_OTHER                                                                                   \
    STRAGGLE_ABI_PASTE(STRAGGLE_ABI_DIGIT(__ALTIVEC__, __VSX__, _ARCH_PWR8, _ARCH_PWR9),                     \
                       STRAGGLE_ABI_DIGIT(_ARCH_PWR10, __VX__, __VEC__, __mips_msa),                         \
                       STRAGGLE_ABI_DIGIT(__loongarch_sx, __loongarch_asx, _ARCH_PWR11, __wasm_simd128__), , \
                       , )
#define STRAGGLE_ABI_TARGET STRAGGLE_ABI_OTHER
#endif

// Compiler messages repeat the name in every line, so the most common target has a short one.
#define STRAGGLE_ABI_SHORT_0080_e0000000000000c0 ~, x64
#define STRAGGLE_ABI_NAME(major, minor, patch, modes, target)                                                \
    STRAGGLE_ABI_NAME_OF(major, minor, patch, STRAGGLE_ABI_FLAGS(modes, target))
#define STRAGGLE_ABI_FLAGS(modes, target)                                                                    \
    STRAGGLE_ABI_CHOOSE(STRAGGLE_ABI_SHORT_##modes##_##target, modes##_##target, ~)
#define STRAGGLE_ABI_NAME_OF(major, minor, patch, flags)                                                     \
    STRAGGLE_ABI_PASTE(v##major##_, minor##_, patch##_, flags, , )
/// The inline namespace that contains all names of the library; users still write `straggle::outcome`.
#define STRAGGLE_ABI                                                                                         \
    STRAGGLE_ABI_NAME(STRAGGLE_VERSION_MAJOR, STRAGGLE_VERSION_MINOR, STRAGGLE_VERSION_PATCH,                \
                      STRAGGLE_ABI_MODES, STRAGGLE_ABI_TARGET)

/// Checks a precondition (include `base/contract.hpp` to use it). Costs one predictable branch; never
/// compiled out, so a wrong call cannot become a wrong answer.
#define STRAGGLE_EXPECTS(...)                                                                                \
    ((__VA_ARGS__) ? static_cast<void>(0)                                                                    \
                   : ::straggle::detail::contract_broken(#__VA_ARGS__, __FILE__, __LINE__))
