#pragma once

#include <filesystem>
#include <string>

#include "core/dtype.h"
#include "engine/run_config.h"

namespace engine {

/// Writes the model of a checkpoint as ONNX. As properties: the data set, its classes or targets
/// and the words of a text, normalisation, precision, and `source` ("run 12, step 600"). What the
/// run's folder says of its inputs suffices; the data are not needed. Throws Error(data),
/// Error(settings) and Error(io).
void export_onnx(const std::filesystem::path& run_folder, const RunConfig& config,
                 const std::filesystem::path& weights, const std::string& source, DType dtype,
                 const std::filesystem::path& file);

/// Writes the weights of a checkpoint, tied ones under each of their names, as PyTorch's
/// load_state_dict wants them. Throws Error(data) and Error(io).
void export_weights(const std::filesystem::path& run_folder, const RunConfig& config,
                    const std::filesystem::path& weights, const std::filesystem::path& file);

}  // namespace engine
