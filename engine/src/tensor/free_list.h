#pragma once

#include <cstddef>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HALFTONE_SANITIZED
#elif defined(__has_feature)  // Clang
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HALFTONE_SANITIZED
#endif
#endif

namespace engine {

namespace detail {

/// The freed blocks of a thread, by size, at most `max_each` of a size. A step of a small network
/// makes and frees hundreds of tensors and nodes, more at a time than malloc's own cache of a
/// thread holds.
struct FreeLists {
    static constexpr std::size_t unit = 64, classes = 17, max_each = 256;
    struct Free {
        Free* next;
    };
    Free* first[classes];
    std::size_t count[classes];
    bool open;  // whether the thread's end will free the lists
};
extern constinit thread_local FreeLists free_lists;

/// Whether blocks that this thread frees may be kept: not once its lists were freed at its end.
bool open_lists() noexcept;

inline void* take_block(std::size_t bytes) {
    const std::size_t size = (bytes + FreeLists::unit - 1) / FreeLists::unit;
    if (size >= FreeLists::classes) return ::operator new(bytes);
    FreeLists& all = free_lists;
    FreeLists::Free* const block = all.first[size];
    if (block == nullptr) return ::operator new(size * FreeLists::unit);
    all.first[size] = block->next;
    --all.count[size];
    return block;
}

inline void give_block(void* block, std::size_t bytes) noexcept {
    const std::size_t size = (bytes + FreeLists::unit - 1) / FreeLists::unit;
    FreeLists& all = free_lists;
    if (size >= FreeLists::classes || all.count[size] == FreeLists::max_each ||
        !(all.open || open_lists()))
        return ::operator delete(block);
    all.first[size] = new (block) FreeLists::Free{all.first[size]};
    ++all.count[size];
}

}  // namespace detail

/// Allocator of what is made and freed in every step: tensors' handles and nodes of the tape.
/// Blocks of up to 1 KB come from those that the thread has freed; others, and all under a
/// sanitizer, from operator new. A block may be freed on another thread.
template <typename T>
struct FreeListAllocator {
    using value_type = T;
    static_assert(alignof(T) <= alignof(std::max_align_t));

    FreeListAllocator() = default;
    template <typename U>
    FreeListAllocator(const FreeListAllocator<U>&) noexcept {}

#ifdef HALFTONE_SANITIZED
    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T))); }
    void deallocate(T* block, std::size_t) noexcept { ::operator delete(block); }
#else
    T* allocate(std::size_t n) { return static_cast<T*>(detail::take_block(n * sizeof(T))); }
    void deallocate(T* block, std::size_t n) noexcept {
        detail::give_block(block, n * sizeof(T));
    }
#endif

    template <typename U>
    bool operator==(const FreeListAllocator<U>&) const noexcept {
        return true;
    }
};

}  // namespace engine
