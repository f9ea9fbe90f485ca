#pragma once

#include <array>

#include "data/dataset.h"
#include "kernels/cuda_device.h"
#include "train/batch_feed.h"

namespace engine {

/// Batches through pinned buffers and a copy stream, so that the copy of the next batch runs beside
/// the step that computes. A slot is written again when the step that used it has passed it, which
/// the copy stream, not the host, waits for.
class RingFeed final : public BatchFeed {
public:
    RingFeed(const Device& device, const SampleShape& sample);
    ~RingFeed() override;
    RingFeed(const RingFeed&) = delete;
    RingFeed& operator=(const RingFeed&) = delete;

    DeviceBatch upload(const Batch& batch) override;
    void used(const DeviceBatch& batch) override;

private:
    /// Pinned memory holds the inputs and then the labels.
    struct Slot {
        void* pinned = nullptr;
        std::size_t bytes = 0;
        DeviceBatch batch;  // of the largest size so far
        kernels::cuda::Event copied, used;
    };
    void make_room(Slot& slot, std::int64_t size);

    Device device_;
    SampleShape sample_;
    kernels::Stream copies_;
    std::array<Slot, 3> slots_;
    std::size_t next_ = 0;
};

}  // namespace engine
