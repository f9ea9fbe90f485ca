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

/// The freed blocks of a thread, by size, at most `most_each` of a size. A step of a small network
/// makes and frees hundreds of tensors and nodes, more at a time than malloc's own cache of a
/// thread holds.
struct RecycledBlocks {
    static constexpr std::size_t unit = 64, classes = 17, most_each = 256;
    struct Free {
        Free* next;
    };
    Free* first[classes];
    std::size_t count[classes];
    bool open;  // whether the thread's end will free the lists
};
extern constinit thread_local RecycledBlocks recycled_blocks;

/// Whether blocks that this thread frees may be kept: not once its lists were freed at its end.
bool open_lists() noexcept;

inline void* take_recycled(std::size_t bytes) {
    const std::size_t size = (bytes + RecycledBlocks::unit - 1) / RecycledBlocks::unit;
    if (size >= RecycledBlocks::classes) return ::operator new(bytes);
    RecycledBlocks& all = recycled_blocks;
    RecycledBlocks::Free* const block = all.first[size];
    if (block == nullptr) return ::operator new(size * RecycledBlocks::unit);
    all.first[size] = block->next;
    --all.count[size];
    return block;
}

inline void give_recycled(void* block, std::size_t bytes) noexcept {
    const std::size_t size = (bytes + RecycledBlocks::unit - 1) / RecycledBlocks::unit;
    RecycledBlocks& all = recycled_blocks;
    if (size >= RecycledBlocks::classes || all.count[size] == RecycledBlocks::most_each ||
        !(all.open || open_lists()))
        return ::operator delete(block);
    all.first[size] = new (block) RecycledBlocks::Free{all.first[size]};
    ++all.count[size];
}

}  // namespace detail

/// Allocator of what is made and freed in every step: tensors' handles and nodes of the tape.
/// Blocks of up to 1 KB come from those that the thread has freed; others, and all under a
/// sanitizer, from operator new. A block may be freed on another thread.
template <typename T>
struct Recycled {
    using value_type = T;
    static_assert(alignof(T) <= alignof(std::max_align_t));

    Recycled() = default;
    template <typename U>
    Recycled(const Recycled<U>&) noexcept {}

#ifdef HALFTONE_SANITIZED
    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T))); }
    void deallocate(T* block, std::size_t) noexcept { ::operator delete(block); }
#else
    T* allocate(std::size_t n) { return static_cast<T*>(detail::take_recycled(n * sizeof(T))); }
    void deallocate(T* block, std::size_t n) noexcept {
        detail::give_recycled(block, n * sizeof(T));
    }
#endif

    template <typename U>
    bool operator==(const Recycled<U>&) const noexcept {
        return true;
    }
};

}  // namespace engine
