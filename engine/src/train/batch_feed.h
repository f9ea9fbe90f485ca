#pragma once

#include <memory>

#include "core/tensor.h"
#include "data/batch_maker.h"

namespace engine {

/// A batch where the model computes: inputs f32, (N, C, H, W) NHWC or (N, features); labels (N)
/// i64.
struct DeviceBatch {
    Tensor inputs, labels;
    std::int64_t size = 0;
};

/// Uninitialised, booked as the calling thread's scope says.
DeviceBatch empty_batch(const Device& device, const SampleShape& sample, std::int64_t size);

/// Brings batches to a device. One thread.
class BatchFeed {
public:
    virtual ~BatchFeed() = default;
    /// The batches that upload() takes need only their indices and places, no pixels.
    virtual bool indices_only() const { return false; }
    /// Never waits for the device.
    virtual DeviceBatch upload(const Batch& batch) = 0;
    /// Everything that reads the batch has been given to the compute stream.
    virtual void used(const DeviceBatch& batch) { (void)batch; }
};

/// The way that suits the device and the data set: memory of the CPU; on a GPU a data set of images
/// that takes at most an eighth of its memory lies there whole, and others come through a ring of
/// pinned buffers on a stream of their own. `per_step`: batches of a step. Blocks are booked as
/// workspace. Throws Error.
std::unique_ptr<BatchFeed> make_feed(const Device& device, std::shared_ptr<const Dataset> dataset,
                                     const LoaderOptions& options, std::int64_t per_step = 1);

/// The ring alone, for batches of samples of this shape (bench, tests).
std::unique_ptr<BatchFeed> make_ring_feed(const Device& device, const SampleShape& sample,
                                          std::int64_t per_step = 1);

}  // namespace engine
