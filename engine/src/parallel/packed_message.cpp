#include "parallel/packed_message.h"

namespace engine {
namespace {

constexpr char separator = '\x1f';  // ASCII's unit separator: never part of a sentence

}  // namespace

std::string packed(const Message& message) {
    std::string out = message.text;
    for (const std::string& arg : message.args) out += separator + arg;
    return out;
}

Message unpacked(std::string_view text) {
    Message out;
    out.text = text.substr(0, text.find(separator));
    for (std::size_t at = text.find(separator); at != std::string_view::npos;) {
        const std::size_t end = text.find(separator, at + 1);
        out.args.emplace_back(
            text.substr(at + 1, end == std::string_view::npos ? end : end - at - 1));
        at = end;
    }
    return out;
}

}  // namespace engine
