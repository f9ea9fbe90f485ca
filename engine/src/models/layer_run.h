#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/type_pass.h"
#include "nn/layers.h"
#include "nn/transformer.h"
#include "tensor/random_source.h"

/// How the layers of a written network run. network/kinds.inc lists their kinds.
namespace engine::network {

/// The first of the random numbers that a layer takes.
struct LayerDraw {
    RandomSource source;
    std::uint64_t offset = 0;
};

/// One forward pass. Layers take their random numbers in the order in which they run.
class LayerPass {
public:
    bool training = false;
    bool sparse_gradients = false;  ///< of embedding tables
    TensorList state{};             ///< carried from the last step; empty: zeros
    TensorList next_state{};

    explicit LayerPass(StepRandom* random) : random_(random) {}
    /// Takes the next `count` numbers.
    LayerDraw draw(std::int64_t count);
    /// A copy for a block that is computed again later; if it draws, with the numbers from the
    /// present place on.
    LayerPass from_here(bool draws) const;

private:
    StepRandom* random_;                     // null: of a block that is computed again
    std::optional<RandomSource> source_{};
    std::uint64_t next_ = 0;
};

/// The values of a layer from those that it takes.
using LayerFunction = std::function<TensorList(TensorList&& inputs, LayerPass& pass)>;

/// Places in TensorRegistry::buffers, by name.
using BufferPlaces = std::unordered_map<std::string, std::size_t>;

/// A layer while its function is made.
class LayerSetup : public GraphLayer {
public:
    TensorRegistry& registry;
    Device device;
    std::span<const Tensor> tensors;   ///< of all parameters of the graph
    BufferPlaces& buffers;
    std::optional<std::size_t> first_state{};  ///< of a layer that carries its state: the place in LayerPass::state
    std::optional<double> frozen_eps{};        ///< BatchNorm2d is frozen, with this eps

    ModuleName module() const { return ModuleName(node.module); }
    /// Undefined behind the last one.
    Tensor parameter(std::size_t index) const;
    TensorList parameters() const;
    /// A tensor of the module that is not learnt; the one that is there if the module runs again.
    Tensor buffer(const std::string& role, const Shape& shape, double value, DType dtype = DType::f32) const;
};

/// The running part of a kind of layer, beside its LayerKind.
struct LayerRun {
    /// Which of its parameters products read in autocast's type.
    enum class Low { none, weights, all };

    std::function<LayerFunction(const LayerSetup&)> make{};
    LayerTypeFunction types{};  ///< the operations of its function, in their order
    Low low = Low::none;
    bool casts_first = false;    ///< a product or convolution: autocast casts its input before all else
    bool opens_module = false;   ///< its function opens the layer's module
    bool view = false;           ///< computes nothing
    bool draws = false;          ///< takes random numbers in training
};

const LayerRun& layer_run(const LayerKind& kind);

/// Which parameters products read in autocast's type, so that an optimizer may keep a copy of it.
std::vector<bool> low_parameters(const NetworkGraph& graph);

/// The first value with a border of its own elements: `sides` before and after the last dimensions,
/// from the last on.
ValueType edge_padding_type(const LayerTypes& layer, const std::vector<std::int64_t>& sides);

/// The number that a tensor begins with by this rule; nothing: it is drawn.
std::optional<double> constant_start(const InitialRule& rule);

// Layers that a plan joins with their neighbours.
Linear linear_layer(const LayerSetup& setup);
BatchNorm2d batch_norm_layer(const LayerSetup& setup);
LayerNorm layer_norm_layer(const LayerSetup& setup);

#define HALFTONE_LAYER(name) LayerRun run_##name();
#include "network/kinds.inc"
#undef HALFTONE_LAYER

/// A layer that computes one value.
template <typename F>
LayerFunction gives_one(F f) {
    return [f = std::move(f)](TensorList&& inputs, LayerPass& pass) {
        TensorList out;
        if constexpr (std::is_invocable_v<const F&, const TensorList&, LayerPass&>)
            out.push_back(f(inputs, pass));
        else if constexpr (std::is_invocable_v<const F&, const Tensor&, LayerPass&>)
            out.push_back(f(inputs.front(), pass));
        else if constexpr (std::is_invocable_v<const F&, const TensorList&>)
            out.push_back(f(inputs));
        else
            out.push_back(f(inputs.front()));
        return out;
    };
}

/// A function of one tensor without arguments.
inline LayerRun runs(Tensor (*f)(const Tensor&), const Op& op) {
    return {.make = [f](const LayerSetup&) { return gives_one([f](const Tensor& x) { return f(x); }); }, .types = calls(op)};
}

}  // namespace engine::network
