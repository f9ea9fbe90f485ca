#include "data/detection/mask_paste.h"

#include <algorithm>
#include <cmath>

namespace engine {
namespace {

constexpr std::size_t row_fields = 6;  // of a row before the mask

/// One axis of a box that has grown with its mask.
struct PastedAxis {
    std::int64_t first, size;  ///< pixels; the first may lie outside of the picture
    float scale;               ///< pixels of the mask a pixel of the picture

    PastedAxis(float low, float high, std::int64_t side) {
        const auto growth =
            static_cast<float>(static_cast<double>(side) / static_cast<double>(side - 2));
        const float half = (high - low) * 0.5F * growth, middle = (high + low) * 0.5F;
        first = truncated(middle - half);
        size = std::max<std::int64_t>(1, truncated(middle + half) - first + 1);
        scale = static_cast<float>(side) / static_cast<float>(size);
    }

    static std::int64_t truncated(float place) {
        constexpr float farthest = 1 << 30;
        return std::isnan(place)
                   ? 0
                   : static_cast<std::int64_t>(std::clamp(place, -farthest, farthest));
    }

    std::int64_t begin() const { return std::max<std::int64_t>(0, first); }
    std::int64_t end(std::int64_t limit) const { return std::min(limit, first + size); }
};

/// Where a pixel lies between two of the mask.
struct MaskTap {
    std::size_t low, high;
    float low_weight, high_weight;

    MaskTap(const PastedAxis& axis, std::int64_t pixel, std::int64_t side) {
        const float place =
            std::max(0.0F, axis.scale * (static_cast<float>(pixel - axis.first) + 0.5F) - 0.5F);
        low = static_cast<std::size_t>(
            std::min<std::int64_t>(static_cast<std::int64_t>(place), side - 1));
        high = low + (low + 1 < static_cast<std::size_t>(side) ? 1 : 0);
        high_weight = std::clamp(place - static_cast<float>(low), 0.0F, 1.0F);
        low_weight = 1 - high_weight;
    }
    float value(float at_low, float at_high) const {
        return low_weight * at_low + high_weight * at_high;
    }
};

/// The probabilities with a frame of zeros.
std::vector<float> framed(std::span<const float> probabilities, std::size_t side) {
    std::vector<float> out((side + 2) * (side + 2));
    for (std::size_t y = 0; y < side; ++y) {
        const auto row = probabilities.subspan(y * side, side);
        std::copy(row.begin(), row.end(),
                  out.begin() + static_cast<std::ptrdiff_t>((y + 1) * (side + 2) + 1));
    }
    return out;
}

}  // namespace

RunLength paste_mask(std::span<const float> probabilities, const std::array<float, 4>& corners,
                     std::int32_t height, std::int32_t width) {
    const auto inner = static_cast<std::size_t>(std::lround(std::sqrt(probabilities.size())));
    const auto side = static_cast<std::int64_t>(inner) + 2;
    const std::size_t stride = inner + 2;
    const std::vector<float> mask = framed(probabilities, inner);
    const PastedAxis columns(corners[0], corners[2], side), rows(corners[1], corners[3], side);

    std::vector<MaskTap> places;
    for (std::int64_t y = rows.begin(); y < rows.end(height); ++y)
        places.emplace_back(rows, y, side);
    RunWriter out(height, width);
    std::vector<float> column(stride);
    constexpr float half = 0.5F;
    for (std::int64_t x = columns.begin(); x < columns.end(width); ++x) {
        const MaskTap across(columns, x, side);
        for (std::size_t y = 0; y < stride; ++y)
            column[y] = across.value(mask[y * stride + across.low], mask[y * stride + across.high]);
        const std::int64_t top = x * height + rows.begin();
        for (std::size_t i = 0; i < places.size();) {
            // All rows between the same two of the mask: a line from one value to the other.
            const float low = column[places[i].low], high = column[places[i].high];
            std::size_t end = i + 1;
            while (end < places.size() && places[end].low == places[i].low) ++end;
            if (low > half && high > half) {
                out.add(top + static_cast<std::int64_t>(i), top + static_cast<std::int64_t>(end));
            } else if (low > half || high > half) {
                for (std::size_t k = i; k < end; ++k) {
                    const auto place = top + static_cast<std::int64_t>(k);
                    if (places[k].value(low, high) > half) out.add(place, place + 1);
                }
            }
            i = end;
        }
    }
    return out.finish();
}

std::vector<Detection> place_detections(std::span<const float> rows, std::size_t columns,
                                        const PictureSizes& sizes) {
    const float across = static_cast<float>(sizes.stored_width) / static_cast<float>(sizes.width);
    const float down = static_cast<float>(sizes.stored_height) / static_cast<float>(sizes.height);
    std::vector<Detection> out;
    for (; rows.size() >= columns; rows = rows.subspan(columns)) {
        const auto label = static_cast<std::int32_t>(rows[5]);
        if (label == 0) continue;
        const std::array<float, 4> corners = {rows[0] * across, rows[1] * down, rows[2] * across,
                                              rows[3] * down};
        Detection& each = out.emplace_back();
        each.label = label;
        each.score = static_cast<double>(rows[4]);
        each.box = {corners[0], corners[1], corners[2] - corners[0], corners[3] - corners[1]};
        if (columns > row_fields)
            each.mask = paste_mask(rows.subspan(row_fields, columns - row_fields), corners,
                                   sizes.stored_height, sizes.stored_width);
    }
    return out;
}

}  // namespace engine
