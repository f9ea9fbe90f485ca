#include <vector>

#include "cuda/multi_tensor_sums.cuh"
#include "kernels/multi_tensor.h"

namespace kernels::cuda {
namespace {

/// For passes that only need the gradients.
struct DecayOption {
    double weight_decay;
};
struct NoFormula {
    template <typename Make>
    __device__ __forceinline__ static NoFormula of(const DecayOption&, const UpdateValues&,
                                                   const Make&) {
        return {};
    }
};

template <typename W>
__global__ void gradient_sums_kernel(Sums* sums, UpdateList list, UpdateScalars scalars,
                                     Known known) {
    if (skips(scalars)) return;
    for_each_update_chunk<W, NoFormula>(
        list, DecayOption{0}, scalars, known,
        [&](int t, std::uint32_t c, std::int64_t begin, int size, const auto& step) {
            Sums mine{};
            for_each_run_of(begin, size, [&](std::int64_t i, int n) {
                W p[update_width], g[update_width];
                load(p, list, UpdateList::master, t, i, n);
                load_gradient(g, p, list, t, i, n, step.gradient, false);
                for (int k = 0; k < n; ++k) {
                    const double weight = static_cast<double>(p[k]);
                    const double gradient = static_cast<double>(g[k]);
                    mine.weight += weight * weight;
                    mine.other += gradient * gradient;
                    mine.largest = LargestOrNan()(std::fabs(gradient), mine.largest);
                }
            });
            const Sums all = of_block(mine);
            if (threadIdx.x == 0) sums[c] = all;
        });
}

/// One block a tensor.
__global__ void larc_kernel(GradientValues* gradients, const Sums* sums, UpdateList list,
                            UpdateScalars scalars, double weight_decay) {
    if (skips(scalars)) return;
    const int t = static_cast<int>(blockIdx.x);
    const Sums all = of_tensor(sums, list, t);
    if (threadIdx.x != 0) return;
    GradientValues gradient = gradient_values(scalars);
    const int group = list.group[t];
    adapt(gradient, scalars.larc, static_cast<double>(scalars.lr[group]),
          group_decay(scalars, weight_decay, group), std::sqrt(all.weight), std::sqrt(all.other));
    gradients[list.index[t]] = gradient;
}

template <typename W>
__global__ void squares_kernel(Sums* sums, UpdateList list) {
    for (std::uint32_t c = blockIdx.x; c < list.chunks.total; c += gridDim.x) {
        const int t = list.chunks.tensor_of(c);
        const std::int64_t begin = static_cast<std::int64_t>(c - list.chunks.first[t]) * chunk_size;
        const std::int64_t left = list.chunks.size[t] - begin;
        Sums mine{};
        for_each_run_of(begin, left < chunk_size ? static_cast<int>(left) : chunk_size,
                        [&](std::int64_t i, int n) {
                            W x[update_width];
                            load(x, list, UpdateList::master, t, i, n);
                            for (int k = 0; k < n; ++k) {
                                const double value = static_cast<double>(x[k]);
                                mine.weight += value * value;
                            }
                        });
        const Sums all = of_block(mine);
        if (threadIdx.x == 0) sums[c] = all;
    }
}

/// One block a tensor.
__global__ void norms_kernel(float* norms, const Sums* sums, UpdateList list) {
    const int t = static_cast<int>(blockIdx.x);
    const Sums all = of_tensor(sums, list, t);
    if (threadIdx.x == 0) norms[list.index[t]] = static_cast<float>(std::sqrt(all.weight));
}

/// One block.
__global__ void total_norm_kernel(float* total, const Sums* sums, std::int64_t chunks) {
    const Sums all = of_chunks(sums, 0, chunks);
    if (threadIdx.x == 0) *total = static_cast<float>(std::sqrt(all.weight));
}

}  // namespace

UpdateScratch::UpdateScratch(std::span<const UpdateTensor> tensors, Stream stream) {
    for (const UpdateTensor& t : tensors) chunks += (t.master.size + chunk_size - 1) / chunk_size;
    WorkspaceParts parts;
    const std::size_t at_sums = parts.take(static_cast<std::size_t>(chunks) * sizeof(Sums));
    const std::size_t at_gradients = parts.take(tensors.size() * sizeof(GradientValues));
    const std::size_t at_values = parts.take(tensors.size() * sizeof(double));
    const std::size_t at_divisor = parts.take(sizeof(double));
    auto* const memory = static_cast<unsigned char*>(workspace(parts.total(), stream));
    sums = reinterpret_cast<Sums*>(memory + at_sums);
    gradients = reinterpret_cast<GradientValues*>(memory + at_gradients);
    of_tensor = reinterpret_cast<double*>(memory + at_values);
    divisor = reinterpret_cast<double*>(memory + at_divisor);
}

void gradient_sums(std::span<const UpdateTensor> tensors, const UpdateScratch& scratch,
                   const UpdateScalars& scalars, const Known& known, Stream stream) {
    std::int64_t done = 0;
    in_update_lists(tensors, [&](const UpdateList& list, auto type) {
        launch("multi_tensor_norms", gradient_sums_kernel<decltype(type)>, grid_of(list.chunks),
               stream, scratch.sums + done, list, scalars, known);
        done += list.chunks.total;
    });
}

Known larc_values(std::span<const UpdateTensor> tensors, const UpdateScratch& scratch,
                  const UpdateScalars& scalars, double weight_decay, Stream stream) {
    if (!scalars.larc.on) return {};
    gradient_sums(tensors, scratch, scalars, {}, stream);
    std::int64_t done = 0;
    in_update_lists(tensors, [&](const UpdateList& list, auto) {
        launch("multi_tensor_larc", larc_kernel, Grid{list.chunks.tensors, update_threads}, stream,
               scratch.gradients, scratch.sums + done, list, scalars, weight_decay);
        done += list.chunks.total;
    });
    return {.gradients = scratch.gradients};
}

void multi_tensor_l2_norm(float* total, float* norms, std::span<const ConstArray> tensors,
                          Stream stream) {
    std::vector<UpdateTensor> as_weights;
    for (const ConstArray& t : tensors)
        as_weights.push_back({Array{const_cast<void*>(t.data), t.dtype, t.size}, {}, {}, {}, {}});
    const UpdateScratch scratch(as_weights, stream);
    if (norms != nullptr) set_zero(norms, tensors.size() * sizeof(float), stream);
    std::int64_t done = 0;
    in_update_lists(as_weights, [&](const UpdateList& list, auto type) {
        launch("multi_tensor_l2_norm", squares_kernel<decltype(type)>, grid_of(list.chunks), stream,
               scratch.sums + done, list);
        if (norms != nullptr)
            launch("multi_tensor_l2_norm", norms_kernel, Grid{list.chunks.tensors, update_threads},
                   stream, norms, scratch.sums + done, list);
        done += list.chunks.total;
    });
    launch("multi_tensor_l2_norm", total_norm_kernel, Grid{1, update_threads}, stream, total,
           scratch.sums, scratch.chunks);
}

}  // namespace kernels::cuda
