#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/network/network.h"

/// A network's text in other forms. All of them throw Error(settings) for a text with a fault.
namespace engine {

/// The text with these values as the defaults of its options, and all else as it is. Options that
/// the text does not have do not count.
std::string network_with_options(std::string_view text, const Options& options);

/// A Python file with the network as modules of PyTorch, with the numbers of these data and
/// options and the text as its docstring. It needs PyTorch alone. The names, shapes and order of
/// its state_dict are those of the parameters, and its load() reads a safetensors file.
std::string network_to_pytorch(std::string_view text, const NetworkData& data);

/// The network as a text with the numbers of these data and options, without options, conditions
/// and comments: blocks for what comes in several places, repeats for what comes one after another.
/// The text makes the same network, and this function the same text of it.
std::string network_to_text(std::string_view text, const NetworkData& data);

struct NetworkDrawing {
    int depth = 0;       ///< blocks around each other that are drawn with their layers; 0: each is a box
    bool lying = false;  ///< the first layer at the left instead of at the top
    /// One for each row of CheckedNetwork, as types_by_row() (engine/models/network_types.h) gives
    /// them: a box has the colour of its result's type, which stands beside its shape. Empty: black on white.
    std::vector<std::string> types = {};
};

/// An SVG picture, black on white, for papers: a box for each layer with its shape, a frame for
/// each container, and lines beside the boxes for values that later layers take.
std::string network_to_svg(std::string_view text, const NetworkData& data, const NetworkDrawing& drawing = {});

/// A form that a text can be written in.
struct NetworkForm {
    std::string name{};    ///< "pytorch"
    std::string title{};   ///< "PyTorch source"
    std::string ending{};  ///< of its files, without the dot
    /// `types`: as in NetworkDrawing.
    std::string (*write)(std::string_view text, const NetworkData& data, const std::vector<std::string>& types) = nullptr;
};
const std::vector<NetworkForm>& network_forms();

}  // namespace engine
