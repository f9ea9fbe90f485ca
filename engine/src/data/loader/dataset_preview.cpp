#include "engine/data/dataset_preview.h"

#include <algorithm>
#include <cmath>

#include "data/byte_reader.h"
#include "data/dataset_descriptor.h"

namespace engine {
namespace {

/// The class of one sample, without the rest of it.
std::int64_t label_of(const Dataset& data, std::int64_t index, std::size_t field) {
    std::int64_t label = 0;
    std::vector<SampleFields::Place> places(data.schema().fields.size());
    places[field] = {.data = reinterpret_cast<std::byte*>(&label), .bytes = sizeof label};
    data.read(index, SampleFields(places));
    return label;
}

DatasetPreview::Thumbnail thumbnail(const Dataset& data, std::int64_t index) {
    const FieldSpec& image = data.schema().fields.front();
    std::vector<float> pixels(static_cast<std::size_t>(image.shape.numel()));
    std::int64_t label = 0;
    std::vector<SampleFields::Place> places(data.schema().fields.size());
    places[0] = {.data = reinterpret_cast<std::byte*>(pixels.data()),
                 .bytes = pixels.size() * sizeof(float)};
    places[1] = {.data = reinterpret_cast<std::byte*>(&label), .bytes = sizeof label};
    data.read(index, SampleFields(places));
    DatasetPreview::Thumbnail result{static_cast<int>(image.shape[2]),
                                     static_cast<int>(image.shape[1]),
                                     static_cast<int>(label),
                                     {}};
    const auto channels = static_cast<std::size_t>(image.shape[0]);
    for (std::size_t at = 0; at < pixels.size(); at += channels) {
        for (std::size_t c = 0; c < 3; ++c) {
            const float value = pixels[at + (channels == 3 ? c : 0)];  // grey three times
            result.rgb.push_back(static_cast<std::uint8_t>(std::lround(value * 255)));
        }
    }
    return result;
}

void add_classes(DatasetPreview& preview, const DataPart& train) {
    const Schema& schema = train.data->schema();
    const FieldSpec* label = schema.find(FieldKind::label);
    if (label == nullptr || label->windowed) return;
    preview.classes = label->cardinality;
    preview.class_names = label->names;
    preview.train_counts.resize(static_cast<std::size_t>(preview.classes));
    const std::size_t field = schema.index(label->name);
    for (std::int64_t i = 0; i < train.size(); ++i)
        ++preview.train_counts[static_cast<std::size_t>(
            label_of(*train.data, train.sample(i), field))];
}

}  // namespace

DatasetPreview preview_dataset(const DatasetConfig& dataset, std::int64_t seed, int thumbnails,
                               const PreviewProgress& progress) {
    DataParts parts;
    try {
        const ReadingProgressScope scope(progress.read);
        parts = open_dataset(dataset, seed, progress.stop);
    } catch (const ReadingStopped&) {
        return {};
    }
    DatasetPreview preview;
    preview.unit = dataset_descriptor(dataset.kind).unit;
    preview.warnings = parts.warnings;
    preview.schema = std::make_shared<Schema>(parts.train.data->schema());
    parts.train.data->describe(preview);
    preview.train_samples = parts.train.size();
    preview.validation_samples = parts.validation.size();
    preview.test_samples = parts.test.size();
    add_classes(preview, parts.train);
    if (parts.train.data->schema().fields.front().kind != FieldKind::image) return preview;
    const auto count = std::min<std::int64_t>(thumbnails, parts.train.size());
    // The pictures of a folder stand class by class.
    const bool spread = parts.train.data->decodes();
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t shown = spread ? i * parts.train.size() / count : i;
        preview.thumbnails.push_back(thumbnail(*parts.train.data, parts.train.sample(shown)));
    }
    return preview;
}

}  // namespace engine
