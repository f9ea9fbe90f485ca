#include "cpu/multi_tensor_double.h"
#include "cpu/multi_tensor_update.h"
#include "kernels/multi_tensor.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/multi_tensor_norms.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/multi_tensor_update-inl.h"
#include "hwy/highway.h"

// Norms of tensors, and the values of an update that follow from them.

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

Sums sums_run(const UpdateTensor& t, std::int64_t first, std::int64_t size,
              const GradientValues& at) {
    Sums all;
    for (const std::int64_t end = first + size; first < end; first += update_block_size) {
        const std::int64_t n = std::min(update_block_size, end - first);
        Block p(t.master, first, n);
        Gradient g(t.grad, first, n, p.values(), at);
        all.add({sum_of_squares(p.values(), n), sum_of_squares(g.values(), n),
                 largest_magnitude(g.values(), n)});
    }
    return all;
}

double squares_run(const Array& x, std::int64_t first, std::int64_t size) {
    double sum = 0;
    for (const std::int64_t end = first + size; first < end; first += update_block_size) {
        const std::int64_t n = std::min(update_block_size, end - first);
        Block block(x, first, n);
        sum += sum_of_squares(block.values(), n);
    }
    return sum;
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(sums_run);
HWY_EXPORT(squares_run);

Sums sums_double(const UpdateTensor& t, std::int64_t first, std::int64_t n,
                 const GradientValues& at) {
    return wide::sums_of(first, n, [&](std::int64_t i) {
        const double p = wide::read(t.master, i), g = wide::gradient_of(t, i, at);
        return Sums{p * p, g * g, std::fabs(g)};
    });
}

double squares_double(const Array& x, std::int64_t first, std::int64_t n) {
    const double* values = static_cast<const double*>(x.data);
    return wide::sums_of(first, n, [&](std::int64_t i) { return Sums{values[i] * values[i]}; })
        .weight;
}

}  // namespace

Sums gradient_sums(const UpdateTensor& tensor, std::int64_t first, std::int64_t n,
                   const GradientValues& at) {
    GradientValues reading = at;
    reading.write = false;
    if (tensor.master.dtype == DType::f64) return sums_double(tensor, first, n, reading);
    return HWY_DYNAMIC_DISPATCH(sums_run)(tensor, first, n, reading);
}

std::vector<TensorValues> tensor_values(std::span<const UpdateTensor> tensors,
                                        const UpdateScalars& scalars, double weight_decay) {
    std::vector<TensorValues> values;
    const GradientValues gradient = gradient_values(scalars);
    for (const UpdateTensor& t : tensors)
        values.push_back({update_values(scalars, weight_decay, t.group, t.parameter), gradient});
    if (!scalars.larc.on) return values;
    const auto sums =
        sums_by_tensor(tensors, [&](std::size_t i, std::int64_t first, std::int64_t n) {
            return gradient_sums(tensors[i], first, n, gradient);
        });
    for (std::size_t i = 0; i < tensors.size(); ++i)
        adapt(values[i].gradient, scalars.larc, values[i].update.lr,
              group_decay(scalars, weight_decay, tensors[i].group), std::sqrt(sums[i].weight),
              std::sqrt(sums[i].other));
    return values;
}

void multi_tensor_l2_norm(float* total, float* norms, std::span<const ConstArray> tensors, Stream) {
    std::vector<UpdateTensor> as_weights;
    for (const ConstArray& t : tensors)
        as_weights.push_back({Array{const_cast<void*>(t.data), t.dtype, t.size}, {}, {}, {}, {}});
    const auto sums =
        sums_by_tensor(as_weights, [&](std::size_t i, std::int64_t first, std::int64_t n) {
            const Array& x = as_weights[i].master;
            return Sums{x.dtype == DType::f64 ? squares_double(x, first, n)
                                              : HWY_DYNAMIC_DISPATCH(squares_run)(x, first, n)};
        });
    double all = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        all += sums[i].weight;
        if (norms != nullptr) norms[i] = static_cast<float>(std::sqrt(sums[i].weight));
    }
    *total = static_cast<float>(std::sqrt(all));
}

}  // namespace kernels::cpu
#endif
