#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "network/from_onnx/operator_call.h"

// Operators on constants that only move numbers or change their shape: parts of fold().
namespace engine::network {

using Dims = std::vector<std::int64_t>;

/// Returns -1 beyond all limits, which count_work() refuses.
std::int64_t product_of(const Dims& dims);
/// Returns the dims of a constant. Throws where they are symbols.
Dims known_dims(const OperatorCall& call, std::size_t at);
/// Returns the steps along each dimension with which a constant is read as one of larger dims.
Dims broadcast_strides(const OperatorCall& call, const Dims& from, const Dims& to);
/// Returns the offset of each element of `dims`, whose dimensions have these strides.
std::vector<std::size_t> places_of(OperatorCall& call, const Dims& dims, const Dims& strides, std::int64_t start = 0);
/// Gives the constant that has the numbers of `from` at these places.
void take(OperatorCall& call, int from, Dims dims, const std::vector<std::size_t>& places);

/// Sizes of the parts that Split makes of a dimension.
Dims split_parts(const OperatorCall& call, std::int64_t size);

void transposed(OperatorCall& call, int from);
void sliced(OperatorCall& call, int from);
void gathered(OperatorCall& call, int from);
void joined(OperatorCall& call);
void parted(OperatorCall& call, int from);
void reshaped(OperatorCall& call, int from);
/// Squeeze; with `add` Unsqueeze.
void squeezed(OperatorCall& call, int from, bool add);

}  // namespace engine::network
