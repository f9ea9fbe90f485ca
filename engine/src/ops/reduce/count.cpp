#include "ops/reduce/count.h"

#include "ops/pointwise/compare.h"
#include "ops/shape/reduce_plan.h"
#include "tensor/cast.h"

namespace engine {
namespace {

using Ints = std::vector<std::int64_t>;
using kernels::ReduceOp;

template <Tensor (*op)(const Tensor&, const Ints&, bool)>
TensorList run(const OpArguments& args) {
    return {op(args.at(0), args.integers("dim", {}), args.flag("keepdim", false))};
}
TensorList run_count(const OpArguments& args) {
    return {count_nonzero(args.at(0), args.integers("dim", {}))};
}

/// Results of counting, in f64, where every count that fits in memory is exact.
Tensor counted(const OpInfo& info, const Tensor& x, const Ints& dims, bool keepdim) {
    const GradMode off(false);
    const Tensor zero = Tensor::scalar(0, x.dtype(), x.device());
    const Tensor ones = to(not_equal(x, zero), DType::f64);
    return reduced_by(ReduceOp::sum, ones, reduce_plan(info.name, x, dims), keepdim, DType::f64);
}

constexpr const char* counts_values =
    "A count or an answer is a whole number: there is no precision to lose.";

}  // namespace

const OpInfo all_info{"all", CastPolicy::none, "all(x; dim?, keepdim)", 0, counts_values, run<all>};
const OpInfo any_info{"any", CastPolicy::none, "any(x; dim?, keepdim)", 0, counts_values, run<any>};
const OpInfo count_nonzero_info{"count_nonzero", CastPolicy::none, "count_nonzero(x; dim?)", 0,
                                counts_values,   run_count};

Tensor all(const Tensor& x, const Ints& dims, bool keepdim) {
    const auto count = static_cast<double>(reduce_plan("all", x, dims).count);
    const Tensor found = counted(all_info, x, dims, keepdim);
    return record_flat(all_info, {&x, 1},
                       equal(found, Tensor::scalar(count, DType::f64, x.device())));
}
Tensor any(const Tensor& x, const Ints& dims, bool keepdim) {
    const Tensor found = counted(any_info, x, dims, keepdim);
    return record_flat(any_info, {&x, 1},
                       greater(found, Tensor::scalar(0, DType::f64, x.device())));
}
Tensor count_nonzero(const Tensor& x, const Ints& dims) {
    return record_flat(count_nonzero_info, {&x, 1},
                       to(counted(count_nonzero_info, x, dims, false), DType::i64));
}

}  // namespace engine
