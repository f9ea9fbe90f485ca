#pragma once

#include <array>
#include <memory>

#include "amp/recipe.h"
#include "ops/linalg/linear.h"
#include "tensor/tape.h"

namespace engine {

/// A weight as its layer has it, and as autocast casts it.
struct LayerWeight {
    Tensor own, low;
};

/// The three products of one call of a layer by codes (resources/handbook/low-bits.md). Codes are
/// decoded to bf16, which is exact, multiplied with sums in f32, and scaled. Products that the layer
/// does not quantise are those of the operands that autocast cast.
class QuantizedProducts {
public:
    QuantizedProducts(std::shared_ptr<QuantizedLayer> layer, WeightShape shape);

    /// x (rows, in), weight in the layer's shape, bias (out) of x's type or undefined -> (rows,
    /// out) of x's type.
    Tensor forward(const Tensor& x, const LayerWeight& weight, const Tensor& bias, bool relu);
    /// For the node of the product, and to be called once after forward(): x or its codes and
    /// scales for the weight's gradient, and the weight for that of x.
    std::array<Save, 3> saves(const Tensor& x, const LayerWeight& weight, bool by_input,
                              bool by_weight);

    /// Gradients by x (rows, in) and by the weight, in dy's type; undefined where they are not
    /// asked for. dy (rows, out). `saved`: those of saves(), from place 0 on.
    struct Gradients {
        Tensor input, weight;
    };
    Gradients gradients(const Tensor& dy, const Saved& saved, bool by_input, bool by_weight) const;

private:
    bool quantizes(LayerProduct product) const {
        return quantizes_[static_cast<std::size_t>(product)];
    }
    kernels::cpu::FewBitSums sums() const {
        return {layer_->recipe().sum_bits, layer_->recipe().promote_every};
    }
    Tensor input_gradient(const Tensor& dy, const Saved& saved, QuantizedMatrix& g) const;
    Tensor weight_gradient(const Tensor& dy, const Saved& saved, QuantizedMatrix& g) const;

    std::shared_ptr<QuantizedLayer> layer_;
    WeightShape shape_;
    std::array<bool, 3> quantizes_;  // in the step of this call
    QuantizedMatrix input_;          // after saves() without its tensors
};

}  // namespace engine
