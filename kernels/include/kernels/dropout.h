#pragma once

#include "kernels/array.h"
#include "kernels/kernel.h"
#include "kernels/philox.h"

namespace kernels {

/// mask[i] = 1 if random.uniform(offset + i) >= p, else 0; mask boolean.
using DropoutMask = void(Array mask, const PhiloxStream& random, std::uint64_t offset, double p,
                         Stream stream);
HALFTONE_KERNEL(DropoutMask, dropout_mask);

}  // namespace kernels
