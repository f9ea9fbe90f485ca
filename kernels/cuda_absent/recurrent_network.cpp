#include "kernels/recurrent_network.h"

#include "cuda_absent/absent.h"

namespace kernels::cuda {

std::optional<RecurrentSpaces> recurrent_spaces(const RecurrentNetwork&) {
    absent("recurrent_spaces");
}

bool recurrent_network_forward(const RecurrentNetwork&, const RecurrentForwardPass&, Stream) {
    absent("recurrent_network_forward");
}

bool recurrent_network_backward(const RecurrentNetwork&, const RecurrentBackwardPass&, Stream) {
    absent("recurrent_network_backward");
}

}  // namespace kernels::cuda
