#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace engine::network {

/// A class or function that PyTorch lacks, as source. "DropPath", "causal_mask".
std::string_view pytorch_helper(std::string_view name);

/// Names of all of them, which a file's own variables must not have.
std::vector<std::string> pytorch_helper_names();

}  // namespace engine::network
