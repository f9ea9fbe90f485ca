#pragma once

#include <vector>

#include "engine/settings/run_config.h"
#include "feed/run_track.h"

namespace ui {

/// The runs of *Help > Why scale the loss?*, in this order: a deep network in FP32, in AMP FP16,
/// and in AMP FP16 without loss scaling, where its gradients underflow. The settings are those of
/// `:/demonstrations/loss_scaling.json`. Throws engine::Error(settings) if they cannot run.
std::vector<engine::RunConfig> lossScalingRuns();

/// The runs on screen begin with those of the demonstration, of any seed and on any device.
bool isLossScalingDemonstration(const TrackList& tracks);

}  // namespace ui
