#include "ops/pointwise/logical.h"

#include <limits>

#include "ops/pointwise/compare.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pointwise/unary.h"
#include "tensor/cast.h"

namespace engine {
namespace {

template <Tensor (*op)(const Tensor&, const Tensor&)>
TensorList run_pair(const OpArguments& args) {
    return {op(args.at(0), args.at(1))};
}

constexpr const char* tests_values =
    "Tests values and returns bool: there is no arithmetic to cast for.";

Tensor recorded(const OpInfo& info, const Tensor& x, const Tensor& y) {
    return record_flat(info, {&x, 1}, y);
}
Tensor recorded(const OpInfo& info, const Tensor& a, const Tensor& b, const Tensor& y) {
    const Tensor inputs[] = {a, b};
    return record_flat(info, inputs, y);
}

Tensor all(const Tensor& x, bool value) {
    return Tensor::full(x.shape(), value ? 1 : 0, DType::boolean, x.device());
}
Tensor truth(const Tensor& x) { return to(x, DType::boolean); }
Tensor constant_truth(const Tensor& x, bool value) {
    return Tensor::full({}, value ? 1 : 0, DType::boolean, x.device());
}
Tensor infinity_beside(const Tensor& x) {
    return constant(x, std::numeric_limits<double>::infinity());
}

}  // namespace

const OpInfo isnan_info{"isnan", CastPolicy::none, "isnan(x)", 0, tests_values, run_unary<isnan>};
const OpInfo isinf_info{"isinf", CastPolicy::none, "isinf(x)", 0, tests_values, run_unary<isinf>};
const OpInfo isfinite_info{"isfinite", CastPolicy::none, "isfinite(x)",
                           0,          tests_values,     run_unary<isfinite>};
const OpInfo logical_not_info{"logical_not", CastPolicy::none,      "logical_not(x)", 0,
                              tests_values,  run_unary<logical_not>};
const OpInfo logical_and_info{"logical_and", CastPolicy::none,     "logical_and(x, y)", 0,
                              tests_values,  run_pair<logical_and>};
const OpInfo logical_or_info{"logical_or", CastPolicy::none,    "logical_or(x, y)", 0,
                             tests_values, run_pair<logical_or>};
const OpInfo logical_xor_info{"logical_xor", CastPolicy::none,     "logical_xor(x, y)", 0,
                              tests_values,  run_pair<logical_xor>};

Tensor isnan(const Tensor& x) {
    const GradMode off(false);
    return recorded(isnan_info, x, is_floating(x.dtype()) ? not_equal(x, x) : all(x, false));
}

Tensor isinf(const Tensor& x) {
    const GradMode off(false);
    return recorded(isinf_info, x,
                    is_floating(x.dtype()) ? equal(abs(x), infinity_beside(x)) : all(x, false));
}

Tensor isfinite(const Tensor& x) {
    const GradMode off(false);
    return recorded(isfinite_info, x,
                    is_floating(x.dtype()) ? less(abs(x), infinity_beside(x)) : all(x, true));
}

Tensor logical_not(const Tensor& x) {
    const GradMode off(false);
    return recorded(logical_not_info, x, equal(truth(x), constant_truth(x, false)));
}

Tensor logical_and(const Tensor& a, const Tensor& b) {
    const GradMode off(false);
    return recorded(logical_and_info, a, b, where(truth(a), truth(b), constant_truth(a, false)));
}

Tensor logical_or(const Tensor& a, const Tensor& b) {
    const GradMode off(false);
    return recorded(logical_or_info, a, b, where(truth(a), constant_truth(a, true), truth(b)));
}

Tensor logical_xor(const Tensor& a, const Tensor& b) {
    const GradMode off(false);
    return recorded(logical_xor_info, a, b, not_equal(truth(a), truth(b)));
}

}  // namespace engine
