#pragma once

#include <string>
#include <string_view>

namespace kernels::cuda {

/// Why a library made no plan.
enum class PlanFailure {
    unsupported,  ///< it has none on this device, today as ever
    memory,       ///< the host or the device has none left for it
    other         ///< a kernel that could not be compiled or loaded, a driver that does not answer
};

struct PlanComplaint {
    PlanFailure kind = PlanFailure::unsupported;
    /// The library's, in one line; empty where "not supported" says all.
    std::string words;
};

/// Interprets an error text of cudnn-frontend, whose errors have no status field:
///
/// - An engine's plan: the last cuDNN status in the text, after "cudnn_status:" or "code:",
///   following cuDNN's own log.
/// - A query of the heuristics: only that log, in which even an internal error may be an engine's
///   way of declining.
/// - The driver's errors are numbers in the text: 2 is out of memory.
PlanComplaint read_complaint(std::string_view text);

}  // namespace kernels::cuda
