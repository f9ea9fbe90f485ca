#pragma once

#include <memory>

#include "data/image/image_dataset.h"
#include "train/step/batch_feed.h"
#include "train/step/image_preparer.h"
#include "train/step/pinned_ring.h"

namespace engine {

/// A data set of images that lies on the device as bytes; a batch is gathered, augmented and
/// normalised there, with the numbers of Collator bit for bit. Only indices travel.
class ResidentImages final : public BatchFeed {
public:
    /// `schema`: one that ImagePreparer::can_make().
    ResidentImages(const Device& device, const std::shared_ptr<const ImageDataset>& images,
                   const Schema& schema, const LoaderOptions& options, const FeedDepth& depth = {});
    ResidentImages(const ResidentImages&) = delete;
    ResidentImages& operator=(const ResidentImages&) = delete;

    bool indices_only() const override { return true; }
    DeviceBatch upload(const Batch& batch) override;
    void fill(const Batch& batch, const DeviceBatch& to) override;

private:
    Device device_;
    Schema schema_;
    ImagePreparer preparer_;
    Tensor pixels_, labels_;
    PinnedRing pinned_;  // indices
};

}  // namespace engine
