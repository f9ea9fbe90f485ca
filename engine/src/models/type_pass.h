#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "amp/dispatch.h"
#include "engine/models/network_types.h"
#include "network/graph.h"
#include "tensor/operand_type.h"

/// Types of a network that does not run: each layer names its operations, and a pass applies the
/// rules of autocast and of precision.force to the types of their operands. It also notes in which
/// memory their results lie.
namespace engine::network {

/// The order of a value's elements in memory, as far as a change of its shape depends on it.
enum class ElementOrder : std::uint8_t { rows, channels_last, permuted };

/// The type of a value, and its place in memory.
struct ValueType : OperandType {
    bool learns = false;   ///< parameters are among what it is made of
    double elements = 1;   ///< of one batch
    int made_by = -1;      ///< place in TypePass::calls(); -1: a parameter, an input or a number
    int block = -1;        ///< of memory, in TypePass::blocks(); -1: as made_by
    ElementOrder order = ElementOrder::rows;
};
using ValueTypes = std::vector<ValueType>;

/// An operation with its operands, those that are missing left out.
struct TypedCall {
    const Op* op = nullptr;
    int row = 0;
    ValueTypes given{}, used{};  ///< operands before casts and after them
    ValueType result{};
};

/// A forward pass on types alone. Lists its operations.
class TypePass {
public:
    /// Sources of a result's type where autocast's rules decide nothing.
    enum class Gives {
        widest,         ///< the widest operand, as in PyTorch's promotion
        first,          ///< its first operand
        f32_in_region,  ///< its parts have entries: f32 under autocast, else its first operand
        from_f32        ///< its first operand; it computes in f32
    };

    /// `low`: autocast's type; none: autocast is off. `rules` may be null.
    TypePass(std::optional<DType> low, std::shared_ptr<const ForceRules> rules) : low_(low), rules_(std::move(rules)) {}

    std::string module{};  ///< that the next operations run in
    std::string around{};  ///< that the layer is in
    int row = 0;           ///< of CheckedNetwork, to which they belong

    /// Calls an operation on these operands. Those that are missing are left out.
    ValueType call(const Op& op, std::span<const ValueType> operands, Gives gives = Gives::widest);
    /// Lists an operation that another one computes aside from its own call: no rule of
    /// precision.force sets its type.
    ValueType show(const Op& op, const ValueType& x);
    /// Whether such a rule sets the type of an operation in this module.
    bool is_forced(const Op& op) const { return rule_for(op, true) != nullptr; }
    /// Calls an operation that is made of others, `parts`, whose types precision.force may set. Under
    /// autocast the result has the type of the last part with a rule; otherwise the type that it has
    /// without rules.
    ValueType call_made_of(const Op& op, const ValueType& x, std::initializer_list<const Op*> parts);
    /// The last operation computes the layers of these rows as well.
    void add_rows(std::vector<int> rows) { operations_.back().further = std::move(rows); }
    /// The operations so far.
    std::vector<PredictedType> take() { return std::move(operations_); }
    const std::vector<TypedCall>& calls() const { return calls_; }
    /// Bytes of each block.
    const std::vector<double>& blocks() const { return blocks_; }
    /// Says how many elements a value has, where that is not the number of its largest operand that
    /// is no parameter.
    void set_elements(ValueType& value, double elements);
    /// An input in a type that it is cast to before the first layer.
    void set_cast_input(ValueType& value) { value.block = new_block(value); }
    /// Says that the value, which a call gave, is a copy and no view.
    void set_copied(ValueType& value);
    /// Says that the value, which a call gave, is made of one of these parameters too.
    void set_made_of(ValueType& value, std::span<const ValueType> parameters);
    /// A cast inside an operation, which is not listed. Gives x itself if it has this type.
    ValueType cast_inside(const ValueType& x, DType type);

private:
    const ForceRule* rule_for(const Op& op, bool has_floating) const;
    void cast(const Op& op, const ForceRule* rule, std::vector<OperandType>& operands) const;
    ValueType called(const Op& op, const ForceRule* rule, std::span<const ValueType> operands, Gives gives);
    int new_block(const ValueType& value);
    void note_call(const Op& op, std::span<const ValueType> operands, const std::vector<OperandType>& used, ValueType& result);

    std::optional<DType> low_;
    std::shared_ptr<const ForceRules> rules_;
    std::vector<PredictedType> operations_{};
    std::vector<TypedCall> calls_{};
    std::vector<double> blocks_{};
};

/// A layer in its graph.
class GraphLayer {
public:
    const NetworkGraph& graph;
    const GraphNode& node;
    std::size_t used_outputs = 1;  ///< values that other layers read, up to the last of them

    const LayerArguments& arguments() const { return node.arguments; }
    const TensorType& input(std::size_t index = 0) const {
        return graph.values[static_cast<std::size_t>(node.inputs[index])].type;
    }
    const TensorType& output(std::size_t index = 0) const {
        return graph.values[static_cast<std::size_t>(node.outputs[index])].type;
    }
    /// The argument as a dimension, from 0, of a value of this rank.
    int dimension(std::string_view argument, int rank) const;
    int dimension(std::string_view argument) const { return dimension(argument, input().rank()); }
    std::vector<std::int64_t> dimensions(std::string_view argument) const;
};

/// A layer while the types of its operations are found.
class LayerTypes : public GraphLayer {
public:
    std::span<const ValueType> in;       ///< the values that it takes
    std::span<const ValueType> weights;  ///< its parameters
    TypePass& pass;

    ValueType call(const Op& op, std::initializer_list<ValueType> operands, TypePass::Gives gives = TypePass::Gives::widest) const {
        return pass.call(op, operands, gives);
    }
    /// Calls it on the first value and the parameters.
    ValueType call_with_weights(const Op& op, TypePass::Gives gives = TypePass::Gives::widest) const;
    /// One call after another, on what the one before gave.
    ValueType chain(ValueType x, std::initializer_list<const Op*> ops) const;
};

/// The values of a layer.
using LayerTypeFunction = std::function<ValueTypes(const LayerTypes& layer)>;

/// A layer that is one operation on its values.
LayerTypeFunction calls(const Op& op, TypePass::Gives gives = TypePass::Gives::widest);
/// A layer that is one operation on its value and its parameters.
LayerTypeFunction calls_with_weights(const Op& op, TypePass::Gives gives = TypePass::Gives::widest);

}  // namespace engine::network
