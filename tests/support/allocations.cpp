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

std::size_t size_of(void* p) {
#if __has_include(<malloc.h>)
    return malloc_usable_size(p);
#else
    return malloc_size(p);
#endif
}

void* counted(std::size_t bytes, std::size_t alignment) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    bytes_asked_for.fetch_add(bytes, std::memory_order_relaxed);
    if (bytes == 0) bytes = 1;
    void* const p = alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__
                        ? std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)
                        : std::malloc(bytes);
    if (p == nullptr) throw std::bad_alloc();
    bytes_held.fetch_add(size_of(p), std::memory_order_relaxed);
    return p;
}

void give_back(void* p) {
    if (p == nullptr) return;
    bytes_held.fetch_sub(size_of(p), std::memory_order_relaxed);
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
