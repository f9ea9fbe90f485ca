#pragma once

#include "kernels/array.h"
#include "kernels/kernel.h"
#include "kernels/philox.h"

namespace kernels {

/// Source of a mask. A captured step needs `substream`, which is read when the step runs, so that
/// each replay draws another mask.
struct MaskSource {
    PhiloxStream random;
    const std::int64_t* substream = nullptr;  ///< on the device; replaces that of `random`
    std::uint64_t offset = 0;
};

/// mask[i] = 1 if uniform number offset + i of the source is >= p, else 0; mask boolean.
using DropoutMask = void(Array mask, const MaskSource& source, double p, Stream stream);
HALFTONE_KERNEL(DropoutMask, dropout_mask);

/// y[i] = x[i] * m * scale with m = 1 where mask[i] is not 0, else 0 (so NaN and infinity become
/// NaN there); mask boolean, y and x of one floating dtype, y may alias x. In f32 (f64 for f64),
/// rounded once.
using DropoutApply = void(Array y, ConstArray x, ConstArray mask, double scale, Stream stream);
HALFTONE_KERNEL(DropoutApply, dropout_apply);

}  // namespace kernels
