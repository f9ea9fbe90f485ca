#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// The known name that a misspelt one most likely stands for: at most two edits away, one of
/// up to three letters, a third of the length of a longer name. Two letters that changed places are
/// one edit. Empty if none comes near.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& known);

/// The names, those that need the fewest edits to become `wanted` first.
std::vector<std::string> by_likeness(std::string_view wanted, std::vector<std::string> names);

}  // namespace engine
