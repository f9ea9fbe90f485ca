#include "ops/detection/box_parts.h"

#include <string>

#include "engine/base/error.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/layout.h"

namespace engine {

void check_columns(const Op& op, const Tensor& x, std::int64_t columns) {
    check_rank(op, x, 2);
    if (x.size(1) == columns) return;
    throw Error(ErrorCode::shape, std::string(op.name) + ": rows have " + std::to_string(columns) +
                                      " columns, not " + std::to_string(x.size(1)));
}

void check_threshold(const Op& op, double threshold) {
    if (threshold >= 0 && threshold <= 1) return;
    throw Error(ErrorCode::value, std::string(op.name) + ": a threshold of IoU is in [0, 1], not " +
                                      std::to_string(threshold));
}

Tensor dense_rows(const Tensor& x, DType dtype) {
    const GradMode off(false);
    return in_layout(to(x.detach(), dtype), Layout::contiguous);
}

Tensor on_host(const Tensor& x, DType dtype) {
    const GradMode off(false);
    return dense_rows(x, dtype).copy_to(Device{});
}

Tensor as_f32(const Tensor& x) { return x.dtype() == DType::f64 ? x : to(x, DType::f32); }

}  // namespace engine
