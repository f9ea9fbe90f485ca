#include "ops/detection/nms.h"

#include <string>

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/nms.h"
#include "ops/shape/view.h"
#include "tensor/check.h"

namespace engine {
namespace {

/// `groups`: undefined, or a group for each box.
Tensor kept_boxes(const Op& op, const Tensor& boxes, const Tensor& scores, const Tensor& groups,
                  double threshold) {
    check_columns(op, boxes, 4);
    const auto one_each = [&](const Tensor& x) {
        check_shapes(op, x.rank() == 1 && x.size(0) == boxes.size(0), boxes, x);
    };
    one_each(scores);
    check_threshold(op, threshold);
    TensorList inputs{boxes, scores};
    Tensor group;
    if (groups.defined()) {
        one_each(groups);
        if (is_floating(groups.dtype()))
            throw Error(ErrorCode::dtype, std::string(op.name) + ": idxs are whole numbers");
        group = on_host(groups, DType::i64);
        inputs.push_back(groups);
    }
    const Tensor corners = on_host(boxes, DType::f32), score = on_host(scores, DType::f32);
    const Tensor keep = Tensor::empty({boxes.size(0)}, DType::i64, Device{});
    const std::int64_t count = kernels::cpu::nms(
        keep.data_as<std::int64_t>(), corners.data_as<float>(), score.data_as<float>(),
        group.defined() ? group.data_as<std::int64_t>() : nullptr, boxes.size(0), threshold);
    const GradMode off(false);
    return record_flat(op, inputs, narrow(keep, 0, 0, count).copy_to(boxes.device()));
}

}  // namespace

Tensor nms(const Tensor& boxes0, const Tensor& scores0, double iou_threshold) {
    return nms_op.call(boxes0, scores0, iou_threshold,
                       [&](const Tensor& boxes, const Tensor& scores) {
                           return kept_boxes(nms_op, boxes, scores, {}, iou_threshold);
                       });
}

Tensor batched_nms(const Tensor& boxes0, const Tensor& scores0, const Tensor& idxs0,
                   double iou_threshold) {
    return batched_nms_op.call(
        boxes0, scores0, idxs0, iou_threshold,
        [&](const Tensor& boxes, const Tensor& scores, const Tensor& idxs) {
            return kept_boxes(batched_nms_op, boxes, scores, idxs, iou_threshold);
        });
}

}  // namespace engine
