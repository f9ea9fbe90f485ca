#include "engine/data/dataset_preview.h"

#include <algorithm>

#include "data/byte_reader.h"
#include "data/dataset_descriptor.h"
#include "data/loader/sample_picture.h"

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

/// The class of a sample, where each has one.
const FieldSpec* class_field(const Schema& schema) {
    const FieldSpec* label = schema.find(FieldKind::label);
    return label != nullptr && label->shape.rank() == 0 ? label : nullptr;
}

DatasetPreview::Thumbnail thumbnail(const Dataset& data, std::int64_t index) {
    const Schema& schema = data.schema();
    const FieldSpec& image = *schema.find(FieldKind::image);
    std::vector<float> pixels(static_cast<std::size_t>(image.shape.numel()));
    std::int64_t label = 0;
    std::vector<SampleFields::Place> places(schema.fields.size());
    places[schema.index(image.name)] = {.data = reinterpret_cast<std::byte*>(pixels.data()),
                                        .bytes = pixels.size() * sizeof(float)};
    if (const FieldSpec* field = class_field(schema))
        places[schema.index(field->name)] = {.data = reinterpret_cast<std::byte*>(&label),
                                             .bytes = sizeof label};
    data.read(index, SampleFields(places));
    Picture picture = picture_of_pixels(image, pixels);
    return {picture.width, picture.height, static_cast<int>(label), std::move(picture.rgb)};
}

/// Adds up to `max_samples` samples of a part, without those that training would leave out.
void add_thumbnails(DatasetPreview& preview, const DataPart& part, std::int64_t max_samples) {
    const std::int64_t count = std::min(max_samples, part.size());
    // The pictures of a folder stand class by class.
    const bool spread = part.data->decodes();
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t shown = spread ? i * part.size() / count : i;
        try {
            preview.thumbnails.push_back(thumbnail(*part.data, part.sample(shown)));
        } catch (const DamagedSample&) {
            if (!part.data->skips_damaged()) throw;
        }
    }
}

void add_classes(DatasetPreview& preview, const DataPart& train) {
    const Schema& schema = train.data->schema();
    const FieldSpec* label = class_field(schema);
    if (label == nullptr) return;
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
    if (parts.train.data->schema().find(FieldKind::image) != nullptr)
        add_thumbnails(preview, parts.train, thumbnails);
    return preview;
}

}  // namespace engine
