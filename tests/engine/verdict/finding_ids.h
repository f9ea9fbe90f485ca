#pragma once

#include <string>
#include <vector>

#include "engine/verdict/lint.h"

namespace engine {

/// Ids of the findings, in their order.
inline std::vector<std::string> ids(const std::vector<LintFinding>& findings) {
    std::vector<std::string> out;
    for (const auto& each : findings) out.push_back(each.id);
    return out;
}

}  // namespace engine
