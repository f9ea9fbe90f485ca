#pragma once

#include <stdexcept>

#include "engine/message.h"

namespace engine {

enum class ErrorCode {
    settings,  ///< a field of the settings, or the command line; exit code 2
    data,      ///< a data file that is missing, damaged or of another kind; exit code 3
    device,    ///< the device is absent or failed; exit code 4
    memory,    ///< the device is out of memory; exit code 4
    training,  ///< training cannot go on, for instance the scale fell through its floor; exit code
               ///< 5
    io,        ///< the run folder cannot be written; exit code 5
    shape,     ///< an operation's arguments do not fit one another
    dtype,     ///< an operation's arguments have types that it does not take together
    state,     ///< a call that is not allowed now (autograd, scaler)
    value,     ///< an argument out of its range
};

/// Exit code of the command line for an error of this kind (interfaces.md, section 2).
int exit_code(ErrorCode code) noexcept;
/// "settings", "data", ...: the name used in `--json`.
const char* name(ErrorCode code) noexcept;

/// The current operation cannot go on.
/// what(): one sentence for the user, naming the operation and the value that was wrong.
/// hint(): what to try, or empty.
class Error : public std::runtime_error {
public:
    Error(ErrorCode code, Message message, Message hint = {});

    ErrorCode code() const noexcept { return code_; }
    const Message& message() const noexcept { return message_; }
    const Message& hint() const noexcept { return hint_; }

private:
    ErrorCode code_;
    Message message_;
    Message hint_;
};

}  // namespace engine
