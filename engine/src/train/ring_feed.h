#pragma once

#include <vector>

#include "kernels/cuda_device.h"
#include "train/batch_feed.h"
#include "train/pinned_ring.h"

namespace engine {

/// Batches through pinned buffers and a copy stream, so that the copy of the next batch overlaps
/// the step that computes. A place on the device is overwritten once the step that used it has
/// passed it; the copy stream waits for that, not the host, which writes to a ring of pinned
/// buffers.
class RingFeed final : public BatchFeed {
public:
    RingFeed(const Device& device, const Schema& schema, const FeedDepth& depth = {});
    ~RingFeed() override;
    RingFeed(const RingFeed&) = delete;
    RingFeed& operator=(const RingFeed&) = delete;

    DeviceBatch upload(const Batch& batch) override;
    void used(const DeviceBatch& batch) override;

private:
    struct Place {
        TensorList blocks;  // bytes of each field, of the largest batch so far
        kernels::cuda::Event copied, used;
    };
    Place& next_place(const Batch& batch);

    Device device_;
    Schema schema_;
    kernels::Stream copies_;
    PinnedRing pinned_;  // the fields one after the other
    std::vector<std::unique_ptr<Place>> places_;
    std::size_t next_place_ = 0;
};

}  // namespace engine
