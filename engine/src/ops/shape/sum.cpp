#include "ops/shape/sum.h"

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/shape/reduce_plan.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"

namespace engine {
namespace {

using Ints = std::vector<std::int64_t>;

/// Sums in i64, which wraps around.
Tensor sum_of_integers(const Tensor& x, const Ints& dims, bool keepdim) {
    const ReducePlan plan = reduce_plan("sum", x, dims);
    const Tensor y =
        reduced_by(kernels::ReduceOp::sum, to(x, DType::i64), plan, keepdim, DType::i64);
    return record_flat(sum_op, {&x, 1}, to(y, x.dtype()));
}

}  // namespace

Tensor sum(const Tensor& x0, const Ints& dims, bool keepdim, std::optional<DType> dtype) {
    return sum_op.call(x0, dims, keepdim, dtype, [&](const Tensor& x) {
        if (!is_floating(x.dtype())) {
            const DType type = dtype.value_or(DType::i64);
            const Tensor terms = to(x, type);
            return is_floating(type) ? sum(terms, dims, keepdim, type)
                                     : sum_of_integers(terms, dims, keepdim);
        }
        const DType out = autocast_result(sum_op, x, dtype);
        check_result_type("sum", out);
        const ReducePlan plan = reduce_plan("sum", x, dims);
        return record(sum_op, {x}, reduced_by(kernels::ReduceOp::sum, x, plan, keepdim, out), {},
                      [from = x.shape(), kept = plan.kept](const Tensor& dy, const Saved&) {
                          return expand(reshape(dy, kept), from);
                      });
    });
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
    if (x.shape() == shape) return x;
    const int lead = x.rank() - shape.rank();
    std::vector<std::int64_t> dims;
    for (int i = 0; i < x.rank(); ++i) {
        if (i < lead || (shape[i - lead] == 1 && x.size(i) != 1)) dims.push_back(i);
    }
    const Tensor summed = dims.empty() ? x : sum(x, dims, false, x.dtype());
    return reshape(summed, shape);
}

}  // namespace engine
