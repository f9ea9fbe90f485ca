#include "ops/detection/select_boxes.h"

#include <string>

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/select_boxes.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/layout.h"

namespace engine {
namespace {

/// Heights and widths (N, 2).
Tensor picture_sizes(const Op& op, const Tensor& sizes) {
    check_rank(op, sizes, 2);
    if (sizes.size(1) < 2 || sizes.dtype() != DType::i64)
        throw Error(ErrorCode::shape,
                    std::string(op.name) + ": sizes are rows of i64: height, width");
    return dense_rows(narrow(sizes.detach(), 1, 0, 2), DType::i64);
}

void check_count(const Op& op, std::int64_t count) {
    if (count < 0)
        throw Error(ErrorCode::value, std::string(op.name) + ": cannot keep " +
                                          std::to_string(count) + " boxes");
}

/// A map as rows of anchors.
Tensor anchor_rows(const Tensor& map) {
    const GradMode off(false);
    return in_layout(to(map.detach(), DType::f32), Layout::channels_last);
}

}  // namespace

TensorList select_proposals(const TensorList& logits0, const TensorList& deltas0,
                            const Tensor& anchors0, const Tensor& sizes0,
                            const ProposalOptions& options) {
    return select_proposals_op.call(
        logits0, deltas0, anchors0, sizes0, options,
        [&](const TensorList& logits, const TensorList& deltas, const Tensor& anchors,
            const Tensor& sizes) {
            const Op& op = select_proposals_op;
            check_columns(op, anchors, 4);
            check_threshold(op, options.nms_threshold);
            check_count(op, options.before);
            check_count(op, options.after);
            if (logits.empty() || logits.size() != deltas.size() ||
                logits.size() > kernels::max_proposal_levels)
                throw Error(ErrorCode::value,
                            "select_proposals: one map of deltas for each map of logits, at most " +
                                std::to_string(kernels::max_proposal_levels));
            const Tensor size = picture_sizes(op, sizes);
            const std::int64_t images = size.size(0);
            TensorList rows, inputs;
            std::vector<kernels::ProposalLevel> levels;
            std::int64_t total = 0;
            for (std::size_t i = 0; i < logits.size(); ++i) {
                const Tensor &x = logits[i], &d = deltas[i];
                check_rank(op, x, 4);
                check_rank(op, d, 4);
                check_shapes(op,
                             x.size(0) == images && d.size(0) == images &&
                                 d.size(1) == 4 * x.size(1) && d.size(2) == x.size(2) &&
                                 d.size(3) == x.size(3),
                             x, d);
                rows.insert(rows.end(), {anchor_rows(x), anchor_rows(d)});
                inputs.insert(inputs.end(), {x, d});
                levels.push_back({rows[2 * i].data_as<float>(), rows[2 * i + 1].data_as<float>(),
                                  x.size(1) * x.size(2) * x.size(3)});
                total += levels.back().anchors;
            }
            check_shapes(op, anchors.size(0) == total, anchors, logits.front());
            inputs.insert(inputs.end(), {anchors, sizes});
            const Device& device = logits.front().device();
            const Tensor boxes = Tensor::empty({images, options.after, 4}, DType::f32, device);
            const Tensor counts = Tensor::empty({images}, DType::i64, device);
            const Tensor around = dense_rows(anchors, DType::f32);
            on(device, kernels::cpu::select_proposals, kernels::cuda::select_proposals)(
                boxes.data_as<float>(), counts.data_as<std::int64_t>(), levels,
                around.data_as<float>(), size.data_as<std::int64_t>(),
                {images, options.before, options.after, options.nms_threshold,
                 static_cast<float>(options.min_size)},
                current_stream());
            return record_outputs(op, inputs, {boxes, counts}, {}, {});
        });
}

TensorList select_detections(const Tensor& logits0, const Tensor& deltas0, const Tensor& rois0,
                             const Tensor& sizes0, const DetectionOptions& options) {
    return select_detections_op.call(
        logits0, deltas0, rois0, sizes0, options,
        [&](const Tensor& logits, const Tensor& deltas, const Tensor& rois, const Tensor& sizes) {
            const Op& op = select_detections_op;
            check_rank(op, logits, 2);
            check_columns(op, rois, 5);
            check_columns(op, deltas, 4 * logits.size(1));
            check_shapes(op, logits.size(0) == rois.size(0) && deltas.size(0) == rois.size(0),
                         logits, rois);
            check_threshold(op, options.nms_threshold);
            check_count(op, options.detections);
            const Tensor size = picture_sizes(op, sizes);
            const std::int64_t images = size.size(0);
            const NoAutocast inside(logits.device().kind);
            const Tensor scores = softmax(to(logits.detach(), DType::f32), 1);
            const Device& device = logits.device();
            const Tensor boxes = Tensor::empty({images, options.detections, 6}, DType::f32, device);
            const Tensor counts = Tensor::empty({images}, DType::i64, device);
            const Tensor score = dense_rows(scores, DType::f32),
                         delta = dense_rows(deltas, DType::f32),
                         region = dense_rows(rois, DType::f32);
            on(device, kernels::cpu::select_detections, kernels::cuda::select_detections)(
                boxes.data_as<float>(), counts.data_as<std::int64_t>(), score.data_as<float>(),
                delta.data_as<float>(), region.data_as<float>(), size.data_as<std::int64_t>(),
                {images, rois.size(0), logits.size(1), options.detections,
                 static_cast<float>(options.score_threshold), static_cast<float>(options.min_size),
                 options.nms_threshold},
                current_stream());
            return record_outputs(op, std::vector{logits, deltas, rois, sizes}, {boxes, counts}, {},
                                  {});
        });
}

}  // namespace engine
