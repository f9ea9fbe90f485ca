#include "session/session_failure.h"

#include <new>

#include "kernels/device_error.h"

namespace engine {

SessionFailure to_session_failure(const std::exception& error) {
    if (const auto* known = dynamic_cast<const Error*>(&error))
        return {known->code(), known->message(), known->hint()};
    if (dynamic_cast<const kernels::DeviceError*>(&error) != nullptr)
        return {ErrorCode::device, msg("The device failed: {}.", error.what()), {}};
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
        return {ErrorCode::training, msg("This machine is out of memory."),
                msg("Take a smaller batch, model or data set.")};
    return {ErrorCode::training, msg("Training cannot continue: {}.", error.what()), {}};
}

}  // namespace engine
