#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/host_device.h"
#include "kernels/select_boxes.h"

/// Arithmetic of boxes (x1, y1, x2, y2) in f32, each operation rounded: the same bits on the host
/// and on a device, so that both decide alike.
namespace kernels::boxes {

struct Corners {
    float x1, y1, x2, y2;
};

HALFTONE_HOST_DEVICE inline Corners read_box(const float* from) {
    return {from[0], from[1], from[2], from[3]};
}
HALFTONE_HOST_DEVICE inline float find_area(const Corners& box) {
    return (box.x2 - box.x1) * (box.y2 - box.y1);
}
HALFTONE_HOST_DEVICE inline bool has_area(const Corners& box) {
    return box.x2 > box.x1 && box.y2 > box.y1;
}
/// Intersection over union of `own` and `other`, which have these areas.
HALFTONE_HOST_DEVICE inline float find_iou(const Corners& own, float own_area, const Corners& other,
                                           float area) {
    const float right = other.x2 < own.x2 ? other.x2 : own.x2;
    const float left = own.x1 < other.x1 ? other.x1 : own.x1;
    const float bottom = other.y2 < own.y2 ? other.y2 : own.y2;
    const float top = own.y1 < other.y1 ? other.y1 : own.y1;
    const float w = right - left, h = bottom - top;
    const float inter = (w > 0 ? w : 0) * (h > 0 ? h : 0);
    return inter / (own_area + area - inter);
}

/// The largest f32 that is not above the threshold: an f32 is above one if it is above the other.
inline float limit_below(double threshold) {
    const auto limit = static_cast<float>(threshold);
    return static_cast<double>(limit) > threshold
               ? std::nextafter(limit, -std::numeric_limits<float>::infinity())
               : limit;
}

/// A box of deltas from an anchor: torchvision's order of operations.
HALFTONE_HOST_DEVICE inline Corners decode(const float* deltas, const float* anchor,
                                           float centre_weight, float side_weight) {
    constexpr auto most_growth = static_cast<float>(max_log_side);
    float box[4];
    for (int axis = 0; axis < 2; ++axis) {
        const float side = anchor[axis + 2] - anchor[axis];
        const float centre = anchor[axis] + 0.5f * side;
        const float shift = deltas[axis] / centre_weight;
        const float growth = deltas[axis + 2] / side_weight;
        const float at = shift * side + centre;
        // A NaN stays.
        const float half = 0.5f * (std::exp(growth > most_growth ? most_growth : growth) * side);
        box[axis] = at - half;
        box[axis + 2] = at + half;
    }
    return {box[0], box[1], box[2], box[3]};
}

HALFTONE_HOST_DEVICE inline float clip(float x, std::int64_t size) {
    const auto most = static_cast<float>(size);
    return x < 0 ? 0 : x > most ? most : x;  // a NaN stays
}
/// `size`: height and width.
HALFTONE_HOST_DEVICE inline Corners clip(const Corners& box, const std::int64_t* size) {
    return {clip(box.x1, size[1]), clip(box.y1, size[0]), clip(box.x2, size[1]),
            clip(box.y2, size[0])};
}
HALFTONE_HOST_DEVICE inline bool is_large(const Corners& box, float min_side) {
    return box.x2 - box.x1 >= min_side && box.y2 - box.y1 >= min_side;
}
HALFTONE_HOST_DEVICE inline float logistic(float x) { return 1 / (1 + std::exp(-x)); }

}  // namespace kernels::boxes
