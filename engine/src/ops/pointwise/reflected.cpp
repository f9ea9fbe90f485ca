#include "ops/pointwise/reflected.h"

#include "engine/base/error.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "tensor/result_type.h"

namespace engine {
TensorList run_rpow(const Op&, const OpArguments& args) {
    if (!args.has("other")) throw Error(ErrorCode::value, "give the number on the left as other");
    return {pow(number_like(args.at(0), args, "other"), args.at(0))};
}

Tensor div(double number, const Tensor& x) { return mul(reciprocal(x), number); }
Tensor pow(double number, const Tensor& x) { return pow(scalar_like(x, number), x); }

}  // namespace engine
