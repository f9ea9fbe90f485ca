#pragma once

#include <map>

#include "amp/call_trace.h"
#include "io/onnx/onnx_graph.h"
#include "models/model.h"

namespace engine {

/// Writes the operations of a forward pass to a graph. The second of two passes, with other sizes
/// of the inputs, compares itself with the first: a whole number that differs is computed in the
/// graph from the sizes of its inputs, and any other difference throws Error(settings).
class OnnxTrace final : public CallTrace {
public:
    /// Everything that a pass asks for, in order.
    struct Requests {
        std::vector<std::pair<OnnxValue, Shape>> ports;
        std::vector<std::pair<std::string, OnnxAttributes>> nodes;
        std::vector<std::vector<std::int64_t>> integers;
        std::vector<std::vector<double>> constants;
    };

    /// `first`: null in the first pass.
    OnnxTrace(OnnxGraph& graph, const Model& model, const Requests* first);

    void add_input(const std::string& name, const Tensor& tensor);
    void add_output(const std::string& name, const Tensor& tensor);
    const Requests& requests() const { return asked_; }

    // For the nodes of an operation.

    /// An input, a parameter, a result of a traced operation, or a constant.
    OnnxValue value(const Tensor& tensor);
    /// Whether it is a constant, no value of the graph, and 0 everywhere.
    bool is_zeros(const Tensor& tensor) const;
    /// A value that stays f32, under this name unless it is a parameter or a buffer.
    OnnxValue statistic(const std::string& name, const Tensor& tensor);
    OnnxValue number(double value);
    /// `one_follows`: as the shape of a Reshape, which finds one size itself.
    OnnxValue integers(std::vector<std::int64_t> values, bool one_follows = false);
    OnnxValues nodes(const std::string& type, const OnnxValues& inputs,
                     const OnnxAttributes& attributes, std::size_t outputs);
    OnnxValue node(const std::string& type, const OnnxValues& inputs,
                   const OnnxAttributes& attributes = {}) {
        return nodes(type, inputs, attributes, 1).front();
    }
    DType dtype() const { return graph_.dtype(); }

private:
    bool has(const Op& info) const override;
    void on_traced(const TracedCall& call) override;
    void on_same_value(const Tensor& shown, const Tensor& own) override {
        add_value(own, value(shown));
    }
    void check_port(const std::string& name) const;
    void add_value(const Tensor& tensor, const OnnxValue& value);
    template <typename T>
    T first(std::vector<T> Requests::*list, T request);
    std::vector<OnnxDim> dims(const std::string& name, const Tensor& tensor);
    OnnxValue constant(const Tensor& tensor);
    OnnxValue size(std::int64_t before, std::int64_t now);

    OnnxGraph& graph_;
    const Requests* first_;
    Requests asked_;
    std::map<TensorPlace, std::string> weights_;
    std::map<TensorPlace, OnnxValue> values_;
};

/// Whether the table of nodes has this operation.
bool has_onnx_nodes(const Op& op);
/// Writes the nodes of one operation and returns its results. Throws Error(settings) for a form
/// that cannot be written.
OnnxValues write_onnx_nodes(OnnxTrace& to, const TracedCall& call);
/// Throws Error(settings) with a sentence that says why the model cannot be exported.
[[noreturn]] void refuse_onnx(const Message& sentence);

}  // namespace engine
