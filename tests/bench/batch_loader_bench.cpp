// Cost of a batch for the training thread. `next` is measured with a caller that does nothing else,
// so for images it shows the rate of the loader's thread, which is the upper limit for training.
#include "data/loader/batch_loader.h"

#include <benchmark/benchmark.h>

#include "data/dataset_descriptor.h"
#include "data/image/glyph_dataset.h"
#include "data/image/image_dataset.h"

namespace {

using namespace engine;

/// Images in memory with the shape of a real data set.
DataPart images(std::int64_t size, const Shape& shape) {
    const auto channels = static_cast<std::size_t>(shape[0]);
    const auto samples = static_cast<std::size_t>(size);
    const auto pixels = samples * static_cast<std::size_t>(shape.numel());
    LabelledImages all{shape, std::vector<std::uint8_t>(pixels, 77),
                       std::vector<std::uint8_t>(samples, 3)};
    return {std::make_shared<ImageDataset>(
        std::move(all), std::vector<std::string>(10, "x"),
        Normalization{std::vector<float>(channels, 0.5F), std::vector<float>(channels, 0.25F)})};
}

void run(benchmark::State& state, const DataPart& part, std::int64_t batch_size,
         bool augment = false) {
    DatasetConfig config;
    config.augment = augment;
    BatchLoader loader(part, with_transforms(part.data->schema(), config, /*training=*/true),
                       {.sampler = {.batch_size = batch_size}});
    Batch batch;
    for (auto _ : state) {
        loader.next(batch);
        benchmark::DoNotOptimize(batch.fields[0].bytes.data());
    }
}

void next_spirals(benchmark::State& state) {
    DatasetConfig config;
    config.kind = "spirals";
    run(state, dataset_descriptor(config.kind).open(config, 1, {}).train, state.range(0));
}
BENCHMARK(next_spirals)->Arg(32)->Arg(128);

void next_mnist(benchmark::State& state) { run(state, images(60000, {1, 28, 28}), state.range(0)); }
BENCHMARK(next_mnist)->Arg(16)->Arg(128)->UseRealTime();

void next_cifar(benchmark::State& state) {
    run(state, images(50000, {3, 32, 32}), 64, state.range(0) != 0);
}
BENCHMARK(next_cifar)->ArgName("augment")->Arg(0)->Arg(1)->UseRealTime();

void draw_glyph(benchmark::State& state) {
    std::vector<std::uint8_t> pixels(28 * 28);
    std::uint32_t index = 0;
    for (auto _ : state) {
        draw_glyph(pixels, index % 20, RandomStream(1, StreamId::glyphs_train, index));
        benchmark::DoNotOptimize(pixels.data());
        ++index;
    }
}
BENCHMARK(draw_glyph);

}  // namespace
