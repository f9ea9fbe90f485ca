#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo addmm_info;

/// beta * c + alpha * a b; c broadcasts to (m, n) and is not read with beta 0.
Tensor addmm(const Tensor& c, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1);

/// beta * c + alpha * a b for matrices or batches of them, with one rounding: the core of addmm and
/// of its relatives, after their casts. c broadcasts and is not read with beta 0; errors and the
/// record name `info`.
Tensor add_product(const OpInfo& info, const Tensor& c, const Tensor& a, const Tensor& b,
                   double beta, double alpha);

}  // namespace engine
