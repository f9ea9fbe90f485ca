#include "engine/base/error.h"

namespace engine {

Error::Error(ErrorCode code, Message message, Message hint)
    : std::runtime_error(message.str()),
      code_(code),
      message_(std::move(message)),
      hint_(std::move(hint)) {}

int exit_code(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::settings:
        case ErrorCode::state:
        case ErrorCode::value:
        case ErrorCode::shape:
        case ErrorCode::dtype:
            return 2;
        case ErrorCode::data:
        case ErrorCode::io:
            return 3;
        case ErrorCode::device:
        case ErrorCode::memory:
            return 4;
        default:
            return 5;
    }
}

int exit_code_of_run(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::settings:
        case ErrorCode::data:
        case ErrorCode::device:
        case ErrorCode::memory:
            return exit_code(code);
        default:
            return exit_code(ErrorCode::training);
    }
}

const char* name(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::settings:
            return "settings";
        case ErrorCode::data:
            return "data";
        case ErrorCode::device:
            return "device";
        case ErrorCode::memory:
            return "memory";
        case ErrorCode::training:
            return "training";
        case ErrorCode::io:
            return "io";
        case ErrorCode::shape:
            return "shape";
        case ErrorCode::dtype:
            return "dtype";
        case ErrorCode::state:
            return "state";
        case ErrorCode::value:
            return "value";
    }
    return "unknown";
}

}  // namespace engine
