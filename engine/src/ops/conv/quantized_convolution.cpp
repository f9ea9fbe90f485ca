#include "ops/conv/quantized_convolution.h"

#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/layout.h"

namespace engine {
namespace {

/// Images (N, C, H, W) as a matrix of pixels (N H W, C).
Tensor as_pixels(const Tensor& images) {
    const Tensor x = in_layout(images, Layout::channels_last);
    const std::int64_t c = x.size(1);
    return view_of(x, {x.numel() / c, c}, {c, 1}, x.impl()->offset);
}

Tensor as_images(const Tensor& pixels, const Shape& shape) {
    const std::int64_t c = shape[1], h = shape[2], w = shape[3];
    return view_of(pixels, shape, {h * w * c, 1, w * c, c}, pixels.impl()->offset);
}

/// A weight as a matrix (K, all others).
Tensor as_rows(const Tensor& weight) {
    const Tensor w = in_layout(weight, Layout::contiguous);
    const std::int64_t cols = w.numel() / w.size(0);
    return view_of(w, {w.size(0), cols}, {cols, 1}, w.impl()->offset);
}

/// Dense sums (rows, cols) into y, which has this order in memory.
void round_sums(const Tensor& y, const Tensor& sums, std::int64_t cols, double factor,
                const Tensor& bias = {}) {
    const kernels::Matrix out{y.data(), y.dtype(), y.numel() / cols, cols, cols};
    kernels::cpu::scale_sums(out, sums.data_as<float>(), static_cast<float>(factor),
                             bias.defined() ? bias.data() : nullptr, false);
}

/// One call of a layer.
class Convolution {
public:
    Convolution(std::shared_ptr<QuantizedLayer> layer, const ConvShape& s)
        : layer_(std::move(layer)), s_(s) {}

    bool quantizes(LayerProduct product) const { return layer_->quantizes(product); }

    Tensor forward(const Tensor& x, const Tensor& own, const Tensor& bias) {
        input_ = layer_->quantize(as_pixels(x), ProductOperand::input, Contraction::cols);
        shape_ = x.shape();
        const QuantizedMatrix w = layer_->weight(as_rows(own), Contraction::cols);
        const Tensor sums = pixel_sums([&] {
            return bare_convolution(as_images(input_.values(DType::f32, 0), shape_), values(w, own),
                                    {}, s_);
        });
        const Tensor y = Tensor::empty(sums.shape(), x.dtype(), x.device(), Layout::channels_last);
        round_sums(y, sums, y.size(1), input_.factor() * w.factor(), bias);
        return y;
    }

    /// The codes of x.
    Tensor take_codes(const Tensor& x) {
        if (!input_.codes.defined())
            input_ = layer_->quantize(as_pixels(x), ProductOperand::input, Contraction::cols);
        shape_ = x.shape();
        return std::exchange(input_.codes, {});
    }

    Tensor input_gradient(const Tensor& dy, const Tensor& own, QuantizedMatrix& g) const {
        g = layer_->quantize(as_pixels(dy), ProductOperand::gradient, Contraction::cols);
        const QuantizedMatrix w = layer_->weight(as_rows(own), Contraction::cols, true);
        const Tensor sums = pixel_sums([&] {
            return bare_input_gradient(as_images(g.values(DType::f32, 0), dy.shape()),
                                       values(w, own), s_);
        });
        const Tensor dx =
            Tensor::empty(sums.shape(), dy.dtype(), dy.device(), Layout::channels_last);
        round_sums(dx, sums, dx.size(1), g.factor() * w.factor());
        return dx;
    }

    Tensor weight_gradient(const Tensor& dy, const Tensor& codes, QuantizedMatrix& g) const {
        if (!g.codes.defined())
            g = layer_->quantize(as_pixels(dy), ProductOperand::gradient, Contraction::cols);
        QuantizedMatrix x = input_;
        x.codes = codes;
        const Tensor sums = [&] {
            const UseScope use(MemoryUse::workspace);
            return bare_weight_gradient(as_images(g.values(DType::f32, 0), dy.shape()),
                                        as_images(x.values(DType::f32, 0), shape_), s_, false)
                .front();
        }();
        const Tensor dw = Tensor::empty(sums.shape(), dy.dtype(), dy.device());
        round_sums(dw, sums, dw.numel() / dw.size(0), g.factor() * x.factor());
        return dw;
    }

private:
    /// f32 sums of the decoded codes, pixel by pixel.
    template <class F>
    static Tensor pixel_sums(const F& convolve) {
        const UseScope use(MemoryUse::workspace);
        return in_layout(convolve(), Layout::channels_last);
    }
    static Tensor values(const QuantizedMatrix& codes, const Tensor& weight) {
        const Tensor rows = codes.values(DType::f32, 0);
        return view_of(rows, weight.shape(), contiguous_strides(weight.shape()), 0);
    }

    std::shared_ptr<QuantizedLayer> layer_;
    ConvShape s_;
    QuantizedMatrix input_;
    Shape shape_;  // of x
};

TensorList convolution_gradients(const Convolution& layer, const Tensor& dy, const Saved& saved,
                                 const ConvShape& s) {
    if (grad_enabled())
        throw Error(ErrorCode::state, msg("The gradient of a quantised product has no derivative."),
                    msg("Use a precision without a recipe."));
    TensorList out(3);
    QuantizedMatrix g;
    if (saved.needs_gradient(0))
        out[0] = layer.quantizes(LayerProduct::input_gradient)
                     ? layer.input_gradient(dy, saved[1], g)
                     : bare_input_gradient(dy, saved[1], s);
    if (saved.needs_gradient(1))
        out[1] = layer.quantizes(LayerProduct::weight_gradient)
                     ? layer.weight_gradient(dy, saved[0], g)
                     : bare_weight_gradient(dy, saved[0], s, false).front();
    if (saved.needs_gradient(2)) out[2] = sum(dy, {0, 2, 3}, false, dy.dtype());
    return out;
}

}  // namespace

std::shared_ptr<QuantizedLayer> quantized_convolution_layer() {
    // A layer that was looked for counts among those of the run.
    const std::optional<Recipe> recipe = autocast_state().quantized->plan().find(current_module());
    const bool covers = recipe && recipe->convolutions && recipe->has_tensor_scales();
    return covers ? quantized_layer() : nullptr;
}

Tensor quantized_convolution(const Op& info, std::shared_ptr<QuantizedLayer> quantized,
                             const Tensor& x, const Tensor& weight, const Tensor& own,
                             const Tensor& bias, const ConvShape& s) {
    Convolution layer(std::move(quantized), s);
    Save by_weight, by_input;
    const Tensor y = [&] {
        const GradMode off(false);
        const Tensor low = weight.detach(), master = own.detach();
        const Tensor made = layer.quantizes(LayerProduct::forward)
                                ? layer.forward(x, master, bias.defined() ? dense(bias) : bias)
                                : bare_convolution(x, low, bias, s);
        if (weight.requires_grad())
            by_weight = save(layer.quantizes(LayerProduct::weight_gradient) ? layer.take_codes(x)
                                                                            : x.detach());
        if (x.requires_grad())
            by_input = save(layer.quantizes(LayerProduct::input_gradient) ? master : low);
        return made;
    }();
    const Tensor inputs[] = {x, weight, bias};
    return record_many(info, inputs, y, {by_weight, by_input},
                       [layer, s](std::span<const Tensor> grads, const Saved& saved) {
                           return convolution_gradients(layer, grads[0], saved, s);
                       });
}

}  // namespace engine
