#pragma once

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace engine {

/// A sentence for the user that can be shown in another language: `text` holds "{}" where the next
/// argument goes. `text` is the key that the window looks up; args are values and are not
/// translated.
struct Message {
    std::string text;
    std::vector<std::string> args;

    Message() = default;
    Message(std::string text_) : text(std::move(text_)) {}  // NOLINT(google-explicit-constructor)
    Message(const char* text_) : text(text_) {}             // NOLINT(google-explicit-constructor)

    bool empty() const { return text.empty(); }
    /// The sentence in English, arguments filled in.
    std::string str() const;
};

/// Builds a Message; every "{}" of text takes the next argument, written by operator<<.
/// Each literal given here needs a Chinese translation, which a test of the window checks.
template <typename... Args>
Message msg(const char* text, const Args&... args) {
    Message message(text);
    [[maybe_unused]] const auto add = [&message](const auto& value) {
        std::ostringstream out;
        out << value;
        message.args.push_back(out.str());
    };
    (add(args), ...);
    return message;
}

}  // namespace engine
