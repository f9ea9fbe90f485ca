#include <algorithm>

#include "base/text_utf8.h"
#include "engine/base/plain_text.h"
#include "network/from_onnx/operator_call.h"

namespace engine::network {
namespace {

using Dims = std::vector<std::int64_t>;
using Path = std::vector<std::string>;

Path parts_of(const std::string& name) {
    Path out;
    for (std::size_t from = 0; from <= name.size() && !name.empty();) {
        const std::size_t to = std::min(name.find('.', from), name.size());
        out.push_back(name.substr(from, to - from));
        from = to + 1;
    }
    return out;
}

bool is_generated(const std::string& name) {
    const bool odd = name.empty() || name.find_first_of("/:\"{}") != name.npos || name.starts_with("val_") || name.starts_with('_') || name.starts_with('.') || name.ends_with('.') ||
                     name.find("..") != name.npos || name.size() > 200;
    return odd || std::ranges::all_of(name, is_digit) || std::ranges::any_of(name, [](char c) { return c < ' '; });
}

/// A label as a text may have it.
std::string label_text(const std::string& label) {
    static constexpr std::array<std::string_view, 11> reserved = {"in", "above", "outputs", "from", "if", "else", "and", "or", "not", "true", "false"};
    const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '.'; };
    const bool plain = std::ranges::all_of(label, fits) && std::ranges::find(reserved, std::string_view(label).substr(0, label.find('.'))) == reserved.end();
    return plain ? label : '"' + label + '"';
}

/// Arguments of steps whose form follows from shapes.
std::string shape_call(const ImportedGraph& graph, const ImportedStep& step) {
    const Extents &in = graph.value(step.inputs[0]).sizes, &out = graph.value(step.outputs[0]).sizes;
    const auto numbers = [](auto first, auto last) {
        Dims list;
        for (; first != last; ++first)
            if (first->is_number()) list.push_back(first->number);
        return join(list, ", ");
    };
    std::size_t same = 0, end = 0;
    while (same < std::min(in.size(), out.size()) && in[same] == out[same]) ++same;
    while (end < std::min(in.size(), out.size()) - same && in[in.size() - 1 - end] == out[out.size() - 1 - end]) ++end;
    const std::size_t from = in.size() - same - end, to = out.size() - same - end;
    const bool ones = std::all_of(in.begin() + static_cast<std::ptrdiff_t>(same), in.begin() + static_cast<std::ptrdiff_t>(same + from), [](const Extent& each) { return each == Extent{1}; });
    if (from > 1 && to == 0 && same > 1 && ones) return same == 2 && end == 0 ? "Flatten" : "Flatten(" + std::to_string(same - 1) + ", end_dim=" + std::to_string(same + from - 1) + ')';
    if (from == 1 && to == 0 && same > 0) return "Squeeze(" + std::to_string(same) + ')';
    if (from == 0 && to == 1 && same > 0) return "Unsqueeze(" + std::to_string(same) + ')';
    if (to == 1 && same > 0) {
        const std::size_t last = same + from - 1;
        if (same == 1 && end == 0) return "Flatten";
        return "Flatten(" + std::to_string(same) + (end == 0 ? ")" : ", end_dim=" + std::to_string(last) + ')');
    }
    if (from == 1 && same > 0) {
        const auto first = out.begin() + static_cast<std::ptrdiff_t>(same);
        return "Unflatten(" + std::to_string(same) + ", [" + numbers(first, first + static_cast<std::ptrdiff_t>(to)) + "])";
    }
    if (same == 0 || std::ranges::any_of(in.begin() + 1, in.end(), [](const Extent& each) { return !each.is_number(); })) return {};
    return "Reshape(" + numbers(out.begin() + 1, out.end()) + ')';
}

/// The layer as the notation writes it; empty: it has none.
std::string call_of(const ImportedGraph& graph, const ImportedStep& step, std::int64_t outputs, bool last) {
    if (step.kind == "Erf" || step.kind == "Random" || step.kind == "Keep") return {};
    if (step.kind == "Reshape") return shape_call(graph, step);
    if (step.kind == "Permute") {
        Dims moved;
        for (std::size_t i = 0; i < step.list.size(); ++i)
            if (step.list[i] != static_cast<std::int64_t>(i)) moved.push_back(static_cast<std::int64_t>(i));
        return moved.size() == 2 ? "Transpose(" + join(moved, ", ") + ')' : "Permute(" + join(step.list, ", ") + ')';
    }
    if (step.kind == "Linear")
        return "Linear(" + (last && step.list[0] == outputs ? "outputs" : std::to_string(step.list[0])) + (step.weights.size() == 1 ? ", bias=false)" : ")");
    if (step.kind == "LSTM" || step.kind == "GRU" || step.kind == "RNN")
        return step.kind + '(' + std::to_string(step.list[0]) + (step.list[1] == 1 ? "" : ", num_layers=" + std::to_string(step.list[1])) + (step.list[2] != 0 ? "" : ", bias=false") +
               (step.list[3] != 0 ? ", bidirectional=true" : "") + (step.list[4] != 0 ? ", carry=true)" : ")");
    return step.arguments.empty() ? step.kind : step.kind + '(' + step.arguments + ')';
}

/// A line of the text.
struct Line {
    Path around{};          ///< containers
    std::string label{};    ///< whole name of its module; empty: none
    std::string call{};
    std::vector<int> inputs{};  ///< values
    int value = -1;
    int step = -1;
};

class NetworkWriter {
public:
    NetworkWriter(ImportedGraph& graph, std::int64_t outputs) : graph_(graph), outputs_(outputs) {}

