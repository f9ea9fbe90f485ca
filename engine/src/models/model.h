#pragma once

#include <memory>

#include "core/tensor_map.h"
#include "data/dataset.h"
#include "nn/layers.h"

namespace engine {

/// A network with its tensors under PyTorch's (torchvision's) names.
class Model {
public:
    virtual ~Model() = default;
    /// x (N, C, H, W) or (N, features) -> logits (N, classes).
    virtual Tensor forward(const Tensor& x) = 0;

    bool training = true;  ///< batch statistics instead of running ones
    const std::vector<Parameter>& parameters() const { return registry_.parameters; }
    const std::vector<Parameter>& buffers() const { return registry_.buffers; }
    /// Numbers in the parameters.
    std::int64_t parameter_count() const;

protected:
    Model(std::optional<std::int64_t> seed, const Device& device) : registry_(seed, device) {}
    TensorRegistry registry_;
};

/// The model that the settings name, with weights drawn from `seed`. Throws Error(settings) if it
/// does not take such samples.
std::unique_ptr<Model> make_model(const ModelConfig& config, const SampleShape& sample,
                                  std::int64_t classes, std::optional<std::int64_t> seed,
                                  const Device& device);

/// Reads parameters and buffers by name from a safetensors file. Throws Error(data) naming
/// everything that is missing, unknown, or of another shape.
void load_weights(Model& model, const std::string& path);

/// Brings a model that was made in f32 to 16-bit weights and float buffers in place (4.1, and
/// fastai's rule of 4.2): batch norms that have weights stay f32 if asked for.
void convert_weights(Model& model, DType dtype, bool keep_batch_norm);

/// A copy of the parameters and buffers by name, on the host, 16-bit ones as f32: what is saved of
/// a model at every opt level.
TensorMap saved_state(const Model& model);
/// Puts it back, by name, into the model's own types: 16-bit weights take f32 values rounded once
/// (masters keep them whole: Optimizer::load_masters). Tensors keep their memory. Throws
/// Error(value), having changed nothing, naming everything that is missing, unknown, or of another
/// shape.
void load_state(Model& model, const TensorMap& saved);

}  // namespace engine
