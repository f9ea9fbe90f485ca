#pragma once

#include <memory>

#include "data/image_dataset.h"
#include "kernels/prepare_images.h"
#include "train/batch_feed.h"
#include "train/pinned_ring.h"

namespace engine {

/// A data set of images that lies on the device as bytes; a batch is gathered, augmented and
/// normalised there, with the numbers of Collator bit for bit. Only indices travel.
class ResidentImages final : public BatchFeed {
public:
    /// Whether batches of this schema can be made so: images and labels alone, cropped and flipped,
    /// then normalised, or less of it.
    static bool can_make(const Schema& schema);

    ResidentImages(const Device& device, const std::shared_ptr<const ImageDataset>& images,
                   const Schema& schema, const LoaderOptions& options, const FeedDepth& depth = {});
    ResidentImages(const ResidentImages&) = delete;
    ResidentImages& operator=(const ResidentImages&) = delete;

    bool indices_only() const override { return true; }
    DeviceBatch upload(const Batch& batch) override;

private:
    kernels::ImagePreparation preparation(const Batch& batch) const;

    Device device_;
    Schema schema_;
    std::int64_t seed_;
    bool augment_ = false;
    bool normalize_ = false;
    Tensor pixels_, labels_, mean_, deviation_;
    PinnedRing pinned_;  // indices
};

}  // namespace engine
