#include "data/loader/collator.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/cuda_device.h"
#include "kernels/parallel.h"

namespace engine {
namespace {

FieldSpec of_window(FieldSpec field, std::int64_t window) {
    if (field.windowed) field.shape[0] = window;
    return field;
}

Schema with_image_bytes(Schema schema) {
    for (FieldSpec& field : schema.fields) {
        if (field.kind != FieldKind::image) continue;
        field.dtype = DType::u8;
        field.transforms.clear();
    }
    return schema;
}

}  // namespace

Collator::Collator(DataPart part, Schema schema, const LoaderOptions& options)
    : part_(std::move(part)),
      schema_(options.image_bytes ? with_image_bytes(std::move(schema)) : std::move(schema)),
      options_(options),
      sampler_(make_sampler(part_, options.sampler)),
      device_(kernels::cuda::chosen_device()),
      strides_(schema_.fields.size()),
      packed_(schema_.fields.size()) {
    for (std::size_t f = 0; f < schema_.fields.size(); ++f) {
        check_ragged(schema_.fields[f]);
        if (!schema_.fields[f].transforms.empty()) transformed_.push_back(f);
        any_packed_ = any_packed_ || schema_.fields[f].ragged == Ragged::packed;
        by_batch_ = by_batch_ || schema_.fields[f].by_batch;
    }
    // Rows of packed fields are appended one after the other.
    if (part_.data->decodes() && !any_packed_ && !options.indices_only)
        pool_ =
            std::make_unique<WorkerPool>(options.threads > 0 ? static_cast<int>(options.threads)
                                                             : kernels::cpu::hardware_threads());
    places_.assign(pool_ ? static_cast<std::size_t>(pool_->threads()) : 1,
                   std::vector<SampleFields::Place>(schema_.fields.size()));
    if (!by_batch_ || options.indices_only) return;
    Batch first;
    BatchPlan plan = sampler_->plan(0, 0);
    cut(first, plan);
    full_canvas_ = choose_canvas(plan.indices, 0, plan.position);
}

std::size_t Collator::batch_bytes() const {
    std::size_t bytes = 0;
    for (const FieldSpec& field : schema_.fields) {
        const Shape shape =
            batch_shape(of_window(field, options_.sampler.window), options_.sampler.batch_size);
        bytes += static_cast<std::size_t>(shape.numel()) * size_of(field.dtype);
    }
    return bytes;
}

void Collator::make(Batch& out, std::int64_t epoch, std::int64_t index) {
    BatchPlan plan = sampler_->plan(epoch, index);
    out.samples = std::ssize(plan.indices) * plan.window;
    cut(out, plan);
    out.indices.assign(plan.indices.begin(), plan.indices.end());
    out.full = plan.full;
    out.epoch = epoch;
    out.index_in_epoch = index;
    out.position = plan.position;
    out.last_of_epoch = index + 1 == sampler_->batches_per_epoch();
    out.replaced.clear();
    if (options_.indices_only) return;
    damaged_.assign(out.indices.size(), std::nullopt);
    if (by_batch_) canvas_ = choose_canvas(out.indices, epoch, plan.position);
    // A sample in a damaged one's place may be larger than the canvas.
    for (CanvasSize used;; canvas_ = used) {
        lay_out(out, plan);
        read_samples(out, plan, epoch);
        if (!by_batch_ || options_.leave_out_damaged) break;
        used = choose_canvas(out.indices, epoch, plan.position);
        if (used == canvas_) break;
    }
    out.full = out.full && canvas_ == full_canvas_;
    note_replaced(out, plan);
    if (options_.leave_out_damaged && !out.replaced.empty()) leave_out(out);
}

/// Keeps only the rank's rows. Their random numbers are those of their places in the whole batch.
void Collator::cut(Batch& out, BatchPlan& plan) const {
    out.share = share_of(std::ssize(plan.indices), options_.rank, options_.ranks);
    if (options_.ranks == 1) return;
    const std::int64_t first = out.share.idle() ? 0 : out.share.first;
    plan.indices = plan.indices.subspan(static_cast<std::size_t>(first),
                                        static_cast<std::size_t>(out.share.computed()));
    plan.position += first * plan.window;
}

CanvasSize Collator::choose_canvas(std::span<const std::int64_t> indices, std::int64_t epoch,
                                   std::int64_t position) const {
    const SamplePlace first{options_.sampler.seed, epoch, static_cast<std::uint64_t>(position)};
    return part_.data->canvas(indices, schema_.augmented ? &first : nullptr);
}

FieldSpec Collator::spec_in_batch(std::size_t field, std::int64_t window) const {
    FieldSpec spec = of_window(schema_.fields[field], window);
    if (spec.by_batch) spec.shape = {spec.shape[0], canvas_.height, canvas_.width};
    return spec;
}

void Collator::lay_out(Batch& out, const BatchPlan& plan) {
    out.fields.resize(schema_.fields.size());
    for (std::size_t f = 0; f < schema_.fields.size(); ++f) {
        const FieldSpec spec = spec_in_batch(f, plan.window);
        BatchField& field = out.fields[f];
        const Shape& shape = spec.shape;
        field.dtype = spec.dtype;
        field.shape = batch_shape(spec, out.rows());
        field.bytes.resize(static_cast<std::size_t>(field.shape.numel()) * size_of(spec.dtype));
        strides_[f] = static_cast<std::size_t>(shape.numel()) * size_of(spec.dtype);
        packed_[f] = 0;
        const std::size_t row_bytes =
            spec.ragged == Ragged::no ? 0 : strides_[f] / static_cast<std::size_t>(shape[0]);
        for (auto& places : places_)
            places[f] = {.bytes = strides_[f],
                         .row_bytes = row_bytes,
                         .pixel_bytes = spec.dtype == DType::u8 && spec.kind == FieldKind::image,
                         .canvas = spec.by_batch ? canvas_ : CanvasSize()};
    }
}

void Collator::begin_sample(Batch& out, std::size_t row,
                            std::vector<SampleFields::Place>& places) const {
    for (std::size_t f = 0; f < places.size(); ++f) {
        const bool packed = schema_.fields[f].ragged == Ragged::packed;
        places[f].data = out.fields[f].bytes.data() + (packed ? packed_[f] : row * strides_[f]);
        places[f].rows = 0;
    }
}

void Collator::read_sample(Batch& out, const BatchPlan& plan, std::int64_t epoch, std::size_t row,
                           std::vector<SampleFields::Place>& places) {
    begin_sample(out, row, places);
    const SampleFields sample(places);
    const SamplePlace place{
        options_.sampler.seed, epoch,
        static_cast<std::uint64_t>(plan.position) + row * static_cast<std::uint64_t>(plan.window)};
    if (!read_or_replace(out, plan, row, sample, place)) return;
    // Sample by sample, so that it is still in the first-level cache.
    for (const std::size_t f : transformed_) {
        for (const auto& transform : schema_.fields[f].transforms)
            transform->apply(sample, f, place);
    }
    finish_masked(out, row, places);
}

/// Several threads at a time, each with rows of its own. False: the row is left out.
bool Collator::read_or_replace(Batch& out, const BatchPlan& plan, std::size_t row,
                               const SampleFields& sample, const SamplePlace& place) {
    const std::int64_t own = plan.position + static_cast<std::int64_t>(row);
    for (std::int64_t tried = 1;; ++tried) {
        try {
            if (schema_.augmented)
                part_.data->read_augmented(out.indices[row], sample, place);
            else
                part_.data->read(out.indices[row], sample);
            return true;
        } catch (const DamagedSample& damaged) {
            const bool none_left = tried > part_.size();
            if (!part_.data->skips_damaged() || none_left) throw;
            if (!damaged_[row]) damaged_[row] = damaged.message();
            if (options_.leave_out_damaged) return false;
            out.indices[row] = sampler_->sample_at(own + tried);
        }
    }
}

void Collator::note_replaced(Batch& out, const BatchPlan& plan) {
    for (std::size_t row = 0; row < damaged_.size(); ++row)
        if (damaged_[row])
            out.replaced.push_back(
                {plan.indices[row], std::move(*damaged_[row]), static_cast<std::int64_t>(row)});
}

/// Closes the gaps of the samples that could not be read. Data sets that decode, which alone skip
/// samples, have no packed fields.
void Collator::leave_out(Batch& out) const {
    const std::size_t rows = out.indices.size();
    std::size_t kept = 0;
    auto gone = out.replaced.begin();
    for (std::size_t row = 0; row < rows; ++row) {
        if (gone != out.replaced.end() && gone->row == static_cast<std::int64_t>(row)) {
            ++gone;
            continue;
        }
        for (std::size_t f = 0; f < out.fields.size() && kept != row; ++f) {
            std::byte* bytes = out.fields[f].bytes.data();
            std::memcpy(bytes + kept * strides_[f], bytes + row * strides_[f], strides_[f]);
        }
        out.indices[kept++] = out.indices[row];
    }
    out.indices.resize(kept);
    for (std::size_t f = 0; f < out.fields.size(); ++f) {
        out.fields[f].bytes.resize(kept * strides_[f]);
        out.fields[f].shape[0] = static_cast<std::int64_t>(kept);
    }
    out.full = false;
    if (out.share.idle()) return;  // its row is another rank's
    out.samples -= static_cast<std::int64_t>(rows - kept);
    out.share = {0, static_cast<std::int64_t>(kept), static_cast<std::int64_t>(kept)};
}

void Collator::read_samples(Batch& out, const BatchPlan& plan, std::int64_t epoch) {
    if (pool_) {
        pool_->run(out.indices.size(), [&](std::size_t row, std::size_t worker) {
            if (kernels::cuda::chosen_device() != device_) kernels::cuda::set_device(device_);
            read_sample(out, plan, epoch, row, places_[worker]);
        });
        return;
    }
    for (std::size_t row = 0; row < out.indices.size(); ++row) {
        read_sample(out, plan, epoch, row, places_.front());
        if (!any_packed_) continue;
        for (std::size_t f = 0; f < schema_.fields.size(); ++f) finish_packed(out, f, row);
    }
    if (any_packed_) clear_rest(out);
}

/// Records which rows of the masked fields belong to the sample, and clears the others.
void Collator::finish_masked(Batch& out, std::size_t row,
                             const std::vector<SampleFields::Place>& places) const {
    for (std::size_t f = 0; f < schema_.fields.size(); ++f) {
        const FieldSpec& spec = schema_.fields[f];
        if (spec.ragged != Ragged::masked) continue;
        const SampleFields::Place& place = places[f];
        const auto used = static_cast<std::size_t>(place.rows) * place.row_bytes;
        std::memset(place.data + used, 0, place.bytes - used);
        const auto capacity = static_cast<std::size_t>(spec.shape[0]);
        const std::span<std::uint8_t> mask =
            out.fields[f + 1].values<std::uint8_t>().subspan(row * capacity, capacity);
        std::fill(mask.begin(), mask.end(), std::uint8_t{0});
        std::fill_n(mask.begin(), place.rows, std::uint8_t{1});
    }
}

/// Records where the rows of the sample begin and end in a packed field.
void Collator::finish_packed(Batch& out, std::size_t field, std::size_t row) {
    if (schema_.fields[field].ragged != Ragged::packed) return;
    const SampleFields::Place& place = places_.front()[field];
    const auto used = static_cast<std::size_t>(place.rows) * place.row_bytes;
    const std::span<std::int64_t> offsets = out.fields[field + 1].values<std::int64_t>();
    offsets[row] = static_cast<std::int64_t>(packed_[field] / place.row_bytes);
    packed_[field] += used;
    offsets[row + 1] = static_cast<std::int64_t>(packed_[field] / place.row_bytes);
}

/// Zeroes the unused rows of packed fields, whose buffers still hold an earlier batch.
void Collator::clear_rest(Batch& out) {
    for (std::size_t f = 0; f < schema_.fields.size(); ++f) {
        if (schema_.fields[f].ragged != Ragged::packed) continue;
        auto& bytes = out.fields[f].bytes;
        std::memset(bytes.data() + packed_[f], 0, bytes.size() - packed_[f]);
    }
}

}  // namespace engine
