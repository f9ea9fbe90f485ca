#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo addmm_in_place_info, baddbmm_in_place_info, addbmm_in_place_info,
    addmv_in_place_info, addr_in_place_info;

// x = beta * x + alpha * (a product), returning x; the result has x's shape and type. No in-place
// form has an autocast entry, so mixed types are an error inside a region too
// (autocast.md#operations-without-an-entry, 1.11). Errors on leaves and views as in
// ops/pointwise/inplace.h.

Tensor addmm_(const Tensor& x, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1);
Tensor baddbmm_(const Tensor& x, const Tensor& b1, const Tensor& b2, double beta = 1,
                double alpha = 1);
Tensor addbmm_(const Tensor& x, const Tensor& b1, const Tensor& b2, double beta = 1,
               double alpha = 1);
Tensor addmv_(const Tensor& x, const Tensor& matrix, const Tensor& vector, double beta = 1,
              double alpha = 1);
/// The one that promotes, as addr: mixed types are computed in the widest and rounded to x's.
Tensor addr_(const Tensor& x, const Tensor& v1, const Tensor& v2, double beta = 1,
             double alpha = 1);

}  // namespace engine
