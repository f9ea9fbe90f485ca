#pragma once

#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "data/schema.h"
#include "engine/base/message.h"
#include "tensor/batch_share.h"
#include "tensor/dims.h"
#include "tensor/dtype.h"
#include "tensor/tensor.h"

namespace engine {

/// Memory that starts on a cache line, as vector kernels like it.
template <typename T>
struct CacheLineAllocator {
    using value_type = T;
    static constexpr std::align_val_t alignment{64};

    CacheLineAllocator() = default;
    template <typename U>
    CacheLineAllocator(const CacheLineAllocator<U>&) {}  // NOLINT(google-explicit-constructor)

    T* allocate(std::size_t count) {
        return static_cast<T*>(::operator new(count * sizeof(T), alignment));
    }
    void deallocate(T* memory, std::size_t) { ::operator delete(memory, alignment); }
    bool operator==(const CacheLineAllocator&) const { return true; }
};

/// One field of a batch in host memory.
struct BatchField {
    Shape shape;  ///< images: (N, C, H, W), in memory N, H, W, C; others row-major
    DType dtype = DType::f32;
    std::vector<std::byte, CacheLineAllocator<std::byte>> bytes;

    template <typename T>
    std::span<T> values() {
        return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
    template <typename T>
    std::span<const T> values() const {
        return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
};

/// A damaged sample whose place the next one of the order took, or which was left out.
struct ReplacedSample {
    std::int64_t index = 0;  ///< of the damaged one
    Message why;
    std::int64_t row = 0;  ///< its place in the batch, before any was left out
};

/// One batch, or a rank's part of one: the fields of a Schema, in its order.
struct Batch {
    std::vector<BatchField> fields;     ///< empty if the device has the data
    std::vector<std::int64_t> indices;  ///< samples of the data set; of a stream: where each row's
                                        ///< window begins
    std::int64_t samples = 0;           ///< images, rows, or tokens; of the whole batch
    bool full = false;                  ///< of the shapes that all but an epoch's last batch have;
                                        ///< with fields by the batch: of those of the first one
    std::int64_t epoch = 0;             ///< from 0
    std::int64_t index_in_epoch = 0;    ///< from 0
    std::int64_t position = 0;          ///< samples of the epoch before the first one here
    bool last_of_epoch = false;
    BatchShare share{};  ///< which rows of the whole batch these are
    std::vector<ReplacedSample> replaced{};  ///< among these rows, in their order

    std::int64_t rows() const { return static_cast<std::int64_t>(indices.size()); }
};

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

/// The schema with the shapes that the fields by the batch have in this batch.
Schema with_canvas(Schema schema, const Batch& batch);
/// Whether the fields by the batch have the shapes of `captured`.
bool has_canvas_of(const DeviceBatch& captured, const Schema& schema, const Batch& batch);

/// A full batch of `rows`: uninitialised, accounted as the calling thread's scope says. On a GPU an
/// image field that asks for padded pixels has them, if its type and channels need any
/// (tensor/layout.h).
DeviceBatch empty_batch(const Device& device, const Schema& schema, std::int64_t rows);

}  // namespace engine
