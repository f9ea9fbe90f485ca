#include "io/onnx/onnx_graph.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "tensor/cast.h"
#include "tensor/module_scope.h"
#include "tensor/restore.h"
#include "tensor/tape.h"

namespace engine {
namespace {

/// A value that is finite in f32 and infinite in fp16.
bool overflows(const Tensor& wide, const Tensor& low) {
    const auto* before = wide.data_as<float>();
    const auto* after = low.data_as<kernels::Half>();
    for (std::int64_t i = 0; i < wide.numel(); ++i) {
        if (std::isfinite(before[i]) && !std::isfinite(kernels::to_float(after[i]))) return true;
    }
    return false;
}

}  // namespace

OnnxGraph::OnnxGraph(DType dtype) : dtype_(dtype) {
    if (dtype != DType::f32 && dtype != DType::f16)
        throw Error(ErrorCode::value, msg("ONNX: a graph is fp32 or fp16, not {}", name(dtype)));
}

OnnxValue OnnxGraph::input(const std::string& name, DType dtype, std::vector<OnnxDim> dims) {
    inputs_.push_back({name, dtype, std::move(dims)});
    return name;
}

void OnnxGraph::output(const std::string& name, const OnnxValue& value, std::vector<OnnxDim> dims) {
    nodes_.push_back({name, "Identity", {value}, {name}, {}});
    outputs_.push_back({name, dtype_, std::move(dims)});
}

OnnxValue OnnxGraph::weight(const std::string& name, const Tensor& tensor) {
    return add(name, tensor, dtype_);
}

OnnxValue OnnxGraph::statistic(const std::string& name, const Tensor& tensor) {
    return add(name, tensor, DType::f32);
}

OnnxValue OnnxGraph::add(const std::string& name, const Tensor& tensor, DType dtype) {
    const bool is_there =
        std::any_of(initializers_.begin(), initializers_.end(),
                    [&](const Initializer& initializer) { return initializer.name == name; });
    if (is_there) return name;
    const GradMode off(false);
    const Tensor given = snapshot(tensor);
    const Tensor wide = given.dtype() == DType::f32 ? given : to(given, DType::f32);
    const Tensor stored = dtype == DType::f32 ? wide : to(wide, dtype);
    if (dtype == DType::f16 && overflows(wide, stored)) {
        throw Error(ErrorCode::data,
                    msg("{} holds values beyond 65504, which fp16 cannot hold", name),
                    msg("Export the model as fp32."));
    }
    initializers_.push_back({name, stored});
    return name;
}

OnnxValue OnnxGraph::integers(const std::vector<std::int64_t>& values) {
    std::string name = "integers";
    for (const std::int64_t value : values) name += "." + std::to_string(value);
    const bool is_there =
        std::any_of(initializers_.begin(), initializers_.end(),
                    [&](const Initializer& initializer) { return initializer.name == name; });
    if (is_there) return name;
    const Tensor tensor =
        Tensor::empty({static_cast<std::int64_t>(values.size())}, DType::i64, Device{});
    tensor.copy_from_host(values.data());
    initializers_.push_back({name, tensor});
    return name;
}

OnnxValue OnnxGraph::node(const std::string& type, const OnnxValues& inputs,
                          const OnnxAttributes& attributes) {
    return node(type, inputs, attributes, 1).front();
}

OnnxValues OnnxGraph::node(const std::string& type, const OnnxValues& inputs,
                           const OnnxAttributes& attributes, std::size_t outputs) {
    const std::string& module = current_module();
    const std::string name =
        (module.empty() ? "" : module + "/") + type + "_" + std::to_string(nodes_.size());
    OnnxValues made;
    for (std::size_t i = 0; i < outputs; ++i)
        made.push_back(outputs == 1 ? name : name + "." + std::to_string(i));
    nodes_.push_back({name, type, inputs, made, attributes});
    return made;
}

}  // namespace engine
