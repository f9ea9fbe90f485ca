#include "ops/loss/loss_wide.h"

#include "amp/autocast.h"
#include "engine/base/error.h"
#include "ops/pointwise/binary.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

const OpInfo replaced_info{"replaced", CastPolicy::none, "replaced(x)", 2,
                           "Other values with an unchanged gradient: nothing to cast."};

}  // namespace

Reduction reduction_of(const OpArguments& args) {
    return reduction_from_name(args.text("reduction", "mean"));
}

DType loss_type(const OpInfo& info, std::initializer_list<Tensor> tensors) {
    const DType type = result_type(tensors);
    if (!is_floating(type))
        throw Error(ErrorCode::dtype, std::string(info.name) + ": not defined for " + name(type));
    return type;
}

DType type_through_f32(Device::Kind kind, DType type) {
    return autocast_enabled(kind) && is_low(type) ? DType::f32 : type;
}

Tensor replaced(const Tensor& x, const Tensor& value) {
    return record(replaced_info, {x}, value, {}, [](const Tensor& dy, const Saved&) { return dy; });
}

}  // namespace engine
