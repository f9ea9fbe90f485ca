#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace engine {

/// A value of an ONNX graph: an input, an initializer or the output of a node, by its name.
using OnnxValue = std::string;
using OnnxValues = std::vector<OnnxValue>;

/// A size, or the name of one that may differ from call to call.
using OnnxDim = std::variant<std::int64_t, std::string>;

using OnnxAttribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                                   std::vector<std::string>>;
using OnnxAttributes = std::map<std::string, OnnxAttribute>;

/// ONNX's number of a type, as its Cast takes it.
std::int64_t onnx_type(DType dtype);

/// A graph of ONNX operators (opset 17), built in the order in which it computes. Weights keep
/// their names, shapes and layouts; nodes are named after the module that is open
/// (tensor/module_scope.h).
class OnnxGraph {
public:
    static constexpr int opset = 17;

    /// `dtype`: of weights and computation, f32 or f16.
    explicit OnnxGraph(DType dtype);

    DType dtype() const { return dtype_; }

    /// Names of the model's tensors: own_name() gives constants and nodes others.
    void reserve(std::set<std::string> names) { reserved_ = std::move(names); }
    bool is_reserved(const std::string& name) const { return reserved_.contains(name); }
    std::string own_name(std::string name) const;

    OnnxValue input(const std::string& name, DType dtype, std::vector<OnnxDim> dims);
    /// Makes `value` an output of the graph under this name.
    void output(const std::string& name, const OnnxValue& value, std::vector<OnnxDim> dims);

    /// An initializer in the graph's type, entered once however often it is asked for. Throws
    /// Error(data) if fp16 cannot hold one of its finite values.
    OnnxValue weight(const std::string& name, const Tensor& tensor);
    /// An initializer that stays f32: statistics of a batch norm.
    OnnxValue statistic(const std::string& name, const Tensor& tensor);
    /// Whole numbers: axes, sizes.
    OnnxValue integers(const std::vector<std::int64_t>& values);

    /// Adds a node, unless there is one that computes the same; an empty input is one that is left
    /// out.
    OnnxValue node(const std::string& type, const OnnxValues& inputs,
                   const OnnxAttributes& attributes = {});
    OnnxValues node(const std::string& type, const OnnxValues& inputs,
                    const OnnxAttributes& attributes, std::size_t outputs);

    struct Port {
        std::string name;
        DType dtype;
        std::vector<OnnxDim> dims;
    };
    struct Initializer {
        std::string name;
        Tensor tensor;  ///< on the host, row-major
    };
    struct Node {
        std::string name, type;
        OnnxValues inputs, outputs;
        OnnxAttributes attributes;
    };
    const std::vector<Port>& inputs() const { return inputs_; }
    const std::vector<Port>& outputs() const { return outputs_; }
    const std::vector<Initializer>& initializers() const { return initializers_; }
    const std::vector<Node>& nodes() const { return nodes_; }

private:
    OnnxValue add(const std::string& name, const Tensor& tensor, DType dtype);

    DType dtype_;
    std::set<std::string> reserved_;
    std::vector<Port> inputs_, outputs_;
    std::vector<Initializer> initializers_;
    std::vector<Node> nodes_;
};

/// The graph as an ONNX model (https://onnx.ai/onnx/repo-docs/IR.html), with these properties
/// beside it. Throws Error(data) for more than the 2 GiB that the format can hold.
std::string onnx_model(const OnnxGraph& graph, const std::map<std::string, std::string>& metadata,
                       std::uint64_t max_bytes = std::numeric_limits<std::int32_t>::max());

}  // namespace engine
