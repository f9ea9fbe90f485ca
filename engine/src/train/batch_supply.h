#pragma once

#include <functional>

#include "data/device_batch.h"

namespace engine {

/// Where a step's batches come from: number i of it, and that it is no longer needed.
struct BatchSupply {
    std::function<DeviceBatch(std::size_t)> get;
    std::function<void(const DeviceBatch&)> used;
};

}  // namespace engine
