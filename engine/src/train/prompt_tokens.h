#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/input_guide.h"

namespace engine {

/// Token ids of a text in a run's vocabulary; `lowercase`: the run read its text in lower case. A
/// token that is not in it becomes <unk>, or is left out where the vocabulary has none.
std::vector<std::int64_t> prompt_tokens(const InputGuide& guide, bool lowercase, std::string text);

}  // namespace engine
