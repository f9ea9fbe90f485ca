#pragma once

#include <memory>

#include "data/loader/batch.h"
#include "data/loader/collator.h"

namespace engine {

/// Brings batches to a device. One thread.
class BatchFeed {
public:
    virtual ~BatchFeed() = default;
    /// The batches that upload() takes need only their indices and places, no fields.
    virtual bool indices_only() const { return false; }
    /// Never waits for the device.
    virtual DeviceBatch upload(const Batch& batch) = 0;
    /// Everything that reads the batch has been given to the compute stream.
    virtual void used(const DeviceBatch& batch) { (void)batch; }
    /// upload() into memory that is there: the inputs of captured work, of which a floating field
    /// may have a 16-bit type. The values are rounded to it once.
    virtual void fill(const Batch& batch, const DeviceBatch& to);
    /// The images of the batches that upload() takes are bytes, without transforms.
    virtual bool image_bytes() const { return false; }
    /// Tells a loader what those batches need.
    void choose(LoaderOptions& options) const;
};

/// The fields of `from` as those of `to`, on the device. `from` may be less: an undefined field is
/// left alone.
void copy_fields(const DeviceBatch& from, const DeviceBatch& to);

/// How far ahead of the device a feed must be able to go.
struct FeedDepth {
    std::int64_t per_step = 1;  ///< batches of a step
    std::int64_t held = 1;      ///< the most that are uploaded before the first is used up
};

/// The feed for this device and data. On the CPU batches are in host memory. On a GPU a data set of
/// images that takes at most an eighth of its memory is kept there whole; others are copied through
/// a ring of pinned buffers on a separate stream, images as bytes if the device can make of them
/// what the schema asks for. `schema`: that of the batches. Blocks are accounted as workspace.
/// Throws Error.
std::unique_ptr<BatchFeed> make_feed(const Device& device, const DataPart& part,
                                     const Schema& schema, const LoaderOptions& options,
                                     const FeedDepth& depth = {});

/// The ring alone, for batches of this schema (bench, tests).
std::unique_ptr<BatchFeed> make_ring_feed(const Device& device, const Schema& schema,
                                          const FeedDepth& depth = {});

/// One batch that lies on the device, again and again.
class FixedFeed final : public BatchFeed {
public:
    FixedFeed(const Device& device, const Schema& schema, const Batch& batch)
        : ring_(make_ring_feed(device, schema)) {
        const DeviceScope scope(device);
        batch_ = ring_->upload(batch);
    }
    DeviceBatch upload(const Batch&) override { return batch_; }

private:
    std::unique_ptr<BatchFeed> ring_;
    DeviceBatch batch_;
};

}  // namespace engine
