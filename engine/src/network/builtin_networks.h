#pragma once

#include <string_view>
#include <vector>

namespace engine {

/// A file of resources/networks.
struct BuiltinNetwork {
    std::string_view name;  ///< "lenet.network"
    std::string_view text;
};
/// By name. Written by embed_texts.cmake.
const std::vector<BuiltinNetwork>& builtin_network_texts();

}  // namespace engine
