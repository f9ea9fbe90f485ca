#include "engine/base/message.h"

#include <cmath>
#include <sstream>

#include "engine/base/plain_text.h"

namespace engine {

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
