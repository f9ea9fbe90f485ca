#pragma once

#include <memory>

#include "cuda/cudnn_rnn_plan.h"

/// The choice of a recurrent network's algorithm by measurement.
namespace kernels::cuda {

/// The plan of the algorithm that computes the passes of a step the fastest: `standard`, or one
/// with its recurrent weights in registers. By an earlier run on this machine, or by a race on
/// memory of its own; while work of the device is being recorded, `standard` if no run has said
/// otherwise. A device's compute stream runs the race.
std::shared_ptr<rnn::Plan> fastest_plan(rnn::Handle handle, const RecurrentNetwork& network,
                                        const std::shared_ptr<rnn::Plan>& standard);

}  // namespace kernels::cuda
