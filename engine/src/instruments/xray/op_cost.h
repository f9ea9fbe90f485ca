#pragma once

#include <span>
#include <string>

#include "tensor/tensor.h"

namespace engine {

/// Floating-point operations of a call, by its shapes: two for each multiply-add of products,
/// convolutions, attention and recurrent networks, one for each element otherwise, none for views
/// and casts. `inputs` in the order of the op's signature.
double flops_of(const std::string& op, std::span<const Tensor> inputs,
                std::span<const Tensor> outputs);

/// Memory that a call moves. Views move none.
struct Traffic {
    std::int64_t read = 0, written = 0;
};
Traffic count_traffic(std::span<const Tensor> inputs, std::span<const Tensor> outputs);

}  // namespace engine
