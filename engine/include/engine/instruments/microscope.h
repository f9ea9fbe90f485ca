#pragma once

#include <cstdint>
#include <filesystem>

#include "engine/instruments/captured_step.h"
#include "engine/record/histogram_record.h"

namespace engine {

/// The shadow pass: computes a step of a run again in FP32, and counts its true gradients and
/// activations. Starts from the newest checkpoint before the step, or from the start, with the
/// run's own weights, batches, dropout masks and carried state. The run's folder is only read, so
/// the run may still be training. Throws Error(data) if the run has not reached the step,
/// Error(state) if the run cannot be restored to it, and what opening the data set throws.
HistogramSample shadow_histograms(const std::filesystem::path& run_folder, std::int64_t step);
/// Computes the shadow histograms of a captured step. Throws Error.
HistogramSample shadow_histograms(const CapturedStep& step);
/// The histograms of the step in its own precision, as the run itself counts them. Throws Error.
HistogramSample step_histograms(const CapturedStep& step);

/// Computes a step of a run again, in its own precision or, as a `shadow` pass, in FP32, and
/// returns its histograms. Writes the counted tensors into this folder, as gradients.safetensors,
/// activations.safetensors, weights.safetensors and updates.safetensors. Each tensor has the type
/// in which it was counted; gradients are multiplied by the loss scale. A name is the layer's name,
/// a dot and one more word ("conv1.weight", "conv1.output"). Reads the run as above; throws
/// Error(io) too.
HistogramSample dump_histogram_tensors(const std::filesystem::path& run_folder, std::int64_t step,
                                       bool shadow, const std::filesystem::path& folder);

}  // namespace engine
