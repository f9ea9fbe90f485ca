#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/run_config.h"

namespace engine {

/// Shape of one sample. Features (not images) are channels = F, height = width = 1.
struct SampleShape {
    std::int64_t channels = 0;
    std::int64_t height = 1;
    std::int64_t width = 1;

    std::int64_t elements() const { return channels * height * width; }
    bool is_image() const { return height > 1 || width > 1; }
    bool operator==(const SampleShape&) const = default;
};

/// Per channel, over the training set: the loader delivers (value - mean) / deviation.
struct Normalization {
    std::vector<float> mean;
    std::vector<float> deviation;
};

/// Labelled samples in memory, or made on demand. Immutable: every member may be called from any
/// thread at any time, and the files that it came from are not needed again.
class Dataset {
public:
    virtual ~Dataset() = default;

    virtual std::int64_t size() const = 0;
    virtual SampleShape shape() const = 0;
    virtual std::int64_t classes() const = 0;

    /// Writes sample `index` in [0, size()) to `out`, shape().elements() floats in the order H, W,
    /// C (so that samples in a row are an NHWC batch). Images are in [0, 1]; nothing is normalised
    /// yet.
    virtual void read(std::int64_t index, std::span<float> out) const = 0;
    /// Class of sample `index`, in [0, classes()).
    virtual std::int64_t label(std::int64_t index) const = 0;

    /// classes() names.
    virtual std::vector<std::string> class_names() const = 0;
    /// Of the training set, in the test set too.
    virtual Normalization normalization() const = 0;
};

struct DatasetPair {
    std::shared_ptr<const Dataset> train;
    std::shared_ptr<const Dataset> test;
};

/// Opens or makes the data set of `config`, which must have passed validate(). `seed` is used by
/// the generated kinds only. Reading files may take seconds. Data sets that are still held
/// somewhere are handed out again instead of being read twice, so the runs of a comparison share
/// one copy. Throws Error(data) with the file's name for data that are missing, damaged or of
/// another kind, and ReadingStopped (data/byte_reader.h) soon after `stop` was requested.
DatasetPair open_dataset(const DatasetConfig& config, std::int64_t seed,
                         const std::stop_token& stop = {});

}  // namespace engine
