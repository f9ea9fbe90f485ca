#pragma once

#include "data/loader/batch.h"
#include "data/loader/device_batch.h"
#include "kernels/prepare_images.h"

namespace engine {

/// Makes batches of images out of bytes on a GPU: cropped and flipped, then normalised, or less of
/// it, with the numbers of Collator bit for bit.
class ImagePreparer {
public:
    /// Whether it can make batches of this schema: images and labels alone, without other
    /// transforms.
    static bool can_make(const Schema& schema);

    /// `schema`: that of the batches; can_make() must hold. `seed`: of the loader's sampler.
    ImagePreparer(const Device& device, const Schema& schema, std::int64_t seed);

    /// Where the bytes lie on the device. Null indices: row i is image i. Null labels: none are
    /// written.
    struct Source {
        const std::uint8_t* pixels;
        const std::uint8_t* labels;
        kernels::ConstArray indices;
    };
    /// Writes the images to `images` (rows, C, H, W), channels last or with padded pixels, in f32
    /// or rounded to its 16-bit type, and the labels of the source to `labels`, i64. `place`: of
    /// the batch in the run.
    void prepare(const Tensor& images, kernels::Array labels, const Source& from,
                 const Batch& place) const;

private:
    Device device_;
    Shape image_;  // (C, H, W)
    std::int64_t seed_;
    bool augment_ = false;
    bool normalize_ = false;
    Tensor mean_, deviation_;
};

}  // namespace engine
