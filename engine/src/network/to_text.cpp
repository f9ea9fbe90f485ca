#include "network/to_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>

#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "network/arguments.h"
#include "network/module_path.h"
#include "network/text_folding.h"
#include "network/text_initials.h"

namespace engine::network {
namespace {

/// The names of a body. A block's are seen from outside, and see none there.
struct TextScope {
    const TextScope* around = nullptr;
    bool is_block = false;
    std::string prefix{};    ///< of its modules
    std::string label{};     ///< that leads into it; empty: none does
    std::set<std::string> names{};
    std::set<std::string>* taken = nullptr;  ///< of the block or network, for new names
};

/// A name of a value in its scope; "in" counts there alone.
struct TextName {
    const TextScope* scope = nullptr;
    std::string name{};
};

bool is_plain_label(const std::string& label) {
    static constexpr std::array<std::string_view, 11> reserved = {"in", "above", "outputs", "from", "if", "else", "and", "or", "not", "true", "false"};
    const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '.'; };
    return std::ranges::all_of(label, fits) && !label.starts_with('.') && !label.ends_with('.') && label.find("..") == label.npos &&
           std::ranges::find(reserved, std::string_view(label).substr(0, label.find('.'))) == reserved.end();
}

std::string quoted_label(const std::string& label) { return is_plain_label(label) ? label : '"' + label + '"'; }

/// Writes the bodies of a graph once. Where a line takes a value without a name, it notes the value
/// as wanted, and the next writer names it.
class TextWriter {
public:
    TextWriter(const NetworkGraph& graph, std::int64_t outputs, const TextInitials& initials, std::set<int>& wanted)
        : graph_(graph), outputs_(outputs), initials_(initials), wanted_(wanted), names_(graph.values.size()) {
        for (const GraphBody& body : graph.bodies)
            if (body.again) runs_again_.insert(body.module);
    }

    std::vector<BlockUse> uses{};
    bool names_all = true;  ///< values that lines take

    std::vector<TextStatement> run() {
        TextScope& scope = new_scope(nullptr, {}, {}, true);
        for (const int input : graph_.inputs) add_name(scope, graph_.values[index(input)].name, input);
        const int in = graph_.inputs.empty() ? -1 : graph_.inputs.front();
        std::vector<TextStatement> out = body({0, static_cast<int>(graph_.nodes.size()), 0, in, -1}, scope);
        const bool ends = graph_.outputs.size() == 1 && graph_.outputs.front() == current_;
        if (!ends) out.push_back({.callee = "output " + references(graph_.outputs, scope)});
        return out;
    }

private:
    /// Nodes of the graph, and the first of its bodies that may lie among them.
    struct Range {
        int first = 0, end = 0;
        std::size_t body = 0;
        int in = -1, output = -1;  ///< values
    };

    static std::size_t index(int value) { return static_cast<std::size_t>(value); }

    TextScope& new_scope(const TextScope* around, std::string prefix, std::string label, bool is_block) {
        auto& scope = *scopes_.emplace_back(std::make_unique<TextScope>());
        scope = {around, is_block, std::move(prefix), std::move(label), {}, nullptr};
        scope.taken = is_block ? taken_.emplace_back(std::make_unique<std::set<std::string>>()).get() : around->taken;
        return scope;
    }

    void add_name(TextScope& scope, const std::string& name, int value) {
        scope.names.insert(name);
        scope.taken->insert(name.substr(0, name.find('.')));
        if (value >= 0) names_[index(value)].push_back({&scope, name});
    }

    // References.

    /// How `from` writes a name of `scope`, seen from `here`; empty: it is not seen.
    static std::string path(const TextName& name, const TextScope& here) {
        for (const TextScope* seen = &here; seen != nullptr; seen = seen->is_block ? nullptr : seen->around) {
            std::string text = name.name, first = name.name;
            const TextScope* scope = name.scope;
            for (; scope != seen && scope != nullptr; scope = scope->around) {
                if (scope->label.empty()) break;
                first = scope->label;
                text = first + '.' + text;
            }
            if (scope != seen) continue;
            // A body nearer may have the name too.
            for (const TextScope* nearer = &here; nearer != seen; nearer = nearer->around)
                if (nearer->names.contains(first)) return {};
            return text;
        }
        return {};
    }

