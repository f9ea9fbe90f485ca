#pragma once

#include <string>

namespace kernels::cuda {

/// What a device that was there died of, so that no call of this process can use one any more;
/// empty while none has.
std::string lost_to();

}  // namespace kernels::cuda
