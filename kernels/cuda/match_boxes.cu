#include "kernels/match_boxes.h"

#include "cuda/block_reduce.cuh"
#include "cuda/grid_stride.cuh"
#include "cuda/workspace.h"
#include "kernels/cuda_device.h"
#include "shared/box_formulas.h"

namespace kernels::cuda {
namespace {

/// A candidate of all pictures; boxes of its picture.
struct MatchPlace {
    boxes::Corners box;
    float area;
    const float* boxes;
    std::int64_t image;
};
__device__ MatchPlace read_candidate(const float* boxes_, const float* candidates,
                                     const MatchShape& s, std::int64_t i) {
    const std::int64_t image = i / s.candidates, own = i - image * s.candidates;
    const boxes::Corners box = boxes::read_box(candidates + (s.shared ? own : i) * 4);
    return {box, boxes::find_area(box), boxes_ + image * s.boxes * 4, image};
}
__device__ float iou_with(const MatchPlace& place, std::int64_t b) {
    const boxes::Corners own = boxes::read_box(place.boxes + b * 4);
    return boxes::find_iou(own, boxes::find_area(own), place.box, place.area);
}

/// The largest IoU of each box, as its bits: those of numbers >= 0 are in the numbers' order.
__global__ void largest_iou_kernel(unsigned* most, const float* boxes_, const float* candidates,
                                   MatchShape s) {
    const std::int64_t all = s.images * s.candidates;
    // Whole warps stay together for the votes.
    for (std::int64_t first = grid_thread() / warp_size * warp_size; first < all;
         first += grid_threads()) {
        const std::int64_t i = first + threadIdx.x % warp_size;
        const bool real = i < all;
        const MatchPlace place = read_candidate(boxes_, candidates, s, real ? i : all - 1);
        const bool one_picture =
            __all_sync(whole_warp, place.image == __shfl_sync(whole_warp, place.image, 0));
        for (std::int64_t b = 0; b < s.boxes; ++b) {
            const float iou = iou_with(place, b);
            float value = real && iou > 0 ? iou : 0;  // not a NaN
            if (one_picture) {
                value = warp_reduce(value, [](float x, float y) { return x > y ? x : y; });
                if (threadIdx.x % warp_size != 0) value = 0;
            }
            if (value > 0) atomicMax(most + place.image * s.boxes + b, __float_as_uint(value));
        }
    }
}

/// most: null without low-quality matches.
__global__ void match_boxes_kernel(std::int64_t* y, const unsigned* most, const float* boxes_,
                                   const float* candidates, MatchShape s, MatchRules rules) {
    for (std::int64_t i = grid_thread(); i < s.images * s.candidates; i += grid_threads()) {
        const MatchPlace place = read_candidate(boxes_, candidates, s, i);
        float best = -1;
        std::int64_t box = 0;
        bool low_quality = false;
        for (std::int64_t b = 0; b < s.boxes; ++b) {
            const float iou = iou_with(place, b);
            if (iou > best) {
                best = iou;
                box = b;
            }
            if (most != nullptr) {
                const float largest = __uint_as_float(most[place.image * s.boxes + b]);
                low_quality = low_quality || (largest > 0 && iou == largest);
            }
        }
        y[i] = !boxes::has_area(place.box)                                ? matches_nothing
               : low_quality || (best >= rules.high && best >= rules.low) ? box
               : best < rules.low                                         ? matches_background
                                                                          : matches_nothing;
    }
}

}  // namespace

void match_boxes(std::int64_t* y, const float* boxes, const float* candidates,
                 const MatchShape& shape, const MatchRules& rules, Stream stream) {
    const std::int64_t all = shape.images * shape.candidates, words = shape.images * shape.boxes;
    if (all == 0) return;
    unsigned* most = nullptr;
    if (rules.low_quality && words > 0) {
        const std::size_t bytes = static_cast<std::size_t>(words) * sizeof(unsigned);
        most = static_cast<unsigned*>(workspace(bytes, stream));
        set_zero(most, bytes, stream);
        launch("largest_iou", largest_iou_kernel, grid_for(all), stream, most, boxes, candidates,
               shape);
    }
    launch("match_boxes", match_boxes_kernel, grid_for(all), stream, y, most, boxes, candidates,
           shape, rules);
}

}  // namespace kernels::cuda
