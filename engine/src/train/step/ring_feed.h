#pragma once

#include <optional>
#include <vector>

#include "kernels/cuda_device.h"
#include "train/step/batch_feed.h"
#include "train/step/image_preparer.h"
#include "train/step/pinned_ring.h"

namespace engine {

/// Batches through pinned buffers and a copy stream, so that the copy of the next batch overlaps
/// the step that computes. A place on the device is overwritten once the step that used it has
/// passed it; the copy stream waits for that, not the host, which writes to a ring of pinned
/// buffers. Images may travel as bytes, a quarter of their values in f32; the device makes of them
/// what the schema asks for.
class RingFeed final : public BatchFeed {
public:
    /// `image_seed`: that of the loader's sampler, if images are to travel as bytes; the schema
    /// must be one that ImagePreparer::can_make(). None: the batches have the schema's fields.
    RingFeed(const Device& device, const Schema& schema, const FeedDepth& depth = {},
             std::optional<std::int64_t> image_seed = {});
    ~RingFeed() override;
    RingFeed(const RingFeed&) = delete;
    RingFeed& operator=(const RingFeed&) = delete;

    bool image_bytes() const override { return preparer_.has_value(); }
    DeviceBatch upload(const Batch& batch) override;
    void fill(const Batch& batch, const DeviceBatch& to) override;
    void used(const DeviceBatch& batch) override;

private:
    struct Place {
        TensorList blocks;  // bytes of each field, of the largest batch so far
        kernels::cuda::Event copied, used;
    };
    Place& next_place(const Batch& batch);
    DeviceBatch copied(const Batch& batch);
    bool has_image_bytes(const DeviceBatch& batch) const;
    void prepare(const DeviceBatch& from, const Tensor& images, const Batch& batch) const;

    Device device_;
    Schema schema_;
    std::optional<ImagePreparer> preparer_;  // none: images travel as they are wanted
    kernels::Stream copies_;
    PinnedRing pinned_;  // the fields one after the other
    std::vector<std::unique_ptr<Place>> places_;
    std::size_t next_place_ = 0;
};

}  // namespace engine
