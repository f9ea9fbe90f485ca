#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nn/layers.h"

namespace engine {

/// Feature pyramid network (Lin et al. 2017): maps of strides 4, 8, 16 and 32 become five maps of
/// `channels` channels, the last at half the size of the fourth. torchvision's names and initial
/// weights.
class FeaturePyramid {
public:
    FeaturePyramid() = default;
    /// `widths`: channels of the maps that come in.
    FeaturePyramid(TensorRegistry& registry, const std::string& name,
                   std::span<const std::int64_t> widths, std::int64_t channels);
    /// A map that comes in, with the pyramid's channels.
    Tensor lateral(std::size_t index, const Tensor& map) const;
    /// The maps of all laterals. Sums are f32 in a region, as torchvision's are.
    TensorList operator()(const TensorList& laterals) const;

private:
    ModuleName module_, half_;
    std::vector<Conv2d> inner_, outer_;
};

}  // namespace engine
