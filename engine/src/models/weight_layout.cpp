#include "models/weight_layout.h"

#include "tensor/layout.h"
#include "tensor/memory/memory.h"

namespace engine {

void lay_out_weights(const Model& model) {
    const GradMode off(false);
    const UseScope use(MemoryUse::weights);
    for (const auto& parameter : model.parameters()) {
        const Tensor& tensor = parameter.tensor;
        const bool on_gpu = tensor.device().kind == Device::Kind::cuda;
        if (!on_gpu || tensor.rank() != 4 || tensor.is_channels_last()) continue;
        const Tensor moved = in_layout(tensor.detach(), Layout::channels_last);
        // The layers hold the same TensorImpl, so the new storage is theirs too.
        tensor.impl()->storage = moved.impl()->storage;
        tensor.impl()->strides = moved.strides();
        tensor.impl()->offset = 0;
    }
}

}  // namespace engine
