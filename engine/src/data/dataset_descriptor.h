#pragma once

#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "tensor/philox.h"

namespace engine {

/// A kind of data set: the only place that knows it (decisions.md#descriptor, D16).
struct DatasetDescriptor {
    std::string kind;       ///< as in RunConfig
    std::string title;      ///< "Fashion-MNIST"
    std::string summary;    ///< one sentence
    std::string needs{};    ///< "" if generated, else what the path must hold
    std::string files{};    ///< of an official set: the names of its files
    std::string page{};     ///< and the address where they are
    std::string unit;       ///< what one sample is called: "images", "rows", "tokens"
    bool augments = false;  ///< crop and flip make sense
    std::vector<OptionSpec> options = {};
    /// Fields of its samples, known without opening it. Where its files decide, of a typical one.
    Schema (*schema)(const DatasetConfig& config) = nullptr;
    bool files_decide = false;
    DataParts (*open)(const DatasetConfig& config, std::int64_t seed,
                      const std::stop_token& stop) = nullptr;
    /// Opens a text with the ids of a given vocabulary (open_dataset_as); null for other kinds.
    DataParts (*open_as)(const std::vector<std::string>& vocabulary, const DatasetConfig& config,
                         std::int64_t seed, const std::stop_token& stop) = nullptr;
    /// Whether a file or folder holds it, by its content; null: never recognised, or by
    /// recognise_path() itself.
    bool (*recognise)(const std::filesystem::path& path) = nullptr;
};

/// All kinds, in the order in which they are offered.
std::span<const DatasetDescriptor> dataset_descriptors();
/// Throws Error(settings) if there is no such kind.
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
