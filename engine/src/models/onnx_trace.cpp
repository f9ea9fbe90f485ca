#include "models/onnx_trace.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "engine/base/error.h"

namespace engine {

void refuse_onnx(const Message& sentence) {
    throw Error(ErrorCode::settings, sentence, msg("Export it as safetensors."));
}

namespace {

[[noreturn]] void refuse_difference() {
    refuse_onnx(
        msg("This model cannot be exported to ONNX: with inputs of other sizes it computes "
            "something else."));
}

}  // namespace

OnnxTrace::OnnxTrace(OnnxGraph& graph, const Model& model, const Requests* first)
    : graph_(graph), first_(first) {
    std::set<std::string> names;
    for (const auto* list : {&model.parameters(), &model.buffers()})
        for (const Parameter& each : *list) {
            weights_.emplace(tensor_place(each.tensor), each.name);
            names.insert(each.name);
        }
    graph_.reserve(std::move(names));
}

/// The request of the first pass in the place of this one.
template <typename T>
T OnnxTrace::first(std::vector<T> Requests::*list, T request) {
    std::vector<T>& asked = asked_.*list;
    asked.push_back(std::move(request));
    if (first_ == nullptr) return asked.back();
    if (asked.size() > (first_->*list).size()) refuse_difference();
    return (first_->*list)[asked.size() - 1];
}

/// A size that differs has the name of the size of the first input that it is.
std::vector<OnnxDim> OnnxTrace::dims(const std::string& name, const Tensor& tensor) {
    const Shape before = first(&Requests::ports, {name, tensor.shape()}).second;
    if (before.rank() != tensor.rank()) refuse_difference();
    const Shape a = (first_ == nullptr ? asked_ : *first_).ports[0].second,
                b = asked_.ports[0].second;
    const bool windowed = b.rank() > 1 && a[1] != b[1];
    std::vector<OnnxDim> out;
    for (int i = 0; i < before.rank(); ++i) {
        const auto is = [&](int dim) { return before[i] == a[dim] && tensor.size(i) == b[dim]; };
        if (before[i] == tensor.size(i))
            out.emplace_back(before[i]);
        else
            out.emplace_back(is(0) ? (windowed ? "streams" : "batch")
                                   : (windowed && is(1) ? "window" : "tokens"));
    }
    return out;
}

void OnnxTrace::check_port(const std::string& name) const {
    if (graph_.is_reserved(name))
        refuse_onnx(msg("This model cannot be exported to ONNX: {} is the name of an input or output there, and of a parameter of the model.", name));
}

void OnnxTrace::add_input(const std::string& name, const Tensor& tensor) {
    check_port(name);
    const DType dtype = is_floating(tensor.dtype()) ? graph_.dtype() : tensor.dtype();
    add_value(tensor, graph_.input(name, dtype, dims(name, tensor)));
}

void OnnxTrace::add_output(const std::string& name, const Tensor& tensor) {
    check_port(name);
    graph_.output(name, value(tensor), dims(name, tensor));
}

void OnnxTrace::add_value(const Tensor& tensor, const OnnxValue& value) {
    values_[tensor_place(tensor)] = value;
    keep(tensor);
}

OnnxValue OnnxTrace::value(const Tensor& tensor) {
    const TensorPlace at = tensor_place(tensor);
    if (const auto found = values_.find(at); found != values_.end()) return found->second;
    if (const auto found = weights_.find(at); found != weights_.end())
        return graph_.weight(found->second, tensor);
    if (const std::string_view op = unknown_maker(tensor); !op.empty())
        refuse_onnx(msg("This model cannot be exported to ONNX: there are no nodes for {}.", op));
    return constant(tensor);
}

bool OnnxTrace::is_zeros(const Tensor& tensor) const {
    const TensorPlace at = tensor_place(tensor);
    if (values_.contains(at) || weights_.contains(at) || !unknown_maker(tensor).empty()) return false;
    return std::ranges::all_of(tensor.values(), [](double value) { return value == 0; });
}

OnnxValue OnnxTrace::constant(const Tensor& tensor) {
    const std::vector<double> values = tensor.values();
    if (!is_floating(tensor.dtype()) && tensor.rank() == 1)
        return integers({values.begin(), values.end()});
    if (first(&Requests::constants, values) != values) refuse_difference();
    if (tensor.rank() == 0) return number(values.front());
    return graph_.weight(graph_.own_name("constant." + std::to_string(asked_.constants.size())), tensor);
}

OnnxValue OnnxTrace::statistic(const std::string& name, const Tensor& tensor) {
    const auto found = weights_.find(tensor_place(tensor));
    return graph_.statistic(found == weights_.end() ? graph_.own_name(name) : found->second, tensor);
}

OnnxValue OnnxTrace::number(double value) {
    std::ostringstream name;
    name.precision(17);
    name << "number." << value;
    return graph_.weight(graph_.own_name(name.str()), Tensor::scalar(value, DType::f32, Device{}));
}

OnnxValue OnnxTrace::integers(std::vector<std::int64_t> values, bool one_follows) {
    const std::vector<std::int64_t> before = first(&Requests::integers, values);
    if (before.size() != values.size()) refuse_difference();
    if (before == values) return graph_.integers(values);
    const auto [a, b] = std::ranges::mismatch(before, values);
    if (one_follows && std::equal(a + 1, before.end(), b + 1)) {
        *b = -1;
        return graph_.integers(values);
    }
    OnnxValues parts;
    for (std::size_t i = 0; i < values.size(); ++i)
        parts.push_back(before[i] == values[i] ? graph_.integers({values[i]})
                                               : size(before[i], values[i]));
    if (parts.size() == 1) return parts.front();
    return graph_.node("Concat", parts, {{"axis", std::int64_t{0}}});
}

/// The size of an input that it is in both passes, as a vector of one number.
OnnxValue OnnxTrace::size(std::int64_t before, std::int64_t now) {
    for (std::size_t i = 0; i < asked_.ports.size(); ++i) {
        const auto& [name, shape] = asked_.ports[i];
        for (int dim = 0; dim < shape.rank(); ++dim)
            if (shape[dim] == now && first_->ports[i].second[dim] == before)
                return graph_.node("Slice", {graph_.node("Shape", {name}), graph_.integers({dim}),
                                             graph_.integers({dim + 1}), graph_.integers({0})});
    }
    refuse_difference();
}

OnnxValues OnnxTrace::nodes(const std::string& type, const OnnxValues& inputs,
                            const OnnxAttributes& attributes, std::size_t outputs) {
    const std::pair<std::string, OnnxAttributes> node(type, attributes);
    if (first(&Requests::nodes, node) != node) refuse_difference();
    return graph_.node(type, inputs, attributes, outputs);
}

bool OnnxTrace::has(const Op& info) const { return has_onnx_nodes(info); }

void OnnxTrace::on_traced(const TracedCall& call) {
    const OnnxValues values = write_onnx_nodes(*this, call);
    for (std::size_t i = 0; i < values.size(); ++i) add_value(call.outputs[i], values[i]);
}

}  // namespace engine
