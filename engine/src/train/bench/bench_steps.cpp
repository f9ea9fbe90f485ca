#include "train/bench/bench_steps.h"

#include <algorithm>

#include "data/dataset_descriptor.h"
#include "data/detection/detection_sample.h"
#include "engine/base/error.h"
#include "tensor/memory/memory.h"
#include "tensor/philox.h"
#include "train/run/run_needs.h"

namespace engine {
namespace {

constexpr std::int64_t max_drawn = 1024;  // rows

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

/// Random numbers are no boxes.
void fill_objects(Batch& batch, const Schema& schema) {
    const auto rows = static_cast<std::size_t>(batch.rows());
    for (std::size_t row = 0; row < rows; ++row) {
        std::vector<SampleFields::Place> places;
        for (BatchField& field : batch.fields) {
            const std::size_t bytes = field.bytes.size() / rows;
            places.push_back({.data = field.bytes.data() + row * bytes, .bytes = bytes});
        }
        write_typical_objects(SampleFields(places), schema);
    }
}

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr std::size_t kept_losses = 20;

/// Fields of the data set's samples. Where its files decide they are read, if there are any.
Schema schema_of(const RunConfig& config) {
    const DatasetDescriptor& kind = dataset_descriptor(config.dataset.kind);
    const bool read = kind.files_decide && (kind.needs.empty() || !config.dataset.path.empty());
    return read ? open_dataset(config.dataset, config.seed).train.data->schema()
                : kind.schema(config.dataset);
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
                         static_cast<std::size_t>(std::min(rows, max_drawn) * spec.shape.numel()));
    }
    if (schema.find(FieldKind::boxes) != nullptr) fill_objects(batch, schema);
    return batch;
}

BenchSteps::BenchSteps(const RunConfig& config, const std::shared_ptr<Communicator>& ranks)
    : config_(config),
      trainer_(config, checked_device(config, ranks.get()), schema_of(config), 0, ranks) {
    const Schema& schema = trainer_.task().schema(true);
    check_batch_fits(config, schema, trainer_.device());
    const Communicator* const line = trainer_.ranks();
    const BatchShare share =
        share_of(config.batch_size, line ? line->rank() : 0, line ? line->size() : 1);
    Batch batch = random_batch(schema, share.computed(), config.seed);
    batch.samples = share.of_all(batch.samples);
    batch.share = share;
    batches_.assign(static_cast<std::size_t>(config.accumulate), batch);
    const AccountingScope accounting(trainer_.accounting());
    feed_.emplace(trainer_.device(), schema, batches_.front());
}

std::int64_t BenchSteps::samples_a_step() const {
    return batches_.front().samples * config_.accumulate;
}

bool BenchSteps::take(bool all) {
    const auto finished = trainer_.take(all);
    if (finished && finished->refused) throw *finished->refused;
    if (finished && first_losses_.size() < kept_losses) first_losses_.push_back(finished->row.loss);
    if (finished && trainer_.ranks()) {
        const auto ms = static_cast<double>(finished->row.exchange_ms);
        exchanged_.total_ms += ms;
        exchanged_.hidden_ms += ms * static_cast<double>(finished->row.exchange_hidden_share);
    }
    return finished.has_value();
}

void BenchSteps::step() {
    const auto start = Clock::now();
    trainer_.submit(batches_, *feed_);
    host_time_ += Clock::now() - start;
    take(false);
}

void BenchSteps::settle() {
    while (take(true)) {
    }
}

double BenchSteps::block(std::int64_t steps) {
    const AccountingScope accounting(trainer_.accounting());
    const auto start = Clock::now();
    for (std::int64_t i = 0; i < steps; ++i) step();
    settle();
    return Milliseconds(Clock::now() - start).count() / static_cast<double>(steps);
}

Milliseconds BenchSteps::take_host_time() { return std::exchange(host_time_, {}); }

}  // namespace engine
