#include "data/text/unicode_text.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "base/text_utf8.h"

namespace engine {
namespace {

utf8proc_category_t unicode_category(char32_t character) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(character));
}

bool in_categories(char32_t character, utf8proc_category_t first, utf8proc_category_t last) {
    const utf8proc_category_t category = unicode_category(character);
    return category >= first && category <= last;
}

/// Symbols with the property Other_Alphabetic, which utf8proc does not have.
bool is_enclosed_letter(char32_t c) {
    return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
           (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
}

int form_options(UnicodeForm form) {
    switch (form) {
        case UnicodeForm::nfc:
            return UTF8PROC_STABLE | UTF8PROC_COMPOSE;
        case UnicodeForm::nfd:
            return UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
        case UnicodeForm::nfkc:
            return UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
        case UnicodeForm::nfkd:
            break;
    }
    return UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT;
}

void append_form(std::string& out, std::string_view text, UnicodeForm form) {
    utf8proc_uint8_t* made = nullptr;
    const utf8proc_ssize_t size =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                     static_cast<utf8proc_ssize_t>(text.size()), &made,
                     static_cast<utf8proc_option_t>(form_options(form)));
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(made, &std::free);
    if (size < 0) throw std::bad_alloc();  // the only error that valid UTF-8 leaves
    out.append(reinterpret_cast<const char*>(made), static_cast<std::size_t>(size));
}

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

}  // namespace

bool is_letter(char32_t character) {
    return in_categories(character, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO);
}

bool is_number(char32_t character) {
    return in_categories(character, UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
}

bool is_mark(char32_t character) {
    return in_categories(character, UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME);
}

bool is_nonspacing_mark(char32_t character) {
    return unicode_category(character) == UTF8PROC_CATEGORY_MN;
}

bool is_punctuation(char32_t character) {
    return in_categories(character, UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}

bool is_control(char32_t character) {
    return in_categories(character, UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CO);
}

bool is_white_space(char32_t c) {
    if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
    return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
           c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_word_character(char32_t c) {
    switch (unicode_category(c)) {
        case UTF8PROC_CATEGORY_ND:
        case UTF8PROC_CATEGORY_NL:
        case UTF8PROC_CATEGORY_PC:
            return true;
        default:
            return is_letter(c) || is_mark(c) || is_enclosed_letter(c) || c == 0x200C ||
                   c == 0x200D;
    }
}

void append_utf8(std::string& text, char32_t character) {
    if (character < 0x80)
        text += static_cast<char>(character);
    else
        text += to_utf8(character);
}

void append_lower_case(std::string& text, char32_t character) {
    if (character == 0x130) {  // the only one whose lower case is two characters
        text += "i\u0307";
        return;
    }
    append_utf8(text,
                static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(character))));
}

// A character of ASCII is its own normal form and never joins those before it, so the text is cut
// in front of each, and only what is not ASCII, with the character that it may join, is converted.
void normalise_unicode(std::string& text, UnicodeForm form) {
    std::string out;
    out.reserve(text.size());
    const std::string_view all = text;
    for (std::size_t at = 0; at < all.size();) {
        std::size_t plain = at;
        while (plain < all.size() && is_ascii(all[plain])) ++plain;
        std::size_t end = plain;
        while (end < all.size() && !is_ascii(all[end])) ++end;
        if (end > plain && plain > at) --plain;
        out += all.substr(at, plain - at);
        if (end > plain) append_form(out, all.substr(plain, end - plain), form);
        at = end;
    }
    text = std::move(out);
}

}  // namespace engine
