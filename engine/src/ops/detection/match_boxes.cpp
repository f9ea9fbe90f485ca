#include "ops/detection/match_boxes.h"

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/match_boxes.h"
#include "tensor/check.h"

namespace engine {

Tensor match_boxes(const Tensor& boxes0, const Tensor& candidates0, const MatchOptions& options) {
    return match_boxes_op.call(
        boxes0, candidates0, options, [&](const Tensor& boxes, const Tensor& candidates) {
            const Op& op = match_boxes_op;
            check_rank(op, boxes, 3);
            const bool shared = candidates.rank() == 2;
            if (!shared) check_rank(op, candidates, 3);
            check_shapes(op,
                         boxes.size(2) == 4 && candidates.size(candidates.rank() - 1) == 4 &&
                             (shared || candidates.size(0) == boxes.size(0)),
                         boxes, candidates);
            check_threshold(op, options.low);
            check_threshold(op, options.high);
            const kernels::MatchShape shape{boxes.size(0), boxes.size(1),
                                            candidates.size(shared ? 0 : 1), shared};
            const Tensor y =
                Tensor::empty({shape.images, shape.candidates}, DType::i64, boxes.device());
            const Tensor box = dense_rows(boxes, DType::f32),
                         candidate = dense_rows(candidates, DType::f32);
            on(y.device(), kernels::cpu::match_boxes, kernels::cuda::match_boxes)(
                y.data_as<std::int64_t>(), box.data_as<float>(), candidate.data_as<float>(), shape,
                {static_cast<float>(options.high), static_cast<float>(options.low),
                 options.low_quality},
                current_stream());
            return record_flat(op, std::vector{boxes, candidates}, y);
        });
}

}  // namespace engine
