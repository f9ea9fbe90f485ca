#pragma once

#include <array>

#include "data/dataset.h"
#include "kernels/cuda_device.h"
#include "train/batch_feed.h"
#include "train/pinned_ring.h"

namespace engine {

/// Batches through pinned buffers and a copy stream, so that the copy of the next batch runs beside
/// the step that computes. A place on the device is written again when the step that used it has
/// passed it, which the copy stream, not the host, waits for; the host writes to a ring of pinned
/// buffers.
class RingFeed final : public BatchFeed {
public:
    /// `per_step`: batches of a step.
    RingFeed(const Device& device, const SampleShape& sample, std::int64_t per_step = 1);
    ~RingFeed() override;
    RingFeed(const RingFeed&) = delete;
    RingFeed& operator=(const RingFeed&) = delete;

    DeviceBatch upload(const Batch& batch) override;
    void used(const DeviceBatch& batch) override;

private:
    struct Place {
        DeviceBatch batch;  // of the largest size so far
        kernels::cuda::Event copied, used;
    };
    Place& next_place(std::int64_t size);

    Device device_;
    SampleShape sample_;
    kernels::Stream copies_;
    PinnedRing pinned_;  // inputs, then labels
    std::array<Place, 3> places_;
    std::size_t next_place_ = 0;
};

}  // namespace engine
