#include "ops/linalg/linear_chain.h"

#include <algorithm>
#include <utility>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "amp/recipe.h"
#include "kernels/elementwise.h"
#include "kernels/gemm.h"
#include "kernels/reduce.h"
#include "ops/linalg/linear.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/activation.h"
#include "ops/shape/sum.h"
#include "tensor/cast.h"
#include "tensor/gradient_shortcuts.h"
#include "tensor/layout.h"
#include "tensor/observer.h"

namespace engine {
namespace {

constexpr Op linear_chain_op(CastPolicy::low, "linear_chain(x, weight, bias, ...)",
                             "Linear layers with a relu between each two as one node of the tape.",
                             nullptr);

/// Largest product, in multiply-adds, for which the engine's overhead matters.
constexpr std::int64_t max_work = std::int64_t{1} << 20;

/// The optimizer's 16-bit copy of a parameter; null if it has none of this type, or a stale one.
const Tensor* kept_copy(const Tensor& parameter, DType type) {
    const auto& copy = parameter.impl()->low_copy;
    const bool valid = copy && copy->version == parameter.version() && copy->tensor.dtype() == type;
    return valid ? &copy->tensor : nullptr;
}

/// The type that the layers are computed in.
DType computed_type(const Tensor& x) {
    return autocast_enabled(Device::Kind::cpu) ? autocast_low(Device::Kind::cpu) : x.dtype();
}

/// Whether the parameter can be read in `type` without a cast of its own.
bool is_at_hand(const Tensor& parameter, DType type) {
    if (!parameter.is_contiguous() || parameter.device().kind != Device::Kind::cpu) return false;
    if (parameter.dtype() == type) return true;
    return autocast_enabled(Device::Kind::cpu) && (low_gradients_stay() || !grad_enabled()) &&
           parameter.is_leaf() && kept_copy(parameter, type) != nullptr;
}

bool fits(const LinearTerms& layer, std::int64_t rows, std::int64_t in, DType type) {
    const Tensor &weight = *layer.weight, &bias = *layer.bias;
    if (!weight.defined() || !bias.defined() || weight.rank() != 2 || bias.rank() != 1)
        return false;
    const std::int64_t out = weight.size(0);
    return weight.size(1) == in && bias.size(0) == out && out > 0 && rows * in <= max_work / out &&
           is_at_hand(weight, type) && is_at_hand(bias, type);
}

bool can_chain(const Tensor& x, std::span<const LinearTerms> layers, DType type) {
    if (types_are_forced() || products_are_quantized() || x.device().kind != Device::Kind::cpu || x.rank() != 2 || x.numel() == 0 ||
        x.is_sparse() || !x.is_contiguous() || !is_floating(x.dtype()))
        return false;
    if (x.dtype() != type && !eligible(x, Device::Kind::cpu)) return false;
    std::int64_t in = x.size(1);
    for (const LinearTerms& layer : layers) {
        if (!fits(layer, x.size(0), in, type)) return false;
        in = layer.weight->size(0);
    }
    return !layers.empty() && layers.size() <= max_linear_chain;
}

/// The values of a parameter in `type`.
Tensor cast_parameter(const Tensor& parameter, DType type) {
    if (parameter.dtype() == type) return parameter;
    const Tensor* const copy = kept_copy(parameter, type);
    return copy != nullptr ? *copy : to(parameter, type);
}

/// x (rows, cols), contiguous, swapped if asked.
kernels::ConstMatrix matrix(const Tensor& x, bool swap = false) {
    const std::int64_t rows = x.size(0), cols = x.size(1);
    return {x.data(), x.dtype(), swap ? cols : rows, swap ? rows : cols, cols, swap};
}

/// a b in a's type.
Tensor multiplied(const kernels::ConstMatrix& a, const kernels::ConstMatrix& b,
                  const kernels::GemmOptions& options = {}) {
    Tensor y = Tensor::empty({a.rows, b.cols}, a.dtype, Device{});
    kernels::cpu::gemm({y.data(), a.dtype, a.rows, b.cols, b.cols}, a, b, options, {});
    return y;
}

/// Gradients of a chain of `count` layers that was computed in `type`. Its node saved x, the
/// results of the hidden layers, the weights and the biases; its inputs are x and each layer's
/// weight and bias.
class ChainGradient {
public:
    ChainGradient(const Saved& saved, std::size_t count, DType type)
        : saved_(saved), count_(count), type_(type), first_(first_needed()), out_(1 + 2 * count) {}

    /// Kernels alone.
    TensorList computed(const Tensor& gradient) {
        Tensor dy = in_layout(gradient, Layout::contiguous);
        for (std::size_t i = count_; i-- > 0;) {
            const Tensor x = saved_[index(i)];
            if (saved_.needs_gradient(input(i)))
                out_[at(i)] = multiplied(matrix(dy, true), matrix(x));
            if (saved_.needs_gradient(input(i) + 1)) out_[at(i) + 1] = column_sums(dy);
            if (i == first_ && !saved_.needs_gradient(0)) break;
            const Tensor dx = multiplied(matrix(dy), matrix(cast_parameter(weight(i), type_)));
            if (i == 0) {
                out_[0] = dx;
                break;
            }
            if (detail::gradients_are_observed()) detail::show_gradient(linear_chain_op, dx);
            dy = dx.impl().use_count() == 1 ? dx : empty_like(dx);  // an observer may have kept it
            kernels::cpu::binary(dy.array(), dx.array(), x.array(),
                                 kernels::BinaryOp::relu_backward, {});
        }
        return std::move(out_);
    }

