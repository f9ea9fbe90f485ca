#include "cuda/block_reduce.cuh"
#include "cuda/multi_tensor_list.cuh"
#include "cuda/optimizer_math.cuh"
#include "kernels/cuda_device.h"
#include "kernels/multi_tensor.h"

namespace kernels::cuda {
namespace {

constexpr int most_tensors = 64;
constexpr int threads = default_threads;
constexpr int width = 4;

struct UpdateList {
    Chunks<most_tensors> chunks;
    void *master[most_tensors], *grad[most_tensors], *state1[most_tensors], *state2[most_tensors],
        *low[most_tensors];
    struct Types {
        DType master, grad, state1, state2, low;
    } types[most_tensors];

    void add(const UpdateTensor& t) {
        const int i = chunks.add(t.master.size);
        master[i] = t.master.data;
        grad[i] = t.grad.data;
        state1[i] = t.state1.data;
        state2[i] = t.state2.data;
        low[i] = t.low.data;
        types[i] = {t.master.dtype, t.grad.dtype, t.state1.dtype, t.state2.dtype, t.low.dtype};
    }
    bool counts() const {
        return std::any_of(types, types + chunks.tensors,
                           [](const Types& t) { return size_of(t.master) == 2; });
    }
};
static_assert(sizeof(UpdateList) + sizeof(AdamOptions) + sizeof(UpdateScalars) + 16 <= 4096);

/// W is what is computed in.
template <typename W>
__device__ __forceinline__ void load(W (&values)[width], const void* data, DType dtype,
                                     std::int64_t i, int n) {
    as_floating(dtype, [&](auto type) {
        load_run(values, static_cast<const decltype(type)*>(data) + i, n);
    });
}
template <typename W>
__device__ __forceinline__ void store(void* data, DType dtype, const W (&values)[width],
                                      std::int64_t i, int n) {
    as_floating(dtype,
                [&](auto type) { store_run(static_cast<decltype(type)*>(data) + i, values, n); });
}

/// Of non-zero updates, those that leave the 16-bit pattern as it is.
__device__ __forceinline__ void count_lost(UpdateCounts& counts, DType dtype, int n,
                                           const float (&before)[width],
                                           const float (&after)[width],
                                           const float (&update)[width]) {
    for (int k = 0; k < width; ++k) {
        if (k >= n || update[k] == 0) continue;
        ++counts.nonzero;
        const bool same = dtype == DType::f16
                              ? narrow<Half>(before[k]).bits == narrow<Half>(after[k]).bits
                              : narrow<BFloat16>(before[k]).bits == narrow<BFloat16>(after[k]).bits;
        counts.lost += same ? 1 : 0;
    }
}

template <typename W, typename Step>
__device__ __forceinline__ void update_run(const UpdateList& list, int t, std::int64_t i, int n,
                                           const Step& step, UpdateCounts* counts) {
    const UpdateList::Types& types = list.types[t];
    W g[width], p[width], state1[width] = {}, state2[width] = {}, update[width];
    load(g, list.grad[t], types.grad, i, n);
    for (int k = 0; k < width; ++k) g[k] = g[k] * step.common.grad_factor * step.common.clip;
    if (step.common.write_grads) store(list.grad[t], types.grad, g, i, n);
    load(p, list.master[t], types.master, i, n);
    const bool has1 = list.state1[t] != nullptr, has2 = list.state2[t] != nullptr;
    if (has1) load(state1, list.state1[t], types.state1, i, n);
    if (Step::two_states && has2) load(state2, list.state2[t], types.state2, i, n);
    W before[width];
    for (int k = 0; k < width; ++k) {
        before[k] = p[k];
        update[k] = step.apply(p[k], g[k], state1[k], state2[k], has1);
    }
    if (has1) store(list.state1[t], types.state1, state1, i, n);
    if (Step::two_states && has2) store(list.state2[t], types.state2, state2, i, n);
    store(list.master[t], types.master, p, i, n);
    if (list.low[t] != nullptr) store(list.low[t], types.low, p, i, n);
    if constexpr (std::is_same_v<W, float>) {
        if (counts != nullptr && size_of(types.master) == 2)
            count_lost(*counts, types.master, n, before, p, update);
    }
}

/// counts may be null.
template <typename W, typename Options>
__global__ void update_kernel(UpdateList list, Options options, UpdateScalars scalars,
                              UpdateCounts* counts) {
    if (scalars.found_inf != nullptr && *scalars.found_inf != 0) return;
    using Step = decltype(step_of<W>(options, scalars));
    __shared__ Step of_block;
    if (threadIdx.x == 0) of_block = step_of<W>(options, scalars);
    __syncthreads();
    const Step step = of_block;
    UpdateCounts mine{};
    for_each_run<width>(list.chunks, [&](int t, std::int64_t i, int n) {
        update_run<W>(list, t, i, n, step, counts != nullptr ? &mine : nullptr);
    });
    if (!std::is_same_v<W, float> || counts == nullptr) return;
    mine.nonzero = block_reduce<threads>(mine.nonzero, Sum());
    mine.lost = block_reduce<threads>(mine.lost, Sum());
    if (threadIdx.x != 0 || mine.nonzero == 0) return;
    const auto add = [](std::int64_t* at, std::int64_t value) {
        atomicAdd(reinterpret_cast<unsigned long long*>(at),
                  static_cast<unsigned long long>(value));
    };
    add(&counts->nonzero, mine.nonzero);
    add(&counts->lost, mine.lost);
}

/// The tensors that are computed in W, as many in a launch as fit its parameters.
template <typename W, typename Options>
void update_tensors(const char* name, std::span<const UpdateTensor> tensors, const Options& options,
                    const UpdateScalars& scalars, UpdateCounts* counts, Stream stream) {
    UpdateList list;
    const auto run = [&] {
        launch(name, update_kernel<W, Options>, grid_of(list.chunks), stream, list, options,
               scalars, list.counts() ? counts : nullptr);
        list.chunks = {};
    };
    for (const UpdateTensor& tensor : tensors) {
        const bool wide = tensor.master.dtype == DType::f64;
        if (tensor.master.size == 0 || wide != std::is_same_v<W, double>) continue;
        list.add(tensor);
        if (list.chunks.full()) run();
    }
    if (list.chunks.tensors > 0) run();
}

template <typename Options>
void update_all(const char* name, std::span<const UpdateTensor> tensors, const Options& options,
                const UpdateScalars& scalars, UpdateCounts* counts, Stream stream) {
    if (counts != nullptr) set_zero(counts, sizeof(UpdateCounts), stream);
    update_tensors<float>(name, tensors, options, scalars, counts, stream);
    update_tensors<double>(name, tensors, options, scalars, counts, stream);
}

}  // namespace

void multi_tensor_sgd(std::span<const UpdateTensor> tensors, const SgdOptions& options,
                      const UpdateScalars& scalars, UpdateCounts* counts, Stream stream) {
    update_all("multi_tensor_sgd", tensors, options, scalars, counts, stream);
}

void multi_tensor_adam(std::span<const UpdateTensor> tensors, const AdamOptions& options,
                       const UpdateScalars& scalars, UpdateCounts* counts, Stream stream) {
    update_all("multi_tensor_adam", tensors, options, scalars, counts, stream);
}

}  // namespace kernels::cuda
