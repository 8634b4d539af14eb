// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Whatever the bytes: a profile store either says why it cannot become what they describe and stays as it
// was, or it works: what it finds is what a scan of its records finds, it goes on adding and evicting, and
// what it stores reads back as the same bytes. tests/predict/profile_store.cpp replays the corpus.

#include <straggle/base/bytes.hpp>
#include <straggle/predict/profile_store.hpp>

#include "fuzzing.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace {

inline constexpr auto fuzz_number = straggle::predict::factor_kind::numeric;
inline constexpr auto fuzz_code = straggle::predict::factor_kind::categorical;

inline std::vector<straggle::predict::factor_kind> fuzz_kinds(std::uint64_t kind) {
    if (kind % 3 == 0) return {fuzz_number};
    if (kind % 3 == 1) return {fuzz_code, fuzz_number};
    return {fuzz_number, fuzz_number, fuzz_code, fuzz_number, fuzz_code};
}
inline straggle::predict::profile_store fuzz_store(std::uint64_t kind) {
    return straggle::predict::profile_store(fuzz_kinds(kind), {.capacity = 40});
}

using fuzzing::demand;

inline void check_nearest(straggle::predict::profile_store const& store) {
    std::vector<double> const weights(store.factors(), 0.25);
    std::vector<double> row(store.factors(), 1.0);
    if (!store.empty()) (void)store.sample(store.size() / 2, row);
    straggle::predict::nearest_scratch scratch;
    std::vector<straggle::predict::neighbor> found, scanned;
    straggle::status const s = store.nearest(row, weights, 5, 1e300, scratch, found);
    store.for_each([&](std::span<double const> held, double time, std::uint64_t number) {
        double const d =
            straggle::predict::weighted_distance(store.kinds(), held, row, store.ranges(), weights);
        if (d <= 1e300) scanned.push_back({d, time, number});
    });
    std::sort(scanned.begin(), scanned.end(), [](auto const& a, auto const& b) {
        return a.distance != b.distance ? a.distance < b.distance : a.number > b.number;
    });
    if (scanned.size() > 5) scanned.resize(5);
    demand(found == scanned && (s == straggle::status::ok) == !found.empty());
}

inline void become_store(std::uint64_t kind, std::span<std::byte const> bytes) {
    using store_type = straggle::predict::profile_store;
    auto const make = [&] { return fuzz_store(kind); };
    std::vector<double> const row(make().factors(), 3.0);
    fuzzing::restore(
        bytes, make, [&](store_type& store) { (void)store.add(row, 1); },
        [&](store_type& store, store_type& again) {
            check_nearest(store);
            fuzzing::engine one, other;
            for (int i = 0; i < 60; ++i) { // until all that were read are gone
                (void)(i % 2 == 0 ? store.add(row, i, one) : store.add(row, i));
                (void)(i % 2 == 0 ? again.add(row, i, other) : again.add(row, i));
            }
            check_nearest(store);
            demand(store.size() == store.capacity() && store.serialize() == again.serialize());
            store.clear();
            demand(store.empty());
        });
}

// A valid store, for the tests and to begin from.
[[maybe_unused]] inline std::vector<std::byte> sample_store(std::uint64_t kind, std::uint64_t records) {
    straggle::predict::profile_store store = fuzz_store(kind);
    std::vector<double> row(store.factors());
    fuzzing::engine engine;
    for (std::uint64_t i = 0; i < records; ++i) {
        for (double& x : row)
            x = engine() % 8 == 0 ? straggle::predict::missing_factor
                                  : static_cast<double>(engine() % 100) / 4;
        (void)store.add(row, static_cast<double>(i), engine);
    }
    return store.serialize();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzzing::as_is_and_mended(fuzzing::bytes_of(data, size), [](std::span<std::byte const> bytes) {
        for (std::uint64_t const kind : {0u, 1u, 2u}) become_store(kind, bytes);
    });
    return 0;
}
