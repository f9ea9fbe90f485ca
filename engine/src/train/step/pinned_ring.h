#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cuda_device.h"

namespace engine {

/// Pinned host memory for batches on their way to a GPU: a buffer is written again when its copy
/// has passed. Deep enough that the host never waits for that: as many buffers as the step on the
/// device and the one that is being submitted have batches, since a step is submitted only after
/// the figures of the step before last have arrived. Buffers are made as they are needed, up to 1
/// GiB of them and as many as the driver gives; where two steps need more, the host waits for
/// copies of its own step.
class PinnedRing {
public:
    /// `per_step`: batches of a step.
    explicit PinnedRing(std::int64_t per_step);
    /// Waits for the copies.
    ~PinnedRing();
    PinnedRing(const PinnedRing&) = delete;
    PinnedRing& operator=(const PinnedRing&) = delete;

    /// The next buffer, of at least `bytes` bytes. Throws kernels::OutOfMemory if the driver does
    /// not give even one.
    std::byte* next(std::size_t bytes);
    /// All copies out of the last one have been given to the stream.
    void given(kernels::Stream stream) { buffers_[last_]->copied.record(stream); }

private:
    struct Buffer {
        std::byte* data = nullptr;
        std::size_t bytes = 0;
        kernels::cuda::Event copied;
    };
    void advance(std::size_t bytes);
    bool has_room(Buffer& buffer, std::size_t bytes);
    void drop_last();

    std::size_t depth_;  // at most; fewer once the driver has refused one
    std::vector<std::unique_ptr<Buffer>> buffers_;
    std::size_t last_ = 0;
    std::size_t total_ = 0;  // bytes of all
};

}  // namespace engine
