#include "ops/detection/anchors.h"

#include <cmath>
#include <string>

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "tensor/check.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

using Box = std::array<float, 4>;

/// The anchor of a ratio around 0.
Box cell(float ratio, float size) {
    const float up = std::sqrt(ratio), w = 1.0f / up * size, h = up * size;
    const auto rounded = [](float side) { return std::nearbyint(side / 2); };
    return {rounded(-w), rounded(-h), rounded(w), rounded(h)};
}

float* write_level(float* to, std::int64_t rows, std::int64_t cols,
                   const std::array<std::int64_t, 2>& canvas, float size) {
    const auto cells = anchor_cells(size);
    const std::int64_t down = canvas[0] / rows, right = canvas[1] / cols;
    for (std::int64_t y = 0; y < rows; ++y)
        for (std::int64_t x = 0; x < cols; ++x)
            for (const Box& each : cells) {
                const auto left = static_cast<float>(x * right), top = static_cast<float>(y * down);
                *to++ = left + each[0];
                *to++ = top + each[1];
                *to++ = left + each[2];
                *to++ = top + each[3];
            }
    return to;
}

}  // namespace

std::array<Box, anchor_ratios> anchor_cells(float size) {
    return {cell(0.5f, size), cell(1, size), cell(2, size)};
}

Tensor anchors(const TensorList& maps0, const std::array<std::int64_t, 2>& canvas,
               const std::vector<double>& sizes) {
    return anchors_op.call(maps0, canvas, sizes, [&](const TensorList& maps) {
        if (maps.empty() || maps.size() != sizes.size() || canvas[0] < 1 || canvas[1] < 1)
            throw Error(ErrorCode::value, "anchors: one size for each of " +
                                              std::to_string(maps.size()) + " maps, not " +
                                              std::to_string(sizes.size()) +
                                              ", and a canvas with sides above 0");
        std::int64_t places = 0;
        for (const Tensor& map : maps) {
            check_rank(anchors_op, map, 4);
            check_shapes(anchors_op, map.size(2) > 0 && map.size(3) > 0, map, map);
            places += map.size(2) * map.size(3);
        }
        const Tensor all = Tensor::empty({places * anchor_ratios, 4}, DType::f32, Device{});
        float* to = all.data_as<float>();
        for (std::size_t level = 0; level < maps.size(); ++level)
            to = write_level(to, maps[level].size(2), maps[level].size(3), canvas,
                             static_cast<float>(sizes[level]));
        return record_flat(anchors_op, maps, constant_on(maps.front().device(), all));
    });
}

}  // namespace engine
