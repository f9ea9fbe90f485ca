#pragma once

#include <string>
#include <string_view>

#include "engine/network/network.h"

/// A network's text in other forms. All of them throw Error(settings) for a text with a fault.
namespace engine {

/// A Python file with the network as modules of PyTorch, with the numbers of these data and
/// options and the text as its docstring. It needs PyTorch alone. The names, shapes and order of
/// its state_dict are those of the parameters, and its load() reads a safetensors file.
std::string network_to_pytorch(std::string_view text, const NetworkData& data);

}  // namespace engine
