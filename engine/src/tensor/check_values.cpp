#include "tensor/check_values.h"

#include "kernels/reduce.h"
#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {
namespace {

bool on_gpu(const Tensor& x) { return x.device().kind == Device::Kind::cuda; }

/// The extreme of a dense tensor on the CPU; NaN if any element is.
double extreme(const Tensor& x, kernels::ReduceOp op) {
    const Tensor y = Tensor::empty({}, x.dtype(), x.device());
    kernels::cpu::reduce(y.array(), x.array(), 1, x.numel(), 1, op, current_stream());
    return y.item();
}

}  // namespace

void check_whole_values(const ValueRule& rule, const Tensor& x, std::int64_t low, std::int64_t high,
                        std::optional<std::int64_t> but) {
    if (x.numel() == 0) return;
    const GradMode off(false);
    const Tensor dense = in_layout(x, Layout::contiguous);
    const kernels::WholeRange range{low, high, but.value_or(0), but.has_value()};
    if (on_gpu(x)) {
        const DeviceScope scope(x.device());
        kernels::cuda::check_whole(deferred_error_place(rule, x.device()), dense.array(), range,
                                   current_stream());
        return;
    }
    const auto* values = dense.data_as<const std::int64_t>();
    for (std::int64_t i = 0; i < dense.numel(); ++i) {
        if (!range.holds(values[i])) throw rule.error(values[i]);
    }
}

ValueRule wrong_class(const Op& info, std::int64_t classes) {
    return {std::string(info.name) + ": a target of ",
            " is outside the " + std::to_string(classes) + " classes"};
}

void check_class_values(const Op& info, const Tensor& target, std::int64_t classes,
                        std::optional<std::int64_t> ignore_index) {
    check_whole_values(wrong_class(info, classes), target, 0, classes - 1, ignore_index);
}

void check_index_values(const Op& info, const Tensor& index, std::int64_t low,
                        std::int64_t size) {
    const ValueRule rule{std::string(info.name) + ": index ",
                         " is out of range for a dimension of " + std::to_string(size)};
    check_whole_values(rule, index, low, size - 1);
}

void check_values(const ValueRule& rule, const Tensor& x, double low, double high) {
    if (x.numel() == 0) return;
    const GradMode off(false);
    const Tensor flat = dense(x);
    if (on_gpu(x)) {
        const DeviceScope scope(x.device());
        kernels::cuda::check_numbers(deferred_error_place(rule, x.device()), flat.array(), low,
                                     high, current_stream());
        return;
    }
    const double least = extreme(flat, kernels::ReduceOp::min);
    if (least >= low && extreme(flat, kernels::ReduceOp::max) <= high) return;
    for (const double v : x.values()) {
        if (v < low || v > high) throw rule.error(v);
    }
}

}  // namespace engine