    /// By operations, which can be differentiated again.
    TensorList recorded(Tensor dy) {
        const TensorList inputs = inputs_of_layers();
        for (std::size_t i = count_; i-- > 0;) {
            if (saved_.needs_gradient(input(i))) out_[at(i)] = product(dy, true, inputs[i], false);
            if (saved_.needs_gradient(input(i) + 1))
                out_[at(i) + 1] = sum(dy, {0}, false, dy.dtype());
            if (i == first_ && !saved_.needs_gradient(0)) break;
            const Tensor dx = to(product(dy, false, to(weight(i), type_), false), type_);
            if (i == 0)
                out_[0] = dx;
            else
                dy = relu_backward(dx, inputs[i]);
        }
        return std::move(out_);
    }

private:
    static int index(std::size_t i) { return static_cast<int>(i); }
    static int input(std::size_t layer) { return static_cast<int>(at(layer)); }
    static std::size_t at(std::size_t layer) { return 1 + 2 * layer; }
    Tensor weight(std::size_t i) const { return saved_[index(count_ + i)]; }
    Tensor bias(std::size_t i) const { return saved_[index(2 * count_ + i)]; }

    /// The first layer that has a gradient to compute.
    std::size_t first_needed() const {
        std::size_t i = 0;
        while (i + 1 < count_ && !saved_.needs_gradient(0) && !saved_.needs_gradient(input(i)) &&
               !saved_.needs_gradient(input(i) + 1))
            ++i;
        return i;
    }

    Tensor column_sums(const Tensor& dy) const {
        const Tensor sums = Tensor::empty({dy.size(1)}, type_, Device{});
        kernels::cpu::reduce(sums.array(), dy.array(), 1, dy.size(0), dy.size(1),
                             kernels::ReduceOp::sum, {});
        return sums;
    }

    /// Input of each layer; if gradients are to be differentiated, as a function of what comes
    /// before it.
    TensorList inputs_of_layers() const {
        TensorList inputs{saved_[0]};
        const NoAutocast inside(Device::Kind::cpu);
        for (std::size_t i = 1; i < count_; ++i) {
            inputs.push_back(grad_enabled() ? relu(linear(inputs.back(), to(weight(i - 1), type_),
                                                          to(bias(i - 1), type_)))
                                            : saved_[index(i)]);
        }
        return inputs;
    }

    const Saved& saved_;
    std::size_t count_;
    DType type_;
    std::size_t first_;
    TensorList out_;
};

/// Whether product() casts its operands: backward() was called inside a region.
bool casts_operands(DType type) {
    return autocast_enabled(Device::Kind::cpu) && type != DType::f64 &&
           type != autocast_low(Device::Kind::cpu);
}

TensorList gradient(const Tensor& dy, const Saved& saved, std::size_t count, DType type) {
    ChainGradient chain(saved, count, type);
    const bool by_operations = grad_enabled() || casts_operands(type);
    return by_operations ? chain.recorded(dy) : chain.computed(dy);
}

Tensor as_node(const Tensor& y, const Tensor& x, const TensorList& hidden,
               std::span<const LinearTerms> layers) {
    TensorList inputs;
    inputs.reserve(1 + 2 * layers.size());
    std::vector<Save> saves;
    saves.reserve(3 * layers.size());
    inputs.push_back(x);
    saves.push_back(save(x));
    for (const Tensor& each : hidden) saves.push_back(save(each));
    for (const LinearTerms& layer : layers) {
        inputs.push_back(*layer.weight);
        inputs.push_back(*layer.bias);
        saves.push_back(save(*layer.weight));
    }
    for (const LinearTerms& layer : layers) saves.push_back(save(*layer.bias));
    return record_outputs(linear_chain_op, inputs, {y}, std::move(saves),
                          [count = static_cast<std::uint32_t>(layers.size()), type = y.dtype()](
                              std::span<const Tensor> grads, const Saved& saved) {
                              return gradient(grads[0], saved, count, type);
                          })
        .front();
}

}  // namespace

Tensor linear_chain(const Tensor& x0, std::span<const LinearTerms> layers) {
    const DType type = computed_type(x0);
    if (!can_chain(x0, layers, type)) return {};
    const Tensor x = autocast_to(x0, type);
    TensorList hidden;
    hidden.reserve(layers.size());
    Tensor y = x;
    for (const LinearTerms& layer : layers) {
        const bool last = &layer == &layers.back();
        const Tensor bias = cast_parameter(*layer.bias, type);
        y = multiplied(matrix(y), matrix(cast_parameter(*layer.weight, type), true),
                       {.bias = bias.data(), .relu = !last});
        if (!last) hidden.push_back(y);
    }
    return grad_enabled() ? as_node(y, x, hidden, layers) : y;
}

}  // namespace engine
