#include "models/detector_file.h"

#include <algorithm>
#include <span>

#include "engine/base/error.h"
#include "io/pickle/torch_file.h"
#include "io/safetensors/tensor_file.h"
#include "tensor/restore.h"

namespace engine {

std::optional<DetectorFile> read_detector_file(const ModelConfig& model) {
    if (model.init_from.empty()) return std::nullopt;
    try {
        const TensorMap tensors = is_torch_file(model.init_from)
                                      ? load_torch_weights(model.init_from, model.init_key).tensors
                                      : load_tensors(model.init_from);
        DetectorFile out;
        for (const auto& [name, tensor] : tensors) {
            if (name.ends_with("box_predictor.cls_score.weight") && tensor.rank() == 2)
                out.outputs = tensor.size(0);
            if (!name.ends_with("running_var")) continue;
            const std::vector<double> values = tensor.values();
            out.zero_variance = out.zero_variance || std::ranges::find(values, 0.0) != values.end();
        }
        return out;
    } catch (const Error&) {
        return std::nullopt;  // training says why
    }
}

}  // namespace engine
