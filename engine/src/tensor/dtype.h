#pragma once

#include <string>

#include "engine/base/names.h"
#include "kernels/dtype.h"

namespace engine {

using kernels::DType;
using kernels::is_floating;
using kernels::size_of;

/// "f32", "f16", ...: the short names of the specification.
template <>
inline constexpr std::array enum_names<DType> = {
    "f64", "f32", "f16", "bf16", "i64", "i32", "u8", "bool"};
/// DType of a short name. Throws Error(value).
DType dtype_from_name(const std::string& name);

constexpr bool is_low(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

/// Result type of two operands of the same kind of rank (autocast.md#operations-without-an-entry,
/// 1.11): f16 with bf16 is f32, floats win over integers, integers over bool.
DType promote(DType a, DType b);

}  // namespace engine
