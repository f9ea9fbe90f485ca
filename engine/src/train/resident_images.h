#pragma once

#include <array>

#include "data/image_dataset.h"
#include "kernels/cuda_device.h"
#include "kernels/prepare_images.h"
#include "train/batch_feed.h"

namespace engine {

/// A data set of images that lies on the device as bytes; a batch is gathered, augmented and
/// normalised there, with the numbers of BatchMaker bit for bit. Only indices travel.
class ResidentImages final : public BatchFeed {
public:
    ResidentImages(const Device& device, const std::shared_ptr<const ImageDataset>& images,
                   const LoaderOptions& options);
    ~ResidentImages() override;
    ResidentImages(const ResidentImages&) = delete;
    ResidentImages& operator=(const ResidentImages&) = delete;

    bool indices_only() const override { return true; }
    DeviceBatch upload(const Batch& batch) override;

private:
    /// Indices on their way: pinned, and on the device.
    struct Slot {
        std::int64_t* pinned = nullptr;
        std::int64_t size = 0;
        kernels::cuda::Event copied;
    };
    kernels::ImagePreparation preparation(const Batch& batch) const;

    Device device_;
    SampleShape sample_;
    LoaderOptions options_;
    Tensor pixels_, labels_, mean_, deviation_;
    std::array<Slot, 3> slots_;
    std::size_t next_ = 0;
};

}  // namespace engine
