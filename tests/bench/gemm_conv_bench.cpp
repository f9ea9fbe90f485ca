#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "kernels/conv2d.h"
#include "kernels/elementwise.h"
#include "kernels/gemm.h"

namespace {

using kernels::DType;

/// Uniform values in [-1, 1) of a floating dtype. Zeros would be faster than real data.
std::vector<unsigned char> random_values(DType dtype, std::int64_t size) {
    std::vector<float> values(static_cast<std::size_t>(size));
    std::mt19937 generator(7);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (float& value : values) value = uniform(generator);
    std::vector<unsigned char> bytes(static_cast<std::size_t>(size) * kernels::size_of(dtype));
    kernels::cpu::cast({bytes.data(), dtype, size}, {values.data(), DType::f32, size}, {});
    return bytes;
}

void report_flops(benchmark::State& state, std::int64_t multiply_adds) {
    state.counters["GFLOP/s"] = benchmark::Counter(
        2e-9 * static_cast<double>(multiply_adds) * static_cast<double>(state.iterations()),
        benchmark::Counter::kIsRate);
}

/// m, n, k, a transposed, b transposed, dtype.
void gemm(benchmark::State& state) {
    const std::int64_t m = state.range(0), n = state.range(1), k = state.range(2);
    const bool a_transposed = state.range(3) != 0, b_transposed = state.range(4) != 0;
    const auto dtype = static_cast<DType>(state.range(5));
    const auto a = random_values(dtype, m * k), b = random_values(dtype, k * n);
    auto c = random_values(dtype, m * n);
    for (auto _ : state)
        kernels::cpu::gemm({c.data(), dtype, m, n, n},
                           {a.data(), dtype, m, k, a_transposed ? m : k, a_transposed},
                           {b.data(), dtype, k, n, b_transposed ? k : n, b_transposed}, {}, {});
    report_flops(state, m * n * k);
}

/// The nine products of a step of the MLP 2-64-64-2 with 32 samples, and larger ones.
void gemm_shapes(benchmark::internal::Benchmark* bench) {
    const std::int64_t shapes[][5] = {
        {32, 64, 2, 0, 1},      {32, 64, 64, 0, 1},     {32, 2, 64, 0, 1},
        {32, 64, 2, 0, 0},      {32, 64, 64, 0, 0},     {64, 2, 32, 1, 0},
        {64, 64, 32, 1, 0},     {2, 64, 32, 1, 0},      {128, 120, 400, 0, 1},
        {128, 128, 128, 0, 1},  {256, 256, 256, 0, 1},  {128, 512, 784, 0, 1},
        {512, 784, 128, 1, 0},  {512, 512, 512, 0, 1},  {1024, 1024, 1024, 0, 1},
        {700, 2600, 650, 0, 1}, {2600, 650, 700, 1, 0}, {700, 650, 2600, 0, 0}};
    bench->ArgNames({"m", "n", "k", "ta", "tb", "dtype"});
    for (const auto dtype : {DType::f32, DType::bf16, DType::f16})
        for (const auto& s : shapes)
            bench->Args({s[0], s[1], s[2], s[3], s[4], static_cast<std::int64_t>(dtype)});
}
BENCHMARK(gemm)->Apply(gemm_shapes)->UseRealTime();

enum Direction { forward, data_gradient, weight_gradient };

/// n, c, h = w, k, r = s, stride, pad, dtype, direction.
void conv2d(benchmark::State& state) {
    const kernels::Conv2dShape shape{.n = state.range(0),
                                     .c = state.range(1),
                                     .h = state.range(2),
                                     .w = state.range(2),
                                     .k = state.range(3),
                                     .r = state.range(4),
                                     .s = state.range(4),
                                     .stride_h = state.range(5),
                                     .stride_w = state.range(5),
                                     .pad_h = state.range(6),
                                     .pad_w = state.range(6)};
    const auto dtype = static_cast<DType>(state.range(7));
    const std::int64_t outputs = shape.n * shape.oh() * shape.ow() * shape.k;
    const std::int64_t inputs = shape.n * shape.h * shape.w * shape.c;
    const std::int64_t weights = shape.k * shape.c * shape.r * shape.s;
    auto x = random_values(dtype, inputs), y = random_values(dtype, outputs);
    auto w = random_values(dtype, weights);
    const kernels::Array xa{x.data(), dtype, inputs}, ya{y.data(), dtype, outputs};
    const kernels::Array wa{w.data(), dtype, weights};
    for (auto _ : state) {
        if (state.range(8) == forward)
            kernels::cpu::conv2d_forward(ya, xa, wa, {nullptr, dtype, 0}, shape, {});
        else if (state.range(8) == data_gradient)
            kernels::cpu::conv2d_data_gradient(xa, ya, wa, shape, {});
        else
            kernels::cpu::conv2d_weight_gradient(wa, {nullptr, dtype, 0}, ya, xa, shape, {});
    }
    state.SetLabel(kernels::cpu::conv2d_route(dtype, shape));
    report_flops(state, outputs * shape.c * shape.r * shape.s);
}

void conv_shapes(benchmark::internal::Benchmark* bench) {
    bench->ArgNames({"n", "c", "h", "k", "r", "stride", "pad", "dtype", "direction"});
    const std::int64_t shapes[][7] = {
        // ResNet-18 with the CIFAR stem. These occur 1, 4, 1, 1, 3, 1, 1, 3, 1, 1 and 3 times.
        {64, 3, 32, 64, 3, 1, 1},
        {64, 64, 32, 64, 3, 1, 1},
        {64, 64, 32, 128, 3, 2, 1},
        {64, 64, 32, 128, 1, 2, 0},
        {64, 128, 16, 128, 3, 1, 1},
        {64, 128, 16, 256, 3, 2, 1},
        {64, 128, 16, 256, 1, 2, 0},
        {64, 256, 8, 256, 3, 1, 1},
        {64, 256, 8, 512, 3, 2, 1},
        {64, 256, 8, 512, 1, 2, 0},
        {64, 512, 4, 512, 3, 1, 1},
        // LeNet-5
        {128, 1, 28, 6, 5, 1, 2},
        {128, 6, 14, 16, 5, 1, 0}};
    for (const auto dtype : {DType::f32, DType::bf16, DType::f16})
        for (const auto& s : shapes)
            for (const std::int64_t direction : {forward, data_gradient, weight_gradient})
                bench->Args({s[0], s[1], s[2], s[3], s[4], s[5], s[6],
                             static_cast<std::int64_t>(dtype), direction});
}
BENCHMARK(conv2d)->Apply(conv_shapes)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
