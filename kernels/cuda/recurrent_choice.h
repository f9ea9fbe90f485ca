#pragma once

#include <memory>
#include <vector>

#include "cuda/cudnn_rnn_plan.h"
#include "kernels/cuda_device.h"

/// The choice of a recurrent network's algorithm by measurement.
namespace kernels::cuda {

/// The persistent algorithms that PyTorch uses for such a network on such a card
/// (aten/src/ATen/native/cudnn/RNN.cpp); only these race against the standard one. The dynamic one
/// is left out, as there: its kernels are compiled for seconds, in the midst of the first step.
std::vector<rnn::Algorithm> persistent_algorithms(const RecurrentNetwork& network,
                                                  const DeviceInfo& card);

/// The plan of the algorithm that computes the passes of a step the fastest: `standard`, or one
/// with its recurrent weights in registers. By an earlier run on this machine, or by a race on
/// memory of its own; while work of the device is being recorded, `standard` if no run has said
/// otherwise. A device's compute stream runs the race.
std::shared_ptr<rnn::Plan> fastest_plan(rnn::Handle handle, const RecurrentNetwork& network,
                                        const std::shared_ptr<rnn::Plan>& standard);

}  // namespace kernels::cuda
