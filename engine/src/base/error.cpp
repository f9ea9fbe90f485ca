#include "engine/base/error.h"

#include <cmath>
#include <sstream>

#include "engine/base/plain_text.h"

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

std::string Message::str() const {
    const std::string form = with_singulars(text, args);
    std::string out;
    std::size_t from = 0;
    for (const auto& arg : args) {
        const std::size_t at = form.find("{}", from);
        if (at == std::string::npos) break;
        out.append(form, from, at - from).append(arg);
        from = at + 2;
    }
    return one_line(out.append(form, from));
}

namespace detail {

std::string written(double value) {
    if (std::isnan(value)) return "nan";  // regardless of its sign
    std::ostringstream out;
    out << value;
    return out.str();
}

Message message(const char* text, std::initializer_list<std::string> args) {
    Message made(text);
    made.args = args;
    return made;
}

}  // namespace detail

}  // namespace engine
