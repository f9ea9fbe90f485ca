#pragma once

#include <cstring>

#include "convnet_support.h"
#include "engine/network/network.h"
#include "models/network_model.h"
#include "observed_twin.h"
#include "ops/shape/view.h"

// A written network beside the built-in model that it describes.
namespace engine::test {

inline std::unique_ptr<Model> written_model(const std::string& text, const ModelShape& shape, const Options& options = {}, std::optional<std::int64_t> seed = 1) {
    return make_network_model(text, options, shape, seed, Device{});
}

/// Rows of numbers.
inline ModelShape features(std::int64_t count, std::int64_t outputs) {
    return {{{.name = "features", .kind = FieldKind::features, .shape = {count}}}, outputs};
}

/// A network of one input; its lines have no indentation of their own.
inline std::string written(const std::string& head, const std::string& body) {
    std::string text = head + ":\n";
    for (std::size_t from = 0; from < body.size();) {
        const std::size_t to = std::min(body.find('\n', from), body.size());
        text += "  " + body.substr(from, to - from) + '\n';
        from = to + 1;
    }
    return text;
}

/// Names, shapes and bits of parameters and buffers, and all second names.
inline std::vector<std::string> tensors_of(const Model& model) {
    std::vector<std::string> out;
    for (const auto* list : {&model.parameters(), &model.buffers()})
        for (const Parameter& each : *list) out.push_back(each.name + to_string(each.tensor.shape()) + (each.autocast_low ? " low " : " ") + bits_of(each.tensor));
    for (const TensorAlias& alias : model.aliases()) out.push_back(alias.name + " = " + alias.of);
    return out;
}

/// Moves the weights by gradient descent.
inline void descend(const Model& model, float rate) {
    for (const Parameter& each : model.parameters()) {
        const Tensor& weight = each.tensor;
        const Tensor gradient = weight.grad();
        if (!gradient.defined()) continue;
        const std::vector<double> slope = gradient.values();
        std::vector<double> moved = weight.values();
        for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = static_cast<double>(static_cast<float>(moved[i]) - rate * static_cast<float>(slope[i]));
        const Tensor next = Tensor::of(moved, weight.shape(), DType::f32, Device{});
        std::memcpy(weight.data(), next.data(), weight.bytes());
        weight.bump_version();
        weight.set_grad({});
    }
}

/// Bits of the losses of some steps in training, and of the last one's gradients and the buffers.
/// Images are reconstructed; others are classified.
inline std::vector<std::string> trained(Model& model, const Tensor& inputs, int steps, std::optional<DType> low) {
    std::vector<std::string> out;
    StepRandom random(1, Tensor::zeros({}, DType::i64, Device{}));
    model.random = &random;
    std::vector<double> classes;
    for (std::int64_t i = 0; i < inputs.size(0); ++i) classes.push_back(static_cast<double>(i % 3));
    const Tensor labels = Tensor::of(classes, {inputs.size(0)}, DType::i64, Device{});
    for (int step = 0; step < steps; ++step) {
        random.begin(static_cast<std::size_t>(step));
        Tensor loss;
        {
            const AutocastRegion region(Device::Kind::cpu, low.has_value(), low.value_or(DType::bf16));
            const auto entered = region.enter();
            const Tensor y = model.forward({inputs}).front();
            if (y.rank() == 4) {
                const Tensor difference = add(y, mul(inputs, -1.0));
                loss = sum(mul(difference, difference), {}, false, DType::f32);
            } else {
                loss = cross_entropy(y, labels);
            }
        }
        out.push_back(bits_of(loss));
        backward(loss);
        if (step + 1 < steps) descend(model, 0.01f);
    }
    for (const Parameter& each : model.parameters()) out.push_back(each.tensor.grad().defined() ? bits_of(each.tensor.grad()) : std::string());
    for (const Parameter& each : model.buffers()) out.push_back(bits_of(each.tensor));
    return out;
}

}  // namespace engine::test
