#pragma once

#include "engine/base/error.h"

namespace engine {

/// The tensors of an ONNX model lie in another file. It is not there, or the model names it by a
/// path outside its folder: a person has to choose it.
class OnnxDataNeeded final : public Error {
public:
    explicit OnnxDataNeeded(Message message) : Error(ErrorCode::data, std::move(message)) {}
};

}  // namespace engine