    std::string reference(int value, const TextScope& here) {
        std::string best;
        for (const TextName& name : names_[index(value)]) {
            if (name.name == "in" && name.scope != &here) continue;
            if (name.name == "in") return name.name;
            const std::string found = name.name == "in" ? name.name : quoted_label(path(name, here));
            if (found != "\"\"" && (best.empty() || std::ranges::count(found, '.') < std::ranges::count(best, '.'))) best = found;
        }
        const GraphValue& named = graph_.values[index(value)];
        if (best.empty() && !named.role.empty()) {
            const std::string first = reference(graph_.nodes[index(named.node)].outputs.front(), here);
            if (first != "above" && first != "in") return first + '.' + named.role;
            wanted_.insert(graph_.nodes[index(named.node)].outputs.front());
            names_all = false;
            return "?";
        }
        if (value == current_ && (best.empty() || best.find('.') != best.npos)) return "above";
        if (!best.empty()) return best;
        wanted_.insert(value);
        names_all = false;
        return "?";
    }

    std::string references(const std::vector<int>& values, const TextScope& here) {
        std::string text;
        for (const int value : values) text += (text.empty() ? "" : ", ") + reference(value, here);
        return text;
    }

    /// "from x, y"; empty where they are the value of the line above.
    std::string from(const std::vector<int>& values, const TextScope& here) {
        if (values.empty() || (values.size() == 1 && values.front() == current_)) return {};
        return "from " + references(values, here);
    }

    static std::string behind(const std::string& from) { return from.empty() ? from : ' ' + from; }

    // Names.

    std::string new_name(int value, const TextScope& here) const {
        const GraphValue& named = graph_.values[index(value)];
        std::string name = named.name.empty() && named.node >= 0 ? small_word(graph_.nodes[index(named.node)].kind->name) : named.name;
        if (name.empty() || !is_plain_label(name) || is_digit(name.front()) || name.find('.') != name.npos) name = "x";
        return unique_name(name, *here.taken);
    }

    /// A line that gives the value above a name.
    void name_above(std::vector<TextStatement>& out, int value, TextScope& here) {
        const std::string name = new_name(value, here);
        out.push_back({.callee = "from above", .before = name + " = "});
        add_name(here, name, value);
    }

    /// The labels of a body's own lines, which new names must not repeat.
    void take_labels(const Range& range, const TextScope& here) const {
        for (int i = range.first; i < range.end; ++i) {
            const GraphNode& node = graph_.nodes[index(i)];
            if (!lies_in(node.module, plain(here.prefix))) continue;
            const std::string own = below(node.module, plain(here.prefix));
            here.taken->insert(own.substr(0, own.find('.')));
        }
    }

    static std::string plain(const std::string& prefix) { return prefix.empty() ? prefix : prefix.substr(0, prefix.size() - 1); }

    // Bodies.

    std::vector<TextStatement> body(Range range, TextScope& here) {
        take_labels(range, here);
        current_ = range.in;
        std::vector<TextStatement> out;
        int count = 0;
        for (int next = range.first; next < range.end;) {
            while (range.body < graph_.bodies.size() && (graph_.bodies[range.body].end <= next || graph_.bodies[range.body].first == graph_.bodies[range.body].end)) ++range.body;
            if (range.body == graph_.bodies.size() || graph_.bodies[range.body].first > next) {
                layer(next++, out, here, count);
            } else {
                inner_body(range.body, out, here, count);
                next = graph_.bodies[range.body++].end;
            }
        }
        if (range.output >= 0 && range.output != current_) out.push_back({.callee = "output " + reference(range.output, here)});
        return out;
    }