    WrittenNetwork run(const std::vector<std::string>& inputs, const std::string& gives) {
        name_modules();
        make_lines();
        out_.text = "network(" + join(inputs) + ')' + (gives == "scores" ? "" : " gives " + gives) + ":\n";
        for (std::size_t i = 0; i < graph_.inputs.size(); ++i) names_[graph_.inputs[i]] = inputs[i];
        write_lines();
        return std::move(out_);
    }

private:
    /// The module of a layer with weights: by the weights' own names, else by the node, else by its kind.
    std::string module_of(const ImportedStep& step) {
        for (const ImportedWeight& weight : step.weights) {
            const std::string& name = graph_.constant(weight.constant).name;
            // The output layer of a tied table has a name of its own.
            const int table = graph_.constant(weight.constant).table;
            if (table >= 0 && uses_[table] > 0) continue;
            // Exporters merge equal tensors: a name of several layers is that of one of them.
            if (uses_[weight.constant] == 1 && !is_generated(name) && name.ends_with('.' + weight.role)) return name.substr(0, name.size() - weight.role.size() - 1);
        }
        if (!is_generated(step.module)) return step.module;
        std::string word = small(step.kind);
        return word + std::to_string(++counts_[word]);
    }

    static std::string small(std::string word) {
        for (char& c : word) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        return word;
    }

    std::string unique(const std::string& name) {
        std::string out = name;
        for (int i = 2; !taken_.insert(out).second; ++i) out = name + '_' + std::to_string(i);
        return out;
    }

    void name_modules() {
        labels_.resize(graph_.steps.size());
        for (const ImportedStep& step : graph_.steps) {
            std::set<int> own;
            if (!step.gone)
                for (const ImportedWeight& weight : step.weights)
                    if (own.insert(weight.constant).second) ++uses_[weight.constant];
            if (!step.gone)
                for (const int input : step.inputs)
                    if (graph_.value(input).constant >= 0) ++uses_[-1 - graph_.value(input).constant];
        }
        for (std::size_t i = 0; i < graph_.steps.size(); ++i) {
            const ImportedStep& step = graph_.steps[i];
            if (step.gone || step.weights.empty()) continue;
            labels_[i] = unique(module_of(step));
            Path around = parts_of(labels_[i]);
            for (around.pop_back(); !around.empty(); around.pop_back()) containers_.insert(join(around, "."));
        }
        for (std::size_t i = 0; i < labels_.size(); ++i)
            if (containers_.contains(labels_[i])) labels_[i] = unique(labels_[i] + '.' + small(graph_.steps[i].kind));
    }

    /// The containers around an operation of this module.
    Path containers_of(const std::string& module) const {
        Path path = parts_of(module);
        while (!path.empty() && !containers_.contains(join(path, "."))) path.pop_back();
        return path;
    }

    void make_lines() {
        for (std::size_t i = 0; i < graph_.steps.size(); ++i) {
            ImportedStep& step = graph_.steps[i];
            if (step.gone) continue;
            const bool last = std::ranges::find(graph_.outputs, step.outputs[0]) != graph_.outputs.end();
            Line line{.label = labels_[i], .call = call_of(graph_, step, outputs_, last), .inputs = step.inputs, .value = step.outputs[0], .step = static_cast<int>(i)};
            if (line.call.empty()) refuse(step, "no layer for it here");
            if (line.label.empty()) {
                line.around = containers_of(step.module);
            } else {
                line.around = parts_of(line.label);
                line.around.pop_back();
            }
            for (int& input : line.inputs) input = constant_line(input, step, line.around);
            weights_of(step, line);
            learnt_ = learnt_ || !line.label.empty();
            lines_.push_back(std::move(line));
        }
    }

