#include "cpu/multi_tensor_update.h"

#include <cassert>

#include "cpu/multi_tensor_double.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/multi_tensor_update.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/multi_tensor_update-inl.h"
#include "hwy/highway.h"

// The optimizers that update each element by itself.

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

#define HALFTONE_UPDATE(Name, name)                                                               \
    void name##_run(const UpdateTensor& t, std::int64_t first, std::int64_t n,                    \
                    const Name##Options& options, const TensorValues& at, UpdateCounts* counts) { \
        update_run(t, first, n, Name##Formula<VF>::of(options, at.update, ToVector()), at,        \
                   counts);                                                                       \
    }
#include "kernels/updates.inc"

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

#define HALFTONE_UPDATE(Name, name) HWY_EXPORT(name##_run);
#include "kernels/updates.inc"

/// `vectors` runs a part of a tensor with f32 arithmetic; Formula is that of doubles.
template <class Formula, class Options, class Vectors>
void update_all(std::span<const UpdateTensor> tensors, const Options& options,
                const UpdateScalars& scalars, UpdateCounts* counts, const Vectors& vectors) {
    assert(scalars.lr != nullptr);
    if (skipped(scalars, counts)) return;
    const auto values = tensor_values(tensors, scalars, options.weight_decay);
    update_parts(tensors, counts,
                 [&](std::size_t i, std::int64_t first, std::int64_t n, UpdateCounts* here) {
                     const UpdateTensor& t = tensors[i];
                     if (t.master.dtype != DType::f64)
                         vectors(t, first, n, options, values[i], here);
                     else
                         wide::update_run(t, first, n,
                                          Formula::of(options, values[i].update, wide::Same()),
                                          values[i]);
                 });
}

}  // namespace

#define HALFTONE_UPDATE(Name, name)                                                               \
    void multi_tensor_##name(std::span<const UpdateTensor> tensors, const Name##Options& options, \
                             const UpdateScalars& scalars, UpdateCounts* counts, Stream) {        \
        update_all<wide::Name##Formula<double>>(tensors, options, scalars, counts,                \
                                                [](const auto&... given) {                        \
                                                    HWY_DYNAMIC_DISPATCH(name##_run)(given...);   \
                                                });                                               \
    }
#include "kernels/updates.inc"

}  // namespace kernels::cpu
#endif