    void layer(int at, std::vector<TextStatement>& out, TextScope& here, int& count) {
        const GraphNode& node = graph_.nodes[index(at)];
        const int value = node.outputs.front();
        TextStatement line{.from = behind(from({node.inputs.begin(), unnamed_end(node)}, here))};
        bool is_named = false;
        if ((node.own_module || node.kind->bare) && !made_.insert(node.module).second) {
            line.callee = module_again(node.module, here);
        } else {
            line.callee = node.kind->name;
            line.arguments = arguments(at, here);
            const std::string own = node.own_module || node.kind->bare ? below(node.module, plain(here.prefix)) : std::string();
            if ((node.own_module && (node.labelled || own != std::to_string(count))) || node.kind->bare) {
                line.label = quoted_label(own);
                add_name(here, own, value);
                modules_.emplace(node.module, TextName{&here, own});
                is_named = true;
            }
            if (node.own_module) ++count;
        }
        const bool may_have_name = line.label.empty() && !node.own_module;
        if (may_have_name && (!node.kind->merges || wanted_.contains(value))) {
            const std::string name = new_name(value, here);
            line.before = name + " = ";
            add_name(here, name, value);
            is_named = true;
        }
        out.push_back(std::move(line));
        current_ = value;
        if (!is_named && wanted_.contains(value)) name_above(out, value, here);
        if (is_named && wanted_.contains(value) && path(names_[index(value)].back(), here).empty()) name_above(out, value, here);
    }

    static bool names_value(const GraphNode& node, const LayerArgument& argument) {
        return argument.form == LayerArgument::Form::value && node.arguments.given(argument.option.name);
    }

    /// Where the inputs begin that arguments name.
    static std::vector<int>::const_iterator unnamed_end(const GraphNode& node) {
        return node.inputs.end() - std::ranges::count_if(node.kind->arguments, [&](const LayerArgument& each) { return names_value(node, each); });
    }

    std::vector<TextArgument> arguments(int at, const TextScope& here) {
        const GraphNode& node = graph_.nodes[index(at)];
        std::vector<TextArgument> out;
        auto named = unnamed_end(node);
        for (const auto& [argument, text, is_default] : argument_texts(*node.kind, node.arguments)) {
            using Form = LayerArgument::Form;
            if (argument.form == Form::initial) continue;
            if (names_value(node, argument)) {
                out.push_back({.keyword = argument.option.name, .text = reference(*named++, here)});
                continue;
            }
            const bool is_number = !text.empty() && (text == "true" || text == "false" || is_digit(text.back()) || text.back() == ']') && argument.option.choices.empty() &&
                                   argument.form != Form::tensor && argument.form != Form::value && argument.form != Form::rest;
            if (is_default && !is_number) continue;
            TextArgument made{.keyword = argument.positional ? std::string() : argument.option.name, .text = text, .slot = is_number ? argument.option.name : std::string()};
            if (is_default && argument.positional) continue;
            if (!argument.positional && is_number) made.usual = default_text(*node.kind, argument);
            if (argument.option.name == "out_features" && !graph_.outputs.empty() && graph_.outputs.front() == node.outputs.front() && text == std::to_string(outputs_))
                made = {.text = "outputs"};
            out.push_back(std::move(made));
        }
        if (const auto own = initials_.layers.find(at); own != initials_.layers.end()) {
            if (!own->second.weight.empty()) out.push_back({.keyword = "init", .text = own->second.weight});
            if (!own->second.bias.empty()) out.push_back({.keyword = "bias_init", .text = own->second.bias});
        }
        return out;
    }

    static std::string default_text(const LayerKind& kind, const LayerArgument& argument) {
        const LayerArguments usual{LayerArguments::Table({}, &kind.defaults)};
        for (const auto& [each, text, is_default] : argument_texts(kind, usual))
            if (&each == &argument) return text;
        return {};
    }

    std::string module_again(const std::string& module, const TextScope& here) const {
        const auto found = modules_.find(module);
        const std::string text = found == modules_.end() ? std::string() : path(found->second, here);
        if (text.empty()) throw Error(ErrorCode::settings, msg("{} runs again where no line of a text can name it.", module));
        return quoted_label(text);
    }

