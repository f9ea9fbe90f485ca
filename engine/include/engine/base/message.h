#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
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
    /// The sentence in English, arguments filled in, as one line without control characters
    /// (engine/base/plain_text.h): a name in it may be anyone's.
    std::string str() const;
};

namespace detail {
/// `value` as a stream writes it: six significant digits.
std::string written(double value);
inline std::string written(std::string_view value) { return std::string(value); }
template <typename Integer>
requires std::is_integral_v<Integer> std::string written(Integer value) {
    static_assert(sizeof(Integer) > 1 || std::is_same_v<Integer, bool>, "a character is no number");
    return std::to_string(value);
}
Message message(const char* text, std::initializer_list<std::string> args);
}  // namespace detail

/// Builds a Message; every "{}" of text takes the next argument, text or a number.
/// Each literal given here needs a Chinese translation, which a test of the window checks.
template <typename... Args>
Message msg(const char* text, const Args&... args) {
    return detail::message(text, {detail::written(args)...});
}

}  // namespace engine
