#include "allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#if __has_include(<malloc.h>)
#include <malloc.h>
#else
#include <malloc/malloc.h>
#endif

namespace {
std::atomic<std::size_t> allocations{0};
std::atomic<std::size_t> bytes_asked_for{0};
std::atomic<std::size_t> bytes_held{0};
std::atomic<std::size_t> blocks_held{0};
std::atomic<std::size_t> good_ones_left{0}; // one more, while some are to fail; else 0

std::size_t size_of(void* p) {
#if __has_include(<malloc.h>)
    return malloc_usable_size(p);
#else
    return malloc_size(p);
#endif
}

// Whether the allocation that is asked for is one of those to fail.
bool is_to_fail() {
    std::size_t const left = good_ones_left.load(std::memory_order_relaxed);
    if (left > 1) good_ones_left.store(left - 1, std::memory_order_relaxed);
    return left == 1;
}

void* counted(std::size_t bytes, std::size_t alignment) {
    if (is_to_fail()) throw std::bad_alloc();
    allocations.fetch_add(1, std::memory_order_relaxed);
    bytes_asked_for.fetch_add(bytes, std::memory_order_relaxed);
    if (bytes == 0) bytes = 1;
    void* const p = alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__
                        ? std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)
                        : std::malloc(bytes);
    if (p == nullptr) throw std::bad_alloc();
    bytes_held.fetch_add(size_of(p), std::memory_order_relaxed);
    blocks_held.fetch_add(1, std::memory_order_relaxed);
    return p;
}

void* counted_or_null(std::size_t bytes, std::size_t alignment) noexcept {
    try {
        return counted(bytes, alignment);
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}

void give_back(void* p) {
    if (p == nullptr) return;
    bytes_held.fetch_sub(size_of(p), std::memory_order_relaxed);
    blocks_held.fetch_sub(1, std::memory_order_relaxed);
    std::free(p);
}
} // namespace

std::size_t straggle_test::allocation_count() noexcept {
    return allocations.load(std::memory_order_relaxed);
}

std::size_t straggle_test::allocated_bytes() noexcept {
    return bytes_asked_for.load(std::memory_order_relaxed);
}

std::size_t straggle_test::live_bytes() noexcept {
    return bytes_held.load(std::memory_order_relaxed);
}

std::size_t straggle_test::live_allocations() noexcept {
    return blocks_held.load(std::memory_order_relaxed);
}

straggle_test::failing_allocations::failing_allocations(std::size_t n) noexcept {
    good_ones_left.store(n, std::memory_order_relaxed);
}
straggle_test::failing_allocations::~failing_allocations() {
    good_ones_left.store(0, std::memory_order_relaxed);
}

// The library's own end up in the throwing ones, a sanitizer's do not.
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
    return counted_or_null(bytes, 0);
}
void* operator new[](std::size_t bytes, std::nothrow_t const&) noexcept {
    return counted_or_null(bytes, 0);
}
void* operator new(std::size_t bytes, std::align_val_t a, std::nothrow_t const&) noexcept {
    return counted_or_null(bytes, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t bytes, std::align_val_t a, std::nothrow_t const&) noexcept {
    return counted_or_null(bytes, static_cast<std::size_t>(a));
}
void* operator new(std::size_t bytes) {
    return counted(bytes, 0);
}
void* operator new[](std::size_t bytes) {
    return counted(bytes, 0);
}
void* operator new(std::size_t bytes, std::align_val_t a) {
    return counted(bytes, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t bytes, std::align_val_t a) {
    return counted(bytes, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept {
    give_back(p);
}
void operator delete[](void* p) noexcept {
    give_back(p);
}
void operator delete(void* p, std::size_t) noexcept {
    give_back(p);
}
void operator delete[](void* p, std::size_t) noexcept {
    give_back(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
    give_back(p);
}
void operator delete[](void* p, std::align_val_t) noexcept {
    give_back(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
    give_back(p);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
    give_back(p);
}
