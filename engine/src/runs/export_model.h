#pragma once

#include <filesystem>
#include <string>

#include "engine/settings/run_config.h"
#include "tensor/dtype.h"

namespace engine {

/// Writes the model of a checkpoint as ONNX. Its properties hold the data set, its classes or
/// targets, the words of a text, normalisation, precision, and `source` ("run 12, step 600"). The
/// run's folder has all of that; the data set itself is not needed. Throws Error(data),
/// Error(settings) and Error(io).
void export_onnx(const std::filesystem::path& run_folder, const RunConfig& config,
                 const std::filesystem::path& weights, const std::string& source, DType dtype,
                 const std::filesystem::path& file);

/// Writes the weights of a checkpoint in the form that PyTorch's load_state_dict expects, tied ones
/// under each of their names. Throws Error(data) and Error(io).
void export_weights(const std::filesystem::path& run_folder, const RunConfig& config,
                    const std::filesystem::path& weights, const std::filesystem::path& file);

}  // namespace engine
