#pragma once

#include "cuda/block_reduce.cuh"
#include "cuda/early_launch.cuh"
#include "cuda/multi_tensor_list.cuh"
#include "kernels/cuda_device.h"
#include "shared/update_values.h"

/// Shared by the optimizers' kernels: lists of tensors, their operands in f32 or f64, and the loop
/// over their chunks.
namespace kernels::cuda {

template <typename W>
__device__ __forceinline__ W multiply_subtract(W a, W b, W c) {
    return multiply_add(a, b, -c);
}
template <typename W>
__device__ __forceinline__ W negative_multiply_add(W a, W b, W c) {
    return multiply_add(-a, b, c);
}
template <typename W>
__device__ __forceinline__ W square_root(W a) {
    return std::sqrt(a);
}
#define HALFTONE_FORMULA __device__ __forceinline__
#include "shared/update_formulas.inc"
#undef HALFTONE_FORMULA

template <typename W>
struct As {
    __device__ __forceinline__ W operator()(double value) const { return static_cast<W>(value); }
};

constexpr int update_threads = default_threads;
constexpr int update_width = 4;

/// The tensors of one launch: as many as fit a launch's parameters beside the options.
struct UpdateList {
    static constexpr int most = 48;
    enum Operand { master, grad, state1, state2, state3, low, operands };

    Chunks<most> chunks;
    void* data[operands][most];
    DType dtype[operands][most];
    std::int16_t group[most];
    std::int32_t parameter[most];
    std::int32_t index[most];  ///< in the whole list
    bool counted[most];        ///< 16-bit, or behind a 16-bit weight: lost updates count

