#include "kernels/attention.h"

#include "cuda_absent/absent.h"

namespace kernels::cuda {

std::optional<std::size_t> attention_workspace(const Attention&) { return std::nullopt; }

void attention_forward(const Attention&, const AttentionForwardData&, void*, Stream) {
    absent("attention_forward");
}

void attention_backward(const Attention&, const AttentionBackwardData&, void*, Stream) {
    absent("attention_backward");
}

}  // namespace kernels::cuda
