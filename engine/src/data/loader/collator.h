#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "data/loader/batch.h"
#include "data/loader/sampler.h"
#include "data/worker_pool.h"

namespace engine {

struct LoaderOptions {
    SamplerOptions sampler{};
    std::int64_t epochs = 0;    ///< passes over the data; 0: without end
    bool indices_only = false;  ///< leave the fields out: the device has the data
    bool image_bytes = false;   ///< images as bytes, without transforms: the device applies them
    std::int64_t threads = 0;   ///< that read samples, of a data set that decodes; 0: all cores
    /// Damaged samples are left out instead of replaced: an evaluation counts each sample once. A
    /// batch may have no rows then.
    bool leave_out_damaged = false;
    int rank = 0;   ///< only this rank's part of each batch is made
    int ranks = 1;  ///< number of ranks
};

/// Makes any batch of any epoch. Its content depends only on the data set, the schema, the options,
/// the epoch and the index. Applies the transforms of the schema's fields. One thread at a time.
/// Its threads use the GPU of the thread that makes it, if samples are decoded on one.
class Collator {
public:
    /// `schema`: the data set's fields with transforms, and fields that a task added. With
    /// LoaderOptions::image_bytes the data set must give bytes. Throws as make_sampler() and
    /// check_ragged() do.
    Collator(DataPart part, Schema schema, const LoaderOptions& options);

    std::int64_t batches_per_epoch() const { return sampler_->batches_per_epoch(); }
    const Schema& schema() const { return schema_; }

    /// Fills `out`, reusing its buffers. In the place of a damaged sample, if the data set skips
    /// them, is the next one of the epoch's order that can be read: a rule of the order alone, so
    /// that a resumed run and another number of ranks take the same. Throws what the data set
    /// throws. With LoaderOptions::leave_out_damaged the batch has fewer rows instead.
    void make(Batch& out, std::int64_t epoch, std::int64_t index);
    /// Bytes of a full batch.
    std::size_t batch_bytes() const;

private:
    void cut(Batch& out, BatchPlan& plan) const;
    CanvasSize choose_canvas(std::span<const std::int64_t> indices, std::int64_t epoch,
                             std::int64_t position) const;
    FieldSpec spec_in_batch(std::size_t field, std::int64_t window) const;
    void lay_out(Batch& out, const BatchPlan& plan);
    void read_samples(Batch& out, const BatchPlan& plan, std::int64_t epoch);
    void read_sample(Batch& out, const BatchPlan& plan, std::int64_t epoch, std::size_t row,
                     std::vector<SampleFields::Place>& places);
    bool read_or_replace(Batch& out, const BatchPlan& plan, std::size_t row,
                         const SampleFields& sample, const SamplePlace& place);
    void note_replaced(Batch& out, const BatchPlan& plan);
    void leave_out(Batch& out) const;
    void begin_sample(Batch& out, std::size_t row, std::vector<SampleFields::Place>& places) const;
    void finish_masked(Batch& out, std::size_t row,
                       const std::vector<SampleFields::Place>& places) const;
    void finish_packed(Batch& out, std::size_t field, std::size_t row);
    void clear_rest(Batch& out);

    DataPart part_;
    Schema schema_;
    LoaderOptions options_;
    std::unique_ptr<Sampler> sampler_;
    std::unique_ptr<WorkerPool> pool_;  // of a data set that decodes
    int device_;  // of the thread that made this: where the pool's threads decode
    std::vector<std::vector<SampleFields::Place>> places_;  // of the sample that each thread reads
    std::vector<std::optional<Message>> damaged_;  // of each row, why its own sample is not in it
    std::vector<std::size_t> strides_;             // bytes from one sample to the next, by field
    std::vector<std::size_t> packed_;              // bytes used so far of each packed field
    std::vector<std::size_t> transformed_;         // fields with transforms
    bool any_packed_ = false;
    bool by_batch_ = false;   // a field goes by the batch
    CanvasSize canvas_;       // of the batch that is made
    CanvasSize full_canvas_;  // of the first batch
};

}  // namespace engine
