#include "data/text/tokenizer_parts.h"

#include <algorithm>

#include "base/text_utf8.h"
#include "data/text/unicode_text.h"

namespace engine {
namespace {

/// Where the last character of a non-empty text begins.
std::size_t last_character(std::string_view text) {
    std::size_t at = text.size() - 1;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
    return at;
}

bool ends_in_word(std::string_view text) {
    if (text.empty()) return false;
    std::string_view last = text.substr(last_character(text));
    return is_word_character(take_character(last));
}

bool begins_with_word(std::string_view text) {
    return !text.empty() && is_word_character(take_character(text));
}

/// Where the white space at the text's end begins.
std::size_t space_at_end(std::string_view text) {
    while (!text.empty()) {
        const std::size_t at = last_character(text);
        std::string_view last = text.substr(at);
        if (!is_white_space(take_character(last))) break;
        text = text.substr(0, at);
    }
    return text.size();
}

/// Bytes of the white space at the text's beginning.
std::size_t space_at_start(std::string_view text) {
    const std::size_t size = text.size();
    while (!text.empty()) {
        std::string_view rest = text;
        if (!is_white_space(take_character(rest))) break;
        text = rest;
    }
    return size - text.size();
}

}  // namespace

void AddedTokenFinder::add(const AddedToken& token, const std::string& content) {
    forms_.try_emplace(content,
                       Form{token.id, token.single_word, token.left_space, token.right_space});
    auto& lengths = lengths_[static_cast<unsigned char>(content.front())];
    if (std::ranges::find(lengths, content.size()) != lengths.end()) return;
    lengths.push_back(content.size());
    std::ranges::sort(lengths, std::greater<>());
}

const AddedTokenFinder::Form* AddedTokenFinder::find(std::string_view text,
                                                     std::size_t& size) const {
    for (const std::size_t length : lengths_[static_cast<unsigned char>(text.front())]) {
        if (length > text.size()) continue;
        const auto found = forms_.find(text.substr(0, length));
        if (found == forms_.end()) continue;
        size = length;
        return &found->second;
    }
    return nullptr;
}

void AddedTokenFinder::split(std::string_view text, const Piece& piece, const Token& token) const {
    std::size_t from = 0;  // behind the last token
    for (std::size_t at = 0; !forms_.empty() && at < text.size();) {
        std::size_t size = 1;
        const Form* const form = find(text.substr(at), size);
        std::size_t begin = at;
        at += size;
        if (form == nullptr) continue;
        std::size_t end = at;
        if (form->single_word &&
            (ends_in_word(text.substr(0, begin)) || begins_with_word(text.substr(end))))
            continue;
        if (form->left_space) begin = std::max(space_at_end(text.substr(0, begin)), from);
        if (form->right_space) end += space_at_start(text.substr(end));
        if (begin > from) piece(text.substr(from, begin - from));
        token(form->id);
        from = end;
    }
    if (from < text.size()) piece(text.substr(from));
}

}  // namespace engine
