#pragma once

#include <cstdint>
#include <optional>

#include "engine/settings/run_config.h"

namespace engine {

/// Facts that a file of weights shows of its detector.
struct DetectorFile {
    std::int64_t outputs = 0;    ///< rows of the box head's scores, the background's too; 0: no head
    bool zero_variance = false;  ///< a batch norm of the body has a variance of 0
};

/// Reads model.init_from; nothing where the settings name none, or it cannot be read.
std::optional<DetectorFile> read_detector_file(const ModelConfig& model);

}  // namespace engine
