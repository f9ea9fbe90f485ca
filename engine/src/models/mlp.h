#pragma once

#include "models/model.h"

namespace engine {

/// Fully connected layers with ReLU between them: names fc1, fc2, ... Images are flattened.
class Mlp final : public SimpleModel {
public:
    Mlp(const std::vector<std::int64_t>& hidden, std::int64_t inputs, std::int64_t outputs,
        std::optional<std::int64_t> seed, const Device& device);
    Tensor forward(const Tensor& x) override;
    bool casts_inputs_first() const override { return true; }
    OnnxValue export_graph(OnnxGraph& graph, const OnnxValue& x) const override;

private:
    std::vector<Linear> layers_;
};

}  // namespace engine
