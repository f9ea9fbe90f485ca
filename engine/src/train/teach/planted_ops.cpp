#include "train/teach/planted_ops.h"

#include "amp/autocast.h"
#include "ops/linalg/norm.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/module_scope.h"

namespace engine {
namespace {

constexpr std::int64_t ones = 100'000;

/// exp on the tape of 0 y + 12, all of it in fp16.
Tensor exp_in_f16(const Tensor& y) {
    const NoAutocast by_hand(y.device().kind);
    return exp(add(to(mul(y, 0.0), DType::f16), 12.0));
}

Tensor sum_in_f16(const Tensor& y) {
    const NoAutocast by_hand(y.device().kind);
    const Tensor zero = to(mul(mean(y), 0.0), DType::f16);
    return sum(add(Tensor::full({ones}, 1, DType::f16, y.device()), zero));
}

}  // namespace

bool is_planted_op(PlantKind kind) {
    return kind == PlantKind::log_of_zero || kind == PlantKind::zero_norm ||
           kind == PlantKind::sqrt_at_zero || kind == PlantKind::exp_12 ||
           kind == PlantKind::sum_of_ones;
}

Tensor planted_op(PlantKind kind, const Tensor& y) {
    static const ModuleName module("teach.plant");
    const ModuleScope opened(module);
    switch (kind) {
        case PlantKind::log_of_zero:
            return add(y, log(mul(y, 0.0)));
        case PlantKind::zero_norm: {
            const Tensor zero = mul(y, 0.0);
            return add(y, div(zero, norm(zero, {-1}, /*keepdim=*/true)));
        }
        case PlantKind::sqrt_at_zero:
            return add(y, sqrt(mul(y, 0.0)));
        case PlantKind::exp_12:
            return add(y, mul(exp_in_f16(y), 0.0));
        case PlantKind::sum_of_ones:
            return add(y, mul(sum_in_f16(y), 0.0));
        default:
            return y;
    }
}

}  // namespace engine
