#pragma once

#include <span>

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

/// One tensor of the state that a recurrent network carries from step to step.
struct CarriedTensor {
    static constexpr std::size_t most = 4;  ///< tensors of one network

    float* to = nullptr;                      ///< (layers, streams, width), dense
    ConstArray from{nullptr, DType::f32, 0};  ///< the same, floating
    std::int64_t layers = 0;
    std::int64_t width = 0;
};

/// to = from, stream by stream. A stream with a non-finite value in any tensor becomes 0 in all of
/// them and adds 1 to *resets: one overflow would spoil every later step. At most
/// CarriedTensor::most tensors.
using CarryState = void(std::span<const CarriedTensor> tensors, std::int64_t streams,
                        std::int64_t* resets, Stream stream);
HALFTONE_KERNEL(CarryState, carry_state);

}  // namespace kernels
