#pragma once

#include <memory>
#include <vector>

#include "parallel/communicator.h"

namespace engine {

/// Lines of `size` ranks that are threads of this process, by rank: data parallel in one process
/// (training-loops.md#data-parallel-in-one-process, 3.6). Each is used by the thread of its rank.
std::vector<std::unique_ptr<Communicator>> make_thread_communicators(int size);

}  // namespace engine
