#pragma once

#include <memory>
#include <string>

#include "data/dataset.h"
#include "engine/settings/catalog.h"
#include "tensor/philox.h"

namespace engine {

/// The kind of this name of datasets(). Throws Error(settings) if there is no such kind.
const DatasetDescriptor& dataset_descriptor(const std::string& kind);

/// `size`, or `limit` if that is smaller and not 0.
std::int64_t limited(std::int64_t size, std::int64_t limit);

/// A generated data set: both parts from disjoint streams of the seed.
template <typename Generated>
DataParts generate(const DatasetConfig& config, std::int64_t seed, StreamId train, StreamId test) {
    return {.train = {std::make_shared<Generated>(
                seed, train, limited(Generated::train_size, config.train_limit))},
            .validation = {},
            .test = {std::make_shared<Generated>(
                seed, test, limited(Generated::test_size, config.test_limit))}};
}

}  // namespace engine
