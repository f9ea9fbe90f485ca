#include "tensor/recycled.h"

namespace engine::detail {

constinit thread_local RecycledBlocks recycled_blocks{};

namespace {

/// Frees the lists at the end of the thread. Memory that is freed still later goes straight back.
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

}  // namespace

bool open_lists() noexcept {
    if (Closing::closed) return false;
    thread_local Closing closing;
    (void)closing;
    recycled_blocks.open = true;
    return true;
}

}  // namespace engine::detail
