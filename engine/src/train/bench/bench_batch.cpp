#include "train/bench/bench_batch.h"

#include <algorithm>

#include "data/loader/device_batch.h"
#include "tensor/philox.h"

namespace engine {
namespace {

constexpr std::int64_t most_drawn = 1024;  // rows

void fill_numbers(BatchField& field, const RandomStream& random, std::size_t drawn) {
    const auto values = field.values<float>();
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = i < drawn ? random.normal(i) : values[i - drawn];
}

void fill_classes(BatchField& field, const RandomStream& random, std::int64_t cardinality) {
    const auto values = field.values<std::int64_t>();
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] =
            random.bounded(i, static_cast<std::uint32_t>(std::max<std::int64_t>(cardinality, 1)));
}

/// Every sample fills its capacity: `rows_each` rows.
void fill_offsets(BatchField& field, std::int64_t rows_each) {
    const auto offsets = field.values<std::int64_t>();
    for (std::size_t i = 0; i < offsets.size(); ++i)
        offsets[i] = static_cast<std::int64_t>(i) * rows_each;
}

}  // namespace

Batch random_batch(const Schema& schema, std::int64_t rows, std::int64_t seed) {
    Batch batch;
    batch.samples = rows;
    batch.full = true;
    batch.index_in_epoch = 1;  // not the first, which would reset a carried state in each step
    for (std::int64_t i = 0; i < rows; ++i) batch.indices.push_back(i);
    for (std::size_t f = 0; f < schema.fields.size(); ++f) {
        const FieldSpec& spec = schema.fields[f];
        const RandomStream random(seed, StreamId::bench, static_cast<std::uint32_t>(f));
        BatchField& field = batch.fields.emplace_back();
        field.shape = batch_shape(spec, rows);
        field.dtype = spec.dtype;
        field.bytes.resize(static_cast<std::size_t>(field.shape.numel()) * size_of(spec.dtype));
        if (spec.windowed) batch.samples = rows * spec.shape[0];
        if (spec.kind == FieldKind::offsets)
            fill_offsets(field, schema.fields[f - 1].shape[0]);
        else if (spec.kind == FieldKind::mask)
            std::fill(field.bytes.begin(), field.bytes.end(), std::byte{1});
        else if (spec.dtype == DType::i64)
            fill_classes(field, random, spec.cardinality);
        else if (spec.dtype == DType::f32)
            fill_numbers(field, random,
                         static_cast<std::size_t>(std::min(rows, most_drawn) * spec.shape.numel()));
    }
    return batch;
}

}  // namespace engine
