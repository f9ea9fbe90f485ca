#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/message.h"
#include "engine/base/options.h"

/// Networks that a user writes in the network notation (resources/handbook/write-a-network.md).
namespace engine {

/// A place in a text: lines and columns, which count characters, from 1.
struct TextPlace {
    int line = 1;
    int column = 1;
    int length = 1;  ///< characters

    friend bool operator==(const TextPlace&, const TextPlace&) = default;
};

/// A fault at a place of a network's text.
struct NetworkFault {
    TextPlace place{};
    Message text{};
    std::optional<std::string> replacement{};  ///< text for `place` that removes the fault
    bool note = false;                         ///< the text can be used all the same
};

/// An input of a network: a field of the data.
struct NetworkInput {
    std::string field{};                ///< "image", "features", "tokens" or "indices"
    std::vector<std::int64_t> sizes{};  ///< of one sample; tokens: none
    /// Numbers that tokens and indices stay below: one for all columns, or one for each.
    std::vector<std::int64_t> counts{};
};

/// Sizes that a text does not say.
struct NetworkData {
    std::vector<NetworkInput> inputs{};
    std::int64_t outputs = 10;  ///< classes, targets or words
    Options options{};          ///< of the text, as set; the others have their defaults
    /// A detector takes the stages alone: those that the text gives, else the values of the labels
    /// layer1 to layer4 of the network's body. What follows layer4 is left out.
    bool stages = false;
};

/// A use of a block, a run of a repeat, or a container.
struct NetworkHead {
    int line = 0;    ///< where it begins
    int run = 0;     ///< its uses and runs count from 0
    int caller = 0;  ///< the line that uses a block or runs a module again; else `line`

    friend bool operator==(const NetworkHead&, const NetworkHead&) = default;
};

/// A layer of the network.
struct NetworkRow {
    TextPlace place{};
    std::string module{};      ///< "layer1.0.conv1"; empty for one that is no module
    std::string layer{};       ///< "Conv2d(64, 3, padding=1)"
    std::string shape{};       ///< of its value: "N x 64 x 7 x 7"
    std::int64_t parameters = 0;  ///< numbers that it learns and no layer above does
    double flops = 0;          ///< forward pass of one sample, two for a multiply-add; T counts as 1
    std::vector<NetworkHead> heads{};  ///< around it, the outermost first
    std::vector<int> inputs{};         ///< rows whose values it takes; -1: an input of the network
};

struct NetworkParameter {
    std::string name{};  ///< as in PyTorch's state_dict
    std::vector<std::int64_t> sizes{};
    std::string initial{};  ///< "normal(0.02)"
    bool fixed = false;     ///< read at the beginning, not learnt
};

/// A tensor that a layer keeps and does not learn.
struct NetworkTensor {
    std::string name{};  ///< as in PyTorch's state_dict
    std::vector<std::int64_t> sizes{};
};

/// A text for given data.
struct CheckedNetwork {
    std::vector<NetworkFault> faults{};  ///< and notes, by line; at most 100
    std::vector<OptionSpec> options{};
    /// The layers whose shapes are known, in the order in which they run.
    std::vector<NetworkRow> rows{};
    std::vector<NetworkParameter> parameters{};
    std::vector<NetworkTensor> buffers{};  ///< such as running statistics
    /// The order of PyTorch's state_dict: places among the parameters and, from parameters.size() on, the buffers.
    std::vector<std::size_t> state{};
    std::string gives{};  ///< "scores"
    std::string shape{};  ///< of the result; empty: unknown

    bool usable() const;
    std::int64_t parameter_count() const;
    double flops() const;
};

/// Checks a text: faults, shapes, names and order of the parameters. Allocates nothing for tensors.
/// Any text is taken; limits keep the time of one below a second.
CheckedNetwork check_network(std::string_view text, const NetworkData& data);

/// Data with usual sizes for the inputs that the text names: pictures of 3 x 224 x 224, 8 features,
/// 1,000 words, 26 columns of 1,000 rows.
NetworkData usual_network_data(std::string_view text);

/// An argument of a kind of layer.
struct LayerArgumentInfo {
    std::string name{};
    std::string help{};  ///< one sentence
    std::vector<std::string> words{};  ///< that it takes; empty: it takes other values
};

/// A kind of layer as its help shows it.
struct LayerKindInfo {
    std::string name{};
    /// "Conv2d(out_channels, kernel_size; stride=1, ...)": behind the semicolon by name alone.
    std::string form{};
    std::string help{};
    std::vector<LayerArgumentInfo> arguments{};
};
std::vector<LayerKindInfo> network_layer_kinds();

/// Names of the texts that come with the program, and the text of one. Throws Error(settings) for
/// another name.
std::vector<std::string> network_templates();
std::string network_template(const std::string& name);

}  // namespace engine
