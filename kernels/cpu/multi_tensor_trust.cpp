#include <cassert>

#include "cpu/multi_tensor_double.h"
#include "cpu/multi_tensor_update.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/multi_tensor_trust.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/multi_tensor_update-inl.h"
#include "hwy/highway.h"

// The optimizers that need norms of complete tensors: LAMB and NovoGrad.

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

/// Writes the moments; the sums of the weights and of their direction.
Sums lamb_moments_run(const UpdateTensor& t, std::int64_t first, std::int64_t size,
                      const LambOptions& options, const TensorValues& at) {
    const auto formula = LambFormula<VF>::of(options, at.update, ToVector());
    Sums all;
    for (const std::int64_t end = first + size; first < end; first += update_block_size) {
        const std::int64_t n = std::min(update_block_size, end - first);
        Block p(t.master, first, n);
        Gradient g(t.grad, first, n, p.values(), at.gradient);
        StateBlocks<2> state(t, first, n);
        float *const weight = p.values(), *const u = g.values();
        float *const m = state.one.values(), *const v = state.two.values();
        for_each_vector(n, [&](std::int64_t i, auto part) HWY_ATTR {
            VF mean = part.load(m + i), square = part.load(v + i);
            part.store(formula.moments(part.load(weight + i), part.load(u + i), mean, square),
                       u + i);
            part.store(mean, m + i);
            part.store(square, v + i);
        });
        state.write_back();
        all.add({sum_of_squares(weight, n), sum_of_squares(u, n), 0});
    }
    return all;
}

void lamb_run(const UpdateTensor& t, std::int64_t first, std::int64_t size,
              const LambOptions& options, const TensorValues& at, UpdateCounts* counts) {
    const auto formula = LambFormula<VF>::of(options, at.update, ToVector());
    const VF rate = ToVector()(at.of_tensor);
    alignas(64) float update[update_block_size];
    for (const std::int64_t end = first + size; first < end; first += update_block_size) {
        const std::int64_t n = std::min(update_block_size, end - first);
        Block p(t.master, first, n);
        const MastersBefore before(t, p.values(), n, counts);
        StateBlocks<2> state(t, first, n);
        float* const weight = p.values();
        const float *const m = state.one.values(), *const v = state.two.values();
        for_each_vector(n, [&](std::int64_t i, auto part) HWY_ATTR {
            VF w = part.load(weight + i);
            part.store(formula.update(w, part.load(m + i), part.load(v + i), rate), update + i);
            part.store(w, weight + i);
        });
        write_weight(t, first, n, p, update, before);
    }
}

void novograd_run(const UpdateTensor& t, std::int64_t first, std::int64_t n,
                  const NovoGradOptions& options, const TensorValues& at, UpdateCounts* counts) {
    update_run(t, first, n, NovoGradFormula<VF>::of(options, at.update, ToVector()), at, counts);
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(lamb_moments_run);
HWY_EXPORT(lamb_run);
HWY_EXPORT(novograd_run);

Sums lamb_moments_double(const UpdateTensor& t, std::int64_t first, std::int64_t n,
                         const LambOptions& options, const TensorValues& at) {
    const auto formula = wide::LambFormula<double>::of(options, at.update, wide::Same());
    return wide::sums_of(first, n, [&](std::int64_t i) {
        const double g = wide::gradient_of(t, i, at.gradient), p = wide::read(t.master, i);
        double m = wide::read(t.state1, i), v = wide::read(t.state2, i);
        const double u = formula.moments(p, g, m, v);
        wide::write(t.state1, i, m);
        wide::write(t.state2, i, v);
        return Sums{p * p, u * u, 0};
    });
}

void lamb_double(const UpdateTensor& t, std::int64_t first, std::int64_t n,
                 const LambOptions& options, const TensorValues& at) {
    const auto formula = wide::LambFormula<double>::of(options, at.update, wide::Same());
    for (std::int64_t i = first; i < first + n; ++i) {
        double p = wide::read(t.master, i);
        formula.update(p, wide::read(t.state1, i), wide::read(t.state2, i), at.of_tensor);
        wide::write(t.master, i, p);
        wide::write(t.low, i, p);
    }
}

std::vector<Sums> all_gradient_sums(std::span<const UpdateTensor> tensors,
                                    const std::vector<TensorValues>& values) {
    return sums_by_tensor(tensors, [&](std::size_t i, std::int64_t first, std::int64_t n) {
        return gradient_sums(tensors[i], first, n, values[i].gradient);
    });
}

}  // namespace

void multi_tensor_lamb(std::span<const UpdateTensor> tensors, const LambOptions& options,
                       const UpdateScalars& scalars, UpdateCounts* counts, Stream) {
    assert(scalars.lr != nullptr && scalars.step != nullptr);
    if (skipped(scalars, counts)) return;
    auto values = tensor_values(tensors, scalars, options.weight_decay);
    double squares = 0;
    for (const Sums& sums : all_gradient_sums(tensors, values)) squares += sums.other;
    for (TensorValues& at : values)
        at.update.divisor = lamb_divisor(squares, options.max_grad_norm);
    const auto moments =
        sums_by_tensor(tensors, [&](std::size_t i, std::int64_t first, std::int64_t n) {
            const UpdateTensor& t = tensors[i];
            if (t.master.dtype == DType::f64)
                return lamb_moments_double(t, first, n, options, values[i]);
            return HWY_DYNAMIC_DISPATCH(lamb_moments_run)(t, first, n, options, values[i]);
        });
    for (std::size_t i = 0; i < tensors.size(); ++i)
        values[i].of_tensor = lamb_rate(options, values[i].update, std::sqrt(moments[i].weight),
                                        std::sqrt(moments[i].other));
    update_parts(tensors, counts,
                 [&](std::size_t i, std::int64_t first, std::int64_t n, UpdateCounts* here) {
                     const UpdateTensor& t = tensors[i];
                     if (t.master.dtype == DType::f64)
                         lamb_double(t, first, n, options, values[i]);
                     else
                         HWY_DYNAMIC_DISPATCH(lamb_run)(t, first, n, options, values[i], here);
                 });
}

void multi_tensor_novograd(std::span<const UpdateTensor> tensors, const NovoGradOptions& options,
                           const UpdateScalars& scalars, UpdateCounts* counts, Stream) {
    assert(scalars.lr != nullptr && scalars.step != nullptr && scalars.own_step != nullptr);
    if (skipped(scalars, counts)) return;
    auto values = tensor_values(tensors, scalars, options.weight_decay);
    const auto sums = all_gradient_sums(tensors, values);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (tensors[i].master.size == 0) continue;
        const Array& stored = tensors[i].state2;
        const UpdateValues& at = values[i].update;
        wide::write(stored, 0,
                    novograd_norm(options, at.own_step, wide::read(stored, 0),
                                  sums[i].gradient_norm(options.norm)));
        values[i].of_tensor = novograd_divisor(options, at.step, wide::read(stored, 0));
    }
    update_parts(tensors, counts,
                 [&](std::size_t i, std::int64_t first, std::int64_t n, UpdateCounts* here) {
                     const UpdateTensor& t = tensors[i];
                     if (t.master.dtype != DType::f64)
                         HWY_DYNAMIC_DISPATCH(novograd_run)(t, first, n, options, values[i], here);
                     else
                         wide::update_run(t, first, n,
                                          wide::NovoGradFormula<double>::of(
                                              options, values[i].update, wide::Same()),
                                          values[i]);
                 });
}

}  // namespace kernels::cpu
#endif
