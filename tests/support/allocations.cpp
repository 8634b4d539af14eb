#include "allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::size_t> allocations{0};
std::atomic<std::size_t> bytes_asked_for{0};

void* counted(std::size_t bytes, std::size_t alignment) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    bytes_asked_for.fetch_add(bytes, std::memory_order_relaxed);
    if (bytes == 0) bytes = 1;
    void* const p = alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__
                        ? std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)
                        : std::malloc(bytes);
    if (p == nullptr) throw std::bad_alloc();
    return p;
}
} // namespace

std::size_t straggle_test::allocation_count() noexcept {
    return allocations.load(std::memory_order_relaxed);
}

std::size_t straggle_test::allocated_bytes() noexcept {
    return bytes_asked_for.load(std::memory_order_relaxed);
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
    std::free(p);
}
void operator delete[](void* p) noexcept {
    std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
    std::free(p);
}
void operator delete[](void* p, std::size_t) noexcept {
    std::free(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
    std::free(p);
}
void operator delete[](void* p, std::align_val_t) noexcept {
    std::free(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
    std::free(p);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
    std::free(p);
}
