#include "core/recycled.h"

namespace engine::detail {

constinit thread_local RecycledBlocks recycled_blocks{};

namespace {

/// Frees the lists at the end of the thread. What is freed still later goes straight back.
struct Closing {
    ~Closing() {
        RecycledBlocks& all = recycled_blocks;
        all.open = false;
        for (RecycledBlocks::Free*& first : all.first) {
            while (first != nullptr) {
                RecycledBlocks::Free* const block = first;
                first = block->next;
                ::operator delete(block);
            }
        }
        closed = true;
    }
    static constinit thread_local bool closed;
};
constinit thread_local bool Closing::closed = false;

void open_lists() noexcept {
    if (recycled_blocks.open || Closing::closed) return;
    thread_local Closing closing;
    (void)closing;
    recycled_blocks.open = true;
}

}  // namespace

void* take_slowly(std::size_t bytes) {
    open_lists();
    return ::operator new(bytes);
}

void give_slowly(void* block, std::size_t size) noexcept {
    RecycledBlocks& all = recycled_blocks;
    if (size < RecycledBlocks::classes) open_lists();
    if (size >= RecycledBlocks::classes || !all.open ||
        all.count[size] == RecycledBlocks::most_each)
        return ::operator delete(block);
    all.first[size] = new (block) RecycledBlocks::Free{all.first[size]};
    ++all.count[size];
}

}  // namespace engine::detail
