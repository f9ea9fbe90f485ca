#include "kernels/scaler.h"

#include <algorithm>

namespace kernels::cpu {

void update_scale(float* scale, std::int32_t* growth_tracker, std::int32_t* hysteresis_left,
                  const float* found_inf, const ScaleUpdate& rule, Stream) {
    ScaleState state{*scale, *growth_tracker, *hysteresis_left};
    apply(state, *found_inf != 0, rule);
    *scale = state.scale;
    *growth_tracker = state.growth_tracker;
    *hysteresis_left = state.hysteresis_left;
}

void advance_step(std::span<std::int64_t* const> counts, const float* found_inf, Stream) {
    if (found_inf != nullptr && *found_inf != 0) return;
    for (std::int64_t* count : counts) ++*count;
}

void clip_coefficient(float* clip, const double* sum_squares, const float* grad_scale,
                      double max_norm, Stream) {
    const double norm =
        std::sqrt(*sum_squares) / (grad_scale != nullptr ? static_cast<double>(*grad_scale) : 1.0);
    *clip =
        std::isfinite(norm) ? static_cast<float>(std::min(1.0, max_norm / (norm + 1e-6))) : 1.0f;
}

}  // namespace kernels::cpu
