#include "ops/detection/boxes.h"

#include <string>

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/select_boxes.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/view.h"
#include "tensor/check.h"

namespace engine {
namespace {

/// Column i of boxes (.., 4), as (.., 1).
Tensor corner(const Tensor& boxes, std::int64_t i) { return narrow(boxes, -1, i, 1); }

struct Extent {
    Tensor x, y, w, h;  // centre and sides, (.., 1)
};
Extent find_extent(const Tensor& boxes) {
    const Tensor left = corner(boxes, 0), top = corner(boxes, 1);
    const Tensor w = sub(corner(boxes, 2), left), h = sub(corner(boxes, 3), top);
    return {add(left, mul(w, 0.5)), add(top, mul(h, 0.5)), w, h};
}

Tensor find_area(const Tensor& boxes) {
    return mul(sub(corner(boxes, 2), corner(boxes, 0)), sub(corner(boxes, 3), corner(boxes, 1)));
}

void check_weights(const Op& op, const std::vector<double>& weights) {
    if (weights.size() == 4) return;
    throw Error(ErrorCode::value, std::string(op.name) + ": there are four weights, not " +
                                      std::to_string(weights.size()));
}

/// A number beside x, which computes in its type.
Tensor beside(const Tensor& x, double value) {
    return Tensor::scalar(value, x.dtype(), x.device());
}

}  // namespace

Tensor box_iou(const Tensor& a0, const Tensor& b0) {
    return box_iou_op.call(a0, b0, [&](const Tensor& a1, const Tensor& b1) {
        check_columns(box_iou_op, a1, 4);
        check_columns(box_iou_op, b1, 4);
        const NoAutocast inside(a1.device().kind);
        const GradMode off(false);
        const Tensor a = as_f32(a1), b = as_f32(b1);
        const auto across = [&](const Tensor& column) { return reshape(column, {1, b.size(0)}); };
        const auto shared = [&](std::int64_t low, std::int64_t high) {
            return relu(sub(minimum(corner(a, high), across(corner(b, high))),
                            maximum(corner(a, low), across(corner(b, low)))));
        };
        const Tensor inter = mul(shared(0, 2), shared(1, 3));
        const Tensor iou = div(inter, sub(add(find_area(a), across(find_area(b))), inter));
        return record_flat(box_iou_op, std::vector{a1, b1}, iou);
    });
}

Tensor box_encode(const Tensor& boxes0, const Tensor& anchors0,
                  const std::vector<double>& weights) {
    return box_encode_op.call(
        boxes0, anchors0, weights, [&](const Tensor& boxes, const Tensor& anchors) {
            check_columns(box_encode_op, boxes, 4);
            check_shapes(box_encode_op, boxes.shape() == anchors.shape(), boxes, anchors);
            check_weights(box_encode_op, weights);
            const NoAutocast inside(boxes.device().kind);
            const GradMode off(false);
            const Extent to = find_extent(as_f32(boxes)), from = find_extent(as_f32(anchors));
            const auto shift = [](double w, const Tensor& g, const Tensor& a, const Tensor& side) {
                return div(mul(sub(g, a), w), side);
            };
            const Tensor y = cat({shift(weights[0], to.x, from.x, from.w),
                                  shift(weights[1], to.y, from.y, from.h),
                                  mul(log(div(to.w, from.w)), weights[2]),
                                  mul(log(div(to.h, from.h)), weights[3])},
                                 1);
            return record_flat(box_encode_op, std::vector{boxes, anchors}, y);
        });
}

Tensor box_decode(const Tensor& deltas0, const Tensor& anchors0,
                  const std::vector<double>& weights) {
    return box_decode_op.call(
        deltas0, anchors0, weights, [&](const Tensor& deltas, const Tensor& anchors) {
            check_rank(box_decode_op, deltas, 2);
            check_columns(box_decode_op, anchors, 4);
            check_shapes(box_decode_op,
                         deltas.size(0) == anchors.size(0) && deltas.size(1) % 4 == 0, deltas,
                         anchors);
            check_weights(box_decode_op, weights);
            const NoAutocast inside(deltas.device().kind);
            const GradMode off(false);
            const std::int64_t n = deltas.size(0), classes = deltas.size(1) / 4;
            const Tensor each = reshape(as_f32(deltas), {n, classes, 4});
            const Extent from = find_extent(reshape(as_f32(anchors), {n, 1, 4}));
            const auto delta = [&](std::int64_t i) {
                const Tensor d = corner(each, i);
                return div(d, beside(d, weights[static_cast<std::size_t>(i)]));
            };
            const auto half = [&](std::int64_t i, const Tensor& side) {
                const Tensor d = delta(i);
                return mul(mul(exp(minimum(d, beside(d, kernels::max_log_side))), side), 0.5);
            };
            const Tensor x = add(mul(delta(0), from.w), from.x),
                         y = add(mul(delta(1), from.h), from.y), w = half(2, from.w),
                         h = half(3, from.h);
            const Tensor boxes = cat({sub(x, w), sub(y, h), add(x, w), add(y, h)}, 2);
            return record_flat(box_decode_op, std::vector{deltas, anchors},
                               reshape(boxes, deltas.shape()));
        });
}

}  // namespace engine
