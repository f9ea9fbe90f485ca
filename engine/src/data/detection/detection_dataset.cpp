#include "data/detection/detection_dataset.h"

#include <algorithm>

#include "engine/data/dataset_preview.h"

namespace engine {
namespace {

/// The canvas is that of the picture, whatever canvas the run has.
Schema scene_schema(Schema schema) {
    schema.fields[detection_field::image].by_batch = true;
    return schema;
}

class Scene final : public DetectionDataset {
public:
    Scene(Picture picture, const InputGuide& trained)
        : DetectionDataset({.short_sides = {trained.short_side}, .long_side = trained.long_side},
                           scene_schema(trained.schema)),
          picture_(std::move(picture)) {
        truth_->width = picture_.width;
        truth_->height = picture_.height;
    }

    std::int64_t size() const override { return 1; }
    std::shared_ptr<const DetectionTruth> truth(std::int64_t) const override { return truth_; }

private:
    CanvasSize picture_size(std::int64_t) const override {
        return {picture_.height, picture_.width};
    }
    Picture load(std::int64_t) const override { return picture_; }

    Picture picture_;
    std::shared_ptr<DetectionTruth> truth_ = std::make_shared<DetectionTruth>();
};

}  // namespace

std::shared_ptr<const Dataset> make_scene(Picture picture, const InputGuide& trained) {
    return std::make_shared<Scene>(std::move(picture), trained);
}

void DetectionDataset::describe(DatasetPreview& preview) const {
    constexpr std::int64_t most_pictures = 500;
    const Shape& whole = schema_.fields[detection_field::image].shape;
    std::vector<float> corners(
        static_cast<std::size_t>(schema_.fields[detection_field::boxes].shape.numel()));
    // The other fields have no memory, so nothing is written there and no picture is decoded.
    std::vector<SampleFields::Place> places(schema_.fields.size());
    places[detection_field::boxes] = {.data = reinterpret_cast<std::byte*>(corners.data()),
                                      .bytes = corners.size() * sizeof(float)};
    for (std::int64_t i = 0; i < std::min(size(), most_pictures); ++i) {
        const SampleFields fields(places);
        places[detection_field::boxes].rows = 0;
        put(i, fields, nullptr);
        const CanvasSize canvas =
            form_.by_batch ? this->canvas({&i, 1}, nullptr) : CanvasSize{whole[1], whole[2]};
        for (std::int64_t row = 0; row < fields.rows(detection_field::boxes); ++row) {
            BoxPreview& box = preview.boxes.emplace_back();
            std::copy_n(corners.begin() + row * 4, 4, box.corners.begin());
            box.canvas = {canvas.height, canvas.width};
        }
    }
}

void DetectionDataset::guide(InputGuide& guide) const {
    guide.short_side = static_cast<int>(form_.short_sides.back());
    guide.long_side = static_cast<int>(form_.long_side);
    guide.alpha = Alpha::dropped;  // as files are decoded
}

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

std::uint8_t DetectionDataset::shape_group(std::int64_t index) const {
    return form_.by_shape ? aspect_group(picture_size(index)) : 0;
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
