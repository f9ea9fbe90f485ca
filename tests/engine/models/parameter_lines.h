#pragma once

#include <string>
#include <vector>

#include "models/model.h"

namespace engine::test {

/// A line for each parameter in order, such as "conv1.weight 6 1 5 5".
inline std::vector<std::string> parameter_lines(const Model& model) {
    std::vector<std::string> out;
    for (const Parameter& parameter : model.parameters()) {
        std::string line = parameter.name;
        for (const auto size : parameter.tensor.shape()) line += " " + std::to_string(size);
        out.push_back(line);
    }
    return out;
}

}  // namespace engine::test
