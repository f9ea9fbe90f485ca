#pragma once

#include <cstdint>

#include "kernels/dtype.h"

/// Elements of the simulated libraries' operands.
namespace kernels::simt {

inline double load(const void* data, DType dtype, std::int64_t i) {
    switch (dtype) {
        case DType::f64:
            return static_cast<const double*>(data)[i];
        case DType::f32:
            return static_cast<double>(static_cast<const float*>(data)[i]);
        case DType::f16:
            return static_cast<double>(to_float(static_cast<const Half*>(data)[i]));
        default:
            return static_cast<double>(to_float(static_cast<const BFloat16*>(data)[i]));
    }
}

inline void store(void* data, DType dtype, std::int64_t i, double value) {
    switch (dtype) {
        case DType::f64:
            static_cast<double*>(data)[i] = value;
            break;
        case DType::f32:
            static_cast<float*>(data)[i] = static_cast<float>(value);
            break;
        case DType::f16:
            static_cast<Half*>(data)[i] = to_half(static_cast<float>(value));
            break;
        default:
            static_cast<BFloat16*>(data)[i] = to_bfloat16(static_cast<float>(value));
    }
}

}  // namespace kernels::simt
