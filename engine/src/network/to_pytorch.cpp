#include "network/to_pytorch.h"

#include <algorithm>
#include <limits>
#include <set>

#include "engine/base/error.h"
#include "network/module_path.h"
#include "network/pytorch_classes.h"
#include "network/pytorch_helpers.h"

namespace engine::network {
namespace {

constexpr std::string_view loading = R"(

DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}


def read_safetensors(path):
    """Reads the tensors of a safetensors file."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name == "__metadata__":
            continue
        begin, end = (start + offset for offset in entry["data_offsets"])
        flat = torch.frombuffer(data[begin:end], dtype=DTYPES[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


def load(path):
    """Makes the network with the weights of a safetensors file.

    The layers of Network() alone have PyTorch's initial weights, not those that the text names.
    """
    network = Network()
    network.load_state_dict(read_safetensors(path), strict=True)
    return network
)";

/// Names that PyTorch's modules use themselves, or may: such a child is no attribute.
bool is_name_of_modules(const std::string& name) { return name.starts_with('_') || is_own_name_of_modules(name); }
bool is_plain_attribute(const std::string& name) { return is_python_name(name) && !is_name_of_modules(name); }

/// How the class itself reads a module or tensor of it.
std::string attribute(const std::string& path, bool is_tensor) {
    std::string text = "self";
    for (std::size_t from = 0; from <= path.size();) {
        const std::size_t to = std::min(path.find('.', from), path.size());
        const std::string part = path.substr(from, to - from);
        const bool last = to == path.size();
        if (is_plain_attribute(part))
            text += '.' + part;
        else
            text += std::string(last && is_tensor ? "._parameters[" : "._modules[") + python_string(part) + ']';
        from = to + 1;
    }
    return text;
}

/// Writes one class.
class ClassWriter {
public:
    explicit ClassWriter(const PythonClass& made) : made_(made) {
        for (std::string& name : pytorch_helper_names()) taken_.insert(std::move(name));
    }

    std::string run() {
        out_ = "class " + made_.name + (made_.is_chain ? "(nn.Sequential):\n" : "(nn.Module):\n");
        if (made_.is_chain) {
            write_head();
            Python items = python_call("super().__init__", sequential_items(made_.steps));
            items.parted = true;
            write_python(out_, 8, {}, items, {});
            return out_;
        }
        if (std::ranges::any_of(made_.steps, makes_module) || std::ranges::any_of(made_.arguments, &PythonArgument::is_attribute)) {
            write_head();
            out_ += "        super().__init__()\n";
            for (const PythonArgument& argument : made_.arguments)
                if (argument.is_attribute) out_ += "        self." + argument.name + " = " + argument.name + '\n';
            for (const PythonStep& step : made_.steps)
                if (makes_module(step)) write_making(step);
            for (const auto& [module, weight] : made_.shared_weights)
                write_python(out_, 8, attribute(module, false) + ".weight = ", attribute(weight, true), {});
            out_ += '\n';
        }
        write_forward();
        return out_;
    }

private:
    void write_head() {
        std::vector<Python> items = {"self"};
        for (const PythonArgument& argument : made_.arguments)
            items.push_back(argument.usual.empty() ? Python(argument.name) : python_named(argument.name, argument.usual));
        write_definition("__init__", std::move(items));
    }

    /// Black ends the last of several lines with a comma.
    void write_definition(const std::string& name, std::vector<Python> items) { write_python(out_, 4, "def ", python_call(name, std::move(items)), ":"); }

    // The modules.

    static bool makes_module(const PythonStep& step) { return step.makes && !step.function; }

    void write_making(const PythonStep& step) {
        for (std::size_t dot = step.module.find('.'); dot != std::string::npos; dot = step.module.find('.', dot + 1))
            if (made_modules_.insert(step.module.substr(0, dot)).second) write_assignment(8, step.module.substr(0, dot), python_call("nn.Module", {}), step);
        if (!made_modules_.insert(step.module).second)
            throw Error(ErrorCode::settings, msg("{} cannot be written for PyTorch: a name above has it as the beginning, up to a dot.", step.module));
        if (!step.may_be_absent) return write_assignment(8, step.module, *step.constructor, step);
        out_ += "        if " + step.present + ":\n";
        write_assignment(12, step.module, *step.constructor, step);
        if (step.inputs.size() != 1) return;
        out_ += "        else:\n";
        write_assignment(12, step.module, python_call("nn.Identity", {}), step);
    }

    void write_assignment(int indent, const std::string& path, const Python& value, const PythonStep& step) {
        const std::size_t dot = path.rfind('.');
        const std::string owner = dot == path.npos ? "self" : attribute(path.substr(0, dot), false);
        const std::string name = path.substr(dot + 1);
        const bool is_tensor = step.tensor && path == step.module;
        if (name == "training") throw Error(ErrorCode::settings, msg("Line {}: a module of PyTorch cannot be called training.", step.line));
        if (is_name_of_modules(name))
            return write_python(out_, indent, owner + (is_tensor ? "._parameters[" : "._modules[") + python_string(name) + "] = ", value, {});
        if (is_tensor && step.fixed) return write_python(out_, indent, {}, python_call(owner + ".register_buffer", {python_string(name), value}), {});
        if (is_python_name(name) && !(name[0] >= 'A' && name[0] <= 'Z')) return write_python(out_, indent, owner + '.' + name + " = ", value, {});
        write_python(out_, indent, {}, python_call(owner + (is_tensor ? ".register_parameter" : ".add_module"), {python_string(name), value}), {});
    }

    // The forward pass.

    std::size_t index(int value) const { return static_cast<std::size_t>(value); }

    void write_forward() {
        find_live_steps();
        name_values();
        std::vector<Python> items = {"self"};
        for (const int input : made_.inputs) items.emplace_back(names_[index(input)]);
        write_definition("forward", std::move(items));
        for (const PythonStep* step : live_) write_step(*step);
        std::string results;
        for (const int result : made_.results) results += (results.empty() ? "" : ", ") + names_[index(result)];
        out_ += "        return " + (results.empty() ? "None" : results) + '\n';
    }

    /// Steps whose values are used, and where.
    void find_live_steps() {
        uses_.resize(made_.values.size());
        std::set<int> used(made_.results.begin(), made_.results.end());
        for (auto step = made_.steps.rbegin(); step != made_.steps.rend(); ++step) {
            if (std::ranges::none_of(step->outputs, [&](int output) { return used.contains(output); })) continue;
            used.insert(step->inputs.begin(), step->inputs.end());
            live_.push_back(&*step);
        }
        std::ranges::reverse(live_);
        for (std::size_t i = 0; i < live_.size(); ++i)
            for (const int input : live_[i]->inputs) uses_[index(input)].push_back(i);
        for (const int result : made_.results) uses_[index(result)].push_back(live_.size());
    }

    std::string unique(const std::string& wanted) {
        const std::string name = small_word(wanted);
        return unique_name(is_python_name(name) ? name : "value_" + name, taken_);
    }

    /// Values that only the next line reads are called x.
    void name_values() {
        names_.resize(made_.values.size());
        const auto is_passed_on = [&](int value, std::size_t next) {
            return std::ranges::all_of(uses_[index(value)], [&](std::size_t use) { return use == next; });
        };
        for (std::size_t i = 0; i < made_.values.size(); ++i)
            if (!made_.values[i].module.empty()) names_[i] = attribute(made_.values[i].module, made_.values[i].kind == PythonValue::Kind::tensor);
        for (std::size_t i = 0; i < made_.inputs.size(); ++i) {
            const int input = made_.inputs[i];
            const std::string& name = made_.values[index(input)].name;
            const bool unnamed = name == "in";
            names_[index(input)] = unnamed && is_passed_on(input, 0) ? "x" : unique(unnamed ? "inputs" : name);
        }
        for (std::size_t i = 0; i < live_.size(); ++i) {
            const auto& outputs = live_[i]->outputs;
            bool has_x = false;
            for (const int output : outputs) {
                if (uses_[index(output)].empty()) {
                    names_[index(output)] = "_";
                } else if (!has_x && is_passed_on(output, i + 1)) {
                    names_[index(output)] = "x";
                    has_x = true;
                } else {
                    names_[index(output)] = unique(made_.values[index(output)].name);
                }
            }
        }
    }

    /// The expression with the class's names.
    Python filled(Python code, const PythonStep& step, const std::string& state = {}) const {
        std::string text;
        for (std::size_t at = 0; at < code.text.size(); ++at) {
            const std::size_t end = code.text[at] == '{' ? code.text.find('}', at) : code.text.npos;
            if (end == code.text.npos) {
                text += code.text[at];
                continue;
            }
            const std::string hole = code.text.substr(at + 1, end - at - 1);
            if (hole == "m")
                text += attribute(step.module, false);
            else if (hole == "s")
                text += state;
            else
                text += names_[index(step.inputs[static_cast<std::size_t>(std::stoi(hole))])];
            at = end;
        }
        code.text = std::move(text);
        for (Python& item : code.items) item = filled(std::move(item), step, state);
        return code;
    }

    void write_step(const PythonStep& step) {
        const bool guarded = step.may_be_absent && (step.function || step.inputs.size() != 1);
        const int indent = guarded ? 12 : 8;
        if (guarded) out_ += "        if self." + step.present + ":\n";
        const Python code = filled(step.function ? *step.function : step.code, step);
        std::string left = names_[index(step.outputs.front())], state = "_";
        if (step.gives_pair) {
            const bool reads_state = std::ranges::any_of(step.outputs.begin() + 1, step.outputs.end(), [&](int output) { return !uses_[index(output)].empty(); });
            if (reads_state) state = unique("state");
            left += ", " + state;
        } else {
            for (std::size_t i = 1; i < step.outputs.size(); ++i) left += ", " + names_[index(step.outputs[i])];
        }
        if (flat(code) != left) write_python(out_, indent, left + " = ", code, {});
        for (std::size_t i = 0; step.gives_pair && i < step.further.size(); ++i)
            if (const int output = step.outputs[i + 1]; !uses_[index(output)].empty())
                out_ += std::string(static_cast<std::size_t>(indent), ' ') + names_[index(output)] + " = " + flat(filled(step.further[i], step, state)) + '\n';
        if (!guarded) return;
        const std::string& passed = names_[index(step.inputs.front())];
        if (passed != left) out_ += "        else:\n            " + left + " = " + passed + '\n';
    }

    const PythonClass& made_;
    std::string out_;
    std::vector<const PythonStep*> live_;
    std::vector<std::vector<std::size_t>> uses_;  // live steps by value; their number: the result
    std::vector<std::string> names_;
    std::set<std::string> taken_ = {"x", "_", "self", "torch", "nn", "F"};
    std::set<std::string> made_modules_;
};

/// The text as a docstring, whose escapes begin with a backslash.
std::string docstring(std::string_view text) {
    std::string out, line;
    const auto end_line = [&] {
        while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.pop_back();
        out += line + '\n';
        line.clear();
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (text[i] == '\n')
            end_line();
        else if (text[i] == '\\')
            line += "\\\\";
        else if (text.substr(i, 3) == "\"\"\"")
            line += "\\\"";
        else if ((byte >= 0x20 && byte != 0x7F) || text[i] == '\t')
            line += text[i];
    }
    if (!line.empty()) end_line();
    while (out.starts_with('\n')) out.erase(0, 1);
    while (out.ends_with("\n\n")) out.pop_back();
    return "\"\"\"" + (out.starts_with('"') ? " " + out : out) + "\"\"\"\n";
}

}  // namespace

std::string to_pytorch(const NetworkGraph& graph, std::string_view text) {
    std::string body;
    std::set<std::string> added;
    const std::vector<PythonClass> classes = pytorch_classes(graph);
    for (const PythonClass& made : classes)
        for (const PythonStep& step : made.steps)
            for (const std::string& helper : step.helpers)
                if (added.insert(helper).second) body += "\n\n" + std::string(pytorch_helper(helper));
    for (const PythonClass& made : classes) body += "\n\n" + ClassWriter(made).run();
    std::string out = docstring(text);
    out += "\nimport json\n";
    if (body.find("OrderedDict(") != body.npos) out += "from collections import OrderedDict\n";
    out += "\nimport torch\n";
    if (body.find("F.") != body.npos) out += "import torch.nn.functional as F\n";
    out += "from torch import nn\n";
    return out + body + std::string(loading);
}

}  // namespace engine::network
