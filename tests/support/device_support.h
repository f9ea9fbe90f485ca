#pragma once

#include <memory>
#include <vector>

#include "core/resolve_device.h"
#include "data/batch_maker.h"
#include "train/batch_feed.h"
#include "train/trainer.h"

namespace engine::test {

inline const Device cuda{Device::Kind::cuda, 0};

/// A small run: spirals for the MLP, glyphs for networks of images.
inline RunConfig small_run(const std::string& model, const std::string& precision) {
    RunConfig config;
    config.dataset.kind = model == "mlp" ? "spirals" : "glyphs";
    config.model.kind = model;
    config.precision.preset = precision;
    config.batch_size = 16;
    config.threads = 1;
    config.scaler.growth_interval = 3;
    return config;
}

/// Training set, batch feed and trainer of one configuration on one device.
struct TrainerFixture {
    TrainerFixture(const RunConfig& config, const Device& device)
        : data(open_dataset(config.dataset, config.seed).train),
          options{.batch_size = config.batch_size,
                  .seed = config.seed,
                  .augment = config.dataset.augment},
          accumulate(config.accumulate),
          feed(make_feed(device, data, options, config.accumulate)),
          maker(data, options),
          trainer(config, device, data->shape(), data->classes(), 100) {}

    void submit(std::int64_t step) {
        batches.resize(static_cast<std::size_t>(accumulate));
        for (std::int64_t i = 0; i < accumulate; ++i)
            maker.make(batches[static_cast<std::size_t>(i)], 0, step * accumulate + i);
        trainer.submit(batches, *feed);
    }
    FinishedStep step(std::int64_t index) {
        submit(index);
        return *trainer.take(true);
    }

    std::shared_ptr<const Dataset> data;
    LoaderOptions options;
    std::int64_t accumulate;
    std::unique_ptr<BatchFeed> feed;
    BatchMaker maker;
    Trainer trainer;
    std::vector<Batch> batches;
};

}  // namespace engine::test
