#pragma once

#include <array>
#include <filesystem>
#include <string>

#include "engine/record/histogram_record.h"
#include "tensor/tensor_map.h"

namespace engine {

/// Copies of the tensors that a step's histograms were counted from, by kind and name. A name is
/// its layer's name, a dot and one more word: "conv1.weight", and "conv1.output" of activations.
/// Where a layer counts several tensors of one name, the second is "conv1.output_2".
class CountedTensors {
public:
    /// Copies the values to the host in their own type; a sparse tensor as the dense one that it
    /// represents. Waits for the device.
    void add(HistogramKind kind, const std::string& name, const Tensor& values);

    const TensorMap& of(HistogramKind kind) const {
        return tensors_[static_cast<std::size_t>(kind)];
    }
    /// Writes KIND.safetensors of each kind, which replace earlier ones. Makes the folder. Throws
    /// Error(io).
    void write(const std::filesystem::path& folder) const;

private:
    std::array<TensorMap, histogram_kind_count> tensors_;
};

}  // namespace engine
