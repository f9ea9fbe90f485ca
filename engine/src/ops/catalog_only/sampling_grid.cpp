#include "ops/catalog_only/sampling_grid.h"

#include "kernels/elementwise.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/unary.h"
#include "tensor/layout.h"

namespace engine {
namespace {

constexpr Op grid_place_op("grid_place(x)");
constexpr Op cubic_weight_op("cubic_weight(x)");

/// PyTorch's CUDA kernels leave out what no index reaches by moving it here.
constexpr double outside = -100, index_end = 0x1p31;

/// `at` into [0, size - 1]; NaN goes to 0, as by fmax.
Inside clipped(const Inside& from, std::int64_t size) {
    const Tensor& at = from.at;
    const Tensor zero = number_like(0, at), last = number_like(static_cast<double>(size - 1), at);
    const Tensor ends = logical_or(less_equal(at, zero), greater_equal(at, last));
    const Tensor kept = where(greater(at, zero), where(less(at, last), at, last), zero);
    return {kept, where(ends, zero, from.slope.defined() ? from.slope : number_like(1, at)),
            isnan(at)};
}

/// Mirrored at `low` and `low + span` until it lies between them.
Inside mirrored(const Tensor& c, double low, double span) {
    const Tensor from_low = add(c, -low);
    const Tensor one = number_like(1, c), minus = number_like(-1, c);
    const Tensor sign = where(less(from_low, number_like(0, c)), minus, one);
    const Tensor flips = floored(mul(abs(from_low), 1 / span));
    const Tensor odd = sub(flips, mul(floored(mul(flips, 0.5)), 2.0));
    const Tensor is_even = equal(odd, number_like(0, c));
    const Tensor whole_spans = mul(flips, span);
    const Tensor slope = mul(sign, where(is_even, one, minus));
    const Tensor offset = where(is_even, neg(whole_spans), add(whole_spans, span));
    return {add(add(mul(from_low, slope), offset), low), slope, {}};
}

/// Its derivative, in factors, which lose nothing near 0.
Tensor cubic_slope(const Tensor& t, int tap) {
    constexpr double a = -0.75;
    const Tensor rest = add(neg(t), 1.0);
    const auto near = [](const Tensor& x) {
        return mul(x, add(mul(x, 3 * (a + 2)), -2 * (a + 3)));
    };
    switch (tap) {
        case 0:
            return mul(mul(rest, add(mul(t, -3.0), 1.0)), a);
        case 1:
            return near(t);
        case 2:
            return neg(near(rest));
        default:
            return mul(mul(t, add(mul(t, -3.0), 2.0)), a);
    }
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

Inside brought_inside(const Tensor& c0, const AxisRule& rule) {
    const GradMode off(false);
    const Tensor c = c0.detach();
    if (rule.padding == GridPadding::zeros)
        return {where(less(abs(c), number_like(index_end, c)), c, number_like(outside, c)), {}, {}};
    if (rule.padding == GridPadding::border) return clipped({c, {}, {}}, rule.size);
    const double low = rule.align_corners ? 0 : -0.5;
    const double span = static_cast<double>(rule.align_corners ? rule.size - 1 : rule.size);
    // An axis of one element with its ends in one place has nowhere else to read.
    if (span == 0) {
        const Tensor zeros = Tensor::zeros(c.shape(), c.dtype(), c.device());
        return {zeros, zeros, {}};
    }
    return clipped(mirrored(c, low, span), rule.size);
}

Tensor moved(const Tensor& c, const Inside& to, const Tensor& lost) {
    return record(grid_place_op, {c}, to.at, {save(to.slope), save(lost)},
                  [](const Tensor& dy, const Saved& saved) {
                      const Tensor dc = saved[0].defined() ? mul(dy, saved[0]) : dy;
                      return saved[1].defined() ? where(saved[1], number_like(0, dc), dc) : dc;
                  });
}

Tensor cubic_weight(const Tensor& t0, int tap) {
    constexpr double a = -0.75;
    const auto near = [](const Tensor& x) {
        return add(mul(mul(x, x), add(mul(x, a + 2), -(a + 3))), 1.0);
    };
    Tensor weight;
    {
        const GradMode off(false);
        const Tensor t = t0.detach(), rest = add(neg(t), 1.0);
        const Tensor weights[] = {t, near(t), near(rest), rest};
        weight = weights[tap];
        // t (1 - t)^2 and (1 - t) t^2
        if (tap == 0) weight = mul(mul(t, mul(rest, rest)), a);
        if (tap == 3) weight = mul(mul(rest, mul(t, t)), a);
    }
    return record(cubic_weight_op, {t0}, weight, {save(t0)},
                  [tap](const Tensor& dy, const Saved& saved) {
                      return mul(dy, cubic_slope(saved[0], tap));
                  });
}

}  // namespace engine
