#pragma once

#include <memory>
#include <set>

#include "kernels/array.h"

/// Plans and scratch of the libraries that a recorded graph holds. The graph launches their kernels
/// for as long as it lives, and a library may unload those that it has compiled for a plan together
/// with the plan, which a cache may drop meanwhile.
namespace kernels::cuda {

using Kept = std::set<std::shared_ptr<const void>>;

/// To be called with work that is launched on the stream: if a capture is in progress there, the
/// graph will hold `used`.
void keep_if_recorded(const std::shared_ptr<const void>& used, Stream stream);

/// For who records: what is used on the stream is collected from now on.
void start_keeping(Stream stream);
/// Ends it, and gives them.
Kept end_keeping(Stream stream);

}  // namespace kernels::cuda
