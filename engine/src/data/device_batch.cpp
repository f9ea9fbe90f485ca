#include "data/device_batch.h"

namespace engine {

Layout layout_of_field(const FieldSpec& field) {
    return field.kind == FieldKind::image ? Layout::channels_last : Layout::contiguous;
}

DeviceBatch empty_batch(const Device& device, const Schema& schema, std::int64_t rows) {
    DeviceBatch batch;
    batch.rows = batch.samples = rows;
    for (const FieldSpec& field : schema.fields) {
        batch.fields.push_back(
            Tensor::empty(batch_shape(field, rows), field.dtype, device, layout_of_field(field)));
        if (field.windowed) batch.samples = rows * field.shape[0];
    }
    return batch;
}

}  // namespace engine
