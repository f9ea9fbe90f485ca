#include "nn/layers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
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

/// The x below which this share of a standard normal distribution lies, to nine digits. Source:
/// the rational functions of P. J. Acklam.
double normal_quantile(double share) {
    constexpr double low = 0.02425;
    const auto tail = [](double p) {
        const double q = std::sqrt(-2 * std::log(p));
        return (((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q -
                   2.400758277161838e+00) * q - 2.549732539343734e+00) * q +
                 4.374664141464968e+00) * q + 2.938163982698783e+00) /
               ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q +
                  2.445134137142996e+00) * q + 3.754408661907416e+00) * q + 1);
    };
    if (share < low) return tail(share);
    if (share > 1 - low) return -tail(1 - share);
    const double q = share - 0.5, r = q * q;
    return (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r -
               2.759285104469687e+02) * r + 1.383577518672690e+02) * r -
             3.066479806614716e+01) * r + 2.506628277459239e+00) * q /
           (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r -
               1.556989798598866e+02) * r + 6.680131188771972e+01) * r -
             1.328068155288572e+01) * r + 1);
}

/// Makes the rows of a matrix with so many rows orthogonal and of length 1, or its columns if they
/// are fewer, one after another from the first: a QR decomposition with a positive diagonal.
void make_orthogonal(std::vector<float>& values, std::size_t rows) {
    const std::size_t cols = rows == 0 ? 0 : values.size() / rows;
    const std::size_t count = std::min(rows, cols), length = std::max(rows, cols);
    const auto at = [&](std::size_t vector, std::size_t i) -> float& {
        return values[rows <= cols ? vector * cols + i : i * cols + vector];
    };
    std::vector<double> all(count * length);
    for (std::size_t v = 0; v < count; ++v) {
        double* const own = &all[v * length];
        for (std::size_t i = 0; i < length; ++i) own[i] = static_cast<double>(at(v, i));
        // Rounding leaves a part of the earlier vectors, which a second pass removes.
        for (int pass = 0; pass < 2; ++pass)
            for (std::size_t u = 0; u < v; ++u) {
                const double* const other = &all[u * length];
                const double part = std::inner_product(own, own + length, other, 0.0);
                for (std::size_t i = 0; i < length; ++i) own[i] -= part * other[i];
            }
        const double size = std::sqrt(std::inner_product(own, own + length, own, 0.0));
        for (std::size_t i = 0; i < length; ++i) {
            own[i] /= size;
            at(v, i) = static_cast<float>(own[i]);
        }
    }
}

}  // namespace

Tensor TensorRegistry::add(const std::string& name, const Tensor& tensor, bool autocast_low) {
    parameters.push_back({name, tensor, autocast_low});
    parameters.back().tensor.set_requires_grad(true);
    return tensor;
}

template <typename Draw, typename Finish>
Tensor TensorRegistry::drawn(const std::string& name, const Shape& shape, bool autocast_low,
                             Draw draw, Finish finish) {
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
        finish(values);
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

Tensor TensorRegistry::truncated_normal(const std::string& name, const Shape& shape,
                                        double deviation, bool autocast_low) {
    const double end = 2 / deviation;
    const double below = 0.5 * std::erfc(end / std::sqrt(2.0));  // share of the values left out
    const auto value = [=](std::uint32_t word) {
        const double place = below + (word + 0.5) * 0x1p-32 * (1 - 2 * below);
        return static_cast<float>(std::clamp(normal_quantile(place) * deviation, -2.0, 2.0));
    };
    return drawn(name, shape, autocast_low, [value](const PhiloxBlock& words) {
        return std::array{value(words[0]), value(words[1]), value(words[2]), value(words[3])};
    });
}

Tensor TensorRegistry::orthogonal(const std::string& name, const Shape& shape,
                                  bool autocast_low) {
    const auto normals = [](const PhiloxBlock& words) {
        const auto first = RandomStream::to_normals(words[0], words[1]);
        const auto second = RandomStream::to_normals(words[2], words[3]);
        return std::array{static_cast<float>(first[0]), static_cast<float>(first[1]),
                          static_cast<float>(second[0]), static_cast<float>(second[1])};
    };
    const auto rows = static_cast<std::size_t>(shape[0]);
    return drawn(name, shape, autocast_low, normals,
                 [rows](std::vector<float>& values) { make_orthogonal(values, rows); });
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

BatchNorm2d BatchNorm2d::frozen(TensorRegistry& registry, const std::string& name,
                                std::int64_t channels, double eps) {
    BatchNorm2d norm;
    norm.module = ModuleName(name);
    norm.weight = registry.buffer(name + ".weight", {channels}, 1);
    norm.bias = registry.buffer(name + ".bias", {channels}, 0);
    norm.running_mean = registry.buffer(name + ".running_mean", {channels}, 0);
    norm.running_var = registry.buffer(name + ".running_var", {channels}, 1);
    norm.eps = eps;
    norm.is_frozen = true;
    return norm;
}

void BatchNorm2d::count(bool training) const {
    if (training && !recomputing()) count_batch(num_batches_tracked);
}

/// A segment that is computed again moves no running statistics: the first run did.
std::pair<Tensor, Tensor> BatchNorm2d::running(bool training) const {
    if (training && recomputing()) return {};
    return {running_mean, running_var};
}

Tensor BatchNorm2d::operator()(const Tensor& x, bool in_training) const {
    const ModuleScope opened(module);
    const bool training = in_training && !is_frozen;
    count(training);
    const auto [mean, var] = running(training);
    if (!is_usual()) return batch_norm(x, weight, bias, mean, var, training, momentum, eps);
    return Norms::of_thread().batch(x, {weight, bias, mean, var}, training);
}

Tensor BatchNorm2d::relu(const Tensor& x, const Tensor& residual, bool in_training) const {
    const ModuleScope opened(module);
    const bool training = in_training && !is_frozen;
    count(training);
    const auto [mean, var] = running(training);
    if (!is_usual())
        return batch_norm_relu(x, residual, weight, bias, mean, var, training, momentum, eps);
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
