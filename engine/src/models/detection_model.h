#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/model.h"

namespace engine {

/// Numbers of a detector's algorithm, which its options give.
struct DetectionPlan {
    std::vector<double> anchor_sizes;  ///< of each level's anchors, in pixels
    std::int64_t anchors_sampled = 256;
    std::array<std::int64_t, 2> proposals_before{2000, 1000};  ///< of a level; training, evaluation
    std::array<std::int64_t, 2> proposals_after{2000, 1000};   ///< of a picture
    std::int64_t rois_sampled = 512;
    double canonical_size = 224;  ///< side in pixels of the boxes that the third map holds
    bool masks = true;
    double score_threshold = 0.05, nms_threshold = 0.5;
    std::int64_t detections = 100;
};

/// A detector of two stages: a network on pictures whose maps a first head reads at all anchors, and
/// further heads in regions. What is chosen between them is the task's (tasks/detection_pass.h).
class DetectionModel : public Model {
public:
    /// (N, 3, h, w) logits and (N, 12, h, w) deltas of each map, three anchors a place.
    struct AnchorScores {
        TensorList logits, deltas;
    };
    /// (K, classes) logits and (K, 4 classes) deltas of K regions; class 0 is the background.
    struct BoxScores {
        Tensor logits, deltas;
    };
    /// Sides of the regions that the heads read, and of the masks.
    static constexpr std::int64_t box_side = 7, mask_input_side = 14, mask_side = 28;

    /// Pictures (N, C, H, W), whose sides are multiples of 32, to maps of strides 4, 8, ... The
    /// last map is for anchors alone.
    virtual TensorList features(const Tensor& pictures) = 0;
    virtual AnchorScores anchor_head(const TensorList& maps) = 0;
    /// regions (K, channels, box_side, box_side), row-major.
    virtual BoxScores box_head(const Tensor& regions) = 0;
    /// regions (K, channels, mask_input_side, mask_input_side), labels (K) i64: logits (K, mask_side,
    /// mask_side) of each region's own class. Throws Error(state) for a model without masks.
    virtual Tensor mask_head(const Tensor& regions, const Tensor& labels) = 0;
    virtual const DetectionPlan& plan() const = 0;

    /// Logits and deltas of each map in turn.
    TensorList forward(const TensorList& inputs) final {
        const AnchorScores scores = anchor_head(features(inputs.front()));
        TensorList out;
        for (std::size_t i = 0; i < scores.logits.size(); ++i)
            out.insert(out.end(), {scores.logits[i], scores.deltas[i]});
        return out;
    }
    bool casts_inputs_first() const override { return true; }
    bool convolves_inputs_first() const override { return true; }

protected:
    using Model::Model;
};

}  // namespace engine
