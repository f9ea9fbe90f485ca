#include "ops/special.h"

#include "ops/binary.h"
#include "ops/pointwise.h"
#include "ops/unary.h"

namespace engine {
namespace {

using kernels::UnaryOp;

constexpr const char* no_entry = "Not on the autocast list: runs in its input's type.";

Tensor power_of_two(const Tensor& w) { return pow(constant(w, 2), w); }

}  // namespace

const OpInfo erfc_info{"erfc", CastPolicy::none, "erfc(x)", 2, no_entry, run_unary<erfc>};
const OpInfo erfinv_info{
    "erfinv",
    CastPolicy::f32,
    "erfinv(x)",
    2,
    "It is infinite at -1 and 1, and its slope near them magnifies any rounding of x.",
    run_unary<erfinv>};
const OpInfo exp2_info{"exp2", CastPolicy::none, "exp2(x)", 2, no_entry, run_unary<exp2>};

Tensor erfc(const Tensor& x) {
    return pointwise(erfc_info, x, UnaryOp::erfc, [](const Tensor& w) {
        constexpr double two_by_root_pi = 1.12837916709551257390;
        return mul(exp(neg(mul(w, w))), -two_by_root_pi);
    });
}

Tensor erfinv(const Tensor& x) {
    return pointwise(erfinv_info, x, UnaryOp::erfinv, [](const Tensor& w) {
        constexpr double half_root_pi = 0.88622692545275801365;
        const Tensor y = erfinv(w);
        return mul(exp(mul(y, y)), half_root_pi);
    });
}

Tensor exp2(const Tensor& x) {
    return pointwise(exp2_info, x, power_of_two, [](const Tensor& w) {
        constexpr double ln_2 = 0.69314718055994530942;
        return mul(power_of_two(w), ln_2);
    });
}

}  // namespace engine