    void refuse(const ImportedStep& step, const std::string& why) { graph_.refused[step.op + ": " + why].push_back(step.node); }

    void weights_of(const ImportedStep& step, Line& line) {
        // A table that is the weight of an output layer too stays one parameter.
        if (step.kind == "Embedding") tables_.emplace(step.weights[0].constant, line.label);
        for (const ImportedWeight& weight : step.weights) {
            const bool turned = graph_.constant(weight.constant).table >= 0;
            const int source = turned ? graph_.constant(weight.constant).table : weight.constant;
            const bool as_table = turned == static_cast<bool>(weight.layout);  // outputs x features
            if (const auto table = tables_.find(source); step.kind == "Linear" && weight.role == "weight" && as_table && table != tables_.end()) {
                line.call.insert(line.call.size() - 1, ", weight=" + table->second + ".weight");
                out_.tied.emplace_back(line.label + ".weight", &weight);
                continue;
            }
            out_.weights.emplace_back(line.label + '.' + weight.role, &weight);
            ++(weight.role.starts_with("running_") ? out_.buffers : out_.parameters);
        }
    }

    /// The value of a line that gives a constant; the value itself where it is none.
    int constant_line(int value, const ImportedStep& user, const Path& around) {
        const ImportedValue& of = graph_.value(value);
        if (of.form != ImportedValue::Form::plain) refuse(user, "it takes a recurrent layer's values in another order");
        if (!of.is_constant()) return value;
        // A tensor that exporters merged is one for each module.
        const std::pair key(value, graph_.scalar(value) || uses_[-1 - of.constant] < 2 ? std::string() : user.module);
        if (const auto found = constant_values_.find(key); found != constant_values_.end()) return found->second;
        Line line{.around = around, .value = graph_.add_value({.sizes = of.sizes})};
        const int constant = graph_.value(value).constant;
        if (const auto number = graph_.scalar(value)) {
            line.call = "Constant(" + number_text(*number) + ')';
            ++out_.constants;
        } else if (constant < 0 || !graph_.constant(constant).real) {
            refuse(user, "it takes a constant of whole numbers or of the batch's size");
            return value;
        } else {
            const std::string& name = graph_.constant(constant).name;
            const std::string own = is_generated(name) ? "constant" + std::to_string(++counts_["constant"]) : name;
            const Path home = containers_of(key.second);
            line.label = unique(home.empty() ? own : join(home, ".") + '.' + own.substr(own.rfind('.') + 1));
            const bool learns = learnt_ && !graph_.constant(constant).fixed;
            line.call = std::string(learns ? "Parameter" : "Buffer") + "([" + join(graph_.constant(constant).dims, ", ") + "])";
            line.around = parts_of(line.label);
            line.around.pop_back();
            while (!line.around.empty() && !containers_.contains(join(line.around, "."))) line.around.pop_back();
            out_.bare.emplace_back(line.label, constant);
            ++(learns ? out_.parameters : out_.buffers);
        }
        const int made = line.value;
        constant_values_.emplace(key, made);
        lines_.push_back(std::move(line));
        return made;
    }

    // The text.

    /// Containers whose lines come one after another; others' labels are written whole.
    void drop_scattered() {
        std::set<std::string> closed;
        Path open;
        for (Line& line : lines_) {
            Path& path = line.around;
            std::size_t same = 0;
            while (same < std::min(open.size(), path.size()) && open[same] == path[same]) ++same;
            for (std::size_t n = open.size(); n > same; --n) closed.insert(join(Path(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(n)), "."));
            for (std::size_t n = same + 1; n <= path.size(); ++n)
                if (closed.contains(join(Path(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(n)), "."))) path.resize(n - 1);
            open = path;
        }
    }

    /// A layer without a label is numbered by its place: one whose number another line has gets a name instead.
    void name_colliding(std::set<int>& named) const {
        std::set<std::string> labels;
        for (const Line& line : lines_) {
            Path path = line.label.empty() ? line.around : parts_of(line.label);
            for (; !path.empty(); path.pop_back()) labels.insert(join(path, "."));
        }
        std::map<std::string, int> counts;
        std::set<std::string> counted;
        for (const Line& line : lines_) {
            std::string around = join(line.around, ".");
            for (Path path = line.around; !path.empty(); path.pop_back())
                if (counted.insert(join(path, ".")).second) ++counts[join(Path(path.begin(), path.end() - 1), ".")];
            static const std::set<std::string> merges = {"Add", "Sub", "Mul", "Div", "Maximum", "Minimum", "MatMul", "Concat"};
            if (merges.contains(line.call.substr(0, line.call.find('('))) || line.call.starts_with("Parameter") || line.call.starts_with("Buffer")) continue;
            if (line.label.empty() && labels.contains((around.empty() ? "" : around + '.') + std::to_string(counts[around]))) named.insert(line.value);
            if (!line.label.empty() || !named.contains(line.value)) ++counts[around];
        }
    }

