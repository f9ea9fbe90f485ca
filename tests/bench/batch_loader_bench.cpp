// What a batch costs the training thread. `next` is measured with a caller that does nothing else,
// so for images it shows the rate of the loader's thread, the most that training can draw.
#include "data/batch_loader.h"

#include <benchmark/benchmark.h>

#include "data/glyph_dataset.h"
#include "data/spiral_dataset.h"

namespace {

using namespace engine;

/// Bytes in memory of the shape of a real data set.
class Bytes final : public Dataset {
public:
    Bytes(std::int64_t size, SampleShape shape)
        : size_(size),
          shape_(shape),
          pixels_(static_cast<std::size_t>(size * shape.elements()), 77) {}
    std::int64_t size() const override { return size_; }
    SampleShape shape() const override { return shape_; }
    std::int64_t classes() const override { return 10; }
    void read(std::int64_t index, std::span<float> out) const override {
        const std::uint8_t* from = pixels_.data() + index * shape_.elements();
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(from[i]) / 255;
    }
    std::int64_t label(std::int64_t index) const override { return index % 10; }
    std::vector<std::string> class_names() const override { return {}; }
    Normalization normalization() const override {
        const auto channels = static_cast<std::size_t>(shape_.channels);
        return {std::vector<float>(channels, 0.5F), std::vector<float>(channels, 0.25F)};
    }

private:
    std::int64_t size_;
    SampleShape shape_;
    std::vector<std::uint8_t> pixels_;
};

void run(benchmark::State& state, std::shared_ptr<const Dataset> data,
         const LoaderOptions& options) {
    BatchLoader loader(std::move(data), options);
    Batch batch;
    for (auto _ : state) {
        loader.next(batch);
        benchmark::DoNotOptimize(batch.pixels.data());
    }
}

void next_spirals(benchmark::State& state) {
    run(state,
        std::make_shared<SpiralDataset>(1, StreamId::spirals_train, SpiralDataset::train_size),
        {.batch_size = state.range(0)});
}
BENCHMARK(next_spirals)->Arg(32)->Arg(128);

void next_mnist(benchmark::State& state) {
    run(state, std::make_shared<Bytes>(60000, SampleShape{1, 28, 28}),
        {.batch_size = state.range(0)});
}
BENCHMARK(next_mnist)->Arg(16)->Arg(128)->UseRealTime();

void next_cifar(benchmark::State& state) {
    run(state, std::make_shared<Bytes>(50000, SampleShape{3, 32, 32}),
        {.batch_size = 64, .augment = state.range(0) != 0});
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
