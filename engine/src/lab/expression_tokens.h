#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace engine {

struct ExpressionToken {
    enum class Kind { number, name, text, sign, end };
    Kind kind = Kind::end;
    std::string text;  ///< of a text without its quotes
    double number = 0;
    std::size_t begin = 0, end = 0;  ///< in the expression
};

/// The tokens of an expression, the last one of kind `end`. Throws Error(value) for a character
/// that no expression has.
std::vector<ExpressionToken> tokenize(std::string_view text);

}  // namespace engine