    /// Writes the lines until all values that need a name have one.
    void write_lines() {
        drop_scattered();
        const std::string head = out_.text;
        const std::map<int, std::string> inputs = names_;
        const std::set<std::string> taken = taken_;
        for (std::size_t before = named_.size() + 1; before != named_.size();) {
            before = named_.size();
            name_colliding(named_);
            out_.text = head;
            out_.shapes.clear();
            names_ = inputs;
            taken_ = taken;
            write_once();
        }
    }

    void write_once() {
        Path open;
        std::vector<int> ins;  // values that the open containers take
        int above = graph_.inputs.front(), row = 0;
        std::size_t counted = 0;
        for (const Line& line : lines_) {
            std::size_t same = 0;
            while (same < std::min(open.size(), line.around.size()) && open[same] == line.around[same]) ++same;
            open.resize(same);
            ins.resize(same);
            for (std::size_t n = same; n < line.around.size(); ++n) {
                out_.text += std::string(2 * (n + 1), ' ') + label_text(line.around[n]) + ':';
                if (n == same && line.inputs.size() == 1 && line.inputs[0] != above) {
                    out_.text += " from " + reference(line.inputs[0], open, above, ins.empty() ? -1 : ins.back());
                    above = line.inputs[0];
                }
                out_.text += '\n';
                open.push_back(line.around[n]);
                ins.push_back(above);
            }
            std::string text(2 * (open.size() + 1), ' ');
            const std::string prefix = open.empty() ? std::string() : join(open, ".") + '.';
            std::string name;
            if (!line.label.empty()) {
                text += label_text(line.label.substr(line.label.starts_with(prefix) ? prefix.size() : 0)) + ": ";
                name = line.label;
            } else if (named_.contains(line.value)) {
                const std::string own = unique(small(line.call.substr(0, line.call.find_first_of("(0123456789"))));
                text += own + " = ";
                name = prefix + own;
            }
            text += line.call;
            const bool only_above = line.inputs.size() == 1 && line.inputs[0] == above;
            if (!line.inputs.empty() && !only_above)
                text += " from " + join(line.inputs, ", ", [&](int input) { return reference(input, open, above, ins.empty() ? -1 : ins.back()); });
            if (!name.empty()) names_[line.value] = name;
            out_.text += text + '\n';
            row += static_cast<int>(std::count(out_.text.begin() + static_cast<std::ptrdiff_t>(counted), out_.text.end(), '\n'));
            counted = out_.text.size();
            if (line.step >= 0) out_.shapes[row] = graph_.value(line.value).sizes;
            name_states(line);
            above = line.value;
        }
        if (graph_.outputs[0] != above) out_.text += "  output " + reference(graph_.outputs[0], {}, -1, -1) + '\n';
    }

    /// "lstm.hidden".
    void name_states(const Line& line) {
        if (line.step < 0 || line.label.empty()) return;
        for (const int output : graph_.step(line.step).outputs)
            if (!graph_.value(output).role.empty()) names_[output] = line.label + '.' + graph_.value(output).role;
    }

    /// How a line inside these containers names a value: below the containers around both.
    std::string reference(int value, const Path& open, int above, int in) {
        if (value == in) return "in";
        const auto found = names_.find(value);
        if (found == names_.end()) {
            if (value == above) return "above";
            named_.insert(value);
            return "?";
        }
        const Path path = parts_of(found->second);
        std::size_t same = 0;
        while (same < open.size() && same + 1 < path.size() && open[same] == path[same]) ++same;
        return label_text(join(Path(path.begin() + static_cast<std::ptrdiff_t>(same), path.end()), "."));
    }

    ImportedGraph& graph_;
    const std::int64_t outputs_;
    WrittenNetwork out_;
    std::vector<std::string> labels_;
    std::vector<Line> lines_;
    std::set<std::string> taken_{"image", "features", "tokens", "indices"}, containers_;
    std::map<std::string, int> counts_;
    std::map<std::pair<int, std::string>, int> constant_values_;
    std::map<int, int> uses_;  ///< layers that have a constant as weight, and -1 - it as a value
    std::set<int> named_;  // values of lines without label that get a name
    std::map<int, std::string> names_, tables_;
    bool learnt_ = false;
};

}  // namespace

WrittenNetwork write_network(ImportedGraph& graph, const std::vector<std::string>& inputs, const std::string& gives, std::int64_t outputs) {
    return NetworkWriter(graph, outputs).run(inputs, gives);
}

}  // namespace engine::network
