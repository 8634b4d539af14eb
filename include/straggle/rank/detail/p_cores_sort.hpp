// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of P-Cores: sorts nodes by High. Distributes nodes into about as many buckets as there are
/// nodes and distributes crowded buckets again, so that common data takes linear time; a final merge sort
/// bounds the worst case to O(n log n).
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/size.hpp>
#include <straggle/rank/detail/p_cores_kernels.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace straggle::inline STRAGGLE_ABI::detail::levels {

// Arithmetic instead of an unpredictable branch.
STRAGGLE_ALWAYS_INLINE std::size_t one_if(bool b) noexcept {
    return static_cast<std::size_t>(b);
}

// Returns -1 for 0.
inline int floor_log2(std::uint64_t x) noexcept {
    return static_cast<int>(std::bit_width(x)) - 1;
}

// A node on its way through the sort.
struct entry {
    double high;
    double low; // after the sort: largest Low up to here
    std::uint32_t node;
    bool proper;      // Low < High
    bool best_proper; // after the sort: the largest Low up to here belongs to a proper interval
};

// An array without zero-initialization: untouched memory costs nothing.
template <class T>
class scratch_array {
  public:
    scratch_array() = default;
    explicit scratch_array(std::size_t size) : data_(new T[size]), size_(size) {}
    scratch_array(scratch_array&& other) noexcept { swap(other); }
    scratch_array& operator=(scratch_array&& other) noexcept {
        swap(other);
        return *this;
    }
    ~scratch_array() { delete[] data_; }

    void swap(scratch_array& other) noexcept {
        T* const data = data_;
        data_ = other.data_;
        other.data_ = data;
        std::size_t const size = size_;
        size_ = other.size_;
        other.size_ = size;
    }
    [[nodiscard]] T* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

  private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

// Maps numbers to buckets, preserving order. One addition moves all numbers into one binade, where bits are
// evenly spaced. With any rounding, the order is preserved and the index stays within the table: a poor
// spread costs only time.
class bucket_map {
  public:
    // For numbers in [first, last]; `1 << log2_buckets` buckets.
    bucket_map(double first, double last, int log2_buckets) noexcept {
        double const range = last - first;
        if (!(range < 0.25 * (std::numeric_limits<double>::max)())) return;
        constexpr std::uint64_t exponent = 0x7ff0000000000000u;
        double const power =
            std::bit_cast<double>((std::bit_cast<std::uint64_t>(range) & exponent) + 0x0010000000000000u);
        // Do not let anything be reassociated with the offset: all uses must round alike, even under
        // -ffast-math.
        double const volatile offset = power - first;
        offset_ = offset;
        double const lowest = first + offset_;
        double const highest = last + offset_;
        if (!(lowest > 0 && lowest <= highest && highest < (std::numeric_limits<double>::max)())) return;
        base_ = std::bit_cast<std::uint64_t>(lowest);
        int const width = floor_log2(std::bit_cast<std::uint64_t>(highest) - base_) + 1;
        drop_ = width > log2_buckets ? width - log2_buckets : 0;
        mask_ = (std::uint64_t{1} << log2_buckets) - 1;
    }

    STRAGGLE_ALWAYS_INLINE std::size_t operator()(double x) const noexcept {
        return detail::to_size(((std::bit_cast<std::uint64_t>(x + offset_) - base_) >> drop_) & mask_);
    }

  private:
    double offset_ = 0;
    std::uint64_t base_ = 0;
    std::uint64_t mask_ = 0; // 0: everything in bucket 0
    int drop_ = 0;
};

// Maps numbers to buckets of equal ratio, for widely varying magnitudes.
class magnitude_map {
  public:
    magnitude_map(double first, double last, int log2_buckets) noexcept : base_(place(first)) {
        int const width = floor_log2(place(last) - base_) + 1;
        drop_ = width > log2_buckets ? width - log2_buckets : 0;
        mask_ = (std::uint64_t{1} << log2_buckets) - 1;
    }

    STRAGGLE_ALWAYS_INLINE std::size_t operator()(double x) const noexcept {
        return detail::to_size(((place(x) - base_) >> drop_) & mask_);
    }

  private:
    // The bits of a double, ordered like the numbers. Values that compare equal share one place: both zeros
    // and, where denormals are flushed, denormals.
    static std::uint64_t place(double x) noexcept {
        constexpr std::uint64_t sign = 0x8000000000000000u;
        std::uint64_t const u = std::bit_cast<std::uint64_t>(x);
        if (x == 0) return sign;
        return u < sign ? u | sign : ~u;
    }

