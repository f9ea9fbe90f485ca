#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "tensor/op.h"
#include "tensor/operand_type.h"

namespace engine {

// Which type an operation computes in, from the types of its operands alone: for tensors, and for
// the operations of a network that has not run.

struct ForceRule;  // amp/dispatch.h

/// The type that the op's policy casts to in a region of `low`. Nothing: its operands stay as they
/// are. `consulted`: its first Op::consulted operands, those that autocast casts; promote alone
/// reads them. Throws for a banned op.
std::optional<DType> cast_target(const Op& info, DType low, std::span<const OperandType> consulted);

/// Whether results are f32 in a region, though the operands are not cast.
constexpr bool writes_f32(CastPolicy policy) noexcept {
    return policy == CastPolicy::f32_dtype || policy == CastPolicy::f32_append;
}

/// The type of the result without autocast, to which that of a forced operation goes back
/// (autocast.md#operations-without-an-entry, 1.11). `operands`: those that autocast casts. Norms
/// take the type of their input, regardless of the type of their parameters.
std::optional<DType> unforced_type(const Op& info, std::span<const OperandType> operands);

/// The rule that decides about an operation of a forward pass, and why, as the X-ray names them.
struct TypeReason {
    std::string_view rule, why;
};
/// `forced`: the rule of precision.force; null: none applies.
TypeReason type_reason(const Op& info, const ForceRule* forced, bool autocast);

}  // namespace engine
