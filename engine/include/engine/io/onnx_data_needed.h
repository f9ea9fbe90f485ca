#pragma once

#include "engine/base/error.h"

namespace engine {

/// The tensors of an ONNX model lie in another file, which the model does not name in a way that may
/// be followed, or which is not there: a person has to choose it.
class OnnxDataNeeded final : public Error {
public:
    explicit OnnxDataNeeded(Message message) : Error(ErrorCode::data, std::move(message)) {}
};

}  // namespace engine
