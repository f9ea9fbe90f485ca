#include "cpu/gemm_scratch.h"

#include <array>
#include <limits>
#include <memory>

#include "kernels/device.h"
#include "kernels/device_error.h"

namespace kernels::cpu {
namespace {

constexpr std::size_t alignment = 64;
// Vector loads may run over the end of the last row by less than this.
constexpr std::size_t slack = 256;

struct Free {
    void operator()(void* block) const noexcept { release(block); }
};
struct Block {
    std::unique_ptr<void, Free> data;
    std::size_t bytes = 0;
};

thread_local std::array<Block, static_cast<std::size_t>(Scratch::count)> blocks;

}  // namespace

void* scratch_bytes(Scratch kind, std::size_t bytes) {
    Block& block = blocks[static_cast<std::size_t>(kind)];
    if (bytes <= block.bytes && block.data) return block.data.get();
    if (bytes > std::numeric_limits<std::ptrdiff_t>::max()) throw OutOfMemory(bytes);
    // A quarter more, so that slowly growing shapes do not allocate each time.
    const std::size_t wanted = (bytes + bytes / 4 + slack + alignment - 1) / alignment * alignment;
    block.bytes = 0;
    block.data.reset();
    block.data.reset(allocate(wanted));
    block.bytes = wanted - slack;
    return block.data.get();
}

}  // namespace kernels::cpu
