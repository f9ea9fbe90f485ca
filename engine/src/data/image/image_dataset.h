#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace engine {

/// Images as bytes in the order sample, H, W, C, with a label each.
struct LabelledImages {
    Shape shape;  ///< (C, H, W)
    std::vector<std::uint8_t> pixels;
    std::vector<std::uint8_t> labels;

    std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
};

/// Per channel over all pixels as value / 255: mean and population deviation (that of a channel
/// that never changes is given as 1, so that it can be divided by).
struct ChannelMoments {
    std::vector<double> mean;
    std::vector<double> deviation;
};
ChannelMoments measure(const LabelledImages& images);

/// Images held in memory.
class ImageDataset final : public Dataset {
public:
    /// `names` has one entry a class.
    ImageDataset(LabelledImages images, std::vector<std::string> names,
                 Normalization normalization);

    std::int64_t size() const override { return images_.size(); }
    const Schema& schema() const override { return schema_; }
    void read(std::int64_t index, const SampleFields& out) const override;
    bool gives_bytes() const override { return true; }
    const LabelledImages& images() const { return images_; }

private:
    LabelledImages images_;
    Schema schema_;
};

/// Both sets with the training set's normalisation.
DataParts make_image_datasets(LabelledImages train, LabelledImages test,
                              const std::vector<std::string>& names);

}  // namespace engine
