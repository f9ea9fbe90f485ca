#pragma once

#include <exception>

#include "engine/base/error.h"
#include "engine/base/message.h"

namespace engine {

/// Why a run cannot go on, for people.
struct SessionFailure {
    ErrorCode code;
    Message message;
    Message hint;
};

/// In words where the error has none for people: a device that failed, memory that is used up.
SessionFailure to_session_failure(const std::exception& error);

}  // namespace engine
