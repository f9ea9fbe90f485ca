#include "train/pinned_ring.h"

#include <algorithm>
#include <utility>

#include "train/step_marks.h"

namespace engine {
namespace {
constexpr std::size_t least_depth = 3;
constexpr std::size_t most_bytes = std::size_t{1} << 30;
}  // namespace

PinnedRing::PinnedRing(std::int64_t per_step)
    : depth_(std::max(least_depth, 2 * static_cast<std::size_t>(per_step))) {}

PinnedRing::~PinnedRing() {
    try {
        for (const Buffer& buffer : buffers_) wait_until_passed(buffer.copied);
    } catch (...) {  // the device has failed, and copies nothing
    }
    for (const Buffer& buffer : buffers_) kernels::cuda::release_pinned(buffer.data);
}

/// To the buffer after the last, a new one while the ring has not its depth.
void PinnedRing::advance(std::size_t bytes) {
    const bool wraps = buffers_.empty() || last_ + 1 == buffers_.size();
    const bool grows =
        buffers_.size() < least_depth || (buffers_.size() < depth_ && total_ + bytes <= most_bytes);
    if (wraps && grows) buffers_.emplace_back();
    last_ = wraps && !grows ? 0 : std::min(last_ + 1, buffers_.size() - 1);
}

std::byte* PinnedRing::next(std::size_t bytes) {
    advance(bytes);
    Buffer& buffer = buffers_[last_];
    wait_until_passed(buffer.copied);
    if (buffer.bytes >= bytes) return buffer.data;
    kernels::cuda::release_pinned(std::exchange(buffer.data, nullptr));
    total_ -= std::exchange(buffer.bytes, 0);
    buffer.data = static_cast<std::byte*>(kernels::cuda::allocate_pinned(bytes));
    buffer.bytes = bytes;
    total_ += bytes;
    return buffer.data;
}

}  // namespace engine
