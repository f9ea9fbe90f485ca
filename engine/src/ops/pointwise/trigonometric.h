#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo sin_info, cos_info, tan_info, acos_info, asin_info, atan_info, cosh_info,
    sinh_info, acosh_info, asinh_info, atanh_info;

// Radians. NaN outside the domain; the slope at its ends is infinite.
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor acos(const Tensor& x);
Tensor asin(const Tensor& x);
Tensor atan(const Tensor& x);
Tensor tan(const Tensor& x);
Tensor cosh(const Tensor& x);
Tensor sinh(const Tensor& x);
Tensor acosh(const Tensor& x);
Tensor asinh(const Tensor& x);
Tensor atanh(const Tensor& x);

}  // namespace engine
