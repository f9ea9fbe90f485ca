#include "cuda/multi_tensor_sums.cuh"

// The optimizers that need norms of complete tensors: LAMB and NovoGrad.
namespace kernels::cuda {
namespace {

/// One block.
__global__ void lamb_divisor_kernel(double* divisor, const Sums* sums, std::int64_t chunks,
                                    double max_grad_norm, UpdateScalars scalars) {
    if (skips(scalars)) return;
    const Sums all = of_chunks(sums, 0, chunks);
    if (threadIdx.x == 0) *divisor = lamb_divisor(all.other, max_grad_norm);
}

/// Writes the moments; the sums of the weights and of their direction, chunk by chunk.
template <typename W>
__global__ void lamb_moments_kernel(Sums* sums, UpdateList list, LambOptions options,
                                    UpdateScalars scalars, Known known) {
    if (skips(scalars)) return;
    for_each_update_chunk<W, LambFormula<W>>(
        list, options, scalars, known,
        [&](int t, std::uint32_t c, std::int64_t begin, int size, const auto& step) {
            Sums mine{};
            for_each_run_of(begin, size, [&](std::int64_t i, int n) {
                W p[update_width], g[update_width], m[update_width], v[update_width];
                load(p, list, UpdateList::master, t, i, n);
                load_gradient(g, p, list, t, i, n, step.gradient, step.writes);
                load(m, list, UpdateList::state1, t, i, n);
                load(v, list, UpdateList::state2, t, i, n);
                for (int k = 0; k < n; ++k) {
                    const double u =
                        static_cast<double>(step.formula.moments(p[k], g[k], m[k], v[k]));
                    const double weight = static_cast<double>(p[k]);
                    mine.weight += weight * weight;
                    mine.other += u * u;
                }
                store(list, UpdateList::state1, t, m, i, n);
                store(list, UpdateList::state2, t, v, i, n);
            });
            const Sums all = of_block(mine);
            if (threadIdx.x == 0) sums[c] = all;
        });
}

/// One block a tensor.
__global__ void lamb_rate_kernel(double* rates, const Sums* sums, UpdateList list,
                                 LambOptions options, UpdateScalars scalars) {
    if (skips(scalars)) return;
    const int t = static_cast<int>(blockIdx.x);
    const Sums all = of_tensor(sums, list, t);
    if (threadIdx.x != 0) return;
    const UpdateValues at =
        update_values(scalars, options.weight_decay, list.group[t], list.parameter[t]);
    rates[list.index[t]] = lamb_rate(options, at, std::sqrt(all.weight), std::sqrt(all.other));
}

template <typename W>
__global__ void lamb_kernel(UpdateList list, LambOptions options, UpdateScalars scalars,
                            Known known, UpdateCounts* counts) {
    if (skips(scalars)) return;
    UpdateCounts mine{};
    for_each_update_chunk<W, LambFormula<W>>(
        list, options, scalars, known,
        [&](int t, std::uint32_t, std::int64_t begin, int size, const auto& step) {
            for_each_run_of(begin, size, [&](std::int64_t i, int n) {
                W p[update_width], m[update_width], v[update_width];
                W before[update_width], update[update_width];
                load(p, list, UpdateList::master, t, i, n);
                load(m, list, UpdateList::state1, t, i, n);
                load(v, list, UpdateList::state2, t, i, n);
                for (int k = 0; k < update_width; ++k) {
                    before[k] = p[k];
                    update[k] = step.formula.update(p[k], m[k], v[k], step.of_tensor);
                }
                store_weight(list, t, i, n, before, p, update, counts != nullptr ? &mine : nullptr);
            });
        });
    if (std::is_same_v<W, float> && counts != nullptr) add_counts(counts, mine);
}

/// One block a tensor: its running norm, and what that makes its gradient's divisor.
template <typename W>
__global__ void novograd_norm_kernel(double* divisors, const Sums* sums, UpdateList list,
                                     NovoGradOptions options, UpdateScalars scalars) {
    if (skips(scalars)) return;
    const int t = static_cast<int>(blockIdx.x);
    const Sums all = of_tensor(sums, list, t);
    if (threadIdx.x != 0) return;
    auto* const running = static_cast<W*>(list.data[UpdateList::state2][t]);
    const double step = step_of(scalars.step, list.group[t]);
    const double own_step = step_of(scalars.own_step, list.parameter[t]);
    const double norm = options.norm == NormKind::l2 ? std::sqrt(all.other) : all.largest;
    *running =
        static_cast<W>(novograd_norm(options, own_step, static_cast<double>(*running), norm));
    divisors[list.index[t]] = novograd_divisor(options, step, static_cast<double>(*running));
}

}  // namespace

void multi_tensor_lamb(std::span<const UpdateTensor> tensors, const LambOptions& options,
                       const UpdateScalars& scalars, UpdateCounts* counts, Stream stream) {
    constexpr const char* name = "multi_tensor_lamb";
    const UpdateScratch scratch(tensors, stream);
    Known known = larc_values(tensors, scratch, scalars, options.weight_decay, stream);
    gradient_sums(tensors, scratch, scalars, known, stream);
    launch(name, lamb_divisor_kernel, Grid{1, update_threads}, stream, scratch.divisor,
           scratch.sums, scratch.chunks, options.max_grad_norm, scalars);
    known.divisor = scratch.divisor;
    known.of_tensor = scratch.of_tensor;
    if (counts != nullptr) set_zero(counts, sizeof(UpdateCounts), stream);
    in_update_lists(tensors, [&](const UpdateList& list, auto type) {
        using W = decltype(type);
        Known moments = known;
        moments.of_tensor = nullptr;
        launch(name, lamb_moments_kernel<W>, grid_of(list.chunks), stream, scratch.sums, list,
               options, scalars, moments);
        launch(name, lamb_rate_kernel, Grid{list.chunks.tensors, update_threads}, stream,
               scratch.of_tensor, scratch.sums, list, options, scalars);
        launch(name, lamb_kernel<W>, grid_of(list.chunks), stream, list, options, scalars, known,
               list.counts() ? counts : nullptr);
    });
}

void multi_tensor_novograd(std::span<const UpdateTensor> tensors, const NovoGradOptions& options,
                           const UpdateScalars& scalars, UpdateCounts* counts, Stream stream) {
    const UpdateScratch scratch(tensors, stream);
    Known known = larc_values(tensors, scratch, scalars, options.weight_decay, stream);
    gradient_sums(tensors, scratch, scalars, known, stream);
    std::int64_t done = 0;
    in_update_lists(tensors, [&](const UpdateList& list, auto type) {
        launch("multi_tensor_novograd", novograd_norm_kernel<decltype(type)>,
               Grid{list.chunks.tensors, update_threads}, stream, scratch.of_tensor,
               scratch.sums + done, list, options, scalars);
        done += list.chunks.total;
    });
    known.of_tensor = scratch.of_tensor;
    update_all<NovoGradFormula>("multi_tensor_novograd", tensors, options, scalars, known, counts,
                                stream);
}

}  // namespace kernels::cuda
