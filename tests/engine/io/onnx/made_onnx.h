#pragma once

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace engine::test {

/// An ONNX model, written by the field numbers of onnx.proto: x, in f32, to y.
class MadeOnnx {
public:
    using Sizes = std::vector<std::int64_t>;
    using Names = std::vector<std::string>;

    explicit MadeOnnx(std::int64_t opset = 18, const Sizes& sizes = {0, 4}) : opset_(opset) {
        protozero::pbf_writer graph(graph_);
        for (const auto& [field, name] : {std::pair(11, "x"), std::pair(12, "y")}) {
            protozero::pbf_writer port(graph, static_cast<std::uint32_t>(field));
            port.add_string(1, name);
            protozero::pbf_writer type(port, 2), tensor(type, 1);
            tensor.add_int32(1, 1);
            protozero::pbf_writer shape(tensor, 2);
            for (std::size_t i = 0; i < sizes.size(); ++i) {
                protozero::pbf_writer dim(shape, 1);
                if (opset == 18 && sizes.size() == 2 && sizes[i] == 0) dim.add_string(2, i == 0 ? "N" : "F");
                else dim.add_int64(1, sizes[i]);
            }
        }
    }

    MadeOnnx& node(const std::string& op, const Names& inputs, const Names& outputs, const std::string& name = {}, const std::string& domain = {},
                   const std::vector<std::pair<std::string, std::int64_t>>& attributes = {}) {
        protozero::pbf_writer graph(graph_), node(graph, 1);
        for (const auto& each : inputs) node.add_string(1, each);
        for (const auto& each : outputs) node.add_string(2, each);
        node.add_string(3, name);
        node.add_string(4, op);
        for (const auto& [key, value] : attributes) {
            protozero::pbf_writer attribute(node, 5);
            attribute.add_string(1, key);
            attribute.add_int64(3, value);
            attribute.add_int32(20, 2);
        }
        if (!domain.empty()) node.add_string(7, domain);
        return *this;
    }

    MadeOnnx& wholes(const std::string& name, const Sizes& values) { return wholes(name, values, {static_cast<std::int64_t>(values.size())}); }
    MadeOnnx& wholes(const std::string& name, const Sizes& values, const Sizes& dims) {
        protozero::pbf_writer graph(graph_), tensor(graph, 5);
        for (const std::int64_t dim : dims) tensor.add_int64(1, dim);
        tensor.add_int32(2, 7);
        tensor.add_string(8, name);
        tensor.add_packed_int64(7, values.begin(), values.end());
        return *this;
    }

    /// A tensor of f32 with these fields behind its name: raw bytes, or the entries of external data.
    MadeOnnx& floats(const std::string& name, const Sizes& dims, const std::string& raw, const Names& entries = {}) {
        protozero::pbf_writer graph(graph_), tensor(graph, 5);
        for (const std::int64_t dim : dims) tensor.add_int64(1, dim);
        tensor.add_int32(2, 1);
        tensor.add_string(8, name);
        if (entries.empty()) tensor.add_bytes(9, raw);
        for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
            protozero::pbf_writer entry(tensor, 13);
            entry.add_string(1, entries[i]);
            entry.add_string(2, entries[i + 1]);
        }
        if (!entries.empty()) tensor.add_int32(14, 1);
        return *this;
    }

    /// An operator of this name in the domain "own", from a to b, of nodes that each take the value before.
    MadeOnnx& function(const std::string& name, const std::vector<std::pair<std::string, std::string>>& domains_and_ops) {
        protozero::pbf_writer all(functions_), function(all, 25);
        function.add_string(1, name);
        function.add_string(4, "a");
        function.add_string(5, "b");
        for (std::size_t i = 0; i < domains_and_ops.size(); ++i) {
            protozero::pbf_writer node(function, 7);
            node.add_string(1, i == 0 ? "a" : "v" + std::to_string(i));
            node.add_string(2, i + 1 == domains_and_ops.size() ? "b" : "v" + std::to_string(i + 1));
            node.add_string(4, domains_and_ops[i].second);
            node.add_string(7, domains_and_ops[i].first);
        }
        function.add_string(10, "own");
        return *this;
    }

    /// If, whose branches compute `then_op` and `else_op` of x.
    MadeOnnx& branches(const std::string& condition, const std::string& output, const std::string& then_op, const std::string& else_op) {
        protozero::pbf_writer graph(graph_), node(graph, 1);
        node.add_string(1, condition);
        node.add_string(2, output);
        node.add_string(4, "If");
        for (const auto& [name, op] : {std::pair("then_branch", then_op), std::pair("else_branch", else_op)}) {
            protozero::pbf_writer attribute(node, 5);
            attribute.add_string(1, name);
            protozero::pbf_writer branch(attribute, 6);
            {
                protozero::pbf_writer inner(branch, 1);
                inner.add_string(1, "x");
                inner.add_string(2, "taken");
                inner.add_string(4, op);
            }
            protozero::pbf_writer(branch, 12).add_string(1, "taken");
        }
        return *this;
    }

    std::vector<std::uint8_t> bytes() const {
        std::string out;
        protozero::pbf_writer model(out);
        model.add_int64(1, 8);
        model.add_message(7, graph_);
        protozero::pbf_writer(model, 8).add_int64(2, opset_);
        out += functions_;
        return {out.begin(), out.end()};
    }

private:
    std::int64_t opset_;
    std::string graph_, functions_;
};

}  // namespace engine::test
