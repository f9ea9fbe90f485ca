#include "nn/layers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "amp/dispatch.h"
#include "autograd/shown_parts.h"
#include "ops/conv/conv_transpose.h"
#include "ops/conv/convolution.h"
#include "ops/index/embedding.h"
#include "ops/linalg/linear.h"
#include "ops/linalg/linear_chain.h"
#include "ops/norm/batch_counts.h"
#include "ops/norm/norms.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"

namespace engine {
namespace {

/// Undefined where the layers cannot be one node.
Tensor as_one(std::span<const Linear> layers, const Tensor& x) {
    std::array<LinearTerms, max_linear_chain> terms;
    if (layers.size() > terms.size()) return {};
    for (std::size_t i = 0; i < layers.size(); ++i) terms[i] = {&layers[i].weight, &layers[i].bias};
    return linear_chain(x, std::span(terms).first(layers.size()));
}

/// as_one(), and shows its layers.
Tensor shown_as_one(std::span<const Linear> layers, const Tensor& x) {
    TensorList inputs{x};
    std::vector<ModuleName> modules;
    std::vector<Edge> leaves;
    for (const Linear& each : layers) {
        const ModuleScope opened(each.module);
        for (const Tensor& parameter : {each.weight, each.bias}) {
            inputs.push_back(parameter);
            leaves.push_back(in_open_module(parameter));
        }
        modules.push_back(each.module);
    }
    const auto together = [&] {
        const Tensor y = as_one(layers, x);
        return y.defined() ? TensorList{y} : TensorList();
    };
    const TensorList y = show_parts(inputs, together, [modules](const TensorList& in) {
        Tensor h = in[0];
        for (std::size_t i = 0; i < modules.size(); ++i) {
            if (i > 0) h = relu(h);
            const ModuleScope opened(modules[i]);
            h = linear(h, in[1 + 2 * i], in[2 + 2 * i]);
        }
        return TensorList{h};
    });
    return y.empty() ? Tensor() : y.front();
}

}  // namespace

Tensor TensorRegistry::add(const std::string& name, const Tensor& tensor, bool autocast_low) {
    parameters.push_back({name, tensor, autocast_low});
    parameters.back().tensor.set_requires_grad(true);
    return tensor;
}

template <typename Draw>
Tensor TensorRegistry::drawn(const std::string& name, const Shape& shape, bool autocast_low,
                             Draw draw) {
    const UseScope use(MemoryUse::weights);
    const Tensor tensor = Tensor::empty(shape, DType::f32, device_);
    const std::uint32_t substream = next_++;
    if (seed_) {
        const RandomStream stream(*seed_, StreamId::init, substream);
        std::vector<float> values(static_cast<std::size_t>(shape.numel()));
        // Four numbers at a time, because a block of random words and the logarithm, sine and
        // cosine of a pair of them make several: most of a large model's start is spent here.
        for (std::size_t i = 0; i < values.size(); i += 4) {
            const std::array<float, 4> four = draw(stream.block(i / 4));
            std::copy_n(four.begin(), std::min<std::size_t>(4, values.size() - i),
                        values.data() + i);
        }
        tensor.copy_from_host(values.data());
    }
    return add(name, tensor, autocast_low);
}

Tensor TensorRegistry::uniform(const std::string& name, const Shape& shape, double bound,
                               bool autocast_low) {
    const auto of_word = [bound](std::uint32_t word) {
        const auto uniform = static_cast<double>(RandomStream::to_uniform(word));
        return static_cast<float>((2.0 * uniform - 1.0) * bound);
    };
    return drawn(name, shape, autocast_low, [of_word](const PhiloxBlock& words) {
        return std::array{of_word(words[0]), of_word(words[1]), of_word(words[2]),
                          of_word(words[3])};
    });
}

Tensor TensorRegistry::normal(const std::string& name, const Shape& shape, double deviation,
                              bool autocast_low) {
    const auto scaled = [deviation](double value) {
        return static_cast<float>(static_cast<double>(static_cast<float>(value)) * deviation);
    };
    return drawn(name, shape, autocast_low, [scaled](const PhiloxBlock& words) {
        const auto first = RandomStream::to_normals(words[0], words[1]);
        const auto second = RandomStream::to_normals(words[2], words[3]);
        return std::array{scaled(first[0]), scaled(first[1]), scaled(second[0]), scaled(second[1])};
    });
}

Tensor TensorRegistry::constant(const std::string& name, const Shape& shape, double value,
                                bool autocast_low) {
    const UseScope use(MemoryUse::weights);
    ++next_;
    return add(name, Tensor::full(shape, value, DType::f32, device_), autocast_low);
}

Tensor TensorRegistry::buffer(const std::string& name, const Shape& shape, double value,
                              DType dtype) {
    const UseScope use(MemoryUse::weights);
    buffers.push_back({name, Tensor::full(shape, value, dtype, device_), false});
    return buffers.back().tensor;
}

Linear::Linear(TensorRegistry& registry, const std::string& name, std::int64_t in, std::int64_t out)
    : module(name) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(in));
    weight = registry.uniform(name + ".weight", {out, in}, bound, true);
    bias = registry.uniform(name + ".bias", {out}, bound, true);
}

Linear::Linear(TensorRegistry& registry, const std::string& name, std::int64_t in, std::int64_t out,
               double deviation)
    : module(name),
      weight(registry.normal(name + ".weight", {out, in}, deviation, true)),
      bias(registry.constant(name + ".bias", {out}, 0, true)) {}

