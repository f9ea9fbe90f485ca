#pragma once

#include "kernels/array.h"
#include "kernels/kernel.h"
#include "kernels/philox.h"

namespace kernels {

/// A data set of bytes on the device: pixels (size, H, W, C), labels (size), and C means and
/// deviations. Null labels: there are none to be had here.
struct ImageStore {
    const std::uint8_t* pixels;
    const std::uint8_t* labels;
    const float* mean;
    const float* deviation;
    std::int64_t height, width, channels;
};

struct ImagePreparation {
    bool augment = false;  ///< random crop after padding by 4 zeros, and horizontal flip
    bool normalize = true;
    PhiloxStream random;      ///< of augmentation: of sample i the words of block `first` + i:
    std::uint64_t first = 0;  ///< shift down, shift right (bounded by 9, less 4), flip (bit 0)
    std::int64_t pitch = 0;   ///< values from a pixel of y to the next; 0: C, else zeros follow
};

/// A batch out of a data set: y[i] = sample indices[i] as value / 255, cropped and flipped if asked
/// (outside the image: 0), then (value - mean) / deviation if asked; labels[i] = its class, where
/// the store has labels. y (n, H, W, C) dense but for the pitch (its size counts no zeros), f32,
/// f16 or bf16; labels (n) i64, indices (n) i64, all on the device. Null indices: y[i] is of sample
/// i. Each value is computed in f32 by these three operations and rounded once to a 16-bit y, so
/// that both twins give the same bits, and those of a cast of the f32 result.
using PrepareImages = void(Array y, Array labels, ConstArray indices, const ImageStore& store,
                           const ImagePreparation& how, Stream stream);
HALFTONE_KERNEL(PrepareImages, prepare_images);

}  // namespace kernels
