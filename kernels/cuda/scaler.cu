#include "kernels/scaler.h"

#include "cuda/launch.cuh"

namespace kernels::cuda {
namespace {

constexpr Grid one_thread{1, 1};

__global__ void update_scale_kernel(float* scale, std::int32_t* growth_tracker,
                                    std::int32_t* hysteresis_left, const float* found_inf,
                                    ScaleUpdate rule) {
    ScaleState state{*scale, *growth_tracker, *hysteresis_left};
    apply(state, *found_inf != 0, rule);
    *scale = state.scale;
    *growth_tracker = state.growth_tracker;
    *hysteresis_left = state.hysteresis_left;
}

/// As many counts as fit a launch's parameters.
struct CountList {
    static constexpr std::size_t most = 480;

    std::int64_t* at[most];
    int size;
};

/// One block.
__global__ void advance_step_kernel(CountList counts, const float* found_inf) {
    if (found_inf != nullptr && *found_inf != 0) return;
    for (int i = static_cast<int>(threadIdx.x); i < counts.size; i += default_threads)
        ++*counts.at[i];
}

__global__ void clip_coefficient_kernel(float* clip, const double* sum_squares,
                                        const float* grad_scale, double max_norm) {
    const double scale = grad_scale != nullptr ? static_cast<double>(*grad_scale) : 1.0;
    const double norm = std::sqrt(*sum_squares) / scale;
    const double part = max_norm / (norm + 1e-6);
    *clip = std::isfinite(norm) ? static_cast<float>(part < 1.0 ? part : 1.0) : 1.0f;
}

}  // namespace

void update_scale(float* scale, std::int32_t* growth_tracker, std::int32_t* hysteresis_left,
                  const float* found_inf, const ScaleUpdate& rule, Stream stream) {
    launch("update_scale", update_scale_kernel, one_thread, stream, scale, growth_tracker,
           hysteresis_left, found_inf, rule);
}

void advance_step(std::span<std::int64_t* const> counts, const float* found_inf, Stream stream) {
    while (!counts.empty()) {
        const auto part = counts.first(std::min(counts.size(), CountList::most));
        CountList list;
        std::copy(part.begin(), part.end(), list.at);
        list.size = static_cast<int>(part.size());
        launch("advance_step", advance_step_kernel, Grid{1, default_threads}, stream, list,
               found_inf);
        counts = counts.subspan(part.size());
    }
}

void clip_coefficient(float* clip, const double* sum_squares, const float* grad_scale,
                      double max_norm, Stream stream) {
    launch("clip_coefficient", clip_coefficient_kernel, one_thread, stream, clip, sum_squares,
           grad_scale, max_norm);
}

}  // namespace kernels::cuda
