#include "engine/message.h"

namespace engine {

std::string Message::str() const {
    std::string out;
    std::size_t from = 0;
    for (const auto& arg : args) {
        const std::size_t at = text.find("{}", from);
        if (at == std::string::npos) break;
        out.append(text, from, at - from).append(arg);
        from = at + 2;
    }
    return out.append(text, from);
}

}  // namespace engine
