#include "train/step/pinned_ring.h"

#include <algorithm>
#include <utility>

#include "kernels/device_error.h"
#include "train/step/step_marks.h"

namespace engine {
namespace {
constexpr std::size_t min_depth = 3;
constexpr std::size_t max_bytes = std::size_t{1} << 30;
}  // namespace

PinnedRing::PinnedRing(std::int64_t per_step)
    : depth_(std::max(min_depth, 2 * static_cast<std::size_t>(per_step))) {}

PinnedRing::~PinnedRing() {
    try {
        for (const auto& buffer : buffers_) wait_until_passed(buffer->copied);
    } catch (...) {  // the device has failed, and copies nothing
    }
    for (const auto& buffer : buffers_) kernels::cuda::release_pinned(buffer->data);
}

/// To the buffer after the last, a new one while the ring has not its depth.
void PinnedRing::advance(std::size_t bytes) {
    const bool wraps = buffers_.empty() || last_ + 1 == buffers_.size();
    const bool grows =
        buffers_.size() < depth_ && (buffers_.size() < min_depth || total_ + bytes <= max_bytes);
    if (wraps && grows) buffers_.push_back(std::make_unique<Buffer>());
    last_ = wraps && !grows ? 0 : std::min(last_ + 1, buffers_.size() - 1);
}

/// False if the driver refuses the memory, which leaves the buffer without any.
bool PinnedRing::has_room(Buffer& buffer, std::size_t bytes) {
    if (buffer.bytes >= bytes && buffer.data) return true;
    kernels::cuda::release_pinned(std::exchange(buffer.data, nullptr));
    total_ -= std::exchange(buffer.bytes, 0);
    try {
        buffer.data = static_cast<std::byte*>(kernels::cuda::allocate_pinned(bytes));
    } catch (const kernels::OutOfMemory&) {
        return false;
    }
    buffer.bytes = bytes;
    total_ += bytes;
    return true;
}

/// The ring goes on with the others, the oldest of which is now the last.
void PinnedRing::drop_last() {
    buffers_.erase(buffers_.begin() + static_cast<std::ptrdiff_t>(last_));
    if (last_ == buffers_.size()) last_ = 0;
}

std::byte* PinnedRing::next(std::size_t bytes) {
    advance(bytes);
    while (true) {
        Buffer& buffer = *buffers_[last_];
        wait_until_passed(buffer.copied);
        if (has_room(buffer, bytes)) return buffer.data;
        drop_last();
        if (buffers_.empty()) throw kernels::OutOfMemory(bytes);
        depth_ = buffers_.size();
    }
}

}  // namespace engine
