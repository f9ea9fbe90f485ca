#include "data/schema.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "engine/settings/catalog.h"

namespace engine {

const char* name(FieldKind kind) { return name<FieldKind>(kind); }

void check_ragged(const FieldSpec& field) {
    if (field.ragged == Ragged::no) return;
    if (field.shape.rank() > 0 && field.shape.numel() > 0) return;
    throw Error(ErrorCode::shape, "the ragged field " + field.name +
                                      " needs rows that hold something, not samples of shape " +
                                      to_string(field.shape));
}

std::size_t Schema::add(FieldSpec field) {
    check_ragged(field);
    const std::size_t at = fields.size();
    const std::string owner = field.name;
    const Ragged ragged = field.ragged;
    const std::int64_t capacity = ragged == Ragged::no ? 0 : field.shape[0];
    fields.push_back(std::move(field));
    if (ragged == Ragged::masked)
        fields.push_back({.name = owner + ".mask",
                          .kind = FieldKind::mask,
                          .dtype = DType::boolean,
                          .shape = {capacity}});
    if (ragged == Ragged::packed)
        fields.push_back(
            {.name = owner + ".offsets", .kind = FieldKind::offsets, .dtype = DType::i64});
    return at;
}

std::size_t Schema::index(std::string_view name) const {
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].name == name) return i;
    }
    throw Error(ErrorCode::state, "the batch has no field " + std::string(name));
}

const FieldSpec* Schema::find(FieldKind kind) const {
    for (const auto& field : fields) {
        if (field.kind == kind) return &field;
    }
    return nullptr;
}

namespace {

void add_label(Schema& schema, std::vector<std::string> classes) {
    const auto count = static_cast<std::int64_t>(classes.size());
    schema.add({.name = "label",
                .kind = FieldKind::label,
                .dtype = DType::i64,
                .cardinality = count,
                .names = std::move(classes)});
}

}  // namespace

Schema classified_images(const Shape& shape, Normalization normalization,
                         std::vector<std::string> classes) {
    Schema schema;
    schema.add({.name = "image",
                .kind = FieldKind::image,
                .shape = shape,
                .normalization = std::move(normalization)});
    add_label(schema, std::move(classes));
    return schema;
}

Schema classified_features(Normalization normalization, std::vector<std::string> classes) {
    Schema schema;
    const auto count = static_cast<std::int64_t>(normalization.mean.size());
    schema.add({.name = "features",
                .kind = FieldKind::features,
                .shape = {count},
                .normalization = std::move(normalization)});
    add_label(schema, std::move(classes));
    return schema;
}

Shape batch_shape(const FieldSpec& field, std::int64_t rows) {
    if (field.kind == FieldKind::offsets) return {rows + 1};
    const bool packed = field.ragged == Ragged::packed;
    Shape shape{packed ? rows * field.shape[0] : rows};
    for (int i = packed ? 1 : 0; i < field.shape.rank(); ++i) shape.push_back(field.shape[i]);
    return shape;
}

void SampleFields::set_image(std::size_t field, std::span<const std::uint8_t> pixels) const {
    if (bytes(field).empty()) return;
    if (wants_bytes(field)) {
        std::ranges::copy(pixels, bytes(field).begin());
        return;
    }
    const std::span<float> image = f32(field);
    for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(pixels[i]) / 255;
}

}  // namespace engine
