#include <algorithm>

#include "engine/base/error.h"
#include "network/from_onnx/imported_graph.h"

/// Functions of an ONNX file in the places of their calls.
namespace engine::network {
namespace {

using Key = std::pair<std::string, std::string>;  // domain and name
using Names = std::map<std::string, std::string>;

class Inliner {
public:
    explicit Inliner(const OnnxFile& file) : file_(file) {
        for (const OnnxFunction& function : file.functions)
            if (!functions_.emplace(Key(function.domain, function.name + ':' + function.overload), &function).second)
                refuse(msg("This ONNX model has the name {} twice.", function.name));
    }

    std::vector<OnnxNode> run() {
        count(file_.nodes, 0);
        std::vector<OnnxNode> out;
        for (const OnnxNode& node : file_.nodes) add(node, out);
        return out;
    }

private:
    [[noreturn]] static void refuse(const Message& what) { throw Error(ErrorCode::data, what, msg("Export the model again without functions.")); }

    const OnnxFunction* called(const OnnxNode& node) const {
        const auto found = functions_.find(Key(node.domain, node.op + ':' + node.overload));
        return found == functions_.end() ? nullptr : found->second;
    }

    /// Counts the nodes before any is made, and refuses too many or too deep calls.
    std::int64_t count(const std::vector<OnnxNode>& nodes, std::int64_t depth) {
        if (depth > OnnxFile::most_depth) refuse(msg("The functions of this ONNX model call each other more than {} deep.", OnnxFile::most_depth));
        std::int64_t out = 0;
        for (const OnnxNode& node : nodes) {
            const OnnxFunction* const function = called(node);
            if (function == nullptr) {
                ++out;
            } else {
                // A function that was counted at a smaller depth may be too deep here.
                auto& known = counts_[std::pair(function, depth)];
                if (known == 0) known = 1 + count(function->nodes, depth + 1);
                out += known;
            }
            if (out > OnnxFile::most_parts) refuse(msg("The functions of this ONNX model grow beyond {} nodes.", OnnxFile::most_parts));
        }
        return out;
    }

    void add(const OnnxNode& node, std::vector<OnnxNode>& out) {
        const OnnxFunction* const function = called(node);
        if (function == nullptr) {
            out.push_back(node);
            return;
        }
        if (node.inputs.size() > function->inputs.size() || node.outputs.size() > function->outputs.size())
            refuse(msg("{} of this ONNX model is called with more inputs or outputs than it has.", function->name));
        const std::string prefix = "call/" + std::to_string(++calls_) + '/';
        Names names;
        for (std::size_t i = 0; i < function->inputs.size(); ++i) names[function->inputs[i]] = i < node.inputs.size() ? node.inputs[i] : "";
        for (std::size_t i = 0; i < function->outputs.size(); ++i) names[function->outputs[i]] = i < node.outputs.size() && !node.outputs[i].empty() ? node.outputs[i] : prefix + std::to_string(names.size());
        for (const OnnxNode& inner : function->nodes) {
            OnnxNode made = renamed(inner, names, prefix);
            set_attributes(made, *function, node);
            // PyTorch's modules are those of the call, where the function names none.
            if (made.scopes.empty()) made.scopes = node.scopes;
            if (made.name.empty() || !made.name.starts_with('/')) made.name = node.name.empty() ? prefix + inner.op : node.name;
            add(made, out);
        }
    }

    /// Counts what a copy of the node holds against a limit: long texts of a function multiply with its calls.
    void charge(const OnnxNode& node) {
        std::size_t bytes = sizeof(OnnxNode) + node.name.size() + node.op.size();
        for (const auto& [key, attribute] : node.attributes) {
            bytes += sizeof(attribute) + key.size() + attribute.text.size() + 8 * (attribute.wholes.size() + attribute.numbers.size());
            for (const std::string& word : attribute.words) bytes += sizeof(word) + word.size();
            if (attribute.tensor) bytes += attribute.tensor->name.size() + attribute.tensor->location.size();
        }
        for (const auto* list : {&node.inputs, &node.outputs})
            for (const std::string& name : *list) bytes += sizeof(name) + name.size();
        copied_ += static_cast<std::int64_t>(bytes);
        if (copied_ > 2 * file_.bytes() + (std::int64_t{24} << 20)) refuse(msg("The functions of this ONNX model grow beyond {} nodes.", OnnxFile::most_parts));
    }

    OnnxNode renamed(const OnnxNode& node, Names& names, const std::string& prefix) {
        charge(node);
        OnnxNode out = node;
        const auto rename = [&](std::string& name) {
            if (!name.empty()) name = names.try_emplace(name, prefix + std::to_string(names.size())).first->second;
        };
        std::ranges::for_each(out.inputs, rename);
        std::ranges::for_each(out.outputs, rename);
        for (auto& [key, attribute] : out.attributes)
            if (attribute.graph) refuse(msg("A function of this ONNX model has {} with graphs of its own.", node.op));
        return out;
    }

    static void set_attributes(OnnxNode& node, const OnnxFunction& function, const OnnxNode& call) {
        for (auto each = node.attributes.begin(); each != node.attributes.end();) {
            const std::string reference = each->second.reference;
            if (reference.empty()) {
                ++each;
                continue;
            }
            const auto given = call.attributes.find(reference);
            const auto usual = function.defaults.find(reference);
            if (given != call.attributes.end()) each++->second = given->second;
            else if (usual != function.defaults.end()) each++->second = usual->second;
            else each = node.attributes.erase(each);
        }
    }

    const OnnxFile& file_;
    std::map<Key, const OnnxFunction*> functions_;
    std::map<std::pair<const OnnxFunction*, std::int64_t>, std::int64_t> counts_;
    std::int64_t calls_ = 0, copied_ = 0;
};

}  // namespace

std::vector<OnnxNode> inline_functions(const OnnxFile& file) { return Inliner(file).run(); }

}  // namespace engine::network
