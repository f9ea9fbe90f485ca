#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "models/model.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "support/op_log.h"
#include "tensor/observer.h"

// Models compute some ops together, and show their parts to observers.
namespace engine {

/// Whether the graph of y has a node of this op.
inline bool has_node(const Tensor& y, const std::string& name) {
    std::vector<const Node*> left{y.impl()->node.get()};
    std::set<const Node*> visited;
    while (!left.empty()) {
        const Node* node = left.back();
        left.pop_back();
        if (node == nullptr || !visited.insert(node).second) continue;
        if (node->info().name == name) return true;
        for (const Edge& edge : node->edges) left.push_back(edge.node.get());
    }
    return false;
}

inline std::string bits_of(const Tensor& x) {
    std::string out(x.bytes(), '\0');
    std::memcpy(out.data(), x.data(), x.bytes());
    return out;
}

struct TwinBits {
    std::vector<std::string> bits;  ///< of the first output and of every gradient
    bool joined;                    ///< its graph has the op that joins others
};

/// On the CPU, where the models join ops, whatever the default device is.
inline TensorList on_cpu(const TensorList& inputs) {
    TensorList out;
    for (const Tensor& each : inputs) out.push_back(each.copy_to(Device{}));
    return out;
}

/// A step of a model on the CPU in training, with dropout; with a low type, in its region.
inline TwinBits twin_step(Model& model, const TensorList& inputs, std::optional<DType> low,
                          const std::string& joining) {
    StepRandom random(1, Tensor::zeros({}, DType::i64, Device{}));
    random.begin(0);
    model.random = &random;
    Tensor y;
    {
        const AutocastRegion region(Device::Kind::cpu, low.has_value(), low.value_or(DType::bf16));
        const auto entered = region.enter();
        y = model.forward(on_cpu(inputs)).front();
    }
    TwinBits step{{bits_of(y)}, has_node(y, joining)};
    backward(sum(mul(y, y), {}, false, DType::f32));
    for (const Parameter& each : model.parameters()) {
        const Tensor gradient = each.tensor.grad();
        step.bits.push_back(gradient.defined() ? bits_of(gradient) : std::string());
    }
    return step;
}

/// A step whose graph has the op `joining` and an observed one have equal bits in fp32, amp-fp16 and
/// amp-bf16. Returns what the last observer saw of the forward pass.
inline std::vector<std::string> expect_observed_twin(
    const std::function<std::unique_ptr<Model>()>& make, const TensorList& inputs,
    const std::string& joining) {
    std::vector<std::string> seen;
    for (const std::optional<DType> low :
         {std::optional<DType>(), std::optional(DType::f16), std::optional(DType::bf16)}) {
        const TwinBits plain = twin_step(*make(), inputs, low, joining);
        OpLog log;
        const ObserverScope attached(log);
        const TwinBits observed = twin_step(*make(), inputs, low, joining);
        EXPECT_TRUE(plain.joined) << "else nothing is compared";
        EXPECT_TRUE(observed.joined);
        EXPECT_EQ(observed.bits, plain.bits);
        seen = log.forward;
    }
    return seen;
}

}  // namespace engine
