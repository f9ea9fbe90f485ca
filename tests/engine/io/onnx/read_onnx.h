#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <set>
#include <string>
#include <vector>

namespace engine::test {

/// An ONNX model, read by the field numbers of onnx.proto.
struct ReadOnnx {
    struct Tensor {
        std::vector<std::int64_t> dims;
        std::int32_t type = 0;
        std::string data;
        std::int64_t numel() const {
            std::int64_t n = 1;
            for (const std::int64_t size : dims) n *= size;
            return n;
        }
    };
    struct Node {
        std::string name, type;
        std::vector<std::string> inputs, outputs, attributes;
    };
    struct Port {
        std::int32_t type = 0;
        std::vector<std::string> dims;  ///< sizes and names
    };
    std::int64_t ir_version = 0, opset = 0;
    std::string producer_version;
    std::vector<Node> nodes;
    std::map<std::string, Tensor> initializers;
    std::map<std::string, Port> inputs, outputs;
    std::map<std::string, std::string> metadata;

    explicit ReadOnnx(const std::string& bytes) {
        protozero::pbf_reader model(bytes);
        while (model.next()) {
            if (model.tag() == 1) {
                ir_version = model.get_int64();
            } else if (model.tag() == 3) {
                producer_version = model.get_string();
            } else if (model.tag() == 7) {
                read_graph(model.get_message());
            } else if (model.tag() == 8) {
                protozero::pbf_reader set = model.get_message();
                while (set.next(2)) opset = set.get_int64();
            } else if (model.tag() == 14) {
                const auto entry = texts(model.get_message());
                metadata[entry.at(1).front()] = entry.at(2).front();
            } else {
                model.skip();
            }
        }
    }

    /// Faults of the graph: a value that is read before it is produced, is produced twice or is
    /// missing, or an initializer whose bytes do not match its dims. Empty if there are none.
    std::string faults() const {
        std::set<std::string> known;
        std::string wrong;
        for (const auto& [name, port] : inputs) known.insert(name);
        for (const auto& [name, tensor] : initializers) {
            known.insert(name);
            const std::map<int, std::int64_t> sizes = {{1, 4}, {7, 8}, {10, 2}};
            if (!sizes.contains(tensor.type) || static_cast<std::int64_t>(tensor.data.size()) !=
                                                    tensor.numel() * sizes.at(tensor.type))
                wrong += name + " has other bytes than its shape; ";
        }
        std::set<std::string> names;
        for (const Node& node : nodes) {
            if (!names.insert(node.name).second) wrong += node.name + " stands there twice; ";
            for (const std::string& input : node.inputs)
                if (!input.empty() && !known.contains(input))
                    wrong += node.name + " reads " + input + " too early; ";
            for (const std::string& output : node.outputs)
                if (!known.insert(output).second) wrong += output + " is made twice; ";
        }
        for (const auto& [name, port] : outputs)
            if (!known.contains(name)) wrong += name + " is not made; ";
        return wrong;
    }

    std::int64_t count(const std::string& type) const {
        return std::count_if(nodes.begin(), nodes.end(),
                             [&](const Node& node) { return node.type == type; });
    }

private:
    static std::map<int, std::vector<std::string>> texts(protozero::pbf_reader message) {
        std::map<int, std::vector<std::string>> out;
        while (message.next()) {
            if (message.wire_type() == protozero::pbf_wire_type::length_delimited) {
                out[static_cast<int>(message.tag())].push_back(message.get_string());
            } else {
                message.skip();
            }
        }
        return out;
    }

    static Port read_port(const std::string& type) {
        Port port;
        const std::string tensor = texts(protozero::pbf_reader(type)).at(1).front();
        protozero::pbf_reader reader(tensor);
        while (reader.next()) {
            if (reader.tag() == 1) {
                port.type = reader.get_int32();
            } else {
                protozero::pbf_reader shape = reader.get_message();
                while (shape.next(1)) {
                    protozero::pbf_reader dim = shape.get_message();
                    while (dim.next())
                        port.dims.push_back(dim.tag() == 1 ? std::to_string(dim.get_int64())
                                                           : dim.get_string());
                }
            }
        }
        return port;
    }

    void read_tensor(protozero::pbf_reader reader) {
        Tensor tensor;
        std::string name;
        while (reader.next()) {
            if (reader.tag() == 1) {
                tensor.dims.push_back(reader.get_int64());
            } else if (reader.tag() == 2) {
                tensor.type = reader.get_int32();
            } else if (reader.tag() == 8) {
                name = reader.get_string();
            } else {
                tensor.data = reader.get_bytes();
            }
        }
        initializers[name] = tensor;
    }

    void read_node(const protozero::pbf_reader& message) {
        auto parts = texts(message);
        Node node{parts.at(3).front(), parts.at(4).front(), parts[1], parts.at(2), {}};
        for (const std::string& attribute : parts[5])
            node.attributes.push_back(texts(protozero::pbf_reader(attribute)).at(1).front());
        nodes.push_back(std::move(node));
    }

    void read_graph(protozero::pbf_reader graph) {
        while (graph.next()) {
            if (graph.tag() == 1) {
                read_node(graph.get_message());
            } else if (graph.tag() == 5) {
                read_tensor(graph.get_message());
            } else if (graph.tag() == 11 || graph.tag() == 12) {
                auto& ports = graph.tag() == 11 ? inputs : outputs;
                const auto parts = texts(graph.get_message());
                ports[parts.at(1).front()] = read_port(parts.at(2).front());
            } else {
                graph.skip();
            }
        }
    }
};

}  // namespace engine::test
