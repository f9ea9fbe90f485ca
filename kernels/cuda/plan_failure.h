#pragma once

#include <string>
#include <string_view>

namespace kernels::cuda {

/// Why a library made no plan of what it was told.
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

/// What a text of cudnn-frontend's tells. Its errors carry no status of cuDNN's but in words: that
/// of an engine's plan as the last, after "cudnn_status:" or "code:", behind cuDNN's own list of
/// what went through its mind. A question to the heuristics has no status, but that list alone, in
/// which even an internal error may be an engine's way to say no. The driver's errors are numbers
/// there: 2 is out of memory.
PlanComplaint read_complaint(std::string_view text);

}  // namespace kernels::cuda
