#include "kernels/mask_targets.h"

#include <algorithm>

#include "cpu/grain.h"
#include "cpu/roi_taps.h"
#include "kernels/parallel.h"
#include "shared/instance_bits.h"

namespace kernels::cpu {
namespace {

/// Columns' weights of the set pixels of a row, for each bin.
void add_row(float* sums, const InstanceBits& mask, const std::uint64_t* row, float weight,
             const RoiTaps<float>& cols) {
    for (std::int64_t b = 0; b < cols.bins(); ++b) {
        float sum = 0;
        for (auto c = static_cast<std::size_t>(cols.first[static_cast<std::size_t>(b)]);
             c < static_cast<std::size_t>(cols.first[static_cast<std::size_t>(b + 1)]); ++c)
            if (mask.at(row, cols.at[c])) sum += cols.weight[c];
        sums[b] += weight * sum;
    }
}

void align_mask(float* y, const float* roi, const InstanceBits& mask, const std::int64_t* size,
                std::int64_t side_h, std::int64_t side_w) {
    const auto taps = [&](float low, float high, std::int64_t bins, std::int64_t pixels) {
        return make_roi_taps(roi::find_span(low, high, 1.0f, /*aligned=*/false), bins, 0, pixels);
    };
    const RoiTaps<float> rows = taps(roi[2], roi[4], side_h, size[0]),
                         cols = taps(roi[1], roi[3], side_w, size[1]);
    for (std::int64_t b = 0; b < side_h; ++b) {
        float* sums = y + b * side_w;
        for (auto r = static_cast<std::size_t>(rows.first[static_cast<std::size_t>(b)]);
             r < static_cast<std::size_t>(rows.first[static_cast<std::size_t>(b + 1)]); ++r)
            if (const std::uint64_t* row = mask.row(rows.at[r]))
                add_row(sums, mask, row, rows.weight[r], cols);
        for (std::int64_t x = 0; x < side_w; ++x) sums[x] /= rows.samples * cols.samples;
    }
}

}  // namespace

void mask_targets(float* y, const float* rois, const std::int64_t* instances, std::int64_t count,
                  std::int64_t side_h, std::int64_t side_w, const MaskBits& masks, Stream) {
    std::fill_n(y, count * side_h * side_w, 0.0f);
    parallel_for(count, row_grain(32 * side_h * side_w), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) {
            const float* roi = rois + 5 * k;
            if (!(roi[0] >= 0 && roi[0] < static_cast<float>(masks.images))) continue;
            const auto image = static_cast<std::int64_t>(roi[0]);
            const std::int64_t* size = masks.sizes + 2 * image;
            const InstanceBits mask = find_instance(masks, image, instances[k]);
            if (mask.words != nullptr && size[0] > 0 && size[1] > 0)
                align_mask(y + k * side_h * side_w, roi, mask, size, side_h, side_w);
        }
    });
}

}  // namespace kernels::cpu
