#pragma once

#include <cstdint>

#include "amp/dispatch.h"

/// The memory that operations take for their gradients.
namespace engine::network {

/// The values of an operation that its gradient reads.
enum class Reads : std::uint8_t {
    nothing,
    input,             ///< the first operand
    inputs,            ///< all operands
    wide,              ///< the first operand in f32
    wide_inputs,       ///< all operands in f32
    factors,           ///< each operand whose other one learns
    result,
    input_and_result
};

Reads read_by_gradient(const Op& op);

/// Bytes of an operation's temporaries in its gradient, for each element of its largest operand.
struct Scratch {
    double low = 0, f32 = 0;  ///< by the type that it is given
};
/// As memory accounting measures it.
Scratch gradient_scratch(const Op& op);

}  // namespace engine::network
