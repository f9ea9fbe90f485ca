#include "ops/pointwise/reflected.h"

#include "engine/base/error.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

template <Tensor (*op)(double, const Tensor&)>
TensorList run_reversed(const OpArguments& args) {
    if (!args.has("other")) throw Error(ErrorCode::value, "give the number on the left as other");
    return {op(args.number("other", 1), args.at(0))};
}

TensorList run_rpow(const OpArguments& args) {
    if (!args.has("other")) throw Error(ErrorCode::value, "give the number on the left as other");
    return {pow(number_like(args.at(0), args, "other"), args.at(0))};
}

constexpr const char* through_reciprocal =
    "Not on the list itself: number / x is reciprocal(x) * number, and the reciprocal is fp32.";

}  // namespace

const OpInfo rdiv_info{"rdiv", CastPolicy::none,   "rdiv(x; other)",
                       2,      through_reciprocal, run_reversed<div>};
const OpInfo rtruediv_info{"rtruediv", CastPolicy::none,   "rtruediv(x; other)",
                           2,          through_reciprocal, run_reversed<div>};
const OpInfo rpow_info{"rpow",
                       CastPolicy::none,
                       "rpow(x; other)",
                       2,
                       "Not on the list itself: number ** x is pow, which is fp32.",
                       run_rpow};

Tensor div(double number, const Tensor& x) { return mul(reciprocal(x), number); }
Tensor pow(double number, const Tensor& x) { return pow(scalar_like(x, number), x); }

}  // namespace engine
