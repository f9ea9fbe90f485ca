// Speed of the loops: calls on the small tensors of an MLP in nanoseconds, and passes over the
// activations of a ResNet-18 (CIFAR, batch 64) and over its 11 million parameters in bytes a
// second. The bytes are those that must move, each once a pass; Copy is the yardstick.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "kernels/batch_norm.h"
#include "kernels/device.h"
#include "kernels/elementwise.h"
#include "kernels/multi_tensor.h"
#include "kernels/multi_tensor_update.h"
#include "kernels/parallel.h"
#include "kernels/pool.h"
#include "kernels/reduce.h"
#include "kernels/softmax.h"

namespace {

using namespace kernels;

/// Normal values. Zeros would be faster than real data.
class Data {
public:
    Data(DType dtype, std::int64_t size, float mean = 0)
        : array_{cpu::allocate(static_cast<std::size_t>(size) * size_of(dtype)), dtype, size} {
        std::mt19937 engine(static_cast<unsigned>(size));
        std::normal_distribution<float> normal(mean, 1);
        std::vector<float> values(static_cast<std::size_t>(size));
        for (float& v : values) v = normal(engine);
        cpu::cast(array_, ConstArray(values.data(), DType::f32, size), {});
    }
    ~Data() { cpu::release(array_.data); }
    Data(const Data&) = delete;
    Data& operator=(const Data&) = delete;
    operator Array() const { return array_; }
    operator ConstArray() const { return array_; }
    std::int64_t bytes() const {
        return array_.size * static_cast<std::int64_t>(size_of(array_.dtype));
    }

private:
    Array array_;
};

DType dtype_of(const benchmark::State& state, int index) {
    return static_cast<DType>(state.range(index));
}

void set_bytes(benchmark::State& state, std::int64_t bytes) {
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * bytes);
}

void every_type(benchmark::internal::Benchmark* b) {
    for (DType dtype : {DType::f32, DType::f16, DType::bf16})
        for (std::int64_t size : {2048, 64 * 32 * 32 * 64})
            b->Args({static_cast<std::int64_t>(dtype), size});
}

void Copy(benchmark::State& state) {
    const Data x(dtype_of(state, 0), state.range(1)), y(dtype_of(state, 0), state.range(1));
    for (auto _ : state) cpu::cast(y, x, {});
    set_bytes(state, 2 * x.bytes());
}

template <UnaryOp op>
void Unary(benchmark::State& state) {
    const Data x(dtype_of(state, 0), state.range(1), 3), y(dtype_of(state, 0), state.range(1));
    for (auto _ : state) cpu::unary(y, x, op, {});
    set_bytes(state, 2 * x.bytes());
}

template <BinaryOp op>
void Binary(benchmark::State& state) {
    const Data a(dtype_of(state, 0), state.range(1)), b(dtype_of(state, 0), state.range(1));
    const Data y(dtype_of(state, 0), state.range(1));
    for (auto _ : state) cpu::binary(y, a, b, op, {});
    set_bytes(state, 3 * a.bytes());
}

void CastDown(benchmark::State& state) {
    const Data x(DType::f32, state.range(1)), y(dtype_of(state, 0), state.range(1));
    for (auto _ : state) cpu::cast(y, x, {});
    set_bytes(state, x.bytes() + y.bytes());
}

void CastUp(benchmark::State& state) {
    const Data x(dtype_of(state, 0), state.range(1)), y(DType::f32, state.range(1));
    for (auto _ : state) cpu::cast(y, x, {});
    set_bytes(state, x.bytes() + y.bytes());
}

void Sum(benchmark::State& state) {
    const Data x(dtype_of(state, 0), state.range(1));
    const Data y(DType::f32, 1);
    for (auto _ : state) cpu::reduce(y, x, 1, state.range(1), 1, ReduceOp::sum, {});
    set_bytes(state, x.bytes());
}

void ColumnSum(benchmark::State& state) {
    const Data x(dtype_of(state, 0), state.range(1)), y(DType::f32, 64);
    for (auto _ : state) cpu::reduce(y, x, 1, state.range(1) / 64, 64, ReduceOp::sum, {});
    set_bytes(state, x.bytes());
}

