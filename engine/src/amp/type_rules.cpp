#include "amp/type_rules.h"

#include <string>

#include "engine/base/error.h"

namespace engine {
namespace {

/// autocast.md#policies (1.4), promote: order matters, and the other 16-bit type met before any f32
/// is an error.
DType widest(const Op& info, DType low, std::span<const OperandType> consulted) {
    DType candidate = low;
    for (const OperandType& each : consulted) {
        if (candidate == DType::f32 || each.type == DType::f32) {
            candidate = DType::f32;
        } else if (each.type != low) {
            throw Error(ErrorCode::dtype, std::string(info.name) + ": unexpected type " +
                                              name(each.type) + " in a region of " + name(low));
        }
    }
    return candidate;
}

bool is_norm(const Op& info) {
    const std::string_view name = info.name;
    return name.find("batch_norm") != name.npos || name.find("layer_norm") != name.npos ||
           name == "group_norm" || name == "instance_norm" || name == "rms_norm";
}

}  // namespace

std::optional<DType> cast_target(const Op& info, DType low,
                                 std::span<const OperandType> consulted) {
    switch (info.policy) {
        case CastPolicy::low:
            return low;
        case CastPolicy::f32:
            return DType::f32;
        case CastPolicy::promote:
            return widest(info, low, consulted);
        case CastPolicy::banned:
            throw Error(ErrorCode::state,
                        std::string(info.name) +
                            " is unsafe under autocast: its gradient may not fit a 16-bit type",
                        "Use binary_cross_entropy_with_logits, or a nested region that is off with "
                        "f32 inputs.");
        case CastPolicy::none:
        case CastPolicy::f32_dtype:
        case CastPolicy::f32_append:
            return std::nullopt;
    }
    return std::nullopt;
}

std::optional<DType> unforced_type(const Op& info, std::span<const OperandType> operands) {
    if (is_norm(info) && !operands.empty()) return operands.front().type;
    std::optional<DType> type;
    bool with_dims = false;
    for (const OperandType& each : operands) {
        if (each.is_number) continue;
        if (!type || (each.has_dims && !with_dims)) {
            type = each.type;
        } else if (each.has_dims == with_dims) {
            type = promote(*type, each.type);
        }
        with_dims = with_dims || each.has_dims;
    }
    return type;
}

TypeReason type_reason(const Op& info, const ForceRule* forced, bool autocast) {
    if (forced != nullptr) return {"forced", "precision.force sets the type of this operation."};
    if (!autocast && info.policy != CastPolicy::none)
        return {"off", "Autocast is off: runs in the type of its inputs."};
    return {name(info.policy), info.why};
}

}  // namespace engine
