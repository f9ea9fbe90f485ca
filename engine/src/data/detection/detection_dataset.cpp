#include "data/detection/detection_dataset.h"

#include <algorithm>

namespace engine {

CanvasSize DetectionDataset::canvas(std::span<const std::int64_t> indices,
                                    const SamplePlace* first) const {
    CanvasSize out;
    for (std::size_t row = 0; row < indices.size(); ++row) {
        SamplePlace place = first != nullptr ? *first : SamplePlace{};
        place.position += row;
        const DetectionDraw draw = draw_detection(form_, first != nullptr ? &place : nullptr);
        const CanvasSize size =
            resized_size(picture_size(indices[row]), draw.short_side, form_.long_side);
        out = {std::max(out.height, size.height), std::max(out.width, size.width)};
    }
    return padded_size(out);
}

void DetectionDataset::put(std::int64_t index, const SampleFields& out,
                           const SamplePlace* place) const {
    const DetectionDraw draw = draw_detection(form_, place);
    const CanvasSize size = resized_size(picture_size(index), draw.short_side, form_.long_side);
    write_objects(out, *truth(index), size, draw.flipped);
    if (out.f32(detection_field::image).empty()) return;
    const Shape& whole = schema_.fields[detection_field::image].shape;
    write_pixels(out, load(index), size, {whole[1], whole[2]}, form_, draw, place);
}

void check_detection_settings(const DatasetConfig& config) {
    if (!config.normalize)
        throw Error(ErrorCode::settings,
                    msg("dataset.normalize: false: use true, since detectors expect it"));
}

}  // namespace engine
