#include "ops/norm/synced_norm.h"

#include "kernels/cuda_device.h"
#include "ops/shape/view.h"
#include "tensor/layout.h"

namespace engine {
namespace {

/// Copies the counts to x's device; on a GPU nothing waits for the copy.
Tensor on_device_of(const Tensor& x, const std::vector<std::int64_t>& counts) {
    const auto size = static_cast<std::int64_t>(counts.size());
    const Tensor out = Tensor::empty({size}, DType::i64, x.device());
    if (x.device().kind == Device::Kind::cpu)
        out.copy_from_host(counts.data());
    else
        kernels::cuda::put_bytes(out.data(), counts.data(), out.bytes(), current_stream());
    return out;
}

}  // namespace

SyncedStatistics synced_statistics(Communicator& ranks, const Tensor& x,
                                   const kernels::BatchNormShape& shape) {
    const DType wide = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
    const std::int64_t channels = shape.channels, parts = ranks.size();
    const bool uncounted = ComputeContext::of_thread().uncounted_rows;
    // A rank's means and variances are contiguous, so one message has both.
    const auto by_channel = [&](std::int64_t rows) {
        return Tensor::empty({rows, channels}, wide, x.device());
    };
    const Tensor own = by_channel(2), all = by_channel(2 * parts);
    const auto row = [&](const Tensor& t, std::int64_t i) { return narrow(t, 0, i, 1).array(); };
    on(x.device(), kernels::cpu::welford_local, kernels::cuda::welford_local)(
        row(own, 0), row(own, 1), x.array(), shape.rows, channels, current_stream());
    const std::vector<std::int64_t> rows = gather_counts(ranks, uncounted ? 0 : shape.rows);
    const std::vector<std::int64_t> sizes(static_cast<std::size_t>(parts), 2 * channels);
    gather_over(ranks, all.array(), own.array(), sizes, x.device());

    SyncedStatistics out;
    out.counted = !uncounted;
    for (const std::int64_t each : rows) out.rows += each;
    const Tensor means = by_channel(parts), vars = by_channel(parts);
    for (std::int64_t part = 0; part < parts; ++part) {
        copy_into(narrow(means, 0, part, 1), narrow(all, 0, 2 * part, 1));
        copy_into(narrow(vars, 0, part, 1), narrow(all, 0, 2 * part + 1, 1));
    }
    for (Tensor* each : {&out.mean, &out.var, &out.unbiased})
        *each = Tensor::empty({channels}, wide, x.device());
    const Tensor row_counts = on_device_of(x, rows);
    on(x.device(), kernels::cpu::welford_merge, kernels::cuda::welford_merge)(
        out.mean.array(), out.var.array(), out.unbiased.array(), means.array(), vars.array(),
        row_counts.array(), channels, current_stream());
    return out;
}

SyncedSums synced_sums(Communicator& ranks, const Tensor& g, const Tensor& x, const Tensor& mean,
                       const kernels::BatchNormShape& shape, bool counted) {
    const DType wide = mean.dtype();
    const std::int64_t channels = shape.channels;
    const Tensor own = Tensor::empty({2, channels}, wide, x.device());
    const Tensor all = Tensor::zeros({2, channels}, wide, x.device());
    const auto row = [&](const Tensor& t, std::int64_t i) {
        return reshape(narrow(t, 0, i, 1), {channels});
    };
    on(x.device(), kernels::cpu::welford_backward_sums, kernels::cuda::welford_backward_sums)(
        row(own, 0).array(), row(own, 1).array(), g.array(), x.array(), mean.array(), shape.rows,
        channels, current_stream());
    if (counted) copy_into(all, own);
    sum_over(ranks, all.array(), x.device());
    return {row(own, 0), row(own, 1), row(all, 0), row(all, 1)};
}

}  // namespace engine
