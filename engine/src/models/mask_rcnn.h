#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "models/detection_model.h"
#include "models/model_descriptor.h"

namespace engine {

/// The network under a detector's pyramid. Its parameters' names begin with `prefix`.
class DetectorBody {
public:
    static constexpr std::size_t stage_count = 4;
    static constexpr const char* prefix = "backbone.body.";

    DetectorBody() = default;
    virtual ~DetectorBody() = default;
    DetectorBody(const DetectorBody&) = delete;
    DetectorBody& operator=(const DetectorBody&) = delete;

    using Seen = std::function<void(std::size_t stage, const Tensor& map)>;
    /// Tells `seen` the map of each stage, before anything of the next one is computed. `model`,
    /// whose tensors these are, says whether it trains and recomputes its blocks.
    virtual void run(const Model& model, const Tensor& pictures, const Seen& seen) const = 0;
    /// Channels that a stage gives.
    virtual std::int64_t width(std::size_t stage) const = 0;
    /// The part of the body that a parameter belongs to: 0 in front of the stages, then 1 to 4.
    virtual std::int64_t part_of(std::string_view parameter) const = 0;
    virtual bool casts_inputs_first() const { return true; }
    virtual bool convolves_inputs_first() const { return true; }
};

/// Defaults of options that differ between the kinds.
struct DetectorDefaults {
    const char* norm;
    std::int64_t train_layers, pyramid_channels;
    std::vector<std::int64_t> anchor_sizes;
    std::int64_t anchors_sampled;
    std::vector<std::int64_t> proposals;
    std::int64_t rois_sampled;
    double canonical_size;
    std::int64_t hidden;
    std::vector<std::int64_t> mask_layers;
};
/// For scenes that are learnt in minutes, and torchvision's.
DetectorDefaults small_detector_defaults();
DetectorDefaults torchvision_detector_defaults();
std::vector<OptionSpec> detector_options(const DetectorDefaults& defaults);

/// The numbers of the algorithm. Throws Error(settings) for lists of another length.
DetectionPlan detection_plan(const TypedOptions& options);

/// Mask R-CNN on a body that `make_body` makes, which may keep the registry. Throws Error(settings)
/// for options that do not fit.
using MakeDetectorBody = std::function<std::unique_ptr<DetectorBody>(TensorRegistry& registry)>;
std::unique_ptr<Model> make_detector(const ModelSetup& setup, const MakeDetectorBody& make_body);

}  // namespace engine
