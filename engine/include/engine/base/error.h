#pragma once

#include <stdexcept>

#include "engine/base/message.h"
#include "engine/base/names.h"

namespace engine {

enum class ErrorCode {
    settings,  ///< a field of the settings, or the command line; exit code 2
    data,      ///< a data file that is missing, damaged or of another kind; exit code 3
    device,    ///< the device is absent or failed; exit code 4
    memory,    ///< the device is out of memory; exit code 4
    training,  ///< training cannot go on, for instance the scale fell through its floor; exit code
               ///< 5
    io,        ///< a file or folder cannot be written; exit code 3
    shape,     ///< an operation's arguments do not fit one another; exit code 2
    dtype,     ///< an operation's arguments have types that it does not take together; exit code 2
    state,     ///< a call that is not allowed now (autograd, scaler); exit code 2
    value,     ///< an argument out of its range; exit code 2
};
template <>
inline constexpr std::array enum_names<ErrorCode> = {
    "settings", "data", "device", "memory", "training", "io", "shape", "dtype", "state", "value"};

/// Exit code of the command line for an error of this kind (interfaces.md, section 2).
int exit_code(ErrorCode code) noexcept;
/// Returns the exit code of a run that this error has ended: 5 unless settings, data or device
/// caused it.
int exit_code_of_run(ErrorCode code) noexcept;

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
