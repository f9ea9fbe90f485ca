#pragma once

#include "data/schema.h"
#include "tensor/batch_share.h"
#include "tensor/tensor.h"

namespace engine {

/// A batch where the model computes: the fields of a Schema, in its order. Images are channels
/// last.
struct DeviceBatch {
    TensorList fields;
    std::int64_t rows = 0;
    std::int64_t samples = 0;  ///< images, rows, or tokens; of the whole batch
    BatchShare share{};        ///< which rows of the whole batch these are

    const Tensor& operator[](std::size_t field) const { return fields[field]; }
};

/// Images are channels last.
Layout layout_of_field(const FieldSpec& field);

/// A full batch of `rows`: uninitialised, accounted as the calling thread's scope says. On a GPU an
/// image field that asks for padded pixels has them, if its type and channels need any
/// (tensor/padded_pixels.h).
DeviceBatch empty_batch(const Device& device, const Schema& schema, std::int64_t rows);

}  // namespace engine
