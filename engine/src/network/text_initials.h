#pragma once

#include <map>
#include <string>
#include <vector>

#include "network/graph.h"

namespace engine::network {

/// The initial weights of a network as a text says them.
struct TextInitials {
    std::vector<std::string> lines{};  ///< "init Conv2d.weight = kaiming_normal(fan_out, relu)"
    struct Own {
        std::string weight{}, bias{};  ///< of init= and bias_init=; empty: not written
    };
    std::map<int, Own> layers{};  ///< by node
};

/// An init line where most layers of a kind have the same rule, init= at the others. Throws
/// Error(settings) for rules that no text says.
TextInitials text_initials(const NetworkGraph& graph);

}  // namespace engine::network
