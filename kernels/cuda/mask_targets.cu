#include "kernels/mask_targets.h"

#include "cuda/grid_stride.cuh"
#include "shared/instance_bits.h"
#include "shared/roi_taps.h"

namespace kernels::cuda {
namespace {

/// Gives the taps of a bin to f(at, weight) in their order and keeps only the last two: the places
/// of adaptive samples rise, so no later one adds to those before. `Taps` of roi::Axis::list_bin.
template <typename F>
struct StreamedTaps {
    const F& f;
    int held[2] = {};
    float weights[2] = {};
    std::int64_t n = 0;

    __device__ std::int64_t count() const { return n; }
    __device__ std::int64_t begin() const { return n < 2 ? 0 : n - 2; }
    __device__ std::int64_t at(std::int64_t i) const { return held[i % 2]; }
    __device__ void add_weight(std::int64_t i, float weight) { weights[i % 2] += weight; }
    __device__ void push(std::int64_t place, float weight) {
        if (n >= 2) f(held[n % 2], weights[n % 2]);
        held[n % 2] = static_cast<int>(place);
        weights[n % 2] = weight;
        ++n;
    }
    __device__ void close_bin() {
        for (std::int64_t i = begin(); i < n; ++i) f(held[i % 2], weights[i % 2]);
    }
};
template <typename F>
__device__ __forceinline__ void for_each_tap(const roi::Axis<float>& axis, std::int64_t bin,
                                             const F& f) {
    StreamedTaps<F> taps{f};
    axis.list_bin(taps, bin);
}

__device__ float align_bin(const float* roi, const InstanceBits& mask, const std::int64_t* size,
                           std::int64_t by, std::int64_t bx, std::int64_t side_h,
                           std::int64_t side_w) {
    const auto axis = [](float low, float high, std::int64_t bins, std::int64_t pixels) {
        return roi::Axis<float>(roi::find_span(low, high, 1.0f, false), bins, 0, pixels);
    };
    const roi::Axis<float> rows = axis(roi[2], roi[4], side_h, size[0]),
                           cols = axis(roi[1], roi[3], side_w, size[1]);
    float sum = 0;
    for_each_tap(rows, by, [&](int y, float weight) {
        const std::uint64_t* row = mask.row(y);
        if (row == nullptr) return;
        float in_row = 0;
        for_each_tap(cols, bx, [&](int x, float share) {
            if (mask.at(row, x)) in_row += share;
        });
        sum += weight * in_row;
    });
    return sum / (rows.samples() * cols.samples());
}

__global__ void mask_targets_kernel(float* y, const float* rois, const std::int64_t* instances,
                                    std::int64_t count, std::int64_t side_h, std::int64_t side_w,
                                    MaskBits masks) {
    for (std::int64_t i = grid_thread(); i < count * side_h * side_w; i += grid_threads()) {
        const std::int64_t row = i / side_w, k = row / side_h;
        const float* roi = rois + 5 * k;
        float value = 0;
        if (roi[0] >= 0 && roi[0] < static_cast<float>(masks.images)) {
            const auto image = static_cast<std::int64_t>(roi[0]);
            const std::int64_t* size = masks.sizes + 2 * image;
            const InstanceBits mask = find_instance(masks, image, instances[k]);
            if (mask.words != nullptr && size[0] > 0 && size[1] > 0)
                value =
                    align_bin(roi, mask, size, row - k * side_h, i - row * side_w, side_h, side_w);
        }
        y[i] = value;
    }
}

}  // namespace

void mask_targets(float* y, const float* rois, const std::int64_t* instances, std::int64_t count,
                  std::int64_t side_h, std::int64_t side_w, const MaskBits& masks, Stream stream) {
    const std::int64_t results = count * side_h * side_w;
    if (results == 0) return;
    launch("mask_targets", mask_targets_kernel, grid_for(results), stream, y, rois, instances,
           count, side_h, side_w, masks);
}

}  // namespace kernels::cuda