/// Rows of x, channels, dtype: the four stages of the network.
void stages(benchmark::internal::Benchmark* b) {
    for (DType dtype : {DType::f32, DType::f16, DType::bf16})
        for (std::int64_t k = 0; k < 4; ++k)
            b->Args({static_cast<std::int64_t>(dtype), std::int64_t{65536} >> (2 * k),
                     std::int64_t{64} << k});
}

struct Norm {
    explicit Norm(const benchmark::State& state)
        : shape{state.range(1), state.range(2)},
          x(dtype_of(state, 0), shape.rows * shape.channels),
          y(dtype_of(state, 0), shape.rows * shape.channels),
          dy(dtype_of(state, 0), shape.rows * shape.channels),
          dx(dtype_of(state, 0), shape.rows * shape.channels),
          weight(DType::f32, shape.channels),
          mean(DType::f32, shape.channels),
          invstd(DType::f32, shape.channels, 1) {}
    BatchNormShape shape;
    Data x, y, dy, dx, weight, mean, invstd;
    Array none{nullptr, DType::f32, 0};
};

void BatchNormForward(benchmark::State& state) {
    const Norm n(state);
    for (auto _ : state)
        cpu::batch_norm_forward_train(n.y, n.mean, n.invstd, n.none, n.none, n.x, n.weight,
                                      n.weight, n.none, true, n.shape, {});
    set_bytes(state, 3 * n.x.bytes());
}

void BatchNormBackward(benchmark::State& state) {
    const Norm n(state);
    const Data dweight(DType::f32, n.shape.channels), dbias(DType::f32, n.shape.channels);
    for (auto _ : state)
        cpu::batch_norm_backward(n.dx, n.none, dweight, dbias, nullptr, n.dy, n.none, n.x, n.y,
                                 n.weight, n.none, n.mean, n.invstd, true, true, n.shape, {});
    set_bytes(state, 7 * n.x.bytes());
}

Pool2dShape two_by_two() {
    Pool2dShape s{};
    s.n = 64, s.c = 64, s.h = s.w = 32, s.oh = s.ow = 16;
    s.kernel_h = s.kernel_w = s.stride_h = s.stride_w = 2;
    return s;
}

void MaxPoolForward(benchmark::State& state) {
    const Pool2dShape s = two_by_two();
    const Data x(dtype_of(state, 0), s.n * s.c * s.h * s.w);
    const Data y(dtype_of(state, 0), s.n * s.c * s.oh * s.ow);
    const Data index(DType::i32, s.n * s.c * s.oh * s.ow);
    for (auto _ : state) cpu::max_pool2d_forward(y, index, x, s, {});
    set_bytes(state, x.bytes() + y.bytes() + index.bytes());
}

void MaxPoolBackward(benchmark::State& state) {
    const Pool2dShape s = two_by_two();
    const Data x(dtype_of(state, 0), s.n * s.c * s.h * s.w);
    const Data dy(dtype_of(state, 0), s.n * s.c * s.oh * s.ow);
    const Data index(DType::i32, s.n * s.c * s.oh * s.ow);
    cpu::max_pool2d_forward(dy, index, x, s, {});
    for (auto _ : state) cpu::max_pool2d_backward(x, dy, index, s, {});
    set_bytes(state, x.bytes() + dy.bytes() + index.bytes());
}

void CrossEntropy(benchmark::State& state) {
    const std::int64_t rows = state.range(1), cols = state.range(2);
    const Data logits(dtype_of(state, 0), rows * cols), stats(DType::f32, 2 * rows);
    const Data losses(DType::f32, rows), scale(DType::f32, 1);
    const std::vector<std::int64_t> labels(static_cast<std::size_t>(rows), 1);
    const ConstArray target(labels.data(), DType::i64, rows);
    for (auto _ : state) {
        cpu::cross_entropy_forward(stats, losses, logits, target, rows, cols, -100, {}, {});
        cpu::cross_entropy_backward(logits, scale, logits, stats, target, rows, cols, -100, {});
    }
}

