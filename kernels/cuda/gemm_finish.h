#pragma once

#include "kernels/gemm.h"

namespace kernels::cuda {

/// Finishes a product where the library does not: c = sums + beta * c + bias, then relu, with
/// options.beta and rounded once; sums dense (batch, rows of c, cols of c) f32 (f64 for f64), or
/// null for none.
void gemm_finish(Matrix c, const void* sums, const GemmOptions& options, Stream stream);

}  // namespace kernels::cuda
