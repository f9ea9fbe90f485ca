#pragma once

#include "network/from_onnx/imported_graph.h"

namespace engine::network {

/// A node of the file while it is read.
class OperatorCall {
public:
    OperatorCall(ImportedGraph& read, const OnnxNode& at);

    ImportedGraph& graph;
    const OnnxNode& node;

    std::int64_t opset() const { return graph.file.opset; }
    bool given(std::size_t input) const { return input < inputs_.size() && inputs_[input] >= 0; }
    int input(std::size_t at) const;
    std::size_t input_count() const { return inputs_.size(); }
    const ImportedValue& value(std::size_t at) const { return graph.value(input(at)); }
    const Extents& sizes(std::size_t at = 0) const { return value(at).sizes; }
    std::int64_t rank(std::size_t at = 0) const { return static_cast<std::int64_t>(sizes(at).size()); }
    bool is_constant(std::size_t at) const { return given(at) && value(at).constant >= 0; }
    bool all_constant() const;
    /// The index of a constant input of real numbers with so many dimensions; -1: any.
    int weight(std::size_t at, int dims = -1) const;
    /// Whether Expand repeats the numbers of a constant input.
    bool is_repeated(std::size_t at) const;
    /// A constant input of whole numbers.
    Extents extents(std::size_t at) const;
    std::vector<std::int64_t> wholes(std::size_t at) const;
    /// Whole numbers of an input or, in older opsets, of an attribute.
    std::vector<std::int64_t> wholes_or(std::size_t at, const char* attribute) const;
    double scalar(std::size_t at) const;
    /// The input; a constant that repeats its numbers for each sample of the exporter's batch stands for any batch.
    int for_any_batch(std::size_t at);
    /// Takes another value at this input.
    void take(std::size_t at, int value) { inputs_[at] = value; }
    /// The number of a size.
    std::int64_t number(const Extent& extent) const;
    std::size_t axis(std::int64_t given, std::int64_t rank) const;
    std::size_t axis(const char* attribute, std::int64_t usual) const { return axis(node.whole(attribute, usual), rank()); }

    /// Adds a layer that takes `from`, whose value is output `out`.
    int add(const std::string& kind, const std::string& arguments, std::vector<int> from, Extents sizes, std::size_t out = 0);
    /// A layer between this node's inputs and its main layer.
    int add_before(const std::string& kind, const std::string& arguments, std::vector<int> from, Extents sizes);
    /// add_before() for a step whose form follows from `list` or from its sizes, as Permute and Reshape.
    int add_view(const std::string& kind, std::vector<std::int64_t> list, int from, Extents sizes);
    /// The value of a number.
    int number_value(double number) { return graph.add_constant({.numbers = {static_cast<float>(number)}}); }
    /// The step of add().
    ImportedStep& step() { return graph.steps.back(); }
    void give(int value, std::size_t out = 0);
    void give_constant(ImportedConstant made);
    void give_wholes(Extents made, std::vector<std::int64_t> dims);
    /// The value stays as it is; the report counts it.
    void drop(const std::string& what);
    [[noreturn]] void fail(const std::string& why) const { throw CannotRead{why}; }

private:
    std::vector<int> inputs_;
};

/// "3" or "[3, 1]".
std::string sizes_text(const std::vector<std::int64_t>& sizes);
std::string number_text(double number);
/// ", name=text".
void add_argument(std::string& arguments, const std::string& name, const std::string& text);

Extents broadcast_extents(const std::vector<const Extents*>& all);

// Operators by subject. Each gives the node's outputs or throws CannotRead.
using ReadOperator = void (*)(OperatorCall& call);
/// Null: the operator is not read.
ReadOperator find_onnx_operator(const std::string& op);
const std::map<std::string, ReadOperator>& layer_operators();
const std::map<std::string, ReadOperator>& recurrent_operators();
const std::map<std::string, ReadOperator>& attention_operators();
const std::map<std::string, ReadOperator>& shape_operators();
const std::map<std::string, ReadOperator>& reduction_operators();
const std::map<std::string, ReadOperator>& elementwise_operators();

/// Computes the node where all of its inputs are known. False: it cannot be computed here.
bool fold(OperatorCall& call);

}  // namespace engine::network