    void add(const UpdateTensor& t, std::int32_t place) {
        const int i = chunks.add(t.master.size);
        const Array arrays[] = {t.master, t.grad, t.state1, t.state2, t.state3, t.low};
        for (int k = 0; k < operands; ++k) {
            data[k][i] = arrays[k].data;
            dtype[k][i] = arrays[k].dtype;
        }
        group[i] = static_cast<std::int16_t>(t.group);
        parameter[i] = t.parameter;
        index[i] = place;
        counted[i] = size_of(t.master.dtype) == 2 || (t.behind_low && t.master.dtype == DType::f32);
    }
    bool counts() const {
        return std::any_of(counted, counted + chunks.tensors, [](bool here) { return here; });
    }
};
static_assert(sizeof(UpdateList) <= 3750);

/// A few neighbours of an operand, computed in W.
template <typename W>
__device__ __forceinline__ void load(W (&values)[update_width], const UpdateList& list, int operand,
                                     int t, std::int64_t i, int n) {
    as_floating(list.dtype[operand][t], [&](auto type) {
        load_run(values, static_cast<const decltype(type)*>(list.data[operand][t]) + i, n);
    });
}
template <typename W>
__device__ __forceinline__ void store(const UpdateList& list, int operand, int t,
                                      const W (&values)[update_width], std::int64_t i, int n) {
    as_floating(list.dtype[operand][t], [&](auto type) {
        store_run(static_cast<decltype(type)*>(list.data[operand][t]) + i, values, n);
    });
}

/// The gradient as the optimizer sees it; written back where asked.
template <typename W>
__device__ __forceinline__ void load_gradient(W (&g)[update_width], const W (&p)[update_width],
                                              const UpdateList& list, int t, std::int64_t i, int n,
                                              const GradientFormula<W>& formula, bool writes) {
    load(g, list, UpdateList::grad, t, i, n);
    for (int k = 0; k < update_width; ++k) g[k] = formula(g[k], p[k]);
    if (writes) store(list, UpdateList::grad, t, g, i, n);
}

/// Facts about the tensors that earlier passes found; null: nothing.
struct Known {
    const GradientValues* gradients = nullptr;  ///< by tensor: under LARC
    const double* of_tensor = nullptr;          ///< by tensor
    const double* divisor = nullptr;            ///< LAMB's
};

/// State of a block while it works on one tensor.
template <typename W, typename Formula>
struct TensorStep {
    Formula formula;
    GradientFormula<W> gradient;
    W of_tensor;
    bool writes;
};

/// chunk(tensor, number of the chunk, first element, elements, step) for the list's chunks, shared
/// out among the blocks; the threads of a block get the same. Thread 0 works the step out where the
/// tensor changes, its formula (powers in f64) only where the group or the parameter's count does.
template <typename W, typename Formula, typename Options, typename Chunk>
__device__ __forceinline__ void for_each_update_chunk(const UpdateList& list,
                                                      const Options& options,
                                                      const UpdateScalars& scalars,
                                                      const Known& known, const Chunk& chunk) {
    using Step = TensorStep<W, Formula>;
    __shared__ Step shared;
    Step step{};
    int tensor = -1, group = -1;
    double own_step = -1;  // kept by thread 0 alone
    for (std::uint32_t c = blockIdx.x; c < list.chunks.total; c += gridDim.x) {
        const int t = list.chunks.tensor_of(c);
        if (t != tensor) {
            __syncthreads();
            if (threadIdx.x == 0) {
                const double own = step_of(scalars.own_step, list.parameter[t]);
                if (list.group[t] != group || own != own_step) {
                    UpdateValues at = update_values(scalars, options.weight_decay, list.group[t],
                                                    list.parameter[t]);
                    if (known.divisor != nullptr) at.divisor = *known.divisor;
                    shared.formula = Formula::of(options, at, As<W>());
                    own_step = own;
                }
                const std::int32_t index = list.index[t];
                const GradientValues gradient =
                    known.gradients != nullptr ? known.gradients[index] : gradient_values(scalars);
                shared.gradient = GradientFormula<W>::of(gradient, As<W>());
                shared.writes = gradient.write;
                shared.of_tensor =
                    static_cast<W>(known.of_tensor != nullptr ? known.of_tensor[index] : 0.0);
            }
            __syncthreads();
            step = shared;
            tensor = t;
            group = list.group[t];
        }
        const std::int64_t begin = static_cast<std::int64_t>(c - list.chunks.first[t]) * chunk_size;
        const std::int64_t left = list.chunks.size[t] - begin;
        chunk(t, c, begin, left < chunk_size ? static_cast<int>(left) : chunk_size, step);
    }
}

/// run(i, n) for the block's runs of neighbours in a chunk.
template <typename Run>
__device__ __forceinline__ void for_each_run_of(std::int64_t begin, int n, const Run& run) {
    const int stride = update_width * static_cast<int>(blockDim.x);
    for (int i = update_width * static_cast<int>(threadIdx.x); i < n; i += stride)
        run(begin + i, n - i < update_width ? n - i : update_width);
}

/// Counts, among non-zero updates to finite values, those that leave the stored value as it is.
__device__ __forceinline__ void count_lost(UpdateCounts& counts, DType dtype, int n,
                                           const float (&before)[update_width],
                                           const float (&after)[update_width],
                                           const float (&update)[update_width]) {
    for (int k = 0; k < update_width; ++k) {
        if (k >= n || update[k] == 0 || !std::isfinite(after[k])) continue;
        ++counts.nonzero;
        float stored = after[k];
        if (dtype == DType::f16) stored = widen(narrow<Half>(after[k]));
        if (dtype == DType::bf16) stored = widen(narrow<BFloat16>(after[k]));
        counts.lost += stored == before[k] ? 1 : 0;
    }
}

/// Writes the weight and its 16-bit copy, and counts lost updates (counts may be null).
template <typename W>
__device__ __forceinline__ void store_weight(const UpdateList& list, int t, std::int64_t i, int n,
                                             const W (&before)[update_width],
                                             const W (&p)[update_width],
                                             const W (&update)[update_width],
                                             UpdateCounts* counts) {
    store(list, UpdateList::master, t, p, i, n);
    if (list.data[UpdateList::low][t] != nullptr) store(list, UpdateList::low, t, p, i, n);
    if constexpr (std::is_same_v<W, float>) {
        if (counts != nullptr && list.counted[t])
            count_lost(*counts, list.dtype[UpdateList::master][t], n, before, p, update);
    }
}

/// Adds a block's counts to those on the device; all threads call.
__device__ __forceinline__ void add_counts(UpdateCounts* counts, const UpdateCounts& of_thread) {
    const std::int64_t nonzero = block_reduce<update_threads>(of_thread.nonzero, Sum());
    const std::int64_t lost = block_reduce<update_threads>(of_thread.lost, Sum());
    if (threadIdx.x != 0 || nonzero == 0) return;
    const auto add = [](std::int64_t* at, std::int64_t value) {
        atomicAdd(reinterpret_cast<unsigned long long*>(at),
                  static_cast<unsigned long long>(value));
    };
    add(&counts->nonzero, nonzero);
    add(&counts->lost, lost);
}

__device__ __forceinline__ bool skips(const UpdateScalars& scalars) {
    return scalars.found_inf != nullptr && *scalars.found_inf != 0;
}

/// One pass of a formula over all elements. counts may be null.
template <typename W, typename Formula, typename Options>
__global__ void update_kernel(UpdateList list, Options options, UpdateScalars scalars, Known known,
                              UpdateCounts* counts) {
    wait_for_earlier_kernels();
    let_next_kernel_start();
    if (skips(scalars)) return;
    UpdateCounts mine{};
    for_each_update_chunk<W, Formula>(
        list, options, scalars, known,
        [&](int t, std::uint32_t, std::int64_t begin, int size, const auto& step) {
            const bool has1 = list.data[UpdateList::state1][t] != nullptr;
            const bool has3 = Formula::states > 2 && list.data[UpdateList::state3][t] != nullptr;
            for_each_run_of(begin, size, [&](std::int64_t i, int n) {
                W p[update_width], g[update_width], before[update_width], update[update_width];
                W one[update_width] = {}, two[update_width] = {}, three[update_width] = {};
                load(p, list, UpdateList::master, t, i, n);
                load_gradient(g, p, list, t, i, n, step.gradient, step.writes);
                if (has1) load(one, list, UpdateList::state1, t, i, n);
                if (Formula::states > 1) load(two, list, UpdateList::state2, t, i, n);
                if (has3) load(three, list, UpdateList::state3, t, i, n);
                for (int k = 0; k < update_width; ++k) {
                    before[k] = p[k];
                    update[k] =
                        step.formula(p[k], g[k], one[k], two[k], three[k], has1, step.of_tensor);
                }
                if (has1) store(list, UpdateList::state1, t, one, i, n);
                if (Formula::states > 1) store(list, UpdateList::state2, t, two, i, n);
                if (has3) store(list, UpdateList::state3, t, three, i, n);
                store_weight(list, t, i, n, before, p, update, counts != nullptr ? &mine : nullptr);
            });
        });
    if (std::is_same_v<W, float> && counts != nullptr) add_counts(counts, mine);
}

/// f(list, W{}) for lists of the tensors that are computed in W: f32, then f64.
template <typename F>
void in_update_lists(std::span<const UpdateTensor> tensors, const F& f) {
    const auto of_type = [&](auto type) {
        UpdateList list;
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            const bool wide = tensors[i].master.dtype == DType::f64;
            if (tensors[i].master.size == 0 || wide != std::is_same_v<decltype(type), double>)
                continue;
            list.add(tensors[i], static_cast<std::int32_t>(i));
            if (!list.chunks.full()) continue;
            f(list, type);
            list.chunks = {};
        }
        if (list.chunks.tensors > 0) f(list, type);
    };
    of_type(float{});
    of_type(double{});
}

/// counts set to 0, then update_kernel on all tensors.
template <template <typename> typename Formula, typename Options>
void update_all(const char* name, std::span<const UpdateTensor> tensors, const Options& options,
                const UpdateScalars& scalars, const Known& known, UpdateCounts* counts,
                Stream stream) {
    if (counts != nullptr) set_zero(counts, sizeof(UpdateCounts), stream);
    in_update_lists(tensors, [&](const UpdateList& list, auto type) {
        using W = decltype(type);
        launch_early(name, update_kernel<W, Formula<W>, Options>, grid_of(list.chunks), stream,
                     list, options, scalars, known, list.counts() ? counts : nullptr);
    });
}

}  // namespace kernels::cuda
