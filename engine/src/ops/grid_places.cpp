#include "ops/grid_places.h"

#include "kernels/elementwise.h"
#include "ops/binary.h"
#include "ops/compare.h"
#include "ops/layout.h"
#include "ops/unary.h"

namespace engine {
namespace {

/// Into [0, size - 1]; no slope at the ends.
Tensor clipped(const Tensor& c, std::int64_t size) {
    const Tensor zero = number_like(0, c), last = number_like(static_cast<double>(size - 1), c);
    return where(less_equal(c, zero), zero, where(greater_equal(c, last), last, c));
}

/// Mirrored at `low` and `low + span` until it lies between them.
Tensor mirrored(const Tensor& c, double low, double span) {
    const Tensor from_low = add(c, -low);
    Tensor slope, offset;
    {
        const GradMode off(false);
        const Tensor one = number_like(1, c), minus = number_like(-1, c);
        const Tensor sign = where(less(from_low, number_like(0, c)), minus, one);
        const Tensor flips = floored(mul(abs(from_low), 1 / span));
        const Tensor odd = sub(flips, mul(floored(mul(flips, 0.5)), 2.0));
        const Tensor is_even = equal(odd, number_like(0, c));
        const Tensor whole_spans = mul(flips, span);
        slope = mul(sign, where(is_even, one, minus));
        offset = where(is_even, neg(whole_spans), add(whole_spans, span));
    }
    return add(add(mul(from_low, slope), offset), low);
}

}  // namespace

Tensor number_like(double value, const Tensor& x) {
    return Tensor::full({}, value, x.dtype(), x.device());
}
Tensor whole_number(std::int64_t value, const Tensor& x) {
    return Tensor::full({}, static_cast<double>(value), DType::i64, x.device());
}

Tensor floored(const Tensor& x) {
    const Tensor from = dense(x.detach()), y = empty_like(from);
    on(x.device(), kernels::cpu::unary, kernels::cuda::unary)(
        y.array(), from.array(), kernels::UnaryOp::floor, current_stream());
    return y;
}

Tensor nearest_whole(const Tensor& x0) {
    const GradMode off(false);
    const Tensor x = x0.detach(), up = floored(add(x, 0.5));
    // A half goes up there; where that is an odd number the even one is below.
    const Tensor odd = sub(up, mul(floored(mul(up, 0.5)), 2.0));
    const Tensor is_half = equal(sub(up, x), number_like(0.5, x));
    return where(is_half, sub(up, odd), up);
}

Tensor from_ends(const Tensor& c, const AxisRule& rule) {
    const auto size = static_cast<double>(rule.size);
    if (rule.align_corners) return mul(add(c, 1.0), (size - 1) / 2);
    return mul(add(mul(add(c, 1.0), size), -1.0), 0.5);
}

Tensor brought_inside(const Tensor& c, const AxisRule& rule) {
    if (rule.padding == GridPadding::zeros) return c;
    if (rule.padding == GridPadding::border) return clipped(c, rule.size);
    const double low = rule.align_corners ? 0 : -0.5;
    const double span = static_cast<double>(rule.align_corners ? rule.size - 1 : rule.size);
    // An axis of one element with its ends in one place has nowhere else to read.
    if (span == 0) return mul(c, 0.0);
    return clipped(mirrored(c, low, span), rule.size);
}

}  // namespace engine
