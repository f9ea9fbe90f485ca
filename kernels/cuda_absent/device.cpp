#include "kernels/device.h"

namespace kernels::cuda {

bool built() { return false; }

int device_count() noexcept { return 0; }

std::string why_absent() { return "this build has no CUDA backend"; }

}  // namespace kernels::cuda
