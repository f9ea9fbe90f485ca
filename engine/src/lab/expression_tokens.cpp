#include "lab/expression_tokens.h"

#include <charconv>

#include "engine/base/error.h"

namespace engine {
namespace {

using Token = ExpressionToken;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

Token number_at(std::string_view text, std::size_t at) {
    Token token{Token::Kind::number, {}, 0, at, at};
    const char* first = text.data() + at;
    const auto [last, error] = std::from_chars(first, text.data() + text.size(), token.number);
    if (error != std::errc())
        throw Error(ErrorCode::value, msg("{} is not a number", std::string(text.substr(at, 24))));
    token.end = at + static_cast<std::size_t>(last - first);
    token.text = text.substr(at, token.end - at);
    return token;
}

Token name_at(std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && (begins_name(text[end]) || is_digit(text[end]))) ++end;
    return {Token::Kind::name, std::string(text.substr(at, end - at)), 0, at, end};
}

Token quoted_at(std::string_view text, std::size_t at) {
    const std::size_t close = text.find('"', at + 1);
    if (close == std::string_view::npos)
        throw Error(ErrorCode::value, msg("the text has no closing quotation mark"));
    return {Token::Kind::text, std::string(text.substr(at + 1, close - at - 1)), 0, at, close + 1};
}

Token sign_at(std::string_view text, std::size_t at) {
    for (const std::string_view sign : {"<=", ">=", "==", "!="}) {
        if (text.substr(at, 2) == sign)
            return {Token::Kind::sign, std::string(sign), 0, at, at + 2};
    }
    if (std::string_view("+-*/()<>.,:").find(text[at]) == std::string_view::npos)
        throw Error(ErrorCode::value, msg("an expression has no “{}”", std::string(1, text[at])));
    return {Token::Kind::sign, std::string(1, text[at]), 0, at, at + 1};
}

}  // namespace

std::vector<Token> tokenize(std::string_view text) {
    std::vector<Token> tokens;
    std::size_t at = 0;
    while (true) {
        while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
        if (at == text.size()) break;
        const char c = text[at];
        const bool number =
            is_digit(c) || (c == '.' && at + 1 < text.size() && is_digit(text[at + 1]));
        tokens.push_back(number           ? number_at(text, at)
                         : begins_name(c) ? name_at(text, at)
                         : c == '"'       ? quoted_at(text, at)
                                          : sign_at(text, at));
        at = tokens.back().end;
    }
    tokens.push_back({Token::Kind::end, "", 0, at, at});
    return tokens;
}

}  // namespace engine
