#pragma once

#include "engine/instruments/skip_report.h"
#include "tensor/tensor.h"

namespace engine {

/// Largest magnitude of a floating tensor, dense or sparse; inf or NaN if a value is. Waits for the
/// device.
double largest_magnitude(const Tensor& x);
TensorGlance glance(const Tensor& x);
/// The stored values of a sparse tensor; a dense one as it is.
Tensor stored_values(const Tensor& x);
/// Writes the counts of non-finite values, and the index and value of the first one in row-major
/// order, into `out`. For a sparse tensor: among its stored values.
void find_bad(const Tensor& x, BadTensor& out);

}  // namespace engine
