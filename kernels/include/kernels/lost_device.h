#pragma once

#include <string>

namespace kernels::cuda {

/// The error that ended a device, after which no call of this process can use a device. Empty if
/// there was none.
std::string lost_to();

}  // namespace kernels::cuda