    void inner_body(std::size_t at, std::vector<TextStatement>& out, TextScope& here, int& count) {
        const GraphBody& inner = graph_.bodies[at];
        const std::string from = this->from(inner.inputs, here);
        TextStatement line;
        std::string own;
        if (inner.again) {
            for (int i = inner.first; i < inner.end; ++i) made_.insert(graph_.nodes[index(i)].module);
            line.callee = module_again(inner.module, here);
            line.from = behind(from);
        } else {
            own = below(inner.module, plain(here.prefix));
            const bool is_block = !inner.block.empty();
            const bool labelled = !is_block || own != std::to_string(count) || runs_again_.contains(inner.module);
            if (labelled) line.label = quoted_label(own);
            ++count;
            TextScope& scope = new_scope(&here, inner.module + '.', labelled ? own : std::string(), is_block);
            if (inner.input_names.empty()) names_[index(inner.inputs.front())].push_back({&scope, "in"});
            for (std::size_t i = 0; i < inner.input_names.size(); ++i) add_name(scope, inner.input_names[i], inner.inputs[i]);
            const Range range{inner.first, inner.end, at + 1, inner.inputs.front(), inner.output};
            (is_block ? line.from : line.callee) = is_block ? behind(from) : from;
            std::vector<TextStatement> lines = body(range, scope);
            if (is_block) {
                line.block = static_cast<int>(uses.size());
                uses.push_back({inner.block, inner.input_names, std::move(lines)});
            } else {
                line.body = std::move(lines);
            }
            modules_.emplace(inner.module, TextName{&here, own});
        }
        out.push_back(std::move(line));
        current_ = inner.output;
        if (!out.back().label.empty()) add_name(here, own, inner.output);
        if (wanted_.contains(inner.output) && out.back().label.empty()) name_above(out, inner.output, here);
    }

    const NetworkGraph& graph_;
    const std::int64_t outputs_;
    const TextInitials& initials_;
    std::set<int>& wanted_;
    std::vector<std::vector<TextName>> names_;  // of each value
    std::map<std::string, TextName> modules_;
    std::set<std::string> made_, runs_again_;   // modules
    std::vector<std::unique_ptr<TextScope>> scopes_;
    std::vector<std::unique_ptr<std::set<std::string>>> taken_;
    int current_ = -1;
};

}  // namespace

std::string to_text(const NetworkGraph& graph, const std::string& gives, std::int64_t outputs) {
    const TextInitials initials = text_initials(graph);
    std::set<int> wanted;
    while (true) {
        const std::size_t before = wanted.size();
        TextWriter writer(graph, outputs, initials, wanted);
        const std::vector<TextStatement> body = writer.run();
        if (wanted.size() > before) continue;
        if (!writer.names_all) return {};
        const FoldedText folded = fold_text(writer.uses, body);
        std::string out;
        for (const std::string& line : initials.lines) out += line + '\n';
        out += folded.blocks + "network(" + join(graph.inputs, ", ", [&](int input) { return graph.values[static_cast<std::size_t>(input)].name; }) + ')';
        return out + (gives == "scores" ? "" : " gives " + gives) + ":\n" + folded.body;
    }
}

bool are_equal(const NetworkGraph& a, const NetworkGraph& b) {
    const auto same_node = [](const GraphNode& x, const GraphNode& y) {
        const bool has_module = x.own_module || x.kind->bare;
        const auto texts = [](const GraphNode& node) {
            std::vector<std::string> out;
            for (const auto& [argument, text, is_default] : argument_texts(*node.kind, node.arguments))
                if (argument.form != LayerArgument::Form::initial && argument.form != LayerArgument::Form::value) out.push_back(text);
            return out;
        };
        return x.kind == y.kind && x.inputs == y.inputs && x.outputs == y.outputs && x.parameters == y.parameters && x.own_module == y.own_module &&
               (!has_module || x.module == y.module) && texts(x) == texts(y);
    };
    const auto same_parameter = [](const GraphParameter& x, const GraphParameter& y) {
        return x.name == y.name && x.sizes == y.sizes && x.initial == y.initial && x.fixed == y.fixed;
    };
    return a.inputs == b.inputs && a.outputs == b.outputs && std::ranges::equal(a.nodes, b.nodes, same_node) && std::ranges::equal(a.parameters, b.parameters, same_parameter) &&
           std::ranges::equal(a.buffers, b.buffers, {}, &GraphBuffer::name, &GraphBuffer::name);
}

}  // namespace engine::network
