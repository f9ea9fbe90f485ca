#pragma once

#include <cstdint>
#include <filesystem>

#include "engine/captured_step.h"
#include "engine/histogram_record.h"

namespace engine {

/// The shadow pass: computes a step of a run again in FP32, from the newest checkpoint before it or
/// from the start, with the weights, batches, dropout masks and carried state that the run had, and
/// counts its true gradients and activations. The run's folder is only read, so the run may still
/// be training. Throws Error(value) for a step that the run has not reached, Error(state) where the
/// run cannot be brought back to it, and whatever opening the data set throws.
HistogramSample shadow_histograms(const std::filesystem::path& run_folder, std::int64_t step);
/// Of a step that was captured. Throws Error.
HistogramSample shadow_histograms(const CapturedStep& step);
/// The same step in its own precision, as the run itself counts it. Throws Error.
HistogramSample step_histograms(const CapturedStep& step);

/// Computes a step of a run again, in its own precision or, as a `shadow` pass, in FP32, and writes
/// the tensors that are counted to gradients, activations, weights and updates.safetensors in this
/// folder, each in the type in which it was counted: gradients multiplied by the loss scale. A
/// tensor's name is its layer's, a dot and one more word ("conv1.weight", "conv1.output"). Returns
/// their histograms. Reads the run as above; throws Error(io) too.
HistogramSample dump_histogram_tensors(const std::filesystem::path& run_folder, std::int64_t step,
                                       bool shadow, const std::filesystem::path& folder);

}  // namespace engine
