#pragma once

#include <span>

#include "tensor/module_scope.h"
#include "tensor/parameter.h"
#include "tensor/philox.h"
#include "tensor/tape.h"

namespace engine {

/// Registers the tensors of layers under PyTorch's names, in the order of PyTorch's state_dict.
/// Also draws initial weights: tensor i from substream i of the seed, so that the size of one layer
/// does not change another's weights. Without a seed nothing is drawn, which suffices for counting.
class TensorRegistry {
public:
    TensorRegistry(std::optional<std::int64_t> seed, const Device& device)
        : seed_(seed), device_(device) {}

    /// Uniform in [-bound, bound), requires a gradient.
    Tensor uniform(const std::string& name, const Shape& shape, double bound, bool autocast_low);
    /// Normal with this deviation.
    Tensor normal(const std::string& name, const Shape& shape, double deviation, bool autocast_low);
    /// Normal with this deviation, without values beyond -2 and 2 (torch.nn.init.trunc_normal_).
    Tensor truncated_normal(const std::string& name, const Shape& shape, double deviation,
                            bool autocast_low);
    /// Rows of size(0), or columns if those are fewer, that are orthogonal and of length 1
    /// (torch.nn.init.orthogonal_; Saxe et al. 2013).
    Tensor orthogonal(const std::string& name, const Shape& shape, bool autocast_low);
    Tensor constant(const std::string& name, const Shape& shape, double value,
                    bool autocast_low = false);
    /// Registers values that are not trained, such as running statistics.
    Tensor buffer(const std::string& name, const Shape& shape, double value,
                  DType dtype = DType::f32);
    /// A second name of the tensor that is registered as `of`: files may hold it under either.
    void alias(const std::string& name, const std::string& of) { aliases.push_back({name, of}); }

    std::vector<Parameter> parameters;
    std::vector<Parameter> buffers;
    std::vector<TensorAlias> aliases;

private:
    Tensor add(const std::string& name, const Tensor& tensor, bool autocast_low);
    /// draw(words): four numbers. finish(values): what is done with all of them.
    template <typename Draw, typename Finish>
    Tensor drawn(const std::string& name, const Shape& shape, bool autocast_low, Draw draw,
                 Finish finish);
    template <typename Draw>
    Tensor drawn(const std::string& name, const Shape& shape, bool autocast_low, Draw draw) {
        return drawn(name, shape, autocast_low, draw, [](std::vector<float>&) {});
    }

    std::optional<std::int64_t> seed_;
    Device device_;
    std::uint32_t next_ = 0;
};

// While a layer runs, the module under whose name it is registered is open.

/// y = x weight^T + bias, weight (out, in); PyTorch's default init, U(-1/sqrt(in), 1/sqrt(in)) for
/// both.
struct Linear {
    ModuleName module;
    Tensor weight, bias;
    Linear() = default;
    Linear(TensorRegistry& registry, const std::string& name, std::int64_t in, std::int64_t out);
    /// Weight normal with this deviation, bias 0: as Transformers are drawn.
    Linear(TensorRegistry& registry, const std::string& name, std::int64_t in, std::int64_t out,
           double deviation);
    Tensor operator()(const Tensor& x) const;
};

/// Rows of a table, weight (rows, width); as PyTorch's, but for what it is drawn from.
struct Embedding {
    ModuleName module;
    Tensor weight;
    Embedding() = default;
    /// Drawn from U(-bound, bound). `shared`: the table is also the weight of a product (tied to
    /// the output layer).
    Embedding(TensorRegistry& registry, const std::string& name, std::int64_t rows,
              std::int64_t width, double bound, bool shared);
    /// Normal with this deviation.
    static Embedding normal(TensorRegistry& registry, const std::string& name, std::int64_t rows,
                            std::int64_t width, double deviation, bool shared = false);
    /// index (any shape, i64) -> (shape, width)
    Tensor operator()(const Tensor& index) const;
};

/// Square kernel; weight (out, in / groups, k, k).
struct Conv2d {
    enum class Init { uniform_fan_in, kaiming_normal_fan_out };
    ModuleName module;
    Tensor weight, bias;
    std::int64_t stride = 1, padding = 0, groups = 1;
    Conv2d() = default;
    Conv2d(TensorRegistry& registry, const std::string& name, std::int64_t in, std::int64_t out,
           std::int64_t kernel, std::int64_t stride_, std::int64_t padding_, bool with_bias,
           Init init, std::int64_t groups_ = 1);
    Tensor operator()(const Tensor& x) const;
};

/// Batch norm over (N, H, W) with running statistics. Without `affine` it has no weight and bias.
struct BatchNorm2d {
    ModuleName module;
    Tensor weight, bias, running_mean, running_var, num_batches_tracked;
    double momentum = 0.1, eps = 1e-5;
    bool is_frozen = false;  ///< normalises by the running statistics in training, too
    BatchNorm2d() = default;
    BatchNorm2d(TensorRegistry& registry, const std::string& name, std::int64_t channels,
                bool affine = true);
    /// torchvision's FrozenBatchNorm2d: all four tensors are buffers, and training changes none.
    static BatchNorm2d frozen(TensorRegistry& registry, const std::string& name,
                              std::int64_t channels, double eps);
    Tensor operator()(const Tensor& x, bool training) const;
    /// relu(batch_norm(x) + residual) in one pass; residual may be undefined.
    Tensor relu(const Tensor& x, const Tensor& residual, bool training) const;

private:
    void count(bool training) const;
    std::pair<Tensor, Tensor> running(bool training) const;
    bool is_usual() const { return momentum == 0.1 && eps == 1e-5; }
};

/// Square kernel; weight (in, out, k, k); PyTorch's default init. An image of side s becomes one of
/// (s - 1) * stride - 2 * padding + k.
struct ConvTranspose2d {
    ModuleName module;
    Tensor weight, bias;
    std::int64_t stride = 1, padding = 0;
    ConvTranspose2d() = default;
    ConvTranspose2d(TensorRegistry& registry, const std::string& name, std::int64_t in,
                    std::int64_t out, std::int64_t kernel, std::int64_t stride_,
                    std::int64_t padding_);
    Tensor operator()(const Tensor& x) const;
};

/// relu(layer(x)), as one tape node, in the layer's module, unless types are forced. A relu of its
/// own belongs to no module.
Tensor linear_relu(const Linear& layer, const Tensor& x);

/// The layers one after another, a relu between each two. Small ones are one tape node, in no
/// module, unless types are forced.
Tensor linear_chain(std::span<const Linear> layers, const Tensor& x);

}  // namespace engine
