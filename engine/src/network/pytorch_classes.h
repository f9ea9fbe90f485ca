#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "network/pytorch_forms.h"

namespace engine::network {

/// A line of a body as a class of PyTorch has it.
struct PythonStep {
    std::string module{};  ///< the module that it makes or runs, from the class: "conv1"; empty: none
    bool makes = false;    ///< the module, or a bare tensor
    bool tensor = false;   ///< the module is a parameter or buffer, which computes nothing
    bool fixed = false;    ///< that is not learnt
    std::optional<Python> constructor{};
    /// Computes the values: {m} is the module, {0}, {1}, ... are `inputs`.
    Python code{};
    bool runs_module = false;  ///< `code` is {m}({0})
    bool gives_pair = false;
    std::vector<std::string> further{};  ///< of outputs behind the first, from {s}
    std::vector<int> inputs{}, outputs{};  ///< values of the class
    std::vector<std::string> helpers{};
    std::string word{};  ///< a name for it: "downsample", "add"
    int line = 0;        ///< of the text

    /// Uses of the class may lack it: its value is then the first input.
    bool may_be_absent = false;
    std::string present{};  ///< the class's argument that says so

    /// A layer that can be both: as a function while the class has a forward of its own, else as a module.
    std::optional<Python> function{};
};

/// A value of a class.
struct PythonValue {
    enum class Kind {
        input,   ///< an argument of forward
        step,    ///< computed by a step
        tensor,  ///< a parameter of the class: `module`
        module   ///< a module of the class, for a body that runs it
    };
    Kind kind = Kind::step;
    std::string name{};  ///< a name for it; empty: none
    std::string module{};
};

struct PythonArgument {
    std::string name{};
    std::string usual{};  ///< its default; empty: none
    bool is_attribute = false;  ///< forward reads it
};

struct PythonClass {
    std::string name{};
    bool is_chain = false;  ///< an nn.Sequential
    std::vector<PythonArgument> arguments{};
    std::vector<PythonStep> steps{};
    std::vector<PythonValue> values{};
    std::vector<int> inputs{}, results{};
    std::vector<std::pair<std::string, std::string>> shared_weights{};  ///< modules, and the tensors that are their weights
};

/// The classes of a network, each behind those that it uses. The last one is the network's.
std::vector<PythonClass> pytorch_classes(const NetworkGraph& graph);

/// Names of nn.Module's own functions and attributes, which a module inside cannot have as an attribute.
bool is_own_name_of_modules(std::string_view name);

/// The constructors of a chain as the items of nn.Sequential.
std::vector<Python> sequential_items(const std::vector<PythonStep>& steps);

}  // namespace engine::network
