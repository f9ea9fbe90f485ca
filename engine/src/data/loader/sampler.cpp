#include "data/loader/sampler.h"

#include <algorithm>
#include <vector>

#include "data/loader/sample_order.h"
#include "data/loader/stream_order.h"
#include "engine/base/error.h"

namespace engine {
namespace {

SampleOrder make_order(const DataPart& part, const SamplerOptions& options) {
    SampleOrder order = options.order.empty()
                            ? SampleOrder(part.size(), {.batch_size = options.batch_size,
                                                        .seed = options.seed,
                                                        .shuffle = options.shuffle,
                                                        .drop_last = options.drop_last})
                            : SampleOrder::from_file(part.data->size(), options.order);
    order.join_short_last(options.least_last);
    return order;
}

/// A place in the data may come from a file.
void check_place(std::int64_t epoch, std::int64_t index, std::int64_t batches) {
    constexpr std::int64_t most_epochs = std::int64_t{1} << 32;  // numbers of random streams
    if (epoch >= 0 && epoch < most_epochs && index >= 0 && index < batches) return;
    throw Error(ErrorCode::data, msg("There is no batch {} in epoch {}: an epoch has {} batches.",
                                     index, epoch, batches));
}

class SampleSampler final : public Sampler {
public:
    SampleSampler(const DataPart& part, const SamplerOptions& options)
        : part_(part),
          order_(make_order(part, options)),
          // An order file names samples of the data set itself.
          maps_(part.rows && options.order.empty()),
          batch_size_(options.batch_size) {}

    std::int64_t batches_per_epoch() const override { return order_.batches_per_epoch(); }

    BatchPlan plan(std::int64_t epoch, std::int64_t index) override {
        check_place(epoch, index, batches_per_epoch());
        std::span<const std::int64_t> indices = order_.batch(epoch, index);
        if (maps_) {
            mapped_.resize(indices.size());
            std::transform(indices.begin(), indices.end(), mapped_.begin(),
                           [this](std::int64_t i) { return part_.sample(i); });
            indices = mapped_;
        }
        return {.indices = indices,
                .position = static_cast<std::int64_t>(order_.position(index)),
                .full = static_cast<std::int64_t>(indices.size()) == batch_size_};
    }

    std::int64_t sample_at(std::int64_t position) const override {
        const std::int64_t index = order_.at(position);
        return maps_ ? part_.sample(index) : index;
    }

private:
    DataPart part_;
    SampleOrder order_;
    bool maps_;
    std::int64_t batch_size_;
    std::vector<std::int64_t> mapped_;
};

class StreamSampler final : public Sampler {
public:
    StreamSampler(const DataPart& part, const SamplerOptions& options)
        : order_(part.size(), options.batch_size, options.window), window_(options.window) {}

    std::int64_t batches_per_epoch() const override { return order_.batches_per_epoch(); }

    BatchPlan plan(std::int64_t epoch, std::int64_t index) override {
        check_place(epoch, index, batches_per_epoch());
        const std::int64_t length = order_.length(index);
        return {.indices = order_.starts(index),
                .window = length,
                .position = order_.position(index),
                .full = length == window_};
    }

private:
    StreamOrder order_;
    std::int64_t window_;
};

}  // namespace

std::unique_ptr<Sampler> make_sampler(const DataPart& part, const SamplerOptions& options) {
    if (!part.data->is_stream()) return std::make_unique<SampleSampler>(part, options);
    if (!options.order.empty()) {
        throw Error(
            ErrorCode::settings,
            msg("dataset.order: a text is read as contiguous streams and has no order file"),
            msg("Leave dataset.order empty."));
    }
    return std::make_unique<StreamSampler>(part, options);
}

}  // namespace engine
