#pragma once

#include <memory>

#include "data/image_dataset.h"
#include "kernels/prepare_images.h"
#include "train/batch_feed.h"
#include "train/pinned_ring.h"

namespace engine {

/// A data set of images that lies on the device as bytes; a batch is gathered, augmented and
/// normalised there, with the numbers of BatchMaker bit for bit. Only indices travel.
class ResidentImages final : public BatchFeed {
public:
    /// `per_step`: batches of a step.
    ResidentImages(const Device& device, const std::shared_ptr<const ImageDataset>& images,
                   const LoaderOptions& options, std::int64_t per_step = 1);
    ResidentImages(const ResidentImages&) = delete;
    ResidentImages& operator=(const ResidentImages&) = delete;

    bool indices_only() const override { return true; }
    DeviceBatch upload(const Batch& batch) override;

private:
    kernels::ImagePreparation preparation(const Batch& batch) const;

    Device device_;
    SampleShape sample_;
    LoaderOptions options_;
    Tensor pixels_, labels_, mean_, deviation_;
    PinnedRing pinned_;  // indices
};

}  // namespace engine
