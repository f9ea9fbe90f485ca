#include "data/loader/batch.h"

#include "kernels/conv2d.h"
#include "tensor/layout.h"

namespace engine {
namespace {

Tensor empty_field(const Device& device, const FieldSpec& field, std::int64_t rows) {
    const Shape shape = batch_shape(field, rows);
    if (field.padded_pixels && device.kind == Device::Kind::cuda) {
        const std::int64_t pitch = kernels::padded_channels(field.dtype, shape[1]);
        if (pitch > shape[1]) return empty_padded_pixels(shape, field.dtype, device, pitch);
    }
    return Tensor::empty(shape, field.dtype, device, layout_of_field(field));
}

}  // namespace

Schema with_canvas(Schema schema, const Batch& batch) {
    for (std::size_t f = 0; f < batch.fields.size(); ++f) {
        FieldSpec& field = schema.fields[f];
        const Shape& shape = batch.fields[f].shape;
        if (field.by_batch) field.shape = {shape[1], shape[2], shape[3]};
    }
    return schema;
}

bool has_canvas_of(const DeviceBatch& captured, const Schema& schema, const Batch& batch) {
    for (std::size_t f = 0; f < batch.fields.size(); ++f) {
        if (schema.fields[f].by_batch && captured[f].shape() != batch.fields[f].shape) return false;
    }
    return true;
}

Layout layout_of_field(const FieldSpec& field) {
    return field.kind == FieldKind::image ? Layout::channels_last : Layout::contiguous;
}

DeviceBatch empty_batch(const Device& device, const Schema& schema, std::int64_t rows) {
    DeviceBatch batch;
    batch.rows = batch.samples = rows;
    for (const FieldSpec& field : schema.fields) {
        batch.fields.push_back(empty_field(device, field, rows));
        if (field.windowed) batch.samples = rows * field.shape[0];
    }
    return batch;
}

}  // namespace engine
