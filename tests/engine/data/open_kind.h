#pragma once

#include <cstdint>
#include <stop_token>

#include "data/dataset_descriptor.h"

namespace engine::test {

/// Opens a data set as its kind does, without sharing one that is already open.
inline DataParts open_kind(const DatasetConfig& config, std::int64_t seed = 1,
                           const std::stop_token& stop = {}) {
    return dataset_descriptor(config.kind).open(config, seed, stop);
}

}  // namespace engine::test
