#include "models/mlp.h"

#include "pointwise/activation.h"
#include "shape/view.h"

namespace engine {

Mlp::Mlp(const std::vector<std::int64_t>& hidden, std::int64_t inputs, std::int64_t classes,
         std::optional<std::int64_t> seed, const Device& device)
    : Model(seed, device) {
    std::int64_t in = inputs;
    for (const std::int64_t out : hidden) {
        layers_.emplace_back(registry_, "fc" + std::to_string(layers_.size() + 1), in, out);
        in = out;
    }
    layers_.emplace_back(registry_, "fc" + std::to_string(layers_.size() + 1), in, classes);
}

Tensor Mlp::forward(const Tensor& x) {
    Tensor h = x.rank() == 2 ? x : flatten(x, 1);
    for (std::size_t i = 0; i + 1 < layers_.size(); ++i) h = relu(layers_[i](h));
    return layers_.back()(h);
}

}  // namespace engine