/// Parameters in six tensors like the MLP's, times `range(1)`.
struct Model {
    Model(DType grad_type, std::int64_t factor) {
        for (std::int64_t size : {128, 64, 4096, 64, 128, 2}) {
            master.push_back(std::make_unique<Data>(DType::f32, size * factor));
            momentum.push_back(std::make_unique<Data>(DType::f32, size * factor));
            second.push_back(std::make_unique<Data>(DType::f32, size * factor, 4));
            low.push_back(std::make_unique<Data>(DType::f16, size * factor));
            grad.push_back(std::make_unique<Data>(grad_type, size * factor));
            tensors.push_back(
                {*master.back(), *grad.back(), *momentum.back(), *second.back(), *low.back()});
            grads.push_back(*grad.back());
            bytes += grad.back()->bytes();
            parameters += size * factor;
        }
    }
    std::vector<std::unique_ptr<Data>> master, momentum, second, low, grad;
    std::vector<UpdateTensor> tensors;
    std::vector<ConstArray> grads;
    std::int64_t bytes = 0, parameters = 0;
};

void GradientCheck(benchmark::State& state) {
    const Model model(dtype_of(state, 0), state.range(1));
    GradientStatistics gradient_statistics;
    for (auto _ : state) {
        cpu::multi_tensor_gradient_check(&gradient_statistics, model.grads, {});
        benchmark::DoNotOptimize(gradient_statistics);
    }
    set_bytes(state, model.bytes);
}

void Sgd(benchmark::State& state) {
    const Model model(dtype_of(state, 0), state.range(1));
    const float lr = 1e-6f, found_inf = 0;
    const UpdateScalars scalars{.lr = &lr, .found_inf = &found_inf};
    for (auto _ : state)
        cpu::multi_tensor_sgd(model.tensors, {.momentum = 0.9, .weight_decay = 1e-4}, scalars,
                              nullptr, {});
    set_bytes(state, model.bytes + model.parameters * 18);  // p, buffer: read and write; low: write
}

void Adam(benchmark::State& state) {
    const Model model(dtype_of(state, 0), state.range(1));
    const float lr = 1e-6f;
    const std::int64_t step = 3;
    const UpdateScalars scalars{.lr = &lr, .step = &step, .own_step = &step};
    for (auto _ : state) cpu::multi_tensor_adam(model.tensors, {}, scalars, nullptr, {});
    set_bytes(state, model.bytes + model.parameters * 26);
}

void models(benchmark::internal::Benchmark* b) {
    for (DType dtype : {DType::f32, DType::f16})
        for (std::int64_t factor : {1, 2500}) b->Args({static_cast<std::int64_t>(dtype), factor});
}
void types(benchmark::internal::Benchmark* b) {
    for (DType dtype : {DType::f32, DType::f16, DType::bf16})
        b->Arg(static_cast<std::int64_t>(dtype));
}
void logits(benchmark::internal::Benchmark* b) {
    for (DType dtype : {DType::f32, DType::f16}) {
        b->Args({static_cast<std::int64_t>(dtype), 32, 2});
        b->Args({static_cast<std::int64_t>(dtype), 128, 10});
        b->Args({static_cast<std::int64_t>(dtype), 700, 33278});
    }
}

BENCHMARK(Copy)->Apply(every_type)->UseRealTime();
BENCHMARK(Unary<UnaryOp::relu>)->Apply(every_type)->UseRealTime();
BENCHMARK(Unary<UnaryOp::exp>)->Apply(every_type)->UseRealTime();
BENCHMARK(Unary<UnaryOp::tanh>)->Apply(every_type)->UseRealTime();
BENCHMARK(Unary<UnaryOp::gelu>)->Apply(every_type)->UseRealTime();
BENCHMARK(Binary<BinaryOp::add>)->Apply(every_type)->UseRealTime();
BENCHMARK(Binary<BinaryOp::relu_backward>)->Apply(every_type)->UseRealTime();
BENCHMARK(CastDown)->Apply(every_type)->UseRealTime();
BENCHMARK(CastUp)->Apply(every_type)->UseRealTime();
BENCHMARK(Sum)->Apply(every_type)->UseRealTime();
BENCHMARK(ColumnSum)->Apply(every_type)->UseRealTime();
BENCHMARK(BatchNormForward)->Apply(stages)->UseRealTime();
BENCHMARK(BatchNormBackward)->Apply(stages)->UseRealTime();
BENCHMARK(MaxPoolForward)->Apply(types)->UseRealTime();
BENCHMARK(MaxPoolBackward)->Apply(types)->UseRealTime();
BENCHMARK(CrossEntropy)->Apply(logits)->UseRealTime();
BENCHMARK(GradientCheck)->Apply(models)->UseRealTime();
BENCHMARK(Sgd)->Apply(models)->UseRealTime();
BENCHMARK(Adam)->Apply(models)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
