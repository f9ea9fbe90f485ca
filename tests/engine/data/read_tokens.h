#pragma once

#include "data/text/text_reader.h"

namespace engine {

inline TextTokens read_tokens(const DatasetConfig& config) {
    return read_text(config, text_reading(config));
}

}  // namespace engine