Tensor Linear::operator()(const Tensor& x) const {
    const ModuleScope opened(module);
    return linear(x, weight, bias);
}

Tensor linear_relu(const Linear& layer, const Tensor& x) {
    if (types_are_forced()) return relu(layer(x));
    const auto together = [&] {
        const ModuleScope opened(layer.module);
        return linear_relu(x, layer.weight, layer.bias);
    };
    if (!operations_are_observed()) return together();
    const auto apart = [module = layer.module](const TensorList& in) {
        std::optional<ModuleScope> opened(module);
        const Tensor h = linear(in[0], in[1], in[2]);
        opened.reset();
        return TensorList{relu(h)};
    };
    return show_parts(
               {x, layer.weight, layer.bias}, [&] { return TensorList{together()}; }, apart)
        .front();
}

Tensor linear_chain(std::span<const Linear> layers, const Tensor& x) {
    if (Tensor y = operations_are_observed() ? shown_as_one(layers, x) : as_one(layers, x);
        y.defined())
        return y;
    Tensor h = x;
    for (const Linear& layer : layers.first(layers.size() - 1)) h = linear_relu(layer, h);
    return layers.back()(h);
}

Embedding::Embedding(TensorRegistry& registry, const std::string& name, std::int64_t rows,
                     std::int64_t width, double bound, bool shared)
    : module(name), weight(registry.uniform(name + ".weight", {rows, width}, bound, shared)) {}

Embedding Embedding::normal(TensorRegistry& registry, const std::string& name, std::int64_t rows,
                            std::int64_t width, double deviation, bool shared) {
    Embedding table;
    table.module = ModuleName(name);
    table.weight = registry.normal(name + ".weight", {rows, width}, deviation, shared);
    return table;
}

Tensor Embedding::operator()(const Tensor& index) const {
    const ModuleScope opened(module);
    return embedding(index, weight);
}

Conv2d::Conv2d(TensorRegistry& registry, const std::string& name, std::int64_t in, std::int64_t out,
               std::int64_t kernel, std::int64_t stride_, std::int64_t padding_, bool with_bias,
               Init init, std::int64_t groups_)
    : module(name), stride(stride_), padding(padding_), groups(groups_) {
    const Shape shape{out, in / groups, kernel, kernel};
    const double bound = 1.0 / std::sqrt(static_cast<double>(in / groups * kernel * kernel));
    weight =
        init == Init::uniform_fan_in
            ? registry.uniform(name + ".weight", shape, bound, true)
            : registry.normal(name + ".weight", shape,
                              std::sqrt(2.0 / static_cast<double>(out * kernel * kernel)), true);
    if (with_bias) bias = registry.uniform(name + ".bias", {out}, bound, true);
}

Tensor Conv2d::operator()(const Tensor& x) const {
    const ModuleScope opened(module);
    return conv2d(x, weight, bias,
                  {.stride = {stride, stride},
                   .padding = {padding, padding},
                   .dilation = {1, 1},
                   .groups = groups});
}

BatchNorm2d::BatchNorm2d(TensorRegistry& registry, const std::string& name, std::int64_t channels,
                         bool affine)
    : module(name),
      weight(affine ? registry.constant(name + ".weight", {channels}, 1) : Tensor()),
      bias(affine ? registry.constant(name + ".bias", {channels}, 0) : Tensor()),
      running_mean(registry.buffer(name + ".running_mean", {channels}, 0)),
      running_var(registry.buffer(name + ".running_var", {channels}, 1)),
      num_batches_tracked(registry.buffer(name + ".num_batches_tracked", {}, 0, DType::i64)) {}

void BatchNorm2d::count(bool training) const {
    if (training && !recomputing()) count_batch(num_batches_tracked);
}

/// A segment that is computed again moves no running statistics: the first run did.
std::pair<Tensor, Tensor> BatchNorm2d::running(bool training) const {
    if (training && recomputing()) return {};
    return {running_mean, running_var};
}

Tensor BatchNorm2d::operator()(const Tensor& x, bool training) const {
    const ModuleScope opened(module);
    count(training);
    const auto [mean, var] = running(training);
    return Norms::of_thread().batch(x, {weight, bias, mean, var}, training);
}

Tensor BatchNorm2d::relu(const Tensor& x, const Tensor& residual, bool training) const {
    const ModuleScope opened(module);
    count(training);
    const auto [mean, var] = running(training);
    return Norms::of_thread().batch_relu(x, residual, {weight, bias, mean, var}, training);
}

ConvTranspose2d::ConvTranspose2d(TensorRegistry& registry, const std::string& name, std::int64_t in,
                                 std::int64_t out, std::int64_t kernel, std::int64_t stride_,
                                 std::int64_t padding_)
    : module(name), stride(stride_), padding(padding_) {
    // PyTorch takes the second size for the fan-in, which is that of a convolution's weight.
    const double bound = 1.0 / std::sqrt(static_cast<double>(out * kernel * kernel));
    weight = registry.uniform(name + ".weight", {in, out, kernel, kernel}, bound, true);
    bias = registry.uniform(name + ".bias", {out}, bound, true);
}

Tensor ConvTranspose2d::operator()(const Tensor& x) const {
    const ModuleScope opened(module);
    return conv_transpose2d(x, weight, bias,
                            {.stride = {stride, stride}, .padding = {padding, padding}});
}

}  // namespace engine