    std::uint64_t base_;
    std::uint64_t mask_;
    int drop_;
};

// Orders by High; among equal ones, proper intervals first, since a single point there is above more bounds.
template <relation R>
STRAGGLE_ALWAYS_INLINE bool high_before(entry const& a, entry const& b) noexcept {
    if constexpr (R == relation::touching_points)
        return a.high < b.high || (a.high <= b.high && a.proper && !b.proper);
    else
        return a.high < b.high;
}

template <relation R>
void insertion_sort(entry* a, std::size_t n) noexcept {
    for (std::size_t i = 1; i < n; ++i) {
        entry const x = a[i];
        std::size_t j = i;
        for (; j > 0 && high_before<R>(x, a[j - 1]); --j) a[j] = a[j - 1];
        a[j] = x;
    }
}

// O(n log n) for any data; `other` has room for n.
template <relation R>
void merge_sort(entry* a, entry* other, std::size_t n) noexcept {
    constexpr std::size_t run = 12;
    for (std::size_t i = 0; i < n; i += run) insertion_sort<R>(a + i, n - i < run ? n - i : run);
    entry* from = a;
    entry* to = other;
    for (std::size_t width = run; width < n; width *= 2) {
        for (std::size_t begin = 0; begin < n; begin += 2 * width) {
            std::size_t const middle = n - begin < width ? n : begin + width;
            std::size_t const end = n - begin < 2 * width ? n : begin + 2 * width;
            std::size_t i = begin;
            std::size_t j = middle;
            std::size_t k = begin;
            while (i < middle && j < end) {
                bool const second = high_before<R>(from[j], from[i]);
                to[k++] = from[second ? j : i];
                j += one_if(second);
                i += one_if(!second);
            }
            while (i < middle) to[k++] = from[i++];
            while (j < end) to[k++] = from[j++];
        }
        entry* const t = from;
        from = to;
        to = t;
    }
    if (from != a)
        for (std::size_t i = 0; i < n; ++i) a[i] = from[i];
}

// Distributes `a` into the buckets of `other`; afterwards start[b] is the end of bucket b.
template <class Map>
void deal(entry const* a, entry* other, std::uint32_t* start, std::size_t n, std::size_t buckets,
          Map const& bucket) noexcept {
    for (std::size_t b = 0; b < buckets; ++b) start[b] = 0;
    for (std::size_t i = 0; i < n; ++i) ++start[bucket(a[i].high)];
    std::uint32_t sum = 0;
    for (std::size_t b = 0; b < buckets; ++b) {
        std::uint32_t const count = start[b];
        start[b] = sum;
        sum += count;
    }
    for (std::size_t i = 0; i < n; ++i) other[start[bucket(a[i].high)]++] = a[i];
}

inline constexpr std::size_t small_bucket = 24;
// Buckets for redistributing a crowded bucket, and how often to do so.
inline constexpr int log2_crowded = 10;
inline constexpr int crowded_deals = 2;
constexpr std::size_t start_size(std::size_t n) noexcept {
    return n + 1 + (std::size_t{crowded_deals} << log2_crowded);
}

// Sorts a crowded bucket in place: redistributed by magnitude, then by value if still crowded, then
// merge-sorted.
template <relation R>
void sort_crowded(entry* a, entry* other, std::uint32_t* start, std::size_t n, int times) noexcept {
    if (times == 0 || n < 3 * small_bucket) return merge_sort<R>(a, other, n);
    double first = a[0].high;
    double last = a[0].high;
    for (std::size_t i = 1; i < n; ++i) {
        first = a[i].high < first ? a[i].high : first;
        last = a[i].high > last ? a[i].high : last;
    }
    int const possible = floor_log2(n) - 1;
    int const log2_buckets = possible < log2_crowded ? possible : log2_crowded;
    std::size_t const buckets = std::size_t{1} << log2_buckets;
    if (times % 2 == 0)
        deal(a, other, start, n, buckets, magnitude_map(first, last, log2_buckets));
    else
        deal(a, other, start, n, buckets, bucket_map(first, last, log2_buckets));
    for (std::size_t b = 0, begin = 0; b < buckets; begin = start[b++]) {
        std::size_t const size = start[b] - begin;
        if (size <= small_bucket)
            insertion_sort<R>(other + begin, size);
        else
            sort_crowded<R>(other + begin, a + begin, start + buckets, size, times - 1);
    }
    for (std::size_t i = 0; i < n; ++i) a[i] = other[i];
}

// Sorts by High, all values in [first, last]. `other` has room for n, `start` for `start_size(n)`.
// @return where the result is: in `a` or in `other`
template <relation R>
entry* sort_by_high(entry* a, entry* other, std::uint32_t* start, std::size_t n, double first,
                    double last) noexcept {
    std::size_t sorted = 1;
    while (sorted < n && !high_before<R>(a[sorted], a[sorted - 1])) ++sorted;
    if (sorted >= n) return a;
    if (sorted == 1) {
        while (sorted < n && high_before<R>(a[sorted], a[sorted - 1])) ++sorted;
        if (sorted == n) {
            for (std::size_t i = 0; i < n; ++i) other[i] = a[n - 1 - i];
            return other;
        }
    }
    if (n <= small_bucket) {
        insertion_sort<R>(a, n);
        return a;
    }
    int const width = floor_log2(n);
    int const log2_buckets = width > 18 ? 18 : width;
    std::size_t const buckets = std::size_t{1} << log2_buckets;
    deal(a, other, start, n, buckets, bucket_map(first, last, log2_buckets));
    for (std::size_t b = 0, begin = 0; b < buckets; begin = start[b++]) {
        std::size_t const size = start[b] - begin;
        if (size <= small_bucket)
            insertion_sort<R>(other + begin, size);
        else
            sort_crowded<R>(other + begin, a + begin, start + buckets, size, crowded_deals);
    }
    return other;
}

} // namespace straggle::detail::levels
