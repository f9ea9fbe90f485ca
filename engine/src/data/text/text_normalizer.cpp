#include "data/text/tokenizer_parts.h"

#include <utility>
#include <vector>

#include "base/text_utf8.h"
#include "data/text/unicode_text.h"
#include "engine/base/error.h"
#include "engine/base/json.h"

namespace engine {
namespace {

/// Calls f(character, its bytes, out) for each character, and puts `out` in the text's place.
template <typename F>
void rewrite(std::string& text, const F& f) {
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    for (std::string_view left = text; !left.empty();) {
        const std::string_view before = left;
        const char32_t character = take_character(left);
        f(character, before.substr(0, before.size() - left.size()), out);
    }
    text = std::move(out);
}

void lower_each(std::string& text) {
    rewrite(text, [](char32_t character, std::string_view, std::string& out) {
        append_lower_case(out, character);
    });
}

void strip_marks(std::string& text, bool (*is_stripped)(char32_t)) {
    rewrite(text, [&](char32_t character, std::string_view bytes, std::string& out) {
        if (!is_stripped(character)) out += bytes;
    });
}

/// Blocks of Chinese characters, as BERT has them: no kana, no hangul.
bool is_chinese(char32_t c) {
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
           (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
           (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

void clean_text(std::string& text) {
    rewrite(text, [](char32_t c, std::string_view bytes, std::string& out) {
        if (c == '\t' || c == '\n' || c == '\r')
            out += ' ';
        else if (c != 0 && c != 0xFFFD && !is_control(c))
            out += is_white_space(c) ? " " : bytes;
    });
}

void space_chinese(std::string& text) {
    rewrite(text, [](char32_t c, std::string_view bytes, std::string& out) {
        if (!is_chinese(c)) {
            out += bytes;
            return;
        }
        out += ' ';
        out += bytes;
        out += ' ';
    });
}

TextNormalizer make_bert(const json& object) {
    const bool clean = object.at("clean_text").get<bool>();
    const bool chinese = object.at("handle_chinese_chars").get<bool>();
    const bool lower = object.at("lowercase").get<bool>();
    const json& accents = object.at("strip_accents");
    const bool strip = accents.is_null() ? lower : accents.get<bool>();
    return [=](std::string& text) {
        if (clean) clean_text(text);
        if (chinese) space_chinese(text);
        if (strip) {
            normalise_unicode(text, UnicodeForm::nfd);
            strip_marks(text, is_nonspacing_mark);
        }
        if (lower) lower_each(text);
    };
}

TextNormalizer make_form(UnicodeForm form) {
    return [form](std::string& text) { normalise_unicode(text, form); };
}

void strip_left(std::string& text) {
    std::string_view left = text;
    while (!left.empty()) {
        std::string_view rest = left;
        if (!is_white_space(take_character(rest))) break;
        left = rest;
    }
    text.erase(0, text.size() - left.size());
}

void strip_right(std::string& text) {
    std::size_t end = 0;  // behind the last character that is no space
    for (std::string_view left = text; !left.empty();) {
        if (!is_white_space(take_character(left))) end = text.size() - left.size();
    }
    text.resize(end);
}

TextNormalizer make_strip(const json& object) {
    const bool left = object.at("strip_left").get<bool>();
    const bool right = object.at("strip_right").get<bool>();
    return [=](std::string& text) {
        if (left) strip_left(text);
        if (right) strip_right(text);
    };
}

TextNormalizer make_normalizers(const json& list) {
    std::vector<TextNormalizer> all;
    for (const json& each : list)
        if (TextNormalizer one = make_normalizer(each)) all.push_back(std::move(one));
    return [all = std::move(all)](std::string& text) {
        for (const TextNormalizer& each : all) each(text);
    };
}

}  // namespace

TextNormalizer make_normalizer(const json& object) {
    if (object.is_null()) return {};
    const auto type = object.at("type").get<std::string>();
    if (type == "Sequence") return make_normalizers(object.at("normalizers"));
    if (type == "BertNormalizer") return make_bert(object);
    if (type == "NFC") return make_form(UnicodeForm::nfc);
    if (type == "NFD") return make_form(UnicodeForm::nfd);
    if (type == "NFKC") return make_form(UnicodeForm::nfkc);
    if (type == "NFKD") return make_form(UnicodeForm::nfkd);
    if (type == "Lowercase") return lower_each;
    if (type == "StripAccents") return [](std::string& text) { strip_marks(text, is_mark); };
    if (type == "Strip") return make_strip(object);
    if (type == "Prepend")
        return [put = object.at("prepend").get<std::string>()](std::string& text) {
            if (!text.empty()) text.insert(0, put);
        };
    if (type == "Replace")
        return [from = replaced_text(object), to = object.at("content").get<std::string>()](
                   std::string& text) { replace_all(text, from, to); };
    refuse_tokenizer_part("normalizer", type);
}

std::string replaced_text(const json& object) {
    const json& pattern = object.at("pattern");
    if (pattern.contains("Regex"))
        throw Error(ErrorCode::data,
                    msg("the tokenizer replaces by a regular expression, which is not supported"));
    auto text = pattern.at("String").get<std::string>();
    if (text.empty()) refuse_tokenizer_part("pattern", "\"\"");
    return text;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    std::size_t found = text.find(from);
    if (found == std::string::npos) return;
    std::string out;
    std::size_t at = 0;
    for (; found != std::string::npos; found = text.find(from, at)) {
        out.append(text, at, found - at).append(to);
        at = found + from.size();
    }
    text = std::move(out.append(text, at));
}

void refuse_tokenizer_part(const char* part, const std::string& type) {
    throw Error(ErrorCode::data, msg("the tokenizer's {} {} is not supported", part, type));
}

}  // namespace engine
