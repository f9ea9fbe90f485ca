#pragma once

#include "models/detection_model.h"
#include "tasks/task.h"

namespace engine {

/// Pictures and the objects in them, as a batch has them (data/detection/detection_sample.h).
struct Scenes {
    Tensor images;  ///< (N, C, H, W), sides multiples of 32
    Tensor sizes;     ///< (N, 2 or more) i64: height and width within H and W
    Tensor boxes;     ///< (N, G, 4) f32, rows of zeros behind the last; undefined: no objects known
    Tensor labels;    ///< (N, G) i64, from 1
    Tensor places;    ///< (N, G, 5) i64 and
    Tensor bits;      ///< (N, W) i64: masks, as mask_targets() reads them
    Tensor draws;     ///< (N) i64: what is sampled by
};

/// Regions that the first head proposes.
struct Proposals {
    Tensor boxes;   ///< (N, P, 4) f32, zeros behind the last
    Tensor counts;  ///< (N) i64
};

struct DetectionPass {
    Proposals proposals;
    /// Losses, 0-d f32, means of all pictures; undefined without objects, `mask` without masks.
    Tensor classifier, box_reg, mask, objectness, rpn_box_reg;
    Tensor total;  ///< their sum, in this order
    /// In evaluation (N, detections, 6): x1, y1, x2, y2, score and label, 0 in an empty row; with
    /// masks 784 columns more, the probabilities of 28 x 28 places in the box.
    Tensor found;
};

/// Mask R-CNN's algorithm around the networks of step.model(), a DetectionModel: losses, and in
/// evaluation detections. `given` takes the place of the proposals that the model would make, so
/// that two computations read the same regions. What is sampled depends on the pictures' draws and
/// proposals alone. With TeachBoxes::low anchors and boxes are rounded to the type of the heads'
/// outputs, as where a framework computes them in it. Source: He et al. 2017, as torchvision
/// computes it.
DetectionPass detect(const TaskStep& step, const Scenes& scenes, const Proposals* given = nullptr,
                     TeachBoxes geometry = TeachBoxes::intact);

}  // namespace engine
