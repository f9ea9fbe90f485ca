#pragma once

#include <vector>

#include "kernels/array.h"

namespace kernels::test {

/// The types of one parameter's arrays that an update takes together.
struct Types {
    DType master, grad, state, low;
};
inline const std::vector<Types> type_sets = {
    {DType::f32, DType::f32, DType::f32, DType::f16},
    {DType::f32, DType::f16, DType::f32, DType::bf16},
    {DType::f32, DType::bf16, DType::f32, DType::f16},
    {DType::f16, DType::f16, DType::f16, DType::f16},
    {DType::bf16, DType::bf16, DType::f32, DType::bf16},
    {DType::f64, DType::f64, DType::f64, DType::f16},
    {DType::f32, DType::f64, DType::f32, DType::f16},
};

}  // namespace kernels::test
