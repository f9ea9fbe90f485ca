#pragma once

#include <memory>

#include "autograd/checkpoint.h"
#include "data/schema.h"
#include "engine/settings/run_config.h"
#include "nn/layers.h"
#include "tensor/random_source.h"
#include "tensor/restore.h"
#include "tensor/tensor.h"

namespace engine {

/// A task's requirements for its model: the fields that it feeds and the size of the output.
struct ModelShape {
    std::vector<FieldSpec> inputs;
    std::int64_t outputs = 0;  ///< classes, targets, or words
    Shape output = {};         ///< of one output that is an image, (C, H, W)
};

/// A network with its tensors under PyTorch's (torchvision's) names.
class Model {
public:
    virtual ~Model() = default;
    /// Inputs in the order of ModelShape::inputs, then the carried state, if there is one. Outputs,
    /// then the new state. Opens a module (tensor/module_scope.h) wherever PyTorch's model has one
    /// that computes something.
    virtual TensorList forward(const TensorList& inputs) = 0;
    /// Shapes of the state that the model carries from step to step, (layers, streams, width) each.
    /// Empty: it carries no state.
    virtual std::vector<Shape> state_shapes(std::int64_t streams) const {
        (void)streams;
        return {};
    }
    /// The most tokens of a window that it reads at once; 0: any number.
    virtual std::int64_t context() const { return 0; }
    /// Whether a floating input goes into a product or a convolution alone, so that autocast casts
    /// it to its 16-bit type before anything else is done with it.
    virtual bool casts_inputs_first() const { return false; }
    /// Whether an image goes into convolutions alone.
    virtual bool convolves_inputs_first() const { return false; }

    bool training = true;           ///< batch statistics instead of running ones, and dropout
    StepRandom* random = nullptr;   ///< of dropout in training; set for the time of a step
    bool sparse_gradients = false;  ///< of embedding tables (ops/index/sparse.h)
    bool recompute_blocks = false;  ///< blocks keep their inputs alone (activation checkpointing)
    std::vector<std::string> modules;  ///< full names of those that it opens; set by make_model()
    std::vector<std::string> heads;    ///< modules of the output layer; set by make_model()
    std::vector<std::string> blocks;   ///< built-in models': from the first on; set by make_model()
    const std::vector<Parameter>& parameters() const { return registry_.parameters; }
    const std::vector<Parameter>& buffers() const { return registry_.buffers; }
    /// Second names of tied parameters.
    const std::vector<TensorAlias>& aliases() const { return registry_.aliases; }
    std::int64_t parameter_count() const;

    /// Runs one of the model's blocks within the module of this name. With recompute_blocks,
    /// training keeps only its input and computes it again in the backward pass, which opens the
    /// module again. The bits are the same.
    template <typename F>
    Tensor block(ModuleName name, const Tensor& x, F f) const {
        const ModuleScope opened(name);
        if (!recompute_blocks || !training) return f(x);
        return checkpoint([f](const TensorList& in) { return TensorList{f(in.front())}; }, {x})
            .front();
    }

protected:
    Model(std::optional<std::int64_t> seed, const Device& device) : registry_(seed, device) {}
    TensorRegistry registry_;
};

/// A model of one input and one output.
class SimpleModel : public Model {
public:
    /// x (N, C, H, W) or (N, features) -> (N, outputs).
    virtual Tensor forward(const Tensor& x) = 0;
    TensorList forward(const TensorList& inputs) final { return {forward(inputs.front())}; }

protected:
    using Model::Model;
};

/// Two networks that are trained against each other: a generator of images from random numbers, and
/// a discriminator of generated and real ones. Their parameters are named "generator." and
/// "discriminator.".
class AdversarialModel : public Model {
public:
    /// latent (N, width) -> images (N, C, H, W) in (-1, 1)
    virtual Tensor generate(const Tensor& latent) = 0;
    /// images (N, C, H, W) in [-1, 1] -> (N), the logit of being real
    virtual Tensor discriminate(const Tensor& images) = 0;

    TensorList forward(const TensorList& inputs) final { return {generate(inputs.front())}; }

protected:
    using Model::Model;
};

/// The model that the settings name, with weights drawn from `seed`. Without a seed nothing is
/// drawn, which suffices for counting. Throws Error(settings) if the model does not accept these
/// inputs.
std::unique_ptr<Model> make_model(const ModelConfig& config, const ModelShape& shape,
                                  std::optional<std::int64_t> seed, const Device& device);

/// The parameter count of the model that make_model() makes. Throws as it does.
std::int64_t count_parameters(const ModelConfig& config, const ModelShape& shape);

/// Treatment of the last layer when weights are read: read like the others, or, if the file does
/// not have all of it in the model's shapes, left as drawn (fine-tuning on other classes).
enum class Head { read, drawn_if_other };

/// Reads parameters and buffers by name from a safetensors file, or from a state dict that
/// torch.save wrote (io/pickle/torch_file.h); the content decides. `key` chooses among several
/// dicts in the file or prefixes of its names; fit_names() says which names fit. A tied parameter
/// may be there under one of its names, or under both with equal bits.
///
/// Returns notes for the user on what was left out. Throws Error(data) that counts the tensors that
/// are missing, unknown, of another shape, or differ from the one they are tied to, and names five.
std::vector<Message> load_weights(Model& model, const std::string& path, Head head = Head::read,
                                  const std::string& key = {});

/// Freezes the parameters whose names begin with one of these: they require no gradient. Throws
/// Error(settings) for a prefix without a match, and if no trainable parameter remains.
void freeze(Model& model, const std::vector<std::string>& prefixes);

/// Converts an f32 model to 16-bit weights and float buffers in place (optimizers.md#opt-levels,
/// 4.1, and fastai's rule of optimizers.md#fastais-scalers (4.2)). With keep_batch_norm, batch
/// norms that have weights stay f32.
void convert_weights(Model& model, DType dtype, bool keep_batch_norm);

/// A copy of the parameters and buffers by name on the host, 16-bit ones as f32: the saved form of
/// a model at every opt level.
TensorMap saved_state(const Model& model);
/// The tensors that saved_state() copies, in place.
std::vector<Place> state_places(const Model& model);
/// Restores a saved state by name, as load_weights() does, in the model's own types. 16-bit weights
/// take the f32 values rounded once. Tensors keep their memory. Throws Error(value), having changed
/// nothing, naming the same faults.
void load_state(Model& model, TensorMap saved);

}  // namespace engine
