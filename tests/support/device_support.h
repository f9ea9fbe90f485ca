#pragma once

#include <memory>
#include <vector>

#include "data/loader/collator.h"
#include "tensor/device.h"
#include "train/run/trainer.h"
#include "train/step/batch_feed.h"

namespace engine::test {

inline const Device cuda{Device::Kind::cuda, 0};

/// A small run: spirals for the MLP, glyphs for image networks.
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

/// A language model on generated text, so small that a step takes hardly any time: 4 streams,
/// windows of 5 characters.
inline RunConfig small_text_run(const std::string& precision) {
    RunConfig config = small_run("rnn-lm", precision);
    config.dataset.kind = "text-generated";
    config.dataset.train_limit = 2000;
    config.dataset.test_limit = 400;
    config.model.options = {{"embedding", std::int64_t{8}},
                            {"hidden", std::int64_t{8}},
                            {"layers", std::int64_t{1}},
                            {"dropout", 0.0}};
    config.batch_size = 4;
    config.bptt = 5;
    config.evaluation_batch = 2;
    return config;
}

/// A text for a Transformer of two small blocks.
inline RunConfig small_transformer_run(const std::string& precision) {
    RunConfig config = small_text_run(precision);
    config.model.kind = "transformer-lm";
    config.model.options = {{"layers", std::int64_t{2}},
                            {"width", std::int64_t{16}},
                            {"heads", std::int64_t{2}},
                            {"dropout", 0.0}};
    return config;
}

/// A small run of BERT on the text, masked.
inline RunConfig small_masked_run(const std::string& precision) {
    RunConfig config = small_transformer_run(precision);
    config.model.kind = "bert";
    config.bptt = 12;
    return config;
}

/// The loader's options for the training part of a run with these settings.
inline LoaderOptions loader_options(const RunConfig& config) {
    return {
        .sampler = {.batch_size = config.batch_size, .seed = config.seed, .window = config.bptt}};
}

/// Keeps only the first `rows` rows of a batch without packed fields.
inline void truncate(Batch& batch, std::int64_t rows) {
    const auto before = static_cast<std::size_t>(batch.rows());
    for (BatchField& field : batch.fields) {
        field.shape[0] = rows;
        field.bytes.resize(field.bytes.size() / before * static_cast<std::size_t>(rows));
    }
    batch.samples = batch.samples / batch.rows() * rows;
    batch.indices.resize(static_cast<std::size_t>(rows));
    batch.full = false;
}

/// Labels of a batch of classified samples.
inline std::span<std::int64_t> labels_of(Batch& batch) {
    return batch.fields[1].values<std::int64_t>();
}

/// Training part, batch feed and trainer of a configuration on one device.
struct TrainerFixture {
    TrainerFixture(const RunConfig& config, const Device& device)
        : data(open_dataset(config.dataset, config.seed).train),
          options(loader_options(config)),
          accumulate(config.accumulate),
          trainer(config, device, data.data->schema(), 100),
          feed(make_feed(device, data, trainer.task().schema(true), options,
                         {.per_step = accumulate})),
          collator(data, trainer.task().schema(true), options) {}

    void submit(std::int64_t step) {
        batches.resize(static_cast<std::size_t>(accumulate));
        for (std::int64_t i = 0; i < accumulate; ++i)
            collator.make(batches[static_cast<std::size_t>(i)], 0, step * accumulate + i);
        trainer.submit(batches, *feed);
    }
    CompletedStep step(std::int64_t index) {
        submit(index);
        return *trainer.take(true);
    }

    DataPart data;
    LoaderOptions options;
    std::int64_t accumulate;
    Trainer trainer;
    std::unique_ptr<BatchFeed> feed;
    Collator collator;
    std::vector<Batch> batches;
};

}  // namespace engine::test
