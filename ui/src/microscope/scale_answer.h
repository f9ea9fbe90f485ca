#pragma once

#include <QString>

#include "engine/record/histogram_record.h"

namespace ui {

/// The question that the answer is for.
struct ScaleQuestion {
    const engine::HistogramSample& sample;
    engine::HistogramKind kind;
    double counted = 1;   ///< what the sample's gradients are multiplied by
    double scale = 1;     ///< of the step itself
    bool scaled = false;  ///< gradients of a run with a loss scale
    bool earlier = false;  ///< the run has another scale by now
};

/// The page's answer in one or two sentences: which loss scales fit the gradients of all layers in
/// FP16, where the present one lies, and the layer that overflows first; of other values, whether
/// FP16 holds them. Empty for a sample without values of the kind.
QString scaleAnswer(const ScaleQuestion& question);

}  // namespace ui
